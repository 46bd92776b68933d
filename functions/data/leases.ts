/**
 * Devices do the work: a worker claims a batch of its device, runs the jobs of it one after the
 * other, and reports each. It keeps the batch by a lease, which ends a minute after the last
 * heartbeat: then the next claim takes the batch over. At least once, with fencing: a worker may
 * die at any moment, and whatever it does after it has lost its lease is refused.
 */

import { setTimeout as delay } from 'node:timers/promises';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { CorruptData, IllegalTransition, InvalidInput, LeaseLost } from '../errors.ts';
import { addToRequestLog, countInRequestLog, describeError } from '../request-log.ts';
import { leasedResultsKey } from '../results-key.ts';
import { BatchRow, batchRowDefaults } from '../schemas/batch.ts';
import { JobRow, jobRowDefaults } from '../schemas/job.ts';
import {
  type Claim,
  type Heartbeat,
  type LeasedBatch,
  type LeasedJob,
  type LeaseReference,
  leaseText,
  type NextJob,
  type ReportRequest,
} from '../schemas/lease.ts';
import { countRunnable, isFinalJob, isRunnable } from '../statuses.ts';
import type { TableNames } from '../tables.ts';
import { fromMilliseconds } from '../timestamp.ts';
import { getRow, queryFirstPage } from './dynamodb/reads.ts';
import { commitTask, writeContext } from './lifecycle/commit-tasks.ts';
import type { Change, Draft } from './lifecycle/draft.ts';
import { firstPendingPosition } from './lifecycle/pending-calls.ts';
import { isClaimable } from './lifecycle/queue-writes.ts';
import {
  type LeasedRequest,
  noSuchJob,
  type Progress,
  progressOf,
  reportJob as reportChange,
  startJob,
} from './lifecycle/run-jobs.ts';
import { batchIdOfKey, tagOfKey } from './queue/fair-order.ts';
import { type QueueOptions, workQueue } from './queue/queue.ts';
import { leaseLost, leaseOf, maxIdleMilliseconds, type QueueItem } from './queue/queue-item.ts';
import { getSequence } from './sequences.ts';

/** How often a worker sends a heartbeat: two may be lost. */
const heartbeatSeconds = 20;

/** Seconds after which a worker asks again: for a batch, and for a further job of an open one. */
export const claimAgainSeconds = 3;
const nextAgainSeconds = 2;

/** How long an open batch that lost its device while it waited is left alone. */
const idleAgainMilliseconds = 5_000;

/** A claim stops looking for work after this time: it must answer before its function ends. */
const maxSearchMilliseconds = 8_000;

/** How often the index is asked for a job that it may not have yet, or that lies further on. */
const maxLooks = 5;

/**
 * After so many pages of jobs that have ended, up to 1 MB each, a look stops; the next one goes on
 * there.
 */
const maxPagesInLook = 20;

type Tables = TableNames<'Batches' | 'Jobs' | 'Columns' | 'DeviceQueue' | 'Sequences'>;

export interface ReportOptions extends QueueOptions {
  /**
   * Whether results are under this key. Only asked under a valid lease: a made-up lease must
   * learn nothing from the answer.
   */
  readonly hasResults: (key: string) => Promise<boolean>;
}

/**
 * The function that claims the first batch of a device that nobody holds, with its first unfinished
 * job; both are RUNNING then. Undefined when there is none. It passes over batches whose lease
 * lives, and takes over those whose device was lost: a job that has lost three devices, or that
 * nobody was heard of after ten claims, becomes ERROR by it, an open batch that waited for two
 * minutes TIMED_OUT. A repeated claim gets another batch: two workers of one name must not have the
 * same. A batch that cannot begin is passed over, too: what stopped it is thrown only where no
 * other begins.
 *
 * Costs, beside the lifecycle's writes: 2 read units for each 25 batches of the queue, 3 write
 * units, another one when the device's clock moves, and the reads of batch, job and sequences.
 */
