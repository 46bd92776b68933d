import { isDeepStrictEqual } from 'node:util';
import { en } from 'zod/locales';
import * as z from 'zod/mini';
import {
  blockKey,
  columnPrefix,
  columnValue,
  type Row,
  setPrefix,
  setValues,
} from '../../functions/data/columns/column-items.ts';
import { type Dictionaries, withTextsOf } from '../../functions/data/columns/facets.ts';
import { emptyHead, Head, headKey } from '../../functions/data/columns/head.ts';
import type { Column, ListDescription } from '../../functions/data/columns/list-description.ts';
import type { OwnerLists } from '../../functions/data/columns/lists.ts';
import { packIntegers } from '../../functions/data/columns/packed-integers.ts';
import { packPositions } from '../../functions/data/columns/position-set.ts';
import type { Item } from '../../functions/data/dynamodb/table-reads.ts';
import { BatchRow } from '../../functions/schemas/batch.ts';
import { JobRow } from '../../functions/schemas/job.ts';
import { JobStatus } from '../../functions/schemas/values.ts';

// By itself zod/mini says no more than that a value is invalid.
z.config(en());

/** What the recount looks at of a row: not the texts that no column holds. */
export const CountedBatch = z.omit(BatchRow, { webhook: true, configuration: true, backend_configuration: true });
export const CountedJob = z.omit(JobRow, { variables: true, results_key: true });

/** Everything of one owner, as read. */
export interface Snapshot {
  readonly columns: readonly Item[];
  readonly batches: readonly Item[];
  readonly jobs: readonly Item[];
}

/** Something that is not as the rows say, and what it should be. */
export type Difference =
  /** Attributes of a row: its place, or what it counts. */
  | {
      readonly kind: 'row';
      readonly table: 'Batches' | 'Jobs';
      readonly key: string;
      readonly found: Item;
      readonly expected: Item;
      /** Undefined where the row has none. */
      readonly rev: number | undefined;
    }
  | {
      readonly kind: 'head';
      readonly key: string;
      readonly found: Item | undefined;
      readonly expected: Head;
    }
  | {
      readonly kind: 'block';
      readonly key: string;
      readonly found: Uint8Array | undefined;
      readonly expected: Uint8Array | undefined;
    }
  /** What no recount can mend: a row that breaks its schema, a job without its batch. */
  | { readonly kind: 'broken'; readonly key: string; readonly found: string };

/**
 * Compares one owner's heads, columns, sets, counters and sequence numbers with what the rows themselves say. Rows without a
 * dense number get one by their present number, then time, then id; the columns are expected as they are with these numbers.
 * While a row breaks its schema only that is told: nothing can be counted without it.
 */
export function recount(lists: OwnerLists, snapshot: Snapshot): Difference[] {
  const items = new Map(snapshot.columns.map((item) => [String(item.key), item]));
  const batches = numbered(lists.batch, snapshot.batches, CountedBatch);
  const jobs = numbered(lists.job, snapshot.jobs, CountedJob);
  const broken = [...batches.broken, ...jobs.broken];
  if (broken.length > 0) return broken;
  const orders = inBatches(jobs.rows, new Set(snapshot.batches.map((batch) => String(batch.id))));
  const counts = counted(batches.rows, orders.rows);
  return [
    ...orders.broken,
    ...rowDifferences('Batches', snapshot.batches, counts),
    ...rowDifferences('Jobs', snapshot.jobs, orders.rows),
    ...columnDifferences(lists.batch, counts, items),
    ...columnDifferences(lists.job, orders.rows, items),
  ];
}

type CountedBatch = z.infer<typeof CountedBatch>;
type CountedJob = z.infer<typeof CountedJob>;

interface Numbered<Counted> {
  readonly rows: readonly Counted[];
  readonly broken: readonly Difference[];
}

function numbered<Counted>(
  list: ListDescription,
  rows: readonly Item[],
  schema: z.ZodMiniType<Counted>,
): Numbered<Counted> {
  const numberOf = (row: Item) => (typeof row.seq === 'number' ? row.seq : Number.POSITIVE_INFINITY);
  const placed = rows.toSorted(
    (a, b) =>
      compare(numberOf(a), numberOf(b)) ||
      compare(String(a.created_at), String(b.created_at)) ||
      compare(String(a.id), String(b.id)),
  );
  const broken: Difference[] = [];
  const counted = placed.flatMap((row, seq) => {
    const parsed = schema.safeParse({ ...row, seq, rev: row.rev ?? 0, written_at: row.written_at ?? {} });
    if (parsed.success) return [parsed.data];
    broken.push({ kind: 'broken', key: `${list.table} ${String(row.id)}`, found: z.prettifyError(parsed.error) });
    return [];
  });
  return { rows: counted, broken };
}

/** The jobs with dense places within their batches. */
function inBatches(jobs: readonly CountedJob[], batchIds: ReadonlySet<string>): Numbered<CountedJob> {
  const places = new Map<string, number>();
  const broken: Difference[] = [];
  for (const [batchId, ofBatch] of Map.groupBy(jobs, (job) => job.batch_id)) {
    if (!batchIds.has(batchId)) {
      broken.push({ kind: 'broken', key: `Batches ${batchId}`, found: `missing, but ${ofBatch.length} jobs name it` });
    }
    ofBatch
      .toSorted((a, b) => compare(a.creation_order, b.creation_order) || compare(a.seq, b.seq))
      .forEach((job, place) => {
        places.set(job.id, place);
      });
  }
  return { rows: jobs.map((job) => ({ ...job, creation_order: places.get(job.id) ?? job.creation_order })), broken };
}

