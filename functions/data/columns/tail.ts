/**
 * The tail: the values of an owner's newest rows. They are in the head, which the creation of a row
 * writes anyway. So a new row and the changes that soon follow touch one item instead of a block of
 * every column. When the tail is full, the next row begins a new one, and the rows of the old one
 * go to the blocks together.
 *
 * The head alone says where a row's values are: in the tail from row `tailStart` on, otherwise in
 * blocks. Blocks hold every row before, and none after. Sets have no tail.
 *
 * Part of the stored format: what is written today must be read by every later release.
 */

import {
  type BlockEdit,
  type ColumnValue,
  columnEdits,
  columnValue,
  packColumn,
  type RowChange,
  setEdits,
  unpackColumn,
} from './column-items.ts';
import { dictionaryEdits } from './dictionaries.ts';
import type { Head } from './head.ts';
import type { Column, ListDescription } from './list-description.ts';
import { isSummarized, summaryKey } from './summary.ts';
import { timeIndexEdits } from './time-index.ts';

/** The first row whose values are in the tail. It never goes back. */
export function tailStart(list: ListDescription, { next_seq }: Pick<Head, 'next_seq'>): number {
  return Math.floor(Math.max(next_seq - 1, 0) / list.rowsInTail) * list.rowsInTail;
}

interface ColumnChanges {
  readonly edits: readonly BlockEdit[];
  readonly tail: Head['tail'];
}

/**
 * What changes of rows change in columns, sets, dictionaries and the time index. `before` is the
 * head as it was read; `after` has counted the new rows and learned their texts. Rows that it does
 * not count have no place in columns: they were read after the head, or the head is corrupt.
 */
export function columnChanges(
  list: ListDescription,
  { before, after }: { readonly before: Head; readonly after: Head },
  changes: readonly RowChange[],
): ColumnChanges {
  const [from, to] = [tailStart(list, before), tailStart(list, after)];
  const edits: BlockEdit[] = [
    ...dictionaryEdits(list, before.dictionaries, after.dictionaries),
    ...changes.flatMap((change) => [...setEdits(list, change)]),
    ...timeIndexEdits(
      list,
      changes.filter(({ before: previous }) => previous === undefined).map(({ after: row }) => row),
    ),
  ];
  const tail: Record<string, Uint8Array> = {};
  for (const column of Object.values(list.columns)) {
    const values: ColumnValue[] = [...tailValues(column, before)];
    for (const { before: previous, after: row } of changes) {
      if (row.seq >= after.next_seq) continue;
      const value = columnValue(column, row, after.dictionaries);
      if (row.seq >= from) values[row.seq - from] = value;
      else if (previous === undefined || value !== columnValue(column, previous, after.dictionaries)) {
        const summary = isSummarized(column)
          ? { summary: summaryKey(list, column, Math.floor(row.seq / list.rowsPerSegment)) }
          : {};
        for (const edit of columnEdits(list, column, row.seq, [value])) edits.push({ ...edit, ...summary });
      }
    }
    // No summary counts the blocks that the tail goes to: they are the newest.
    edits.push(...columnEdits(list, column, from, values.slice(0, to - from)));
    const rest = values.slice(to - from);
    if (rest.length > 0) tail[column.key] = packColumn(column, rest);
  }
  return { edits, tail };
}

function tailValues(column: Column, { tail }: Head): ColumnValue[] {
  const bytes = tail[column.key];
  return bytes === undefined ? [] : unpackColumn(column, bytes);
}
