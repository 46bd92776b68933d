import { CorruptData } from '../../errors.ts';
import { dictionariesPrefix, textsOf } from '../columns/dictionaries.ts';
import type { Dictionaries } from '../columns/facets.ts';
import type { StoredHead } from '../columns/head.ts';
import type { ListDescription } from '../columns/list-description.ts';
import type { Db } from '../dynamodb/db.ts';
import { queryAll } from '../dynamodb/reads.ts';

interface DictionaryReads {
  readonly userId: string;
  readonly list: ListDescription;
  readonly consistent: boolean;
}

/**
 * All texts of all dictionaries of the head. Costs nothing if the head has them; otherwise a query
 * for all blocks, about 42 bytes for each text of a UUID's length. Throws CorruptData when a block
 * is missing in a strongly consistent answer, too.
 */
export async function readDictionaries(
  db: Db<'Columns'>,
  reads: DictionaryReads,
  head: StoredHead,
): Promise<Dictionaries> {
  if (head.dictionary_blocks === undefined) return head.dictionaries;
  const found = await readBlocks(db, reads, head);
  const dictionaries =
    found ?? (reads.consistent ? undefined : await readBlocks(db, { ...reads, consistent: true }, head));
  if (dictionaries !== undefined) return dictionaries;
  throw new CorruptData(`Texts of a user's ${reads.list.table} are missing: npm run repair -- --fix finds them again.`);
}

/** Undefined where a block of texts is missing. */
async function readBlocks(
  db: Db<'Columns'>,
  { userId, list, consistent }: DictionaryReads,
  head: StoredHead,
): Promise<Dictionaries | undefined> {
  const items = await queryAll(db, {
    table: 'Columns',
    partition: { user_id: userId },
    sortKey: 'key',
    range: { startsWith: dictionariesPrefix(list) },
    attributes: ['key', 'v'],
    consistent,
  });
  const bytes = new Map(items.map(({ key, v }) => [String(key), v]));
  const found: Record<string, readonly string[]> = {};
  for (const attribute of Object.keys({ ...head.dictionaries, ...head.dictionary_blocks })) {
    const texts = textsOf(list, attribute, head, (key) => bytes.get(key));
    if (texts === undefined) return undefined;
    found[attribute] = texts;
  }
  return found;
}
