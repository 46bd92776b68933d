/**
 * What devices do with the jobs of a batch whose lease they hold. Each operation is conditional on
 * the lease's fence.
 */

import { CorruptData, IllegalTransition, NotFound } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import type { LeaseReference } from '../../schemas/lease.ts';
import { countRunnable, countUnfinished, isFinalJob, isRunnable } from '../../statuses.ts';
import { earlierOf, fromMilliseconds, laterOf, toMicroseconds } from '../../values/timestamp.ts';
import { calibrationInForce } from '../queue/calibrations-in-force.ts';
import { batchIdOfKey } from '../queue/fair-order.ts';
import {
  deviceMicroseconds,
  isJobOverTime,
  lastHeartbeat,
  leaseLost,
  leaseMilliseconds,
  maxIdleMilliseconds,
  maxLosses,
  maxUnseenLosses,
  type QueueItem,
} from '../queue/queue-item.ts';
import { whyTimedOut } from './creation.ts';
import {
  type Change,
  changesNothing,
  type Draft,
  type LeaseUpdate,
  ofLeasedJob,
  reportedBatch,
  reportedJob,
  visibleBatch,
  visibleJob,
  withJobs,
  withRows,
} from './draft.ts';
import { JobsLeft } from './end-jobs.ts';
import { firstPendingPosition } from './pending-calls.ts';
import { isClaimable } from './queue-writes.ts';
import { type JobUpdate, type UpdateSource, updateRow } from './update-row.ts';

/** A request of a device under its lease. */
export interface LeasedRequest {
  readonly lease: LeaseReference;
  /** Milliseconds since 1970. */
  readonly now: number;
  /**
   * Jobs of the batch, in their order: all that may be unfinished from the lease's `place` on, or
   * the first of them.
   */
  readonly jobIds: readonly string[];
  /** No job of the batch before this place can run any more: the lease goes on there. */
  readonly from: number;
  /** Set by a claim, which also hands out anew a job that a lost device has begun. */
  readonly isClaim?: true | undefined;
}

export type Progress =
  | { readonly kind: 'runs'; readonly batch: BatchRow; readonly job: JobRow }
  /** The batch has no job for now: it is open, or a call is adding jobs. */
  | { readonly kind: 'waits'; readonly batch: BatchRow; readonly idleSince: number }
  /** The batch has left the queue, or the lease was given up. */
  | { readonly kind: 'ended' }
  /** The lease was given up because an operator lets the device start nothing. */
  | { readonly kind: 'paused' }
  /** There is a job from this place on, which was not among those given. */
  | { readonly kind: 'search'; readonly place: number };

/**
 * Starts the first unfinished job: it and its batch become RUNNING.
 *
 * - A job that a lost device has begun is repeated. It is ERROR instead if it has run for longer
 *   than it may, has lost its device three times, or was handed out by ten claims without a later
 *   call.
 * - An open batch without a job to run waits. After two minutes it is TIMED_OUT, unless a job is
 *   CANCELING.
 * - If an operator lets the device start nothing, the lease is given up.
 * - The job carries the calibration that is in force at the request's time.
 *
 * Throws LeaseLost.
 */
export function startJob(request: LeasedRequest): Change {
  return { ...underLease(request, (draft, held) => startNext(draft, request, held)), startsJobs: true };
}

/**
 * Ends the job that the device runs, and starts the next as startJob does. A job that has run for
 * longer than it may is ERROR, whatever is reported. Throws LeaseLost; NotFound when the batch has
 * no such job; IllegalTransition when the device does not run the job, or the job has ended in
 * another way.
 */
export function reportJob(
  request: LeasedRequest,
  { jobId, update }: { readonly jobId: string; readonly update: JobUpdate & Pick<JobRow, 'status'> },
): Change {
  const { lease, now } = request;
  const operation = underLease(request, (draft, held) => {
    const job = visibleJob(draft, jobId);
    if (job === undefined || job.batch_id !== batchIdOfKey(lease.key)) throw noSuchJob();
    if (isFinalJob(job)) {
      if (isReported(job, lease, update.status)) return draft;
      throw new IllegalTransition('job_ended', `The job is ${job.status} and cannot become ${update.status}.`);
    }
    if (job.creation_order !== held.place || job.status === 'PENDING' || held.idle_since !== undefined) {
      throw jobNotLeased();
    }
    const ended = endJob(draft, request, { held, jobId, update: isJobOverTime(held, now) ? overTime(held) : update });
    return startNext(ended, request, { ...after(held, job), seen: true, lease_until: now + leaseMilliseconds });
  });
  return { ...operation, startsJobs: true, jobIds: [...new Set([jobId, ...operation.jobIds])] };
}

