import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { expect } from 'vitest';
import { ownerFormats } from '../../functions/data/columns/lists.ts';
import type { BatchRow } from '../../functions/schemas/batch.ts';
import type { JobRow } from '../../functions/schemas/job.ts';
import type { BatchStatus, JobStatus } from '../../functions/schemas/values.ts';
import type { TableNames } from '../../functions/tables.ts';
import { type Difference, recount } from '../../infra/repair/recount.ts';
import { readSnapshot, type Snapshot } from '../../infra/repair/snapshot.ts';
import { interceptedClient } from './intercepted-client.ts';
import { contributorItems, itemsOfOwner } from './items-of-owner.ts';
import { smallLists } from './small-lists.ts';
import { testDb } from './test-db.ts';

/** All rows of an owner in creation order. */
export interface BatchesAndJobs {
  readonly batches: readonly BatchRow[];
  readonly jobs: readonly JobRow[];
}

/** All rows of an owner in creation order, and all other items by their key. */
export interface OwnerRows extends BatchesAndJobs {
  readonly columns: Readonly<Record<string, Record<string, unknown>>>;
}

export async function ownerRows(
  client: DynamoDBDocumentClient,
  tables: TableNames,
  userId: string,
): Promise<OwnerRows> {
  const [rows, items] = await Promise.all([
    batchesAndJobs(client, tables, userId),
    itemsOfOwner(client, tables.Columns, userId),
  ]);
  return { ...rows, columns: Object.fromEntries(items.map((item) => [String(item.key), item])) };
}

/** The rows alone: a user has many more items in columns. */
export async function batchesAndJobs(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs'>,
  userId: string,
): Promise<BatchesAndJobs> {
  const all = (table: string) => itemsOfOwner(client, table, userId);
  return inOrder(await Promise.all([all(tables.Batches), all(tables.Jobs)]));
}

function inOrder([batches, jobs]: readonly [readonly unknown[], readonly unknown[]]): BatchesAndJobs {
  const bySeq = (a: { seq: number }, b: { seq: number }) => a.seq - b.seq;
  return { batches: (batches as BatchRow[]).toSorted(bySeq), jobs: (jobs as JobRow[]).toSorted(bySeq) };
}

/**
 * As `batchesAndJobs`, of an owner whom a recount finds sound, and whom their projects know, and no
 * others. It costs little more than that.
 */
export async function soundRows(
  client: DynamoDBDocumentClient,
  tables: TableNames,
  userId: string,
  rowsPerBlock?: number,
): Promise<BatchesAndJobs> {
  const read: Record<string, unknown[]> = { [tables.Batches]: [], [tables.Jobs]: [] };
  const noting = interceptedClient(client, async ({ input, send }) => {
    const answer = await send();
    read[String(input.TableName)]?.push(...(answer.Items as unknown[]));
    return answer;
  });
  expect(await recountOf(noting, tables, userId, rowsPerBlock)).toEqual([]);
  const rows = inOrder([read[tables.Batches]!, read[tables.Jobs]!]);
  const projects = [...new Set(rows.batches.map(({ project_id }) => project_id))].sort();
  const known = await contributorItems(client, tables.Contributors, userId);
  expect(known.map(({ project_id }) => project_id).sort()).toEqual(projects);
  return rows;
}

/**
 * What a recount of the owner finds wrong, while no function writes. Throws if an ended row has no
 * end, if an unfinished row has an end, or if a row ended before it started.
 */
export async function recountOf(
  client: DynamoDBDocumentClient,
  tables: TableNames,
  userId: string,
  rowsPerBlock?: number,
): Promise<Difference[]> {
  const formats = rowsPerBlock === undefined ? ownerFormats : smallLists(rowsPerBlock);
  const snapshot = await readSnapshot({ db: testDb(client, tables, { formats }), userId });
  for (const { row } of [...snapshot.batches, ...snapshot.jobs]) requireEnd(row);
  const differences = recount(formats, snapshot);
  if (differences.length === 0) requireUsage(snapshot);
  return differences;
}

/**
 * Counts what was used from the rows once more, by code that the product does not share. Throws
 * where the stored sums are others.
 */
function requireUsage({ batches, jobs, usage }: Snapshot) {
  const types = new Map(batches.map(({ row }) => [row.id, row.device_type]));
  const sums = new Map<string, bigint>();
  const add = (place: readonly unknown[], amounts: Readonly<Record<string, bigint>>) => {
    for (const [name, amount] of Object.entries(amounts)) {
      const key = [...place, name].join(' ');
      sums.set(key, (sums.get(key) ?? 0n) + amount);
    }
  };
  const microseconds = (time: string) =>
    BigInt(Date.parse(`${time.slice(0, 23)}Z`)) * 1_000n + BigInt(time.slice(23, 26));
  for (const { row } of batches) {
    if (row.end_datetime) add([row.end_datetime.slice(0, 10), row.project_id, row.device_type], { batches: 1n });
  }
  for (const { row } of jobs) {
    const { start_timestamp: start, end_timestamp: end, device_us, status, runs, shots } = row;
    if (!end) continue;
    const span = start ? microseconds(end) - microseconds(start) : 0n;
    add([end.slice(0, 10), row.project_id, types.get(row.batch_id)], {
      [`jobs_${status.toLowerCase()}`]: 1n,
      shots: status === 'DONE' ? BigInt(runs ?? shots ?? 0) : 0n,
      device_us: device_us === undefined ? (span > 0n ? span : 0n) : BigInt(device_us),
    });
  }
  for (const { row } of batches) {
    if (row.usage_to_add === undefined) continue;
    const [day, ...carried] = row.usage_to_add as readonly [string, ...number[]];
    const names = ['jobs_done', 'jobs_error', 'jobs_canceled', 'shots', 'device_us'];
    const amounts = names.map((name, at) => [name, -BigInt(carried[at]!)] as const);
    add([day, row.project_id, row.device_type], Object.fromEntries(amounts));
  }
  const stored = new Map<string, bigint>();
  for (const { month, key, device_type, rev, ...amounts } of usage.items) {
    const place = [...String(key).split('#').slice(-3, -1), device_type];
    for (const [name, amount] of Object.entries(amounts)) {
      const sum = [...place, name].join(' ');
      stored.set(sum, (stored.get(sum) ?? 0n) + BigInt(amount));
    }
  }
  const present = (amounts: Iterable<readonly [string, bigint]>) =>
    [...amounts]
      .filter(([, amount]) => amount !== 0n)
      .map(String)
      .sort();
  const [found, expected] = [present(stored), present(sums)];
  if (found.join('\n') !== expected.join('\n')) throw new Error(`Used is ${found}, but rows say ${expected}.`);
}

/**
 * Which statuses have an end. Written out, so that the product's record of statuses is compared
 * with it; total, so that tsc names a status that is missing.
 */
const areEnds: Readonly<Record<BatchStatus | JobStatus, boolean>> = {
  ...{ PENDING: false, RUNNING: false, PAUSED: false, CANCELING: false },
  ...{ DONE: true, CANCELED: true, TIMED_OUT: true, ERROR: true },
};

function requireEnd(row: Readonly<Record<string, unknown>>) {
  const [start, end] = [row.start_datetime ?? row.start_timestamp, row.end_datetime ?? row.end_timestamp ?? null];
  const hasEnded = areEnds[row.status as BatchStatus | JobStatus];
  if (hasEnded === (end !== null) && (end === null || String(start ?? '') <= String(end))) return;
  throw new Error(`${row.id} is ${row.status}, started at ${start} and ended at ${end}.`);
}
