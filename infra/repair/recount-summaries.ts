/** Which summaries may be among an owner's items, and which blocks they tell about. */

import { columnPrefix, columnValue, type Row } from '../../functions/data/columns/column-items.ts';
import type { Dictionaries } from '../../functions/data/columns/facets.ts';
import type { ListDescription } from '../../functions/data/columns/list-description.ts';
import { isSealed } from '../../functions/data/columns/packed-integers.ts';
import {
  blocksOfSegment,
  isSummarized,
  packSummary,
  segmentOfBlock,
  summarize,
  summaryKey,
  summaryPrefix,
} from '../../functions/data/columns/summary.ts';
import type { Item } from '../../functions/data/dynamodb/reads.ts';

/**
 * The key of the summary that tells about the block of this key: that of a summary itself is its
 * own; undefined for all others.
 */
export function summaryOf(list: ListDescription, key: string): string | undefined {
  for (const column of Object.values(list.columns).filter(isSummarized)) {
    if (key.startsWith(summaryPrefix(list, column))) return key;
    const prefix = columnPrefix(list, column);
    const block = key.startsWith(prefix) ? key.slice(prefix.length) : '';
    if (/^\d{7}$/.test(block)) return summaryKey(list, column, segmentOfBlock(list, column, Number(block)));
  }
  return undefined;
}

export function isSealedItem(item: Item | undefined): boolean {
  return item?.v instanceof Uint8Array && isSealed(item.v);
}

/**
 * Keys and right bytes of those summaries that are there and may be: all blocks of their segments
 * are sealed. `rows`: those in blocks.
 */
export function* rightSummaries(
  list: ListDescription,
  rows: readonly Row[],
  { dictionaries, items }: { readonly dictionaries: Dictionaries; readonly items: ReadonlyMap<string, Item> },
): Generator<[string, Uint8Array]> {
  const { rowsPerSegment } = list;
  for (const column of Object.values(list.columns).filter(isSummarized)) {
    for (let segment = 0; (segment + 1) * rowsPerSegment <= rows.length; segment++) {
      const key = summaryKey(list, column, segment);
      const blocks = blocksOfSegment(list, column, segment);
      if (!items.has(key) || !blocks.every((block) => isSealedItem(items.get(block)))) continue;
      const values = rows
        .slice(segment * rowsPerSegment, (segment + 1) * rowsPerSegment)
        .map((row) => columnValue(column, row, dictionaries) ?? Number.NaN);
      yield [key, packSummary(summarize(column, Float64Array.from(values as number[])))];
    }
  }
}