/** What becomes of a batch whose lease ends. */
export type LeaseEnd =
  /** It can be claimed from this time on, in milliseconds since 1970; 0: at once. */
  | { readonly kind: 'released'; readonly until: number }
  /** Its lease ran out: the next claim counts the loss. */
  | { readonly kind: 'lapsed' }
  /** Others go first. */
  | { readonly kind: 'goes behind' }
  /** The device starts nothing now. */
  | { readonly kind: 'paused' };

/**
 * Gives up the lease: the batch and the running job are PENDING again. The batch counts as not
 * started, unless jobs of it have ended. A job that has run for longer than it may is ERROR. An
 * open batch without jobs to run leaves the queue until it gets some. Throws LeaseLost; JobsLeft
 * when the running job is not among the given jobs.
 */
export function releaseBatch(request: LeasedRequest, end: LeaseEnd): Change {
  return underLease(request, (draft, held) =>
    end.kind === 'lapsed' && held.lease_until > request.now ? draft : waitAgain(draft, request, { held, end }),
  );
}

function waitAgain(
  before: Draft,
  request: LeasedRequest,
  { held: heldBefore, end }: { readonly held: LeaseUpdate; readonly end: LeaseEnd },
): Draft {
  const { lease, now, jobIds } = request;
  const until = end.kind === 'lapsed' ? lastHeartbeat(heldBefore) : now;
  const { draft, held } = endOverTime(before, request, { held: heldBefore, until });
  if (held !== heldBefore && !isClaimable(visibleBatch(draft, batchIdOfKey(lease.key)) as BatchRow)) {
    return withLease(draft, { ...held, ...(end.kind === 'lapsed' && { put_back: true }) });
  }
  const batch = reportedBatch(draft, batchIdOfKey(lease.key)) as BatchRow;
  const { status, start_datetime, jobs_count, jobs_count_per_status: counts } = batch;
  const running = jobIds
    .flatMap((id) => reportedJob(draft, id) ?? [])
    .filter((job) => job.batch_id === batch.id && job.status === 'RUNNING');
  if (running.length === 0 && counts.RUNNING > 0 && held.idle_since === undefined) throw new JobsLeft();
  const time = fromMilliseconds(now);
  const jobs = running.map(
    ({ calibration, ...job }): JobRow => ({
      ...job,
      ...(job.creation_order === held.place && { device_us: deviceMicroseconds(job, held, until) }),
      status: 'PENDING',
      start_timestamp: null,
      updated_at: laterOf(job.updated_at, time),
      rev: job.rev + 1,
    }),
  );
  const waiting: BatchRow = {
    ...taken(batch),
    status: status === 'RUNNING' ? 'PENDING' : status,
    start_datetime: jobs_count > countUnfinished(counts) ? start_datetime : null,
    updated_at: laterOf(batch.updated_at, time),
    rev: batch.rev + 1,
  };
  return withLease(withBatch(draft, { batch: waiting, jobs }), {
    ...withoutJob(held),
    fence: held.item.fence + 1,
    ...(end.kind === 'released' && { lease_until: end.until }),
    ...(end.kind === 'paused' && { lease_until: 0, paused: true }),
    ...(end.kind === 'goes behind' ? { goesBehind: true } : { put_back: true }),
  });
}

/** Ends the job that runs under the lease where it has run for longer than it may. */
function endOverTime(
  draft: Draft,
  request: LeasedRequest,
  { held, until }: { readonly held: LeaseUpdate; readonly until: number },
): { readonly draft: Draft; readonly held: LeaseUpdate } {
  if (!isJobOverTime(held, request.now)) return { draft, held };
  const job = request.jobIds
    .flatMap((id) => visibleJob(draft, id) ?? [])
    .find(({ creation_order, status }) => creation_order === held.place && status === 'RUNNING');
  if (job === undefined) return { draft, held };
  const ended = endJob(draft, request, { held, jobId: job.id, update: overTime(held), until });
  // Its worker was no loss of the job that comes next.
  return { draft: ended, held: { ...after(held, job), lease_until: 0 } };
}

