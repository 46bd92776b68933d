import { batchList } from '../../functions/data/columns/lists.ts';
import { planRowReads } from '../../functions/data/lists/plan.ts';
import type { ListName, ListQuery } from './answer-list.ts';
import type { BenchRows } from './bench-rows.ts';
import type { PreparedCase } from './list-cases.ts';

/**
 * The sequence numbers of the rows that the measured queries read: the rows of all pages, what lies
 * between them where a page is read as a range, and what lies around bounds of the time of
 * creation. Of a million rows no others need to be written, because lists read only columns
 * otherwise.
 */
export function rowsOnPages(rows: BenchRows, cases: readonly PreparedCase[]): Record<ListName, ReadonlySet<number>> {
  const numbers = {
    batches: new Map(rows.batches.map(({ id, seq }) => [id, seq])),
    jobs: new Map(rows.jobs.map(({ id, seq }) => [id, seq])),
  };
  const read = { batches: new Set<number>(), jobs: new Set<number>() };
  const add = (list: ListName, id: unknown) => {
    const number = numbers[list].get(String(id));
    if (number !== undefined) read[list].add(number);
  };
  for (const { list, asked, expected } of cases) {
    for (const number of rowsAtBounds(rows, list, asked)) read[list].add(number);
    if (asked.order_by === 'id') for (const id of idsUpToPage(rows, list, asked)) add(list, id);
    for (const id of expected.ids) add(list, id);
    const sequence = expected.ids.flatMap((id) => numbers[list].get(String(id)) ?? []);
    const reads = planRowReads(sequence, batchList.columns.id.rowsPerBlock);
    for (const { from, to } of reads.kind === 'ranges' && sequence.length > 0 ? reads.ranges : []) {
      for (let number = from; number <= to; number++) read[list].add(number);
    }
  }
  for (const { seq, batch_id } of rows.jobs) if (batch_id === rows.largeBatchId) read.jobs.add(seq);
  add('batches', rows.largeBatchId);
  return read;
}

/**
 * The exact place of a time of creation is found among the rows between two entries of the time
 * index.
 */
function rowsAtBounds(rows: BenchRows, list: ListName, { created_after, created_before }: ListQuery): number[] {
  const { rowsPerTimeEntry } = batchList;
  return [created_after, created_before].flatMap((time) => {
    if (time === undefined) return [];
    const place = rows[list].filter(({ created_at }) => created_at <= time).length;
    return Array.from({ length: 2 * rowsPerTimeEntry + 2 }, (_, at) => place - rowsPerTimeEntry - 1 + at);
  });
}

/** Pages by id are found by reading the table up to their end. */
function idsUpToPage(rows: BenchRows, list: ListName, { order_by_direction, offset, limit }: ListQuery): string[] {
  const ids = rows[list].map(({ id }) => id).sort();
  return (order_by_direction === 'ASC' ? ids : ids.reverse()).slice(0, offset + limit);
}