export function claimBatch(
  client: DynamoDBDocumentClient,
  tables: Tables,
  options: QueueOptions = {},
): (deviceType: string, worker: string) => Promise<Claim | undefined> {
  const { now = Date.now } = options;
  const queue = workQueue(client, tables, options);
  const { advance, sequenceOf, leasedJob } = jobRunner(client, tables, options);
  return async (deviceType, worker) => {
    const end = now() + maxSearchMilliseconds;
    let failure: { readonly error: unknown } | undefined;
    for await (const { items, clock } of queue.pages(deviceType)) {
      const free = items.filter(({ lease_until }) => lease_until <= now());
      for (let lostRaces = 0; free.length > 0 && now() <= end; ) {
        // A worker that lost a race has company, all at the same batches: spread over the next
        // ones.
        const at = Math.floor(Math.random() * Math.min(free.length, 1 + 2 * lostRaces));
        const [item] = free.splice(at, 1) as [QueueItem];
        const taken = await queue.take(item, worker);
        if (taken === undefined) {
          lostRaces += 1;
          countInRequestLog({ LostRaces: 1 });
          continue;
        }
        if (taken.losses + taken.unseen_losses > item.losses + item.unseen_losses) {
          addToRequestLog({ lost_worker: item.worker });
          countInRequestLog({ LeasesLost: 1 });
        }
        // A batch that cannot begin, such as one whose rows are broken, must not keep the device
        // from those behind it.
        const beginning = beginOrRelease(taken).catch((error: unknown) => {
          failure ??= { error };
          addToRequestLog({ failed_batch: batchIdOfKey(taken.key), begin_error: describeError(error) });
          return undefined;
        });
        const [claim] = await Promise.all([beginning, moveClock(deviceType, clock, tagOfKey(taken.key))]);
        if (claim !== undefined) return claim;
      }
      if (now() > end) break;
    }
    if (failure !== undefined) throw failure.error;
    return undefined;
  };

  /** What fails here failed before the worker knew of the lease: nobody would use it. */
  async function beginOrRelease(item: QueueItem): Promise<Claim | undefined> {
    try {
      return await begin(item);
    } catch (error) {
      // The batch left the queue meanwhile.
      if (error instanceof LeaseLost) return undefined;
      await queue.release(leaseOf(item)).catch((failure) => addToRequestLog({ release_error: describeError(failure) }));
      throw error;
    }
  }

  async function begin(item: QueueItem): Promise<Claim | undefined> {
    const lease = leaseOf(item);
    const batchId = batchIdOfKey(item.key);
    addToRequestLog({ batch_id: batchId, fence: item.fence });
    const [progress, sequence_builder] = await Promise.all([
      advance(lease, item.place),
      sequenceOf(item.user_id, batchId),
    ]);
    switch (progress.kind) {
      case 'runs':
        countInRequestLog({ Claims: 1 });
        return {
          lease: leaseText(lease),
          expires_at: timeOf(item.lease_until),
          heartbeat_seconds: heartbeatSeconds,
          batch: { ...batchForDevice(progress.batch), sequence_builder },
          job: await leasedJob(progress.job),
        };
      case 'waits':
        // It has lost its device. Jobs that a user adds are found soon, and that it waited for too
        // long.
        await queue.release(lease, nextLookAt(progress.idleSince));
        return undefined;
      case 'looks':
        await queue.release(lease);
        return undefined;
      case 'ended':
        return undefined;
    }
  }

  function nextLookAt(idleSince: number): number {
    const timedOutAt = idleSince + maxIdleMilliseconds;
    const again = now() + idleAgainMilliseconds;
    return timedOutAt > now() ? Math.min(timedOutAt, again) : again;
  }

  /**
   * A clock that stands still costs a little fairness, never a batch: the claim is not given up for
   * it.
   */
  async function moveClock(deviceType: string, clock: number | undefined, tag: number): Promise<void> {
    if (clock !== undefined && tag <= clock) return;
    try {
      await queue.moveClock(deviceType, tag);
    } catch (error) {
      addToRequestLog({ clock_error: describeError(error) });
    }
  }
}

/**
 * The function that keeps a lease alive for another minute, and says whether to stop the job: it
 * has ended, or its batch has. Throws LeaseLost; NotFound when the batch has no such job. 1 write
 * unit and 1 read unit for each 4 KB of the job.
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
    if (item === undefined) return { expires_at: timeOf(now()), cancel: true };
    if (jobId !== null && job === undefined) throw noSuchJob();
    return { expires_at: timeOf(item.lease_until), cancel: job !== undefined && isFinalJob(job) };
  };
}

/**
 * The function that finds the key under which a job's results are uploaded. Throws LeaseLost;
 * NotFound when the batch has no such job; IllegalTransition when it is not the one that runs under
 * this lease. 2 read units; 1 write unit where it is the first call under the lease.
 */