const ranLonger = 'The job ran longer than';

/** How a job ends that has run for longer than it may. */
function overTime({ max_job_seconds }: Pick<LeaseUpdate, 'max_job_seconds'>) {
  return { status: 'ERROR', errors: [`${ranLonger} ${max_job_seconds} s.`] } satisfies JobUpdate;
}

/** Whether the job has ended as reported, or under this lease because it had run for too long. */
export function isReported(job: JobRow, { fence }: LeaseReference, status: JobRow['status']): boolean {
  return job.status === status || (job.fence === fence && job.errors?.[0]?.startsWith(ranLonger) === true);
}

/** The draft with the batch, and these jobs of it if there are any. */
function withBatch(
  draft: Draft,
  { batch, jobs }: { readonly batch: BatchRow; readonly jobs: readonly JobRow[] },
): Draft {
  return jobs.length > 0 ? withJobs(draft, { batch, jobs }) : withRows(draft, { batches: [batch] });
}

/** What the device does next, by the draft of the last operation. */
export function progressOf(draft: Draft, lease: LeaseReference): Progress {
  const batch = visibleBatch(draft, batchIdOfKey(lease.key));
  const held: LeaseUpdate | QueueItem | undefined = draft.lease ?? draft.stored.leased;
  if (draft.lease?.paused) return { kind: 'paused' };
  if (batch === undefined || held === undefined || !isClaimable(batch)) return { kind: 'ended' };
  if (draft.lease?.fence !== undefined) return { kind: 'ended' };
  const { idle_since, place } = held;
  const jobs = [...draft.stored.jobs.keys()]
    .map((id) => visibleJob(draft, id) as JobRow)
    .filter((each) => each.batch_id === batch.id && each.creation_order >= place && isRunnable(each));
  if (idle_since !== undefined && (jobs.length > 0 || countRunnable(batch.jobs_count_per_status) === 0)) {
    return { kind: 'waits', batch, idleSince: idle_since };
  }
  const job = jobs.find((each) => each.creation_order === place && each.status === 'RUNNING');
  return job === undefined ? { kind: 'search', place } : { kind: 'runs', batch, job };
}

export function noSuchJob(): NotFound {
  return new NotFound('There is no such job.');
}

export function jobNotLeased(): IllegalTransition {
  return new IllegalTransition('job_not_leased', 'The job is not the one that runs under this lease.');
}

function underLease({ lease, jobIds }: LeasedRequest, apply: (draft: Draft, held: LeaseUpdate) => Draft): Change {
  return {
    batchIds: [batchIdOfKey(lease.key)],
    jobIds,
    lease,
    apply(draft) {
      const item = draft.stored.leased;
      if (item === undefined || item.fence !== lease.fence || item.user_id !== lease.userId) throw leaseLost();
      const batch = visibleBatch(draft, batchIdOfKey(lease.key));
      if (batch === undefined) {
        throw new CorruptData('A batch in a queue is missing: npm run repair -- --fix takes it out.');
      }
      // A change under a former key of the batch would leave the item of its present key behind.
      if (batch.queue_key !== lease.key) throw leaseLost();
      return apply(draft, draft.lease ?? { item, ...leasePart(item) });
    },
  };
}

const leaseAttributes = [
  'place',
  'first_seq',
  'losses',
  'unseen_losses',
  'lease_until',
  'seen',
  'idle_since',
  'rules_until',
  ...ofLeasedJob,
] as const;

/** What operations change of an item: the attributes that it has. */
function leasePart(item: QueueItem): Pick<LeaseUpdate, (typeof leaseAttributes)[number]> {
  const present = leaseAttributes.filter((name) => item[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, item[name]])) as ReturnType<typeof leasePart>;
}

function withoutJob(held: LeaseUpdate): LeaseUpdate {
  const { job_id, job_since, job_spent, job_until, max_job_seconds, ...lease } = held;
  return lease;
}

