import type { ListDescription } from '../../functions/data/columns/list-description.ts';
import { batchList, jobList, type OwnerFormats } from '../../functions/data/columns/lists.ts';

/** Both lists with small blocks. */
export function smallLists(rowsPerBlock: number): OwnerFormats {
  return { batch: withRowsPerBlock(batchList, rowsPerBlock), job: withRowsPerBlock(jobList, rowsPerBlock) };
}

/**
 * The same list with all blocks of `rows` rows, a tail of about half as many, segments of two
 * blocks, blocks of two texts, and four times in the index for each block. So few rows fill many
 * of them.
 */
export function withRowsPerBlock<List extends ListDescription>(list: List, rows: number): List {
  const resize = <Value extends { readonly rowsPerBlock: number }>(blocks: Readonly<Record<string, Value>>) =>
    Object.fromEntries(Object.entries(blocks).map(([name, value]) => [name, { ...value, rowsPerBlock: rows }]));
  return {
    ...list,
    rowsInTail: (rows >> 1) + 1,
    textsPerBlock: 2,
    rowsPerSegment: 2 * rows,
    rowsPerTimeEntry: Math.max(rows >> 2, 1),
    columns: resize(list.columns),
    sets: resize(list.sets),
  };
}