export function getUploadKey(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Jobs' | 'DeviceQueue'>,
  options?: QueueOptions,
): (lease: LeaseReference, jobId: string) => Promise<string> {
  const queue = workQueue(client, tables, options);
  const jobOf = getJobRow(client, tables);
  return async (lease, jobId) => {
    const [item, job] = await Promise.all([queue.get(lease), jobOf(lease, jobId)]);
    if (item === undefined) throw leaseLost();
    if (job === undefined) throw noSuchJob();
    if (isFinalJob(job) || job.status === 'PENDING' || job.creation_order !== item.place) {
      throw new IllegalTransition('job_not_leased', 'The job is not the one that runs under this lease.');
    }
    if (item.seen !== true) await queue.extend(lease);
    return leasedResultsKey(lease.userId, jobId, lease.fence);
  };
}

/**
 * The function that reports how a job ended, and starts the next one of the batch. A repeated
 * report answers the same and changes nothing. Throws LeaseLost; InvalidInput when the report has
 * `results` that were not uploaded under this lease; NotFound when the batch has no such job;
 * IllegalTransition when it has ended in another way, or does not run under this lease.
 *
 * Costs, beside the lifecycle's: 2 write units; 2.5 read units and those of the job's sequence.
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
    const key = leasedResultsKey(lease.userId, jobId, lease.fence);
    const update = {
      status,
      ...(start_timestamp !== null && { start_timestamp }),
      ...(end_timestamp !== null && { end_timestamp }),
      ...(errors !== null && { errors }),
      ...(results && { results_key: key }),
    };
    try {
      const item = await queue.get(lease);
      if (item === undefined) throw leaseLost();
      if (results && !(await hasResults(key))) throw noSuchResults();
      const found = await findJobs(lease, item.place);
      const request = { lists: context.lists, lease, now: context.now(), ...found };
      const progress = await commit(context, request, reportChange(request, { jobId, update }));
      return await nextJob(progress.kind === 'looks' ? await advance(lease, progress.place) : progress);
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
      // The batch may have ended by this very report.
      const job = await jobOf(lease, jobId);
      const isRepeated = job?.fence === lease.fence && job.status === status && (await queue.get(lease)) === undefined;
      if (!isRepeated) throw error;
      return { job: null, done: true, retry_after: null };
    }
  };
}

function noSuchResults(): InvalidInput {
  const msg = 'Input should be true only after the results were uploaded under this lease';
  return new InvalidInput([{ loc: ['body', 'results'], msg, type: 'value_error' }]);
}

/**
 * The function that gives the job that runs under a lease, or starts the next one; the lease lives
 * for another minute. An open batch without further jobs waits for two minutes, then it is
 * TIMED_OUT. Where a call is adding jobs all that time, the lease ends instead, and the batch is
 * taken again once the call is complete. Throws LeaseLost. 1 write unit and 1 read unit while the
 * batch waits.
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
    const { idle_since } = item;
    if (idle_since !== undefined && now() - idle_since < maxIdleMilliseconds) {
      const batch = await batchOf(lease.userId, batchIdOfKey(lease.key));
      if (batch === undefined) throw new CorruptData('A batch in a queue is missing.');
      if (!isClaimable(batch)) return ended;
      if (countRunnable(batch.jobs_count_per_status) === 0)
        return runner.nextJob({ kind: 'waits', batch, idleSince: idle_since });
    }
    try {
      const progress = await runner.advance(lease, item.place);
      if (
        progress.kind === 'waits' &&
        now() - progress.idleSince >= maxIdleMilliseconds &&
        firstPendingPosition(progress.batch) < Number.POSITIVE_INFINITY
      ) {
        // The call that adds jobs may have died, and is ended in a while: until then the device has
        // other work.
        await queue.release(lease, now() + idleAgainMilliseconds);
        return ended;
      }
      return await runner.nextJob(progress);
    } catch (error) {
      if (error instanceof LeaseLost && (await queue.get(lease)) === undefined) return ended;
      throw error;
    }
  };
}

const ended: NextJob = { job: null, done: true, retry_after: null };

/**
 * The function that gives a lease up, so that its batch can be claimed at once. A lease that is
 * lost stays lost. 1 write unit.
 */
