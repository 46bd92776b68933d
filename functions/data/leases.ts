/**
 * Devices do the work: a worker claims a batch of its device, runs the jobs of it one after the
 * other, and reports each. It keeps the batch by a lease, which ends a minute after the last
 * heartbeat: then the next claim takes the batch over. At least once, with fencing: a worker may
 * die at any moment, and whatever it does after it has lost its lease is refused.
 */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { CorruptData, IllegalTransition, InvalidInput, LeaseLost } from '../errors.ts';
import { addToRequestLog, describeError } from '../request-log.ts';
import { leasedResultsKey } from '../results-key.ts';
import { BatchRow } from '../schemas/batch.ts';
import { JobRow } from '../schemas/job.ts';
import type { Heartbeat, LeaseReference, NextJob, ReportRequest } from '../schemas/lease.ts';
import { countRunnable, isFinalJob } from '../statuses.ts';
import type { TableNames } from '../tables.ts';
import { fromMilliseconds } from '../timestamp.ts';
import { getRow } from './dynamodb/reads.ts';
import { commitLeased, ended, idleAgainMilliseconds, jobRunner, leaseReleaser } from './job-runner.ts';
import { type LifecycleOptions, writeContext } from './lifecycle/commit-tasks.ts';
import { firstPendingPosition } from './lifecycle/pending-calls.ts';
import { isClaimable } from './lifecycle/queue-writes.ts';
import { isOverTime, isReported, noSuchJob, reportJob as reportChange } from './lifecycle/run-jobs.ts';
import { batchIdOfKey } from './queue/fair-order.ts';
import { type QueueOptions, workQueue } from './queue/queue.ts';
import {
  isJobOverTime,
  leaseLost,
  leaseMilliseconds,
  leaseOf,
  maxIdleMilliseconds,
  type QueueItem,
} from './queue/queue-item.ts';

type Tables = TableNames<'Batches' | 'Jobs' | 'Columns' | 'DeviceQueue' | 'Sequences'>;

export interface ReportOptions extends QueueOptions, Pick<LifecycleOptions, 'shotsOf'> {
  /**
   * Whether results are under this key. Only asked under a valid lease: a made-up lease must
   * learn nothing from the answer.
   */
  readonly hasResults: (key: string) => Promise<boolean>;
}

/**
 * The function that keeps a lease alive for another minute, and says whether to stop the job: it
 * has ended, its batch has, or it has run for longer than it may. A minute after that the lease is
 * taken from a worker that goes on. Throws LeaseLost; NotFound when
 * the batch has no such job. 1 write unit and 1 read unit for each 4 KB of the job.
 */
export function extendLease(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Jobs' | 'DeviceQueue'>,
  options: QueueOptions = {},
): (lease: LeaseReference, jobId: string | null) => Promise<Heartbeat> {
  const { now = Date.now } = options;
  const queue = workQueue(client, tables, options);
  const jobOf = getJobRow(client, tables);
  return async (lease, jobId) => {
    const [item, job] = await Promise.all([queue.extend(lease), jobId === null ? undefined : jobOf(lease, jobId)]);
    if (item === undefined) return { expires_at: fromMilliseconds(now()), cancel: true };
    if (jobId !== null && job === undefined) throw noSuchJob();
    const cancel = job !== undefined && (isFinalJob(job) || isJobOverTime(item, now()));
    // A worker that only sends heartbeats, and does not stop the job, must not keep it for good.
    const isKept = !isJobOverTime(item, now() - leaseMilliseconds);
    if (!isKept) await queue.expire(lease);
    return { expires_at: fromMilliseconds(isKept ? item.lease_until : now()), cancel };
  };
}

/**
 * The function that finds the key under which a job's results of this SHA-256 are uploaded: until
 * another link is asked for, a report means these. Throws LeaseLost; NotFound when the batch has no
 * such job; IllegalTransition when it is not the one that runs under this lease. 2 read units; 1
 * write unit.
 */
