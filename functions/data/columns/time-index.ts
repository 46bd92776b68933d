/**
 * The time index: which place in the sequence a time of creation has. Creation times ascend with
 * sequence numbers, so an entry for each `rowsPerTimeEntry` rows is enough. The key of an entry
 * ends with the row's `created_at`, and its bytes are the row's number in decimal digits. It is
 * written with its row and never changed. The first row has none.
 *
 * Part of the stored format: what is written today must be read by every later release.
 */

import { CorruptData } from '../../errors.ts';
import { type BlockEdit, blockBytes, type Row } from './column-items.ts';
import type { ListDescription } from './list-description.ts';

/** The part of their keys where columns and sets have their own `key`. */
export const timeIndexKey = 'times';

export function timeIndexPrefix(list: ListDescription): string {
  return `${list.key}#${timeIndexKey}#`;
}

/** The entries of these new rows. */
export function timeIndexEdits(list: ListDescription, rows: readonly Row[]): BlockEdit[] {
  const indexed = rows.filter(({ seq }) => seq > 0 && seq % list.rowsPerTimeEntry === 0);
  return indexed.map(({ seq, created_at }) => {
    if (typeof created_at !== 'string') throw new CorruptData('A row has no valid created_at.');
    return { key: timeIndexPrefix(list) + created_at, apply: () => new TextEncoder().encode(String(seq)) };
  });
}

/** The number of the row that the entry is about. */
export function rowOfTimeEntry(entry: Readonly<Record<string, unknown>>): number {
  return Number(new TextDecoder().decode(blockBytes(entry)));
}
