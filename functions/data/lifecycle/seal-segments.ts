/**
 * Seals old segments of a user's rows: writes their summaries (columns/summary.ts). Nobody depends
 * on it: what is not sealed is read block by block.
 */

import { type DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { isRequestOver } from '../../request-lifetime.ts';
import { addToRequestLog, countInRequestLog, describeError } from '../../request-log.ts';
import type { TableNames } from '../../tables.ts';
import { blockBytes } from '../columns/column-items.ts';
import type { Column, ListDescription } from '../columns/list-description.ts';
import { packedCount, seal, unpackIntegers } from '../columns/packed-integers.ts';
import {
  blocksOfSegment,
  isSummarized,
  packSummary,
  sealableSegments,
  summarize,
  summaryKey,
} from '../columns/summary.ts';
import { tailStart } from '../columns/tail.ts';
import { isConflict, translateErrors } from '../dynamodb/aws-errors.ts';
import { batchGet, queryAll } from '../dynamodb/reads.ts';
import type { Draft, Owner } from './draft.ts';

export interface SealingContext extends Owner {
  readonly client: DynamoDBDocumentClient;
  readonly tables: TableNames<'Columns'>;
}

/** Numbers of a list's rows before and after a call. */
interface Growth {
  readonly before: number;
  readonly after: number;
}

const goldenRatio = (Math.sqrt(5) - 1) / 2;

/** In milliseconds: no column is begun later than this after the first one. */
const longestStep = 1_000;

/**
 * Seals what has become old by the creations of one call, between its first and its last draft: at
 * most two segments of each list (planSealing), and no column is begun later than a second after
 * the first. Never throws: a failure is logged.
 *
 * Most calls pass no multiple of a block's rows: nothing is read then. A look at a segment costs 5
 * or 6 read units, or more for large summaries; a column that is sealed about 3 read units, and 38
 * to 68 write units.
 */
export async function sealAfterCreations(
  context: SealingContext,
  { first, last }: { readonly first: Draft; readonly last: Draft },
): Promise<void> {
  const end = performance.now() + longestStep;
  const hasTime = () => performance.now() < end && !isRequestOver();
  try {
    for (const name of ['batch', 'job'] as const) {
      const list = context.lists[name];
      const growth = { before: first.stored.heads[name]?.next_seq ?? 0, after: last.heads[name].next_seq };
      for (const segment of planSealing(list, growth)) {
        const sealed = await sealSegment(context, { list, segment, hasTime });
        if (sealed > 0) countInRequestLog({ sealed_columns: sealed });
      }
    }
  } catch (error) {
    addToRequestLog({ sealing_fault: describeError(error) });
  }
}

/**
 * The segments to look at once the number of rows has passed a multiple of a block's rows: the
 * newest that may be sealed, if it may only since the multiple before; and each in turn, since
 * changes of their rows have deleted summaries. A segment has its turn about once for as many new
 * rows as it has, or more rarely where there are many: sealing costs little beside creations.
 */
export function planSealing(list: ListDescription, { before, after }: Growth): number[] {
  const rowsPerStep = Math.max(...Object.values(list.columns).map(({ rowsPerBlock }) => rowsPerBlock));
  const [stepsBefore, steps] = [Math.floor(before / rowsPerStep), Math.floor(after / rowsPerStep)];
  if (steps === stepsBefore) return [];
  const sealable = (next_seq: number) => sealableSegments(list, tailStart(list, { next_seq }));
  const [had, has] = [sealable(stepsBefore * rowsPerStep), sealable(after)];
  // Multiples of the golden ratio reach every segment, also while their number grows. A remainder
  // of steps does not: it grows with them.
  const turn = Math.floor(((steps * goldenRatio) % 1) * Math.max(has, list.rowsPerSegment / rowsPerStep));
  return [...new Set([...(has > had ? [has - 1] : []), ...(turn < has ? [turn] : [])])];
}

interface SegmentToSeal {
  readonly list: ListDescription;
  readonly segment: number;
  /** Asked before each column. */
  readonly hasTime?: () => boolean;
}

/**
 * Seals those columns of a segment that have no summary, as long as there is time. Returns how many
 * it has sealed.
 */
export async function sealSegment(
  context: SealingContext,
  { list, segment, hasTime = () => true }: SegmentToSeal,
): Promise<number> {
  const { client, tables, userId } = context;
  const columns = Object.values(list.columns).filter(isSummarized);
  const keys = columns.map((column) => ({ user_id: userId, key: summaryKey(list, column, segment) }));
  const found = await batchGet(client, { table: tables.Columns, keys, consistent: true, attributes: ['key'] });
  const present = new Set(found.map(({ key }) => String(key)));
  let sealed = 0;
  for (const column of columns) {
    if (present.has(summaryKey(list, column, segment)) || !hasTime()) continue;
    if (await sealColumn(context, { list, column, segment, hasTime })) sealed += 1;
  }
  return sealed;
}

/**
 * Writes the summary of a column's segment and seals its blocks, in one transaction that is
 * conditional on the bytes of all of them. Returns false where blocks are missing or not full, and
 * where another writer was there: then nothing is written.
 */
async function sealColumn(
  { client, tables, userId }: SealingContext,
  { list, column, segment, hasTime }: Required<SegmentToSeal> & { readonly column: Column },
): Promise<boolean> {
  const TableName = tables.Columns;
  const keys = blocksOfSegment(list, column, segment);
  const blocks = await queryAll(client, {
    table: TableName,
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
    const condition = { ConditionExpression: 'v = :before', ExpressionAttributeValues: { ':before': v } };
    return { isFull, Put: { TableName, Item: { user_id: userId, key: block.key, v: seal(v) }, ...condition } };
  });
  if (writes.length < keys.length || !writes.every(({ isFull }) => isFull) || !hasTime()) return false;
  const summary = { key: summaryKey(list, column, segment), v: packSummary(summarize(column, values)) };
  const TransactItems = [
    ...writes.map(({ Put }) => ({ Put })),
    { Put: { TableName, Item: { user_id: userId, ...summary } } },
  ];
  try {
    await translateErrors(client.send(new TransactWriteCommand({ TransactItems })));
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
}
