import { beforeEach, describe, expect, it } from 'vitest';
import { blockKey, columnPrefix, packColumn } from '../../../../functions/data/columns/column-items.ts';
import { emptyHead } from '../../../../functions/data/columns/head.ts';
import type { Column } from '../../../../functions/data/columns/list-description.ts';
import { batchList } from '../../../../functions/data/columns/lists.ts';
import { StaleRead } from '../../../../functions/data/lists/join-blocks.ts';
import {
  openColumnsOf,
  readNewestBlocks,
  readSpans,
  readWholeColumns,
} from '../../../../functions/data/lists/open-columns.ts';
import type { Span } from '../../../../functions/data/lists/span.ts';
import { withRowsPerBlock } from '../../../support/small-lists.ts';

// Segments of 8 rows, tails of up to 3.
const list = withRowsPerBlock(batchList, 4);
const { jobs_count, updated_at } = list.columns;
const named = Object.entries({ jobs_count, updated_at });

/** Column values of row n are n and 1,000 + n. */
const valueAt = (column: Column, row: number) => (column === jobs_count ? row : 1_000 + row);
const valuesOf = (column: Column, { from, to }: Span) =>
  Array.from({ length: Math.max(to - from + 1, 0) }, (_, at) => valueAt(column, from + at));

const headOf = (next_seq: number) => {
  const start = Math.floor((next_seq - 1) / 3) * 3;
  const tail = Object.fromEntries(
    named.map(([, column]) => [column.key, packColumn(column, valuesOf(column, { from: start, to: next_seq - 1 }))]),
  );
  return { ...emptyHead(list), next_seq, tail, changes: new Map() };
};

describe('the open columns of a list', () => {
  let asked: string[];
  beforeEach(() => {
    asked = [];
  });

  /** With the blocks of a list that has `rowsInBlocks` rows before the tail. */
  const open = (rowsInBlocks: number) => {
    const blocks = (column: Column) =>
      Array.from({ length: Math.ceil(rowsInBlocks / 4) }, (_, block) => ({
        key: blockKey(columnPrefix(list, column), block),
        v: packColumn(column, valuesOf(column, { from: block * 4, to: Math.min(block * 4 + 4, rowsInBlocks) - 1 })),
      }));
    return openColumnsOf(list, named, {
      async whole(column) {
        asked.push(`${column.key} whole`);
        return blocks(column);
      },
      async run(column, { from, to }) {
        asked.push(`${column.key} ${from}-${to}`);
        return blocks(column).slice(from, to + 1);
      },
      async newest(column, count) {
        asked.push(`${column.key} newest ${count}`);
        return blocks(column).slice(-count).reverse();
      },
    });
  };

  async function readOf(columns: ReturnType<typeof open>, next_seq: number, ...spans: Span[]) {
    const { numbers } = await readSpans(columns, headOf(next_seq), spans);
    for (const [name, column] of named)
      for (const { from, to } of spans)
        expect(Array.from(numbers.get(name)!.slice(from, to + 1))).toEqual(valuesOf(column, { from, to }));
    return numbers;
  }

  it('are read from the newest blocks of one and a half segments, and from the tail', async () => {
    const columns = open(21);
    await readNewestBlocks(columns);
    expect(asked).toEqual(['n newest 3', 'u newest 3']);
    // The last of the three blocks has one row, 20.
    await readOf(columns, 23, { from: 12, to: 22 });
    expect(asked).toHaveLength(2);
  });

  it('are read in the blocks that are missing only, each once', async () => {
    const columns = open(21);
    await readNewestBlocks(columns);
    asked = [];
    await readOf(columns, 23, { from: 8, to: 15 });
    expect(asked).toEqual(['n 2-2', 'u 2-2']);
    asked = [];
    const numbers = await readOf(columns, 23, { from: 0, to: 3 }, { from: 6, to: 7 });
    expect(asked).toEqual(['n 0-0', 'n 1-1', 'u 0-0', 'u 1-1']);
    // What was read before is still there.
    expect(Array.from(numbers.get('jobs_count')!.slice(8, 16))).toEqual(valuesOf(jobs_count, { from: 8, to: 15 }));
    asked = [];
    await readOf(columns, 23, { from: 0, to: 22 });
    expect(asked).toEqual([]);
  });

  it('are read around blocks that have been read', async () => {
    const columns = open(40);
    await readOf(columns, 41, { from: 8, to: 11 });
    asked = [];
    await readOf(columns, 41, { from: 0, to: 19 });
    expect(asked).toEqual(['n 0-1', 'n 3-4', 'u 0-1', 'u 3-4']);
  });

  it('are whole once they were read whole, and have no blocks where all rows are in the tail', async () => {
    const columns = open(21);
    await readWholeColumns(columns);
    await readOf(columns, 23, { from: 0, to: 22 });
    await readOf(open(0), 2, { from: 0, to: 1 });
    expect(asked).toEqual(['n whole', 'u whole']);
  });

  it('have no blocks after those that the head says', async () => {
    const columns = open(60);
    await readOf(columns, 22, { from: 14, to: 21 });
    expect(asked).toEqual(['n 3-5', 'u 3-5']);
  });

  it('are stale where a block is missing or too short for the head', async () => {
    const head = headOf(23);
    await expect(readSpans(open(20), head, [{ from: 20, to: 22 }])).rejects.toThrow(StaleRead);
    await expect(readSpans(open(19), head, [{ from: 16, to: 22 }])).rejects.toThrow(StaleRead);
    await expect(readSpans(open(20), head, [{ from: 16, to: 19 }])).resolves.toBeDefined();
  });

  it('are read by 16 queries a column at most, which bridge the narrowest gaps', async () => {
    // Two gaps of two blocks, then gaps of four.
    const starts = [0, 16, 32, ...Array.from({ length: 15 }, (_, at) => 56 + at * 24)];
    const spans = starts.map((from) => ({ from, to: from + 7 }));
    const runs = starts.map((from) => `n ${from / 4}-${from / 4 + 1}`);
    const ofJobsCount = () => asked.filter((run) => run.startsWith('n'));
    await readOf(open(500), 502, ...spans.slice(2));
    expect(ofJobsCount()).toEqual(runs.slice(2));
    asked = [];
    await readOf(open(500), 502, ...spans);
    expect(ofJobsCount()).toEqual(['n 0-9', ...runs.slice(3)]);
  });

  it('fail as a whole when one read fails', async () => {
    const failing = openColumnsOf(list, named, {
      whole: async () => [],
      newest: async () => [],
      run: (column) => Promise.reject(new Error(`no ${column.key}`)),
    });
    await expect(readSpans(failing, headOf(23), [{ from: 0, to: 7 }])).rejects.toThrow('no n');
  });
});
