/** Reads of columns, their summaries, sets of rows and dictionaries. */

import { blockBytes, blockNumber, columnPrefix, setPrefix } from '../columns/column-items.ts';
import type { Dictionaries } from '../columns/facets.ts';
import type { Column, PositionSets } from '../columns/list-description.ts';
import { positionsOf } from '../columns/position-set.ts';
import { type Cell, summaryPrefix, unpackSummary } from '../columns/summary.ts';
import { tailStart } from '../columns/tail.ts';
import { type Item, queryAll, queryFirstPage, queryLast } from '../dynamodb/reads.ts';
import { type OpenColumns, openColumnsOf } from './open-columns.ts';
import { blockRange, columnNamed, columnsHead, maxBlockNumber, type OwnerReads } from './owner-reads.ts';
import type { Condition } from './query.ts';
import { readDictionaries } from './read-dictionaries.ts';
import { addRow, emptyRowSet, type RowSet } from './row-set.ts';
import type { Span } from './span.ts';

/** The texts that the values of these columns refer to; none where no column has any. */
export async function dictionariesOf(reads: OwnerReads, names: readonly string[]): Promise<Dictionaries> {
  if (names.every((name) => columnNamed(reads, name).kind !== 'facets')) return {};
  return readDictionaries(reads.db, reads, await columnsHead(reads));
}

/** For each set condition the rows of any of its values. */
export function readSets(reads: OwnerReads, conditions: readonly Condition[]): Promise<RowSet[]> {
  const ofSets = conditions.filter((condition) => condition.kind === 'set');
  return Promise.all(ofSets.map(({ sets, oneOf }) => readSet(reads, reads.list.sets[sets] as PositionSets, oneOf)));
}

/** The rows of one set, ascending, without a bit for each other row. */
export async function readSetPositions(reads: OwnerReads, sets: PositionSets, value: string): Promise<number[]> {
  const blocks = await queryAll(reads.db, blockRange(reads, setPrefix(reads.list, sets, value)));
  return blocks.flatMap((block) => {
    const start = blockNumber(block) * sets.rowsPerBlock;
    return Array.from(positionsOf(blockBytes(block)), (position) => start + position);
  });
}

async function readSet(reads: OwnerReads, sets: PositionSets, oneOf: readonly string[]): Promise<RowSet> {
  const { list } = reads;
  const blocks = await Promise.all(
    oneOf.map((value) => queryAll(reads.db, blockRange(reads, setPrefix(list, sets, value)))),
  );
  const starts = blocks.flat().map((block) => ({ block, start: blockNumber(block) * sets.rowsPerBlock }));
  const rows = emptyRowSet(Math.max(0, ...starts.map(({ start }) => start + sets.rowsPerBlock)));
  for (const { block, start } of starts) {
    for (const position of positionsOf(blockBytes(block))) addRow(rows, start + position);
  }
  return rows;
}

/** These columns. Nothing of them is read yet. */
export function openColumns(reads: OwnerReads, names: readonly string[]): OpenColumns {
  const { list } = reads;
  const columns = names.map((name) => [name, columnNamed(reads, name)] as const);
  return openColumnsOf(list, columns, {
    whole: (column) => readWholeColumn(reads, column),
    run: (column, run) => readBlocks(reads, column, run),
    newest: (column, count) => queryLast(reads.db, blockRange(reads, columnPrefix(list, column)), count),
  });
}

/** Summaries by the numbers of their segments and the names of columns. */
export type SegmentSummaries = ReadonlyMap<number, ReadonlyMap<string, readonly Cell[]>>;

/** All summaries of these columns. */
export async function readSummaries(reads: OwnerReads, names: readonly string[]): Promise<SegmentSummaries> {
  const bySegment = new Map<number, Map<string, readonly Cell[]>>();
  await Promise.all(
    names.map(async (name) => {
      const range = blockRange(reads, summaryPrefix(reads.list, columnNamed(reads, name)));
      for (const item of await queryAll(reads.db, range)) {
        const ofSegment = bySegment.get(blockNumber(item)) ?? new Map();
        bySegment.set(blockNumber(item), ofSegment.set(name, unpackSummary(blockBytes(item))));
      }
    }),
  );
  return bySegment;
}

/** Blocks of ids that certainly fit into one answer (1 MB). They take up to 1 KB each. */
const uuidBlocksInAnswer = 1_000;

/** All blocks of a column. Ids are read in two parts at once, because few rows fill an answer. */
async function readWholeColumn(reads: OwnerReads, column: Column): Promise<Item[]> {
  if (column.kind !== 'uuid') return readBlocks(reads, column, { from: 0, to: maxBlockNumber });
  const parts = await Promise.all([
    readBlocks(reads, column, { from: 0, to: uuidBlocksInAnswer - 1 }),
    readBlocks(reads, column, { from: uuidBlocksInAnswer, to: maxBlockNumber }),
  ]);
  return parts.flat();
}

/**
 * A run of a column's blocks, as far as there are any. What the first answer (1 MB) does not hold
 * is read in parallel parts of about its size.
 */
async function readBlocks(reads: OwnerReads, column: Column, { from, to }: Span): Promise<Item[]> {
  const { list } = reads;
  const prefix = columnPrefix(list, column);
  const { items, more } = await queryFirstPage(reads.db, blockRange(reads, prefix, from, to));
  const last = items.at(-1);
  if (!more || last === undefined) return items;
  const end = Math.min(to, Math.floor((tailStart(list, await columnsHead(reads)) - 1) / column.rowsPerBlock));
  const parts: Promise<Item[]>[] = [];
  for (let start = blockNumber(last) + 1; start <= end; start += items.length) {
    const partEnd = Math.min(start + items.length - 1, end);
    parts.push(queryAll(reads.db, blockRange(reads, prefix, start, partEnd)));
  }
  return [...items, ...(await Promise.all(parts)).flat()];
}
