import { type CallOptions, lifecycle } from '../../functions/data/lifecycle/lifecycle.ts';
import { submitQuizzes } from '../../functions/data/quizzes.ts';
import { getResultsKey } from '../../functions/data/results.ts';
import { fromMicroseconds } from '../../functions/timestamp.ts';
import { newBatch, newJob } from '../support/new-batch.ts';
import type { BenchRows } from './bench-rows.ts';
import type { Bench } from './measure-lists.ts';
import { dearest, judge, type Units } from './units.ts';

/** What one kind of write, or a small read, costs for a user with `size` batches. */
export interface RequestResult {
  readonly name: string;
  readonly size: number;
  /**
   * Of write units the mean, because some creations move a tail to the blocks; otherwise the
   * dearest one measured.
   */
  readonly cost: Partial<Units>;
  /** The same on behalf of an event, which the same transaction remembers. */
  readonly withEvent?: Units;
  readonly budget?: Partial<Units>;
  readonly met?: boolean;
}

/**
 * What a write is measured on: a number for new ids, and rows of the user that are still as they
 * were loaded.
 */
interface Subject {
  readonly number: number;
  readonly openBatch: string;
  readonly pendingBatch: string;
  readonly pendingJob: string;
}

interface RequestCase {
  readonly name: string;
  readonly budget?: Partial<Units>;
  readonly run: (
    repositories: ReturnType<typeof repositoriesOf>,
    subject: Subject,
    options?: CallOptions,
  ) => Promise<unknown>;
  /** False where no event does it. */
  readonly events?: false;
}

const mostSubjects = 10;
const jobUnits = 10;
const batchUnits = 16;
const resultsKey = (userId: string) => `results/${userId}/00000000-0000-4000-8000-000000000000.json`;

/** Rows of about 0.8 KB, like the loaded ones. Each case has ids of its own. */
const batchOf = (family: number, { number }: Subject, jobs: number, tags: string[] = []) =>
  newBatch(family * 1_000 + number, {
    configuration: { note: 'x'.repeat(250) },
    tags,
    jobs: jobsOf(family, number, jobs),
  });
const jobsOf = (family: number, number: number, count: number) =>
  Array.from({ length: count }, (_, at) =>
    newJob((family * 1_000 + number) * 1_000 + at, { variables: { note: 'x'.repeat(300) } }),
  );
const now = () => fromMicroseconds(Date.now() * 1000);

/** The cases run in this order on the same rows: a batch runs, is done, is closed. */
const cases: readonly RequestCase[] = [
  {
    name: 'createBatch, no jobs',
    budget: { writeUnits: batchUnits },
    run: ({ changes, userId }, subject, options) => changes.createBatch(userId, batchOf(1, subject, 0), options),
  },
  {
    name: 'createBatch, no jobs, 1 tag',
    run: ({ changes, userId }, subject, options) =>
      changes.createBatch(userId, batchOf(2, subject, 0, ['calibration']), options),
  },
  ...[1, 10, 50].map(
    (jobs): RequestCase => ({
      name: `createBatch, ${jobs} job${jobs === 1 ? '' : 's'}`,
      budget: { writeUnits: batchUnits + jobs * jobUnits },
      run: ({ changes, userId }, subject, options) =>
        changes.createBatch(userId, batchOf(jobs + 2, subject, jobs), options),
    }),
  ),
  {
    name: 'createBatches, 10 of 1 job',
    budget: { writeUnits: 10 * (batchUnits + jobUnits) },
    run: ({ changes, userId }, subject, options) =>
      changes.createBatches(
        userId,
        Array.from({ length: 10 }, (_, at) => batchOf(100 + at, subject, 1)),
        options,
      ),
  },
  ...[1, 10].map(
    (jobs): RequestCase => ({
      name: `addJobs, ${jobs} job${jobs === 1 ? '' : 's'}`,
      run: ({ changes, userId }, { openBatch, number }, options) =>
        changes.addJobs(userId, openBatch, jobsOf(200 + jobs, number, jobs), options),
    }),
  ),
  {
    name: 'recordBatchStatus, RUNNING and its time',
    budget: { writeUnits: 10 },
    run: ({ changes, userId }, { pendingBatch }, options) =>
      changes.recordBatchStatus(userId, pendingBatch, { status: 'RUNNING', start_datetime: now() }, options),
  },
  {
    name: 'recordBatchStatus, PAUSED',
    budget: { writeUnits: 10 },
    run: ({ changes, userId }, { pendingBatch }, options) =>
      changes.recordBatchStatus(userId, pendingBatch, { status: 'PAUSED' }, options),
  },
  {
    name: 'recordBatchStatus, DONE and its time',
    budget: { writeUnits: 10 },
    run: ({ changes, userId }, { pendingBatch }, options) =>
      changes.recordBatchStatus(userId, pendingBatch, { status: 'DONE', end_datetime: now() }, options),
  },
  {
    name: 'recordJobStatus, RUNNING and its time',
    budget: { writeUnits: 18 },
    run: ({ changes, userId }, { pendingJob }, options) =>
      changes.recordJobStatus(userId, pendingJob, { status: 'RUNNING', start_timestamp: now() }, options),
  },
  {
    name: 'recordJobStatus, DONE, its time and results',
    budget: { writeUnits: 18 },
    run: ({ changes, userId }, { pendingJob }, options) =>
      changes.recordJobStatus(
        userId,
        pendingJob,
        { status: 'DONE', end_timestamp: now(), results_key: resultsKey(userId) },
        options,
      ),
  },
  {
    name: 'setTags, one more',
    run: ({ changes, userId, tagsOf }, { pendingBatch }, options) =>
      changes.setTags(userId, pendingBatch, [...tagsOf(pendingBatch), 'measured'], options),
  },
  {
    name: 'closeBatch',
    run: ({ changes, userId }, { openBatch }, options) => changes.closeBatch(userId, openBatch, options),
  },
  {
    name: 'results_link',
    budget: { readUnits: 1, calls: 1 },
    events: false,
    run: ({ getKey, userId }, { pendingJob }) => getKey(userId, pendingJob),
  },
  {
    name: 'quizzes, 10',
    budget: { calls: 2, depth: 2 },
    events: false,
    run: ({ submit, userId }, { number }) =>
      submit(
        userId,
        Array.from({ length: 10 }, (_, position) => ({
          cms_quiz_id: String(number),
          position,
          data: JSON.stringify({ answer: 'B', note: 'x'.repeat(400) }),
        })),
      ),
  },
];

