import { randomBytes } from 'node:crypto';
import { getBatchDetails } from '../../functions/data/batches/batch-details.ts';
import { listResultsKeys } from '../../functions/data/batches/batch-results.ts';
import { closeBatch, setTags } from '../../functions/data/batches/batch-updates.ts';
import { cancelBatch, cancelJob, cancelJobs } from '../../functions/data/batches/cancellations.ts';
import { addJobs, createBatch } from '../../functions/data/batches/new-batches.ts';
import { rebatch } from '../../functions/data/batches/rebatches.ts';
import { getResultsKey } from '../../functions/data/batches/results.ts';
import { batchList, jobList } from '../../functions/data/columns/lists.ts';
import type { Db } from '../../functions/data/dynamodb/db.ts';
import { getBatch } from '../../functions/data/rows/batches.ts';
import { listDevices } from '../../functions/data/rows/devices.ts';
import { getJob, listJobs } from '../../functions/data/rows/jobs.ts';
import { listProjects } from '../../functions/data/rows/projects.ts';
import { getSequence } from '../../functions/data/rows/sequences.ts';
import { AddJobsRequest, CreateBatchRequest } from '../../functions/schemas/batch-request.ts';
import { Claims } from '../../functions/schemas/claims.ts';
import { CancelJobsQuery, RebatchQuery } from '../../functions/schemas/job-selection.ts';
import type { TableName } from '../../functions/tables.ts';
import type { CallFigure } from '../../infra/docs/performance.ts';
import { foldAtOnce } from '../support/fold-at-once.ts';
import { loadDevices } from '../support/load-devices.ts';
import type { Measure } from '../support/measured-client.ts';
import { uuid } from '../support/new-batch.ts';
import { sequenceText } from '../support/sequence-text.ts';
import { withoutRole } from '../support/without-role.ts';
import { type Budget, excesses, mean, type Units } from './units.ts';

export interface EndpointBench {
  readonly db: Db<TableName>;
  readonly measure: Measure;
  readonly userId: string;
}

/** A figure, and what exceeds its budget. */
export type Measured<Figure> = Figure & { readonly excesses: readonly string[] };

/** A batch as it was created for one measurement, with the ids of its jobs. */
interface Subject {
  readonly id: string;
  readonly jobIds: readonly string[];
}

interface EndpointCase {
  readonly name: string;
  readonly budget?: Budget;
  /** Jobs of the open batch that it is measured on; by default none. */
  readonly jobs?: number;
  /** Whether that batch is closed before. */
  readonly closed?: true;
  /** Jobs of the batch that it creates, and returns. */
  readonly creates?: number;
  readonly run: (endpoints: ReturnType<typeof endpointsOf>, subject: Subject) => Promise<unknown>;
}

/**
 * As many creations of one row move rows from the head to the blocks once, which the mean is to
 * contain.
 */
const runs = batchList.rowsInTail;
/** A larger batch is created once: further cases are measured on it. */
const maxRepeatedJobs = 100;
const batchUnits = 16;
const jobUnits = 10;
const sequenceUnits = 2;
/** A page of the jobs of one batch, with the half unit that a strongly consistent counter costs. */
const pageUnits = 11;
let keys = 0;

const creationBudget = (jobs: number) => ({ writeUnits: batchUnits + sequenceUnits + jobs * jobUnits });

const cases: readonly EndpointCase[] = [
  {
    name: 'createBatch, open, no jobs',
    budget: creationBudget(0),
    creates: 0,
    run: ({ create }) => create(0),
  },
  ...[1, 4, 50, 5_000].map(
    (jobs): EndpointCase => ({
      name: `createBatch, ${jobs} job${jobs === 1 ? '' : 's'}`,
      budget: creationBudget(jobs),
      creates: jobs,
      run: ({ create }) => create(jobs),
    }),
  ),
  {
    name: 'createBatch, 1 job, Idempotency-Key',
    run: ({ create }) => create(1, `key ${keys++}`),
  },
  ...[1, 10, 50].map(
    (jobs): EndpointCase => ({
      name: `addJobs, ${jobs} job${jobs === 1 ? '' : 's'}`,
      jobs: 3,
      run: ({ add }, { id }) => add(id, jobs),
    }),
  ),
  ...[3, 100, 5_000].map(
    (jobs): EndpointCase => ({
      name: `getBatch, ${jobs} jobs`,
      jobs,
      run: ({ details }, { id }) => details(id),
    }),
  ),
  { name: 'getBatchStatus', jobs: 3, run: ({ batch }, { id }) => batch(id) },
  { name: 'getJob', jobs: 3, run: ({ job }, { jobIds: [id] }) => job(id!) },
  { name: 'getJobStatus', jobs: 3, run: ({ jobStatus }, { jobIds: [id] }) => jobStatus(id!) },
  { name: 'getResultsLink', jobs: 3, run: ({ resultsKey }, { jobIds: [id] }) => resultsKey(id!) },
  ...[3, 100, 5_000].map(
    (jobs): EndpointCase => ({
      name: `getFullResults, ${jobs} jobs`,
      jobs,
      run: ({ resultsKeys }, { id }) => resultsKeys(id),
    }),
  ),
  {
    name: 'listJobs?batch_id=, 100 jobs',
    budget: { readUnits: pageUnits },
    jobs: 100,
    run: ({ jobsOf }, { id }) => jobsOf(id),
  },
  { name: 'listDevices', run: ({ devices }) => devices() },
  { name: 'listProjects', run: ({ projects }) => projects() },
  { name: 'setTags, 1 new tag', jobs: 3, run: ({ tag }, { id }) => tag(id, ['measured']) },
  { name: 'closeBatch', jobs: 3, run: ({ close }, { id }) => close(id) },
  ...[4, 50].map(
    (jobs): EndpointCase => ({
      name: `rebatch, ${jobs} jobs`,
      jobs,
      closed: true,
      run: ({ repeat }, { id }) => repeat(id),
    }),
  ),
  { name: 'cancelJob', jobs: 3, run: ({ cancelJob }, { jobIds: [id] }) => cancelJob(id!) },
  { name: 'cancelJobs, 50 jobs', jobs: 50, run: ({ cancelJobs }, { id }) => cancelJobs(id) },
  ...[1, 4, 50, 5_000].map(
    (jobs): EndpointCase => ({
      name: `cancelBatch, ${jobs} job${jobs === 1 ? '' : 's'}`,
      jobs,
      run: ({ cancel }, { id }) => cancel(id),
    }),
  ),
];

