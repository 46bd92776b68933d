import { useEffect, useState } from 'preact/hooks';
import type { Batch } from '../../schemas/batch.ts';
import { useCall } from '../client/use-call.ts';
import { onSubmit } from '../ui/form.tsx';
import { Icon } from '../ui/icon.tsx';
import { texts } from '../ui/texts.ts';
import { type Asked, searchFor, searchText } from './search-for.ts';

const { batches: words } = texts;

interface Props {
  /** Rows that are shown: their names and tags can be searched at once. */
  readonly rows: readonly Batch[];
  readonly apply: (asked: Asked) => void;
}

/** A field that searches by name, tag or id. With the focus on it, the newest batches are read. */
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
        <span class="search">
          <Icon name="search" />
          <input
            type="search"
            name="search"
            list="known-tags"
            aria-label={words.search}
            title={words.searchHint}
            placeholder={words.search}
            onFocus={() => setAsked(true)}
          />
          <kbd>/</kbd>
        </span>
        <datalist id="known-tags">
          {[...known].map((tag) => (
            <option key={tag} value={searchText(tag)} />
          ))}
        </datalist>
      </form>
    </search>
  );
}