function startNext(draft: Draft, request: LeasedRequest, before: LeaseUpdate): Draft {
  const { lease, now, jobIds, from, isClaim } = request;
  const held = before.place < from ? { ...withoutJob(before), place: from, ...noLosses } : before;
  const batchId = batchIdOfKey(lease.key);
  const batch = reportedBatch(draft, batchId) as BatchRow;
  const unfinished = jobIds
    .flatMap((id) => visibleJob(draft, id) ?? [])
    .filter((each) => each.batch_id === batchId && each.creation_order >= held.place && isRunnable(each));
  const job = unfinished.find((each) => each.creation_order < firstPendingPosition(batch));
  const isAtPlace = job?.creation_order === held.place;
  const update = job !== undefined && isAtPlace ? whyGivenUp(held, { job, now }) : undefined;
  if (job !== undefined && update !== undefined) {
    return startNext(endJob(draft, request, { held, jobId: job.id, update }), request, after(held, job));
  }
  if (mustPause(draft, request, job)) return waitAgain(draft, request, { held, end: { kind: 'paused' } });
  if (job?.status !== 'RUNNING' && isOverTime(batch, held.item, now)) {
    return waitAgain(draft, request, { held, end: { kind: 'goes behind' } });
  }
  if (job === undefined) return waitForJobs(draft, request, { held, areToCome: unfinished.length > 0 });
  const { losses, unseen_losses } = isAtPlace ? held : noLosses;
  const source = { kind: 'direct call', time: fromMilliseconds(now) } as const;
  const begins = job.status !== 'RUNNING';
  const jobs = begins || isClaim ? handOut(draft, job, source) : [];
  const begun = taken(
    updateRow(
      batch,
      batch.status === 'RUNNING'
        ? {}
        : {
            status: 'RUNNING',
            ...(batch.start_datetime === null && { start_datetime: laterOf(source.time, batch.created_at) }),
          },
      source,
    ),
  );
  const isRunning = jobs.length === 0 && begun === batch;
  const running = isRunning ? draft : withBatch(draft, { batch: begun, jobs });
  const { idle_since, rules_until, ...busy } = held;
  const ofJob = !begins && !isClaim ? busy : { ...withoutJob(busy), ...started(draft, job, request) };
  const { job_spent } = held;
  const spent = isAtPlace && job_spent !== undefined ? { job_spent } : {};
  const { creation_order: place, seq } = job;
  return withLease(running, { ...ofJob, ...spent, place, first_seq: Math.max(0, seq - place), losses, unseen_losses });
}

/** The job as it is handed out; none where its row shows that already. */
function handOut(draft: Draft, { id, status, created_at }: JobRow, source: UpdateSource): JobRow[] {
  const reported = reportedJob(draft, id) as JobRow;
  // The clock of the function that created the row may be ahead of this one's.
  const start = { status: 'RUNNING', start_timestamp: laterOf(source.time, created_at) } as const;
  const { calibration: before, ...job } = status === 'RUNNING' ? reported : updateRow(reported, start, source);
  const calibration = calibrationInForce(draft.stored.device?.calibrations ?? [], toMicroseconds(source.time) / 1_000);
  if (job.status === status && calibration === before) return [];
  const changed = { updated_at: laterOf(job.updated_at, source.time), rev: reported.rev + 1 };
  return [{ ...job, ...changed, ...(calibration !== undefined && { calibration }) }];
}

/** Whether this would hand the batch out, or go on with it, although an operator forbids that. */
function mustPause(draft: Draft, { lease, isClaim }: LeasedRequest, job: JobRow | undefined): boolean {
  const pause = draft.stored.device?.pause;
  if (pause === undefined || (!isClaim && (job?.status === 'RUNNING' || pause.goesOn))) return false;
  const batch = visibleBatch(draft, batchIdOfKey(lease.key)) as BatchRow;
  // A job that runs and was not found is looked for.
  return isClaimable(batch) && (job !== undefined || batch.jobs_count_per_status.RUNNING === 0);
}

/** What the lease holds of a job that starts now. */
function started(draft: Draft, job: JobRow, { now }: LeasedRequest) {
  const sources = [draft.stored.device, visibleBatch(draft, job.batch_id)];
  const limits = sources.flatMap((source) => source?.max_job_seconds ?? []);
  const max_job_seconds = Math.min(...limits);
  return {
    job_id: job.id,
    job_since: now,
    ...(limits.length > 0 && { max_job_seconds, job_until: now + max_job_seconds * 1_000 }),
  };
}

/** Whether the device has had the open batch for as long as others shall wait for it. */
export function isOverTime(
  { open }: BatchRow,
  { held_since, max_batch_seconds = 3_600 }: QueueItem,
  now: number,
): boolean {
  return open && held_since !== undefined && now - held_since >= max_batch_seconds * 1_000;
}