export function getUploadKey(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Jobs' | 'DeviceQueue'>,
  options?: QueueOptions,
): (lease: LeaseReference, jobId: string, sha256: string) => Promise<string> {
  const queue = workQueue(client, tables, options);
  const jobOf = getJobRow(client, tables);
  return async (lease, jobId, sha256) => {
    const [item, job] = await Promise.all([queue.get(lease), jobOf(lease, jobId)]);
    if (item === undefined) throw leaseLost();
    if (job === undefined) throw noSuchJob();
    if (isFinalJob(job) || job.status === 'PENDING' || job.creation_order !== item.place) {
      throw new IllegalTransition('job_not_leased', 'The job is not the one that runs under this lease.');
    }
    if ((await queue.extend(lease, sha256)) === undefined) throw leaseLost();
    return leasedResultsKey(lease.userId, jobId, { fence: lease.fence, sha256 });
  };
}

/**
 * The function that reports how a job ended, and starts the next one of the batch. A repeated
 * report answers the same and changes nothing. Throws LeaseLost; InvalidInput when the report has
 * `results` that were not uploaded under this lease; NotFound when the batch has no such job;
 * IllegalTransition when it has ended in another way, or does not run under this lease.
 *
 * Costs, beside the lifecycle's: 5 write units, one of them for what is known of the device's job
 * times (no item that a report writes anyway outlives the batch and is free of conflicts between
 * workers); 2.5 read units, and what the job's sequence takes.
 * A GET of S3 where the job is DONE with results and without `runs`, to count its shots.
 */
export function reportJob(
  client: DynamoDBDocumentClient,
  tables: Tables,
  options: ReportOptions,
): (lease: LeaseReference, jobId: string, report: ReportRequest) => Promise<NextJob> {
  const { hasResults } = options;
  const context = writeContext(client, tables, options);
  const queue = workQueue(client, tables, options);
  const jobOf = getJobRow(client, tables);
  const { advance, findJobs, nextJob } = jobRunner(client, tables, options);
  return async (lease, jobId, report) => {
    const { status, start_timestamp, end_timestamp, errors, results } = report;
    try {
      const item = await queue.get(lease);
      if (item === undefined) throw leaseLost();
      const results_key = results ? await uploadedKey(lease, jobId, item) : undefined;
      const update = {
        status,
        ...(start_timestamp !== null && { start_timestamp }),
        ...(end_timestamp !== null && { end_timestamp }),
        ...(errors !== null && { errors }),
        ...(results_key !== undefined && { results_key }),
      };
      const found = await findJobs(lease, item.place);
      const request = { lists: context.lists, lease, now: context.now(), ...found };
      const progress = await commitLeased(context, request, reportChange(request, { jobId, update }));
      const next = progress.kind === 'looks' ? await advance(lease, progress.place) : progress;
      const [answer] = await Promise.all([nextJob(lease, next), countJob(item, jobId)]);
      return answer;
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
      // The lease may have ended by this very report.
      const job = await jobOf(lease, jobId);
      if (job?.fence !== lease.fence || !isReported(job, lease, status)) throw error;
      if (!(await queue.wasGivenUp(lease))) throw error;
      return ended;
    }
  };

  /**
   * Counts how long the job occupied its worker. No report fails because that is not known.
   */
  async function countJob(item: QueueItem, jobId: string): Promise<void> {
    const { job_id, job_since, job_shots: shots } = item;
    if (job_id !== jobId || job_since === undefined) return;
    try {
      await queue.noteWorker(item.device_type, item.worker, { seconds: (context.now() - job_since) / 1_000, shots });
    } catch (error) {
      addToRequestLog({ job_time_error: describeError(error) });
    }
  }

  /**
   * The key of the results for which a link was asked last. Of a repeated report it is that of the
   * first: the link may have been for the next job since.
   */
  async function uploadedKey(lease: LeaseReference, jobId: string, item: QueueItem): Promise<string> {
    const { results_sha256: sha256 } = item;
    const key = sha256 && leasedResultsKey(lease.userId, jobId, { fence: lease.fence, sha256 });
    if (key && (await hasResults(key))) return key;
    const job = await jobOf(lease, jobId);
    if (job?.fence !== lease.fence || job.results_key === null) throw noSuchResults();
    return job.results_key;
  }
}

function noSuchResults(): InvalidInput {
  const msg = 'Input should be true only after the results were uploaded under this lease';
  return new InvalidInput([{ loc: ['body', 'results'], msg, type: 'value_error' }]);
}