/** Measures every case. It changes the loaded rows, so lists have other answers afterwards. */
export async function* measureRequests(bench: Bench): AsyncGenerator<RequestResult> {
  const repositories = repositoriesOf(bench);
  const subjects = subjectsOf(bench.rows);
  const half = subjects.length / 2;
  const units = new Map<string, number>();
  for (const { name, budget, run, events } of cases) {
    const plain: Units[] = [];
    const byEvent: Units[] = [];
    for (const [at, subject] of subjects.entries()) {
      const event = at < half ? undefined : { id: `${name} ${at}`, digest: name, time: now() };
      const { cost } = await bench.measure(() => run(repositories, subject, { event }));
      (event === undefined ? plain : byEvent).push(cost);
    }
    const cost = { ...dearest(plain), writeUnits: mean(plain) };
    units.set(name, cost.writeUnits);
    yield {
      name,
      size: bench.size,
      cost,
      ...(events !== false && { withEvent: { ...dearest(byEvent), writeUnits: mean(byEvent) } }),
      ...judge(budget, cost),
    };
  }
  const between = (units.get('createBatch, 50 jobs') ?? Number.NaN) - (units.get('createBatch, 10 jobs') ?? Number.NaN);
  const each = { writeUnits: between / 40 };
  const budget = { writeUnits: jobUnits };
  yield { name: 'each further job of a new batch', size: bench.size, cost: each, ...judge(budget, each) };
}

function mean(costs: readonly Units[]): number {
  return costs.reduce((sum, { writeUnits }) => sum + writeUnits, 0) / costs.length;
}

function repositoriesOf({ client, tables, userId, rows }: Bench) {
  const tags = new Map(rows.batches.map((batch) => [batch.id, batch.tags]));
  return {
    userId,
    tagsOf: (batchId: string) => tags.get(batchId) ?? [],
    changes: lifecycle(client, tables),
    getKey: getResultsKey(client, tables),
    submit: submitQuizzes(client, tables),
  };
}

/**
 * As many as the rows offer, at most ten, spread over the sequence. The second half of them is for
 * events.
 */
export function subjectsOf({ batches, jobs, largeBatchId }: BenchRows): Subject[] {
  const open = batches.filter((batch) => batch.open);
  const pending = batches.filter((batch) => batch.status === 'PENDING');
  const pendingJobs = jobs.filter((job) => job.status === 'PENDING' && job.batch_id === largeBatchId);
  const available = Math.min(open.length, pending.length, pendingJobs.length, mostSubjects);
  const count = available - (available % 2);
  if (count === 0) throw new RangeError('The rows have nothing that could be changed.');
  const place = (rows: readonly { id: string }[], number: number) =>
    rows[Math.floor((number * rows.length) / count)]?.id ?? '';
  return Array.from({ length: count }, (_, number) => ({
    number,
    openBatch: place(open, number),
    pendingBatch: place(pending, number),
    pendingJob: place(pendingJobs, number),
  }));
}