/** The batch once a device has it: its charges are not given back any more. */
function taken(batch: BatchRow): BatchRow {
  const { queue_charges, queued_at, ...rest } = batch;
  return queue_charges === undefined ? batch : { ...rest, rev: batch.rev + 1 };
}

/**
 * No job was found that can run. Either there is none, or the right ones were not among those
 * found, or a call is still adding them. That call may have died: then the wait goes on beyond its
 * time, until another call has ended it.
 */
function waitForJobs(
  draft: Draft,
  { lease, now }: LeasedRequest,
  { held, areToCome }: { readonly held: LeaseUpdate; readonly areToCome: boolean },
): Draft {
  const batch = visibleBatch(draft, batchIdOfKey(lease.key)) as BatchRow;
  const counts = batch.jobs_count_per_status;
  if (!isClaimable(batch) || (countRunnable(counts) > 0 && !areToCome)) return withLease(draft, held);
  const idle_since = held.idle_since ?? now;
  const waiting = { ...held, rules_until: draft.stored.device?.until ?? now };
  const maxIdle = maxIdleMilliseconds(held.item);
  if (areToCome || now - idle_since < maxIdle) return withLease(draft, { ...waiting, idle_since });
  // A job that is about to be canceled would never end in a batch that has ended: the wait begins
  // anew.
  if (counts.CANCELING > 0) return withLease(draft, { ...waiting, idle_since: now });
  const time = fromMilliseconds(now);
  const ended = updateRow(
    reportedBatch(draft, batch.id) as BatchRow,
    { status: 'TIMED_OUT', open: false, end_datetime: time, device_status: whyTimedOut(maxIdle / 1_000) },
    { kind: 'direct call', time },
  );
  return withLease(withRows(draft, { batches: [ended] }), held);
}

/** The end of the job at the lease's place. A device worked on it until now, or that time. */
interface JobEnd {
  readonly held: LeaseUpdate;
  readonly jobId: string;
  readonly update: JobUpdate;
  readonly until?: number;
}

function endJob(draft: Draft, { lease, now }: LeasedRequest, { held, jobId, update, until = now }: JobEnd): Draft {
  const time = fromMilliseconds(now);
  const source = { kind: 'direct call', time } as const;
  const job = reportedJob(draft, jobId) as JobRow;
  const batch = reportedBatch(draft, job.batch_id);
  if (batch === undefined) throw new CorruptData(`The batch of the job ${jobId} is missing.`);
  const { start_timestamp: start, end_timestamp: end } = update;
  // A worker's clock may be wrong: the job ran between its claim and now.
  const possible = {
    ...update,
    ...(start && { start_timestamp: laterOf(earlierOf(start, time), job.start_timestamp ?? undefined) }),
    end_timestamp: earlierOf(end ?? time, time),
  };
  const device_us = deviceMicroseconds(job, held, until);
  const ended = { ...updateRow(job, possible, source), fence: lease.fence, device_us };
  return withJobs(draft, { batch, jobs: [ended] });
}

const noLosses = { losses: 0, unseen_losses: 0 };

/** The lease goes on behind this job. */
function after(held: LeaseUpdate, { creation_order }: JobRow): LeaseUpdate {
  return { ...withoutJob(held), place: creation_order + 1, ...noLosses };
}

/** How the job at the lease's place ends that is not given to a further device. */
function whyGivenUp(
  held: LeaseUpdate,
  { job, now }: { readonly job: JobRow; readonly now: number },
): JobUpdate | undefined {
  if (job.status === 'RUNNING' && isJobOverTime(held, now)) return overTime(held);
  const error = (text: string): JobUpdate => ({ status: 'ERROR', errors: [text] });
  if (held.losses >= maxLosses) return error(`The device was lost ${maxLosses} times while it ran this job.`);
  if (held.unseen_losses >= maxUnseenLosses) {
    return error(`The job was given to a device ${maxUnseenLosses} times, and none was heard of again.`);
  }
  return undefined;
}

/**
 * The draft with what becomes of the lease; the same draft when all stays as it is. Rows change
 * only on condition of the lease's fence.
 */
function withLease(draft: Draft, lease: LeaseUpdate): Draft {
  const { item } = lease;
  const isSame = leaseAttributes.every((name) => lease[name] === item[name]) && lease.fence === undefined;
  return isSame && changesNothing(draft) ? draft : { ...draft, lease };
}