export function releaseLease(
  client: DynamoDBDocumentClient,
  tables: TableNames<'DeviceQueue'>,
  options?: QueueOptions,
): (lease: LeaseReference) => Promise<void> {
  const queue = workQueue(client, tables, options);
  return (lease) => queue.release(lease);
}

/** Commits the change, and returns what the device does next. */
async function commit(
  context: ReturnType<typeof writeContext>,
  { lease }: LeasedRequest,
  change: Change,
): Promise<Progress> {
  const { last } = await commitTask({ ...context, userId: lease.userId }, { changes: [change] });
  return progressOf(last as Draft, lease);
}

function jobRunner(client: DynamoDBDocumentClient, tables: Tables, options: QueueOptions) {
  const context = writeContext(client, tables, options);
  const sequenceOf = getSequence(client, tables);
  return { advance, findJobs, nextJob, sequenceOf, leasedJob };

  /**
   * Starts the first unfinished job from this place on. The index may not have it yet: then it is
   * asked again.
   */
  async function advance(lease: LeaseReference, from: number): Promise<Progress> {
    let progress: Progress = { kind: 'looks', place: from };
    for (let looks = 1; looks <= maxLooks && progress.kind === 'looks'; looks++) {
      if (looks > 2) await delay(50 * 2 ** looks);
      const found = await findJobs(lease, progress.place);
      const request = { lists: context.lists, lease, now: context.now(), ...found };
      progress = await commit(context, request, startJob(request));
    }
    return progress;
  }

  /**
   * The ids of the first unfinished jobs from this place on, two at most, as an index knows them,
   * and the place of the first, or the one where the look ended. Places have no gaps: where the
   * index has one, it lags, and what lies behind the gap is not among the first.
   */
  async function findJobs(
    { userId, key }: LeaseReference,
    start: number,
  ): Promise<Pick<LeasedRequest, 'jobIds' | 'from'>> {
    const found: { readonly id: string; readonly place: number }[] = [];
    let place = start;
    const result = () => ({ jobIds: found.slice(0, 2).map(({ id }) => id), from: found[0]?.place ?? place });
    for (let pages = 1; ; pages++) {
      const { items, more } = await queryFirstPage(client, {
        table: tables.Jobs,
        index: 'by_batch',
        partition: { user_id: userId, batch_id: batchIdOfKey(key) },
        sortKey: 'creation_order',
        range: { between: [place, Number.MAX_SAFE_INTEGER] },
        consistent: false,
        attributes: ['id', 'creation_order', 'status'],
        pageLimit: pages === 1 ? 4 : 100,
      });
      for (const { id, creation_order, status } of items) {
        if (creation_order !== place) return result();
        if (isRunnable({ status })) found.push({ id: String(id), place });
        place += 1;
      }
      if (!more || found.length > 0 || pages > maxPagesInLook) return result();
    }
  }

  async function nextJob(progress: Progress): Promise<NextJob> {
    if (progress.kind === 'ended') return ended;
    if (progress.kind !== 'runs') return { job: null, done: false, retry_after: nextAgainSeconds };
    return { job: await leasedJob(progress.job), done: false, retry_after: null };
  }

  async function leasedJob({ id, user_id, runs, variables }: JobRow): Promise<LeasedJob> {
    const sequence = await sequenceOf(user_id, id);
    return { id, runs, variables: variables === null ? null : JSON.parse(variables), sequence };
  }
}

function batchForDevice(batch: BatchRow): Omit<LeasedBatch, 'sequence_builder'> {
  const { id, open, device_type, configuration, backend_configuration } = batch;
  return {
    id,
    open,
    device_type,
    configuration: configuration === null ? null : JSON.parse(configuration),
    backend_configuration,
  };
}

/** The function that reads a job of a lease's batch; undefined when the batch has no such job. */
export function getJobRow(client: DynamoDBDocumentClient, tables: TableNames<'Jobs'>) {
  return async ({ userId, key }: LeaseReference, jobId: string): Promise<JobRow | undefined> => {
    const found = await getRow(client, {
      table: tables.Jobs,
      key: { user_id: userId, id: jobId },
      schema: JobRow,
      defaults: jobRowDefaults,
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
      defaults: batchRowDefaults,
    });
}

function timeOf(milliseconds: number): string {
  return fromMilliseconds(milliseconds);
}
