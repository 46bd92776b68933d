import type { ChangedRows } from '../columns/changes.ts';
import { blockBytes, blockNumber } from '../columns/column-items.ts';
import type { StoredHead } from '../columns/head.ts';
import type { Column, ListDescription } from '../columns/list-description.ts';
import { isSealed } from '../columns/packed-integers.ts';
import { tailStart } from '../columns/tail.ts';
import type { Item } from '../dynamodb/reads.ts';
import { blocksWith, type ColumnValues, emptyColumn, fillColumn, splitByKind } from './join-blocks.ts';
import type { ColumnData } from './matching-rows.ts';
import type { ListHead } from './owner-reads.ts';
import { overlap, type Span, spansOf } from './span.ts';

/** How blocks of a column are read. A run of blocks is given by their numbers, both inclusive. */
interface BlockReads {
  whole(column: Column): Promise<Item[]>;
  run(column: Column, run: Span): Promise<Item[]>;
  newest(column: Column, count: number): Promise<Item[]>;
}

/** A function opens 50 connections at most, and most lists name one to three columns. */
const maxRuns = 16;

interface OpenColumn {
  readonly name: string;
  readonly column: Column;
  /** The blocks that have been read, by their numbers. */
  readonly blocks: Map<number, Uint8Array>;
  /** Once the head is known, the values of the requested rows. */
  values?: ColumnValues;
}

/** The columns of one answer. Their blocks are read as they are needed. */
export interface OpenColumns {
  readonly list: ListDescription;
  readonly columns: readonly OpenColumn[];
  readonly reads: BlockReads;
}

/** These columns. Nothing of them is read yet. */
export function openColumnsOf(
  list: ListDescription,
  named: readonly (readonly [name: string, column: Column])[],
  reads: BlockReads,
): OpenColumns {
  return { list, columns: named.map(([name, column]) => ({ name, column, blocks: new Map() })), reads };
}

/** Reads all blocks. The head need not be known. */
export function readWholeColumns({ columns, reads }: OpenColumns): Promise<void> {
  return readEach(columns, (column) => reads.whole(column));
}

/**
 * Reads the blocks of the newest one and a half segments: all that can never be sealed yet, and the
 * whole list of most users. The head need not be known.
 */
export function readNewestBlocks({ list, columns, reads }: OpenColumns): Promise<void> {
  return readEach(columns, (column) =>
    reads.newest(column, Math.ceil((1.5 * list.rowsPerSegment) / column.rowsPerBlock)),
  );
}

async function readEach(columns: readonly OpenColumn[], read: (column: Column) => Promise<Item[]>): Promise<void> {
  await Promise.all(columns.map(async (opened) => keep(opened, await read(opened.column))));
}

function keep({ blocks }: OpenColumn, items: readonly Item[]): void {
  for (const item of items) blocks.set(blockNumber(item), blockBytes(item));
}

/** The row from which on the blocks of all columns have been read without a gap. */
export function firstRowRead({ list, columns }: OpenColumns, head: StoredHead): number {
  const start = tailStart(list, head);
  const firsts = columns.map(({ column: { rowsPerBlock }, blocks }) => {
    let number = Math.ceil(start / rowsPerBlock);
    while (blocks.has(number - 1)) number--;
    return number * rowsPerBlock;
  });
  return Math.max(0, ...firsts);
}

/** Whether the blocks of these rows, which have been read, hold what their summaries say. */
export function areSealed({ columns }: OpenColumns, rows: Span): boolean {
  return columns.every(({ column, blocks }) =>
    // Rows of the tail have no block yet.
    [...blocksWith(column, rows)].every((number) => {
      const block = blocks.get(number);
      return block !== undefined && isSealed(block);
    }),
  );
}

/**
 * The columns at full length, with the values of the rows in these spans and in spans of earlier
 * calls, changes included. Throws StaleRead when a block contradicts the head.
 */
export async function readSpans(
  { list, columns, reads }: OpenColumns,
  head: ListHead,
  spans: readonly Span[],
): Promise<Pick<ColumnData, 'numbers' | 'uuids'>> {
  const start = tailStart(list, head);
  const missing = columns.flatMap((opened) =>
    joinRuns(spans.flatMap((rows) => missingRuns(opened, start, rows))).map((run) => ({ opened, run })),
  );
  await Promise.all(missing.map(async ({ opened, run }) => keep(opened, await reads.run(opened.column, run))));
  const filled = columns.map((opened): readonly [string, ColumnValues] => {
    const { name, column, blocks } = opened;
    opened.values ??= emptyColumn(column, head.next_seq);
    const extent = { tailStart: start, tail: head.tail[column.key] };
    for (const wanted of spans) {
      fillColumn(opened.values, column, blocks, { ...extent, wanted });
      applyChanges(opened.values, column, head.changes, wanted);
    }
    return [name, opened.values];
  });
  return splitByKind(filled);
}

/** Changes hold instead of what blocks and the tail say. They may be in there already. */
function applyChanges(values: ColumnValues, column: Column, changes: ChangedRows, wanted: Span): void {
  if (!(values instanceof Float64Array)) return;
  for (const [seq, ofRow] of changes) {
    if (seq >= wanted.from && seq <= wanted.to) values[seq] = ofRow.get(column.key) ?? Number.NaN;
  }
}

/** Runs of the blocks with these rows that have not been read. The tail's rows are in none. */
function missingRuns({ column, blocks }: OpenColumn, start: number, rows: Span): Span[] {
  const inBlocks = overlap(rows, { from: 0, to: start - 1 });
  return spansOf([...blocksWith(column, inBlocks)].filter((number) => !blocks.has(number)));
}

/** These ascending runs; if they are more than `maxRuns`, joined across the narrowest gaps. */
function joinRuns(runs: readonly Span[]): readonly Span[] {
  if (runs.length <= maxRuns) return runs;
  const gapBefore = (at: number) => (runs[at] as Span).from - (runs[at - 1] as Span).to;
  const byGap = Array.from(runs.keys())
    .slice(1)
    .sort((a, b) => gapBefore(b) - gapBefore(a));
  const starts = [0, ...byGap.slice(0, maxRuns - 1).sort((a, b) => a - b)];
  return starts.map((start, at) => ({
    from: (runs[start] as Span).from,
    to: (runs[(starts[at + 1] ?? runs.length) - 1] as Span).to,
  }));
}