/**
 * Measures what the endpoints of users do for a user who has batches already: rows of about 0.8 KB,
 * sequences below 1 KB once gzipped. Batches of thousands of jobs are measured if `large`.
 */
export async function* measureEndpoints(
  bench: EndpointBench,
  { large }: { readonly large: boolean },
): AsyncGenerator<Measured<CallFigure>> {
  await loadDevices(bench.db.client, bench.db.tables);
  const endpoints = endpointsOf(bench);
  await endpoints.create(1);
  const createdLarge = new Map<number, Subject>();
  for (const { name, budget, jobs = 0, closed, creates, run } of cases) {
    const isLarge = (creates ?? jobs) > maxRepeatedJobs;
    if (isLarge && !large) continue;
    const costs: Units[] = [];
    while (costs.length < (isLarge ? 1 : runs)) {
      const subject = createdLarge.get(jobs) ?? (await endpoints.create(jobs));
      if (closed) await endpoints.close(subject.id);
      // As the consumer does: otherwise each case would read the changes of those before.
      for (const list of [batchList, jobList]) await foldAtOnce(bench.db, { userId: bench.userId, list });
      const { value, cost } = await bench.measure(() => run(endpoints, subject));
      if (isLarge && creates !== undefined) createdLarge.set(creates, value as Subject);
      costs.push(cost);
    }
    const cost = mean(costs);
    yield { name, ...cost, excesses: excesses(cost, budget) };
  }
}

/** What each endpoint does after its input was read, for this user. */
function endpointsOf({ db, userId }: EndpointBench) {
  const claims = Claims.parse({});
  return {
    async create(jobs: number, idempotencyKey?: string): Promise<Subject> {
      const body = CreateBatchRequest.parse({
        project_id: uuid('c', 1),
        device_type: 'FRESNEL',
        sequence_builder: sequenceOfAKilobyte,
        open: true,
        configuration: { note: 'x'.repeat(250) },
        jobs: jobRequests(jobs),
      });
      const batch = await createBatch(db, { userId, idempotencyKey, claims }, body);
      return { id: batch.id, jobIds: batch.jobs?.map(({ id }) => id) ?? [] };
    },
    add: (batchId: string, jobs: number) =>
      addJobs(db, { userId, claims }, { batchId, body: AddJobsRequest.parse(jobRequests(jobs)) }),
    details: (batchId: string) => getBatchDetails(db, userId, batchId),
    batch: (batchId: string) => getBatch(db, userId, batchId),
    job: (jobId: string) => Promise.all([getJob(db, userId, jobId), getSequence(db, userId, jobId)]),
    jobStatus: (jobId: string) => getJob(db, userId, jobId),
    jobsOf: (batchId: string) =>
      listJobs(db, withoutRole(userId), {
        batch_id: [batchId],
        limit: 100,
        offset: 0,
        order_by: 'creation_order',
        order_by_direction: 'ASC',
      }),
    resultsKey: (jobId: string) => getResultsKey(db, { userId, jobId }),
    resultsKeys: (batchId: string) => listResultsKeys(db, { userId, batchId }),
    devices: () => listDevices(db),
    projects: () => listProjects(db, userId, claims),
    tag: (batchId: string, tags: string[]) => setTags(db, userId, batchId, tags),
    close: (batchId: string) => closeBatch(db, userId, batchId),
    repeat: (batchId: string) => rebatch(db, { userId, claims }, { batchId, query: RebatchQuery.parse({}) }),
    cancel: (batchId: string) => cancelBatch(db, { userId, batchId }),
    cancelJob: (jobId: string) => cancelJob(db, userId, jobId),
    cancelJobs: (batchId: string) => cancelJobs(db, { userId, batchId }, CancelJobsQuery.parse({})),
  };
}

const sequenceOfAKilobyte = sequenceText({
  name: randomBytes(500).toString('hex'),
  variables: { note: { type: 'float', value: [0] } },
});

function jobRequests(count: number) {
  return Array.from({ length: count }, () => ({ runs: 100, variables: { note: 'x'.repeat(300) } }));
}
