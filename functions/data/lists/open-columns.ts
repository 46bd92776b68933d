import { blockBytes, blockNumber } from '../columns/column-items.ts';
import type { StoredHead } from '../columns/head.ts';
import type { Column, ListDescription } from '../columns/list-description.ts';
import { isSealed } from '../columns/packed-integers.ts';
import { tailStart } from '../columns/tail.ts';
import type { Item } from '../dynamodb/reads.ts';
import { blocksWith, type ColumnValues, emptyColumn, fillColumn, splitByKind } from './join-blocks.ts';
import type { ColumnData } from './matching-rows.ts';
import { overlap, type Span, spansOf } from './span.ts';

/** How blocks of a column are read. A run of blocks is given by their numbers, both inclusive. */
interface BlockReads {
  whole(column: Column): Promise<Item[]>;
  run(column: Column, run: Span): Promise<Item[]>;
  newest(column: Column, count: number): Promise<Item[]>;
}

/** A function opens 50 connections at most, and most lists name one to three columns. */
const maxRuns = 16;

/** The columns of one answer. Their blocks are read as they are needed. */
export interface OpenColumns {
  /** Reads all blocks. The head need not be known. */
  readWhole(): Promise<void>;
  /**
   * Reads the blocks of the newest one and a half segments: all that can never be sealed yet, and
   * all that most users have. The head need not be known.
   */
  readNewest(): Promise<void>;
  /** The row from which on the blocks of all columns have been read without a gap. */
  firstRead(head: StoredHead): number;
  /** Whether the blocks of these rows, which have been read, hold what their summaries say. */
  areSealed(rows: Span): boolean;
  /**
   * The columns at full length, with the values of the rows in these spans and in those that were
   * asked for before. Throws StaleRead when a block is not as the head says.
   */
  read(head: StoredHead, spans: readonly Span[]): Promise<Pick<ColumnData, 'numbers' | 'uuids'>>;
}

export function openColumnsOf(
  list: ListDescription,
  named: readonly (readonly [name: string, column: Column])[],
  reads: BlockReads,
): OpenColumns {
  const columns = named.map(([name, column]) => ({ name, column, blocks: new Map<number, Uint8Array>() }));
  type Opened = (typeof columns)[number];
  let values: (readonly [name: string, values: ColumnValues])[] | undefined;
  return {
    readWhole: () => readEach((column) => reads.whole(column)),
    readNewest: () =>
      readEach((column) => reads.newest(column, Math.ceil((1.5 * list.rowsPerSegment) / column.rowsPerBlock))),
    firstRead(head) {
      const start = tailStart(list, head);
      const firsts = columns.map(({ column: { rowsPerBlock }, blocks }) => {
        let number = Math.ceil(start / rowsPerBlock);
        while (blocks.has(number - 1)) number--;
        return number * rowsPerBlock;
      });
      return Math.max(0, ...firsts);
    },
    areSealed: (rows) =>
      columns.every(({ column, blocks }) =>
        // Rows of the tail have no block yet.
        [...blocksWith(column, rows)].every((number) => {
          const block = blocks.get(number);
          return block !== undefined && isSealed(block);
        }),
      ),
    async read(head, spans) {
      const { next_seq: rowCount, tail } = head;
      const missing = columns.flatMap((opened) =>
        joinRuns(spans.flatMap((rows) => missingRuns(opened, head, rows))).map((run) => ({ opened, run })),
      );
      await Promise.all(missing.map(async ({ opened, run }) => keep(opened, await reads.run(opened.column, run))));
      values ??= columns.map(({ name, column }) => [name, emptyColumn(column, rowCount)]);
      for (const [at, { column, blocks }] of columns.entries()) {
        const [, ofColumn] = values[at] as (typeof values)[number];
        const extent = { tailStart: tailStart(list, head), tail: tail[column.key] };
        for (const wanted of spans) fillColumn(ofColumn, column, blocks, { ...extent, wanted });
      }
      return splitByKind(values);
    },
  };

  async function readEach(read: (column: Column) => Promise<Item[]>): Promise<void> {
    await Promise.all(columns.map(async (opened) => keep(opened, await read(opened.column))));
  }

  function keep({ blocks }: Opened, items: readonly Item[]): void {
    for (const item of items) blocks.set(blockNumber(item), blockBytes(item));
  }

  /** Runs of the blocks with these rows that have not been read. */
  function missingRuns({ column, blocks }: Opened, head: StoredHead, rows: Span): Span[] {
    const inBlocks = overlap(rows, { from: 0, to: tailStart(list, head) - 1 });
    return spansOf([...blocksWith(column, inBlocks)].filter((number) => !blocks.has(number)));
  }
}

/**
 * These runs, which ascend, joined across the narrowest gaps wherever they are more than
 * `maxRuns`.
 */
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
