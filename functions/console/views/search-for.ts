import { nameTag } from '../parts/batch-name.ts';

const prefix = nameTag('');
const maxTags = 100;

/** What of a tag is searched: of a name, the name alone. */
export function searchText(tag: string): string {
  return tag.startsWith(prefix) ? tag.slice(prefix.length) : tag;
}

/** What a search asks of the list. */
export type Asked = Readonly<Record<'tag' | 'id__starts_with', readonly string[] | undefined>>;

/**
 * The filters that a searched text means: of the tags that are known, all whose text contains it;
 * otherwise the batches of this very name or tag, or whose id begins with it.
 */
export function searchFor(text: string, known: Iterable<string>): Asked {
  const searched = text.trim();
  const none: Asked = { tag: undefined, id__starts_with: undefined };
  if (searched === '') return none;
  const low = searched.toLowerCase();
  const found = [...known].filter((tag) => searchText(tag).toLowerCase().includes(low));
  if (found.length > 0) return { ...none, tag: found.slice(0, maxTags) };
  if (/^[0-9a-f][0-9a-f-]{3,35}$/i.test(searched)) return { ...none, id__starts_with: [low] };
  return { ...none, tag: [searched, nameTag(searched)] };
}
