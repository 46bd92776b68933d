/**
 * The tail: the values of an owner's newest rows. They are in the head, which the creation of a row
 * writes anyway. So a new row touches one item instead of a block of every column. When the tail is
 * full, the next row begins a new one, and the rows of the old one go to the blocks together.
 *
 * The head alone says where a row's values are: in the tail from row `tailStart` on, otherwise in
 * blocks. Blocks hold every row before, and none after. Sets have no tail.
 *
 * Part of the stored format: what is written today must be read by every later release.
 */

import { type ChangedRows, type ChangeItem, changeItems, changingColumns, isChanged } from './changes.ts';
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
import { summaryKey } from './summary.ts';
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
 * What new rows add to columns, sets, dictionaries and the time index; what changes of rows change
 * in sets, and put beside the head (changes.ts). `before` is the head as it was read; `after` has
 * counted the new rows and learned their texts. Rows that it does not count have no place in
 * columns: they were read after the head, or the head is corrupt.
 */
export function columnChanges(
  list: ListDescription,
  { before, after }: { readonly before: Head; readonly after: Head },
  changes: readonly RowChange[],
): ColumnChanges & { readonly changes: ReadonlyMap<string, ChangeItem> } {
  const { dictionaries, next_seq } = after;
  const [from, to] = [tailStart(list, before), tailStart(list, after)];
  const rows = changes.flatMap(({ before: previous, after: row }) => (previous === undefined ? [row] : []));
  const changed = changes.flatMap(({ before: previous, after: row }) => {
    if (previous === undefined || row.seq >= next_seq) return [];
    return isChanged(list, { before: previous, after: row, dictionaries }) ? [row] : [];
  });
  const edits: BlockEdit[] = [
    ...dictionaryEdits(list, before.dictionaries, dictionaries),
    ...changes.flatMap((change) => [...setEdits(list, change)]),
    ...timeIndexEdits(list, rows),
  ];
  const tail: Record<string, Uint8Array> = {};
  for (const column of Object.values(list.columns)) {
    const values: ColumnValue[] = [...tailValues(column, before)];
    for (const row of rows) {
      if (row.seq < next_seq) values[row.seq - from] = columnValue(column, row, dictionaries);
    }
    // No summary counts the blocks that the tail goes to: they are the newest.
    edits.push(...columnEdits(list, column, from, values.slice(0, to - from)));
    const rest = values.slice(to - from);
    if (rest.length > 0) tail[column.key] = packColumn(column, rest);
  }
  return { edits, tail, changes: changeItems(list, changed, dictionaries) };
}

/**
 * What changes of rows change in columns once they are folded into the head and the blocks. Blocks
 * that hold the values already are left as they are.
 */
export function foldedColumns(
  list: ListDescription,
  head: Pick<Head, 'next_seq' | 'tail'>,
  changes: ChangedRows,
): ColumnChanges {
  const from = tailStart(list, head);
  const edits: BlockEdit[] = [];
  const tail: Record<string, Uint8Array> = { ...head.tail };
  for (const column of changingColumns(list)) {
    const values = [...tailValues(column, head)];
    for (const [seq, ofRow] of changes) {
      const value = ofRow.get(column.key) ?? null;
      if (seq >= from) values[seq - from] = value;
      else {
        const summary = summaryKey(list, column, Math.floor(seq / list.rowsPerSegment));
        for (const edit of columnEdits(list, column, seq, [value])) {
          const apply = (bytes: Uint8Array | undefined) => {
            const isThere = bytes && unpackColumn(column, bytes)[seq % column.rowsPerBlock] === value;
            return isThere ? bytes : edit.apply(bytes);
          };
          edits.push({ ...edit, apply, summary });
        }
      }
    }
    if (values.length > 0) tail[column.key] = packColumn(column, values);
  }
  return { edits, tail };
}

function tailValues(column: Column, { tail }: Pick<Head, 'tail'>): ColumnValue[] {
  const bytes = tail[column.key];
  return bytes === undefined ? [] : unpackColumn(column, bytes);
}
