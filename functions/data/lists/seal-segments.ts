/**
 * Sealing: writing the summaries (columns/summary.ts) of old segments of a user's rows. Nothing
 * depends on it: a segment without summaries is read block by block.
 */

import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { blockBytes, columnPrefix } from '../columns/column-items.ts';
import { type Column, facetColumn, type ListDescription } from '../columns/list-description.ts';
import { formatsOf } from '../columns/lists.ts';
import { packedCount, seal, unpackIntegers } from '../columns/packed-integers.ts';
import {
  blocksOfSegment,
  isSummarized,
  packSummary,
  sealableSegments,
  summarize,
  summaryKey,
} from '../columns/summary.ts';
import { isConflict, translateErrors } from '../dynamodb/aws-errors.ts';
import { ifUnchanged } from '../dynamodb/conditions.ts';
import type { Db } from '../dynamodb/db.ts';
import { batchGet, queryAll } from '../dynamodb/reads.ts';

/** A block that was written for the first time: a list of this user has grown. */
interface NewBlock {
  readonly userId: string;
  readonly key: string;
}

/**
 * Seals the segments that a new block of facets makes old, and the segments whose turn it is
 * (planSealing). Returns the number of columns that it has sealed. Repeated and lost calls do no
 * harm. Throws what DynamoDB throws. A segment that another writer changes meanwhile is left for
 * its next turn.
 *
 * Looking at a segment costs 5 or 6 read units, or more for large summaries; sealing a column about
 * 3 read units, and 38 to 68 write units.
 */
export async function sealSegments(db: Db<'Columns'>, { userId, key }: NewBlock): Promise<number> {
  const list = Object.values<ListDescription>({ ...formatsOf(db) }).find((each) => key.startsWith(signalPrefix(each)));
  if (list === undefined) throw new RangeError(`${key} is no block of facets.`);
  let sealed = 0;
  for (const segment of planSealing(list, Number(key.slice(signalPrefix(list).length)))) {
    sealed += await sealSegment(db, { userId, list, segment });
  }
  return sealed;
}

/** Begins the keys of the blocks whose creation leads to sealing. */
function signalPrefix(list: ListDescription): string {
  return columnPrefix(list, facetColumn(list));
}

const goldenRatio = (Math.sqrt(5) - 1) / 2;

/**
 * The segments to look at once the facets have this new block: the newest that may be sealed, if
 * this block made it so; and one in turn, because folds delete summaries, and calls get lost. A
 * segment has its turn about once for as many new rows as it has, or more rarely if there are many:
 * sealing costs little beside creations.
 */
export function planSealing(list: ListDescription, block: number): number[] {
  const { rowsPerBlock } = facetColumn(list);
  const [had, has] = [block - 1, block].map((blocks) => sealableSegments(list, blocks * rowsPerBlock)) as [
    number,
    number,
  ];
  // Multiples of the golden ratio reach every segment, even while their number grows. A remainder
  // of blocks does not, because it grows with them.
  const turn = Math.floor(((block * goldenRatio) % 1) * Math.max(has, list.rowsPerSegment / rowsPerBlock));
  return [...new Set([...(has > had ? [has - 1] : []), ...(turn < has ? [turn] : [])])];
}

interface Segment {
  readonly userId: string;
  readonly list: ListDescription;
  readonly segment: number;
}

/** Seals those columns of a segment that have no summary. Returns how many it has sealed. */
export async function sealSegment(db: Db<'Columns'>, of: Segment): Promise<number> {
  const { userId, list, segment } = of;
  const columns = Object.values(list.columns).filter(isSummarized);
  const keys = columns.map((column) => ({ user_id: userId, key: summaryKey(list, column, segment) }));
  const found = await batchGet(db, { table: 'Columns', keys, consistent: true, attributes: ['key'] });
  const present = new Set(found.map(({ key }) => String(key)));
  let sealed = 0;
  for (const column of columns) {
    if (present.has(summaryKey(list, column, segment))) continue;
    if (await sealColumn(db, of, column)) sealed += 1;
  }
  return sealed;
}

/**
 * Writes the summary of a column's segment and seals its blocks, in one transaction that is
 * conditional on the bytes of all of them. Returns false, and writes nothing, if blocks are missing
 * or not full, or if another writer came first.
 */
async function sealColumn(db: Db<'Columns'>, { userId, list, segment }: Segment, column: Column): Promise<boolean> {
  const TableName = db.tables.Columns;
  const keys = blocksOfSegment(list, column, segment);
  const blocks = await queryAll(db, {
    table: 'Columns',
    partition: { user_id: userId },
    sortKey: 'key',
    range: { between: [String(keys.at(0)), String(keys.at(-1))] },
    consistent: true,
  });
  const values = new Float64Array(list.rowsPerSegment);
  const writes = blocks.map((block, at) => {
    const v = blockBytes(block);
    const isFull = packedCount(v) === column.rowsPerBlock;
    if (isFull) unpackIntegers(v, values, at * column.rowsPerBlock);
    const Item = { user_id: userId, key: block.key, v: seal(v) };
    return { isFull, Put: { TableName, Item, ...ifUnchanged(block, ['v']) } };
  });
  if (writes.length < keys.length || !writes.every(({ isFull }) => isFull)) return false;
  const summary = { key: summaryKey(list, column, segment), v: packSummary(summarize(column, values)) };
  const TransactItems = [
    ...writes.map(({ Put }) => ({ Put })),
    { Put: { TableName, Item: { user_id: userId, ...summary } } },
  ];
  try {
    await translateErrors(db.client.send(new TransactWriteCommand({ TransactItems })));
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
}
