import { useEffect, useState } from 'preact/hooks';
import type { Batch } from '../../schemas/batch.ts';
import { useCall } from '../client/use-call.ts';
import { nameTag } from '../parts/batch-name.ts';
import { onSubmit } from '../ui/form.tsx';
import { Icon } from '../ui/icon.tsx';
import { texts } from '../ui/texts.ts';

const { batches: words } = texts;

const prefix = nameTag('');
const maxTags = 100;

/** What a search asks of the list. */
type Asked = Readonly<Record<'tag' | 'id__starts_with', readonly string[] | undefined>>;

/**
 * The filters that a searched text means: of the tags that are known, all whose text contains it;
 * otherwise the batches of this very name or tag, or whose id begins with it.
 */
export function searchFor(text: string, known: Iterable<string>): Asked {
  const searched = text.trim();
  const none: Asked = { tag: undefined, id__starts_with: undefined };
  if (searched === '') return none;
  const low = searched.toLowerCase();
  const found = [...known].filter((tag) => tag.replace(prefix, '').toLowerCase().includes(low));
  if (found.length > 0) return { ...none, tag: found.slice(0, maxTags) };
  if (/^[0-9a-f][0-9a-f-]{3,35}$/i.test(searched)) return { ...none, id__starts_with: [low] };
  return { ...none, tag: [searched, nameTag(searched)] };
}

interface Props {
  /** Rows that are shown: their names and tags can be searched at once. */
  readonly rows: readonly Batch[];
  readonly apply: (asked: Asked) => void;
}

/** A field that searches by name, tag or id. Once it has the focus, the newest batches are known. */
export function BatchSearch({ rows, apply }: Props) {
  const [isAsked, setAsked] = useState(false);
  const [known, setKnown] = useState<ReadonlySet<string>>(new Set());
  const newest = useCall<Batch[]>(isAsked ? '/api/v1/batches' : null, {
    query: { order_by: 'created_at', order_by_direction: 'DESC', limit: 100 },
  });
  const seen = [...rows, ...(newest.answer?.data ?? [])];
  useEffect(() => {
    setKnown((before) => before.union(new Set(seen.flatMap(({ tags }) => tags))));
  }, [rows, newest.answer]);
  return (
    <search>
      <form onSubmit={onSubmit((form) => apply(searchFor(String(new FormData(form).get('search')), known)))}>
        <label class="search">
          <Icon name="search" />
          <span class="unseen">{words.search}</span>
          <input
            type="search"
            name="search"
            list="known-tags"
            placeholder={words.search}
            onFocus={() => setAsked(true)}
          />
          <kbd>/</kbd>
        </label>
        <datalist id="known-tags">
          {[...known].map((tag) => (
            <option key={tag} value={tag.replace(prefix, '')} />
          ))}
        </datalist>
      </form>
    </search>
  );
}