function counted(batches: readonly CountedBatch[], jobs: readonly CountedJob[]): CountedBatch[] {
  const byBatch = Map.groupBy(jobs, (job) => job.batch_id);
  return batches.map((batch) => {
    const ofBatch = byBatch.get(batch.id) ?? [];
    const count = (status: JobStatus) => ofBatch.filter((job) => job.status === status).length;
    return {
      ...batch,
      jobs_count: ofBatch.length,
      jobs_count_per_status: Object.fromEntries(
        JobStatus.options.map((status) => [status, count(status)]),
      ) as CountedBatch['jobs_count_per_status'],
    };
  });
}

const recounted = ['seq', 'rev', 'written_at', 'creation_order', 'jobs_count', 'jobs_count_per_status'] as const;

function rowDifferences(
  table: 'Batches' | 'Jobs',
  found: readonly Item[],
  expected: readonly (CountedBatch | CountedJob)[],
): Difference[] {
  const byId = new Map(found.map((row) => [String(row.id), row]));
  return expected.flatMap((row): Difference[] => {
    const stored = byId.get(row.id) ?? {};
    const wrong = recounted.filter(
      (name) => name in row && !isDeepStrictEqual(stored[name], row[name as keyof typeof row]),
    );
    if (wrong.length === 0) return [];
    const pick = (from: Item) => Object.fromEntries(wrong.map((name) => [name, from[name]]));
    return [{ kind: 'row', table, key: row.id, found: pick(stored), expected: pick(row), rev: stored.rev }];
  });
}

function columnDifferences(
  list: ListDescription,
  rows: readonly Row[],
  items: ReadonlyMap<string, Item>,
): Difference[] {
  const foundHead = items.get(headKey(list));
  const dictionaries = rows.reduce<Dictionaries>(
    (learned, row) => withTextsOf(Object.values(list.columns), row, learned),
    Head.safeParse(foundHead).data?.dictionaries ?? {},
  );
  const expectedHead: Head = {
    ...emptyHead(list),
    next_seq: rows.length,
    last_created_at: rows.reduce<string | null>(
      (latest, { created_at }) => (latest === null || String(created_at) > latest ? String(created_at) : latest),
      null,
    ),
    dictionaries: dictionaries as Head['dictionaries'],
  };
  const sameHead = isDeepStrictEqual(
    foundHead === undefined ? emptyHead(list) : Head.safeParse(foundHead).data,
    expectedHead,
  );
  const expected = new Map([...expectedColumns(list, rows, dictionaries), ...expectedSets(list, rows)]);
  const found = new Map(
    [...items]
      .filter(([key]) => key.startsWith(`${list.key}#`) && key !== headKey(list))
      .map(([key, item]) => [key, item.v as Uint8Array]),
  );
  const wrong = [...new Set([...expected.keys(), ...found.keys()])].filter(
    (key) => !sameBytes(found.get(key), expected.get(key)),
  );
  return [
    ...(sameHead
      ? []
      : [{ kind: 'head', key: headKey(list), found: foundHead, expected: expectedHead } satisfies Difference]),
    ...wrong.map((key): Difference => ({ kind: 'block', key, found: found.get(key), expected: expected.get(key) })),
  ];
}

function* expectedColumns(
  list: ListDescription,
  rows: readonly Row[],
  dictionaries: Dictionaries,
): Generator<[string, Uint8Array]> {
  for (const column of Object.values(list.columns)) {
    const values = rows.map((row) => columnValue(column, row, dictionaries));
    for (let start = 0; start < values.length; start += column.rowsPerBlock) {
      const block = packed(column, values.slice(start, start + column.rowsPerBlock));
      if (block !== undefined) yield [blockKey(columnPrefix(list, column), start / column.rowsPerBlock), block];
    }
  }
}

/** Times are stored up to the last that is not null. */
function packed(column: Column, values: readonly (number | string | null)[]): Uint8Array | undefined {
  if (column.kind === 'uuid') return Buffer.from(values.join('').replaceAll('-', ''), 'hex');
  const end = column.kind === 'time' ? values.findLastIndex((value) => value !== null) + 1 : values.length;
  return end === 0 ? undefined : packIntegers(values.slice(0, end) as (number | null)[]);
}

function* expectedSets(list: ListDescription, rows: readonly Row[]): Generator<[string, Uint8Array]> {
  for (const sets of Object.values(list.sets)) {
    const positions = new Map<string, number[]>();
    for (const row of rows) {
      for (const value of setValues(sets, row)) {
        const key = blockKey(setPrefix(list, sets, value), Math.floor(row.seq / sets.rowsPerBlock));
        const block = positions.get(key) ?? [];
        block.push(row.seq % sets.rowsPerBlock);
        positions.set(key, block);
      }
    }
    for (const [key, block] of positions) {
      const bytes = packPositions(block);
      if (bytes !== undefined) yield [key, bytes];
    }
  }
}

function sameBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : Buffer.compare(a, b) === 0;
}

function compare<Value extends number | string>(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