/**
 * The function that gives the job that runs under a lease, or starts the next one; the lease lives
 * for another minute. An open batch without further jobs waits for two minutes, then it is
 * TIMED_OUT; one that the device has had for an hour goes behind the others. Where a call is adding
 * jobs all that time, the lease ends instead, and the batch is taken again once the call is
 * complete; so it does where an operator lets the device start nothing. Throws LeaseLost. 1 write
 * unit and 1 read unit while the batch waits.
 */
export function nextJob(
  client: DynamoDBDocumentClient,
  tables: Tables,
  options: QueueOptions = {},
): (lease: LeaseReference) => Promise<NextJob> {
  const { now = Date.now } = options;
  const queue = workQueue(client, tables, options);
  const runner = jobRunner(client, tables, options);
  const batchOf = getBatchRow(client, tables);
  return async (lease) => {
    const item = await queue.extend(lease);
    if (item === undefined) return ended;
    const { idle_since, rules_until = 0 } = item;
    if (idle_since !== undefined && now() - idle_since < maxIdleMilliseconds(item)) {
      const batch = await batchOf(lease.userId, batchIdOfKey(lease.key));
      if (batch === undefined) throw new CorruptData('A batch in a queue is missing.');
      if (!isClaimable(batch)) return ended;
      const keepsWaiting = now() < rules_until && !isOverTime(batch, item, now());
      if (countRunnable(batch.jobs_count_per_status) === 0 && keepsWaiting)
        return runner.nextJob(lease, { kind: 'waits', batch, idleSince: idle_since });
    }
    try {
      const progress = await runner.advance(lease, item.place);
      if (
        progress.kind === 'waits' &&
        now() - progress.idleSince >= maxIdleMilliseconds(item) &&
        firstPendingPosition(progress.batch) < Number.POSITIVE_INFINITY
      ) {
        // The call that adds jobs may have died, and is ended in a while: until then the device has
        // other work.
        await runner.release(lease, item.place, { kind: 'released', until: now() + idleAgainMilliseconds });
        return ended;
      }
      return await runner.nextJob(lease, progress);
    } catch (error) {
      if (error instanceof LeaseLost && (await queue.get(lease)) === undefined) return ended;
      throw error;
    }
  };
}

/**
 * The function that gives a lease up, so that its batch can be claimed at once: see releaseBatch. A
 * lease that is lost stays lost. Costs, beside the lifecycle's: 2 write units, 2.5 read units.
 */
export function releaseLease(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs' | 'Columns' | 'DeviceQueue'>,
  options: QueueOptions = {},
): (lease: LeaseReference) => Promise<void> {
  const queue = workQueue(client, tables, options);
  const { release } = leaseReleaser(client, tables, options);
  return async (lease) => {
    const item = await queue.get(lease).catch(ignoreLost);
    if (item !== undefined) await release(lease, item.place, { kind: 'released', until: 0 }).catch(ignoreLost);
  };
}

/** A lease that is lost already need not be given up. */
function ignoreLost(error: unknown): undefined {
  if (!(error instanceof LeaseLost)) throw error;
}

/**
 * The function that puts a batch back whose lease has run out, so that its user sees that it waits:
 * see releaseBatch. Does nothing where a claim or a heartbeat came first. Costs as releaseLease.
 */
export function putBackBatch(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs' | 'Columns' | 'DeviceQueue'>,
  options: QueueOptions = {},
): (item: QueueItem) => Promise<void> {
  const { release } = leaseReleaser(client, tables, options);
  return (item) => release(leaseOf(item), item.place, { kind: 'lapsed' }).catch(ignoreLost);
}

/** The function that reads a job of a lease's batch; undefined when the batch has no such job. */
export function getJobRow(client: DynamoDBDocumentClient, tables: TableNames<'Jobs'>) {
  return async ({ userId, key }: LeaseReference, jobId: string): Promise<JobRow | undefined> => {
    const found = await getRow(client, {
      table: tables.Jobs,
      key: { user_id: userId, id: jobId },
      schema: JobRow,
    });
    return found?.batch_id === batchIdOfKey(key) ? found : undefined;
  };
}

function getBatchRow(client: DynamoDBDocumentClient, tables: TableNames<'Batches'>) {
  return (userId: string, batchId: string): Promise<BatchRow | undefined> =>
    getRow(client, {
      table: tables.Batches,
      key: { user_id: userId, id: batchId },
      schema: BatchRow,
    });
}
