import { randomUUID } from 'node:crypto';
import { batchList, jobList } from '../../functions/data/columns/lists.ts';
import { LifecycleEvent } from '../../functions/schemas/lifecycle-event.ts';
import { fromMicroseconds } from '../../functions/values/timestamp.ts';
import type { CallFigure } from '../../infra/docs/performance.ts';
import { loadList } from '../support/load-list.ts';
import { newBatch, newJob } from '../support/new-batch.ts';
import { writeApi } from '../support/write-api.ts';
import { benchRows } from './bench-rows.ts';
import type { EndpointBench, Measured } from './measure-endpoints.ts';
import { mean, type Units } from './units.ts';

/** An event without its envelope. */
interface Change {
  readonly type: LifecycleEvent['type'];
  readonly data: object;
}

const size = 10_000;
/** As many creations of one row move rows from the head to the blocks once. */
const runs = batchList.rowsInTail;
let created = 0;

/**
 * Measures what lifecycle events cost, for a user who has 10,000 batches already. Each event is
 * remembered, for 2 write units.
 */
export async function* measureEvents(bench: EndpointBench): AsyncGenerator<Measured<CallFigure>> {
  const { db, measure, userId } = bench;
  const { client, tables } = db;
  const rows = benchRows(userId, size);
  const sealed = () => true;
  await loadList(client, tables, { list: batchList, userId, rows: rows.batches, sealed });
  await loadList(client, tables, { list: jobList, userId, rows: rows.jobs, sealed });
  const { applyEvents } = writeApi(db);
  const apply = async ({ type, data }: Change) => {
    const event = LifecycleEvent.parse({ id: randomUUID(), time: now(), user_id: userId, type, data });
    const [error] = await applyEvents([event]);
    if (error !== undefined) throw error;
  };
  const measured = async (name: string, changes: readonly Change[]) => {
    const costs: Units[] = [];
    for (const change of changes) costs.push((await measure(() => apply(change))).cost);
    return { name, ...mean(costs), excesses: [] };
  };
  const statuses = async (which: string, of: Ids) => [
    await measured(`status and start of ${which} job`, of.jobs.map(jobRuns)),
    await measured(`status and start of ${which} batch`, of.batches.map(batchRuns)),
  ];

  yield await measured('batch without jobs', repeat(0));
  yield await measured('batch with 1 job', repeat(1));
  yield await measured('batch with 4 jobs', repeat(4));
  yield await measured('batch with 50 jobs', repeat(50));
  const newest = Array.from({ length: runs }, () => newBatchOf(1));
  for (const data of newest) await apply({ type: 'batch.created', data });
  const newIds = { batches: idsOf(newest), jobs: newest.flatMap(({ jobs }) => idsOf(jobs)) };
  yield* await statuses('one of the newest 16', newIds);
  const isPending = ({ status }: { readonly status: string }) => status === 'PENDING';
  // The last blocks of the loaded rows are not sealed, the first ones are.
  const open = (some: readonly { id: string; status: string }[]) =>
    idsOf(some.slice(-1_500).filter(isPending).slice(0, runs));
  yield* await statuses('an older', { batches: open(rows.batches), jobs: open(rows.jobs) });
  const first = (some: readonly { id: string; status: string }[]) => idsOf(some.filter(isPending).slice(0, 1));
  yield* await statuses('the first changed in a sealed segment,', {
    batches: first(rows.batches),
    jobs: first(rows.jobs),
  });
  yield await measured(
    'one more job',
    newIds.batches.map((batch_id) => ({ type: 'jobs.added', data: { batch_id, jobs: [job()] } })),
  );
  yield await measured(
    'one more tag',
    newIds.batches.map((batch_id) => ({ type: 'batch.updated', data: { batch_id, tags: ['new'] } })),
  );
}

interface Ids {
  readonly batches: readonly string[];
  readonly jobs: readonly string[];
}

/** Rows of about 0.8 KB, like the loaded ones. */
function newBatchOf(jobs: number) {
  const configuration = { note: 'x'.repeat(250) };
  return newBatch(++created, { configuration, open: true, jobs: Array.from({ length: jobs }, job) });
}

function job() {
  return newJob(++created, { variables: { note: 'x'.repeat(300) } });
}

function repeat(jobs: number): Change[] {
  return Array.from({ length: runs }, () => ({ type: 'batch.created', data: newBatchOf(jobs) }));
}

function batchRuns(batch_id: string): Change {
  return { type: 'batch.updated', data: { batch_id, status: 'RUNNING', start_datetime: now() } };
}

function jobRuns(job_id: string): Change {
  return { type: 'job.updated', data: { job_id, status: 'RUNNING', start_timestamp: now() } };
}

function idsOf(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}

function now() {
  return fromMicroseconds(Date.now() * 1_000);
}
