import { blockKey, columnPrefix, unpackColumn } from '../../functions/data/columns/column-items.ts';
import type { OwnerFormats } from '../../functions/data/columns/lists.ts';
import { isSealed } from '../../functions/data/columns/packed-integers.ts';
import { isSummarized, packSummary, summarize, summaryPrefix } from '../../functions/data/columns/summary.ts';
import type { OwnerRows } from './owner-rows.ts';

/**
 * The keys of summaries that say something else than their blocks, or whose blocks are not all
 * there and sealed.
 */
export function wrongSummaries(lists: OwnerFormats, columns: OwnerRows['columns']): string[] {
  const columnsOfLists = [lists.batch, lists.job].flatMap((list) =>
    Object.values(list.columns)
      .filter(isSummarized)
      .map((column) => ({ list, column })),
  );
  return columnsOfLists.flatMap(({ list, column }) => {
    const prefix = summaryPrefix(list, column);
    const summaries = Object.keys(columns).filter((key) => key.startsWith(prefix));
    return summaries.filter((key) => {
      const first = (Number(key.slice(prefix.length)) * list.rowsPerSegment) / column.rowsPerBlock;
      const blocks = Array.from(
        { length: list.rowsPerSegment / column.rowsPerBlock },
        (_, at) => columns[blockKey(columnPrefix(list, column), first + at)]?.v as Uint8Array | undefined,
      );
      if (!blocks.every((block) => block !== undefined && isSealed(block))) return true;
      const values = blocks.flatMap((block) => unpackColumn(column, block!));
      const right = packSummary(
        summarize(
          column,
          Float64Array.from(values, (value) => (value as number) ?? Number.NaN),
        ),
      );
      return Buffer.compare(columns[key]!.v as Uint8Array, right) !== 0 || values.length !== list.rowsPerSegment;
    });
  });
}
