/** The changes that cancel batches and jobs. */

import { CorruptData, IllegalTransition, requireFound } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import { countUnfinished, isFinalBatchStatus, isFinalJob } from '../../statuses.ts';
import { toMicroseconds } from '../../values/timestamp.ts';
import { deviceMicroseconds, lastHeartbeat } from '../queue/queue-item.ts';
import type { AuditedAct } from './audited-act.ts';
import { jobAsReported } from './derive-status.ts';
import {
  type Change,
  type Draft,
  reportedBatch,
  visibleBatch,
  visibleJob,
  withJobs,
  withRows,
  withWrite,
} from './draft.ts';
import { changeJobs, JobsLeft, onBatch } from './end-jobs.ts';
import { type JobUpdate, updateRow } from './update-row.ts';

export interface Cancellation {
  readonly batchId: string;
  readonly jobIds: readonly string[];
  /** The present, as a canonical time. */
  readonly now: string;
  /** The `errors` of the canceled jobs; by default the batch's `cancel_reason`. */
  readonly errors?: string[] | undefined;
  /** Of someone else than the owner. */
  readonly act?: AuditedAct | undefined;
}

/**
 * Closes the batch and marks it `canceling`, cancels its unfinished jobs, then the batch itself. A
 * batch that is canceled already stays as it is. Throws NotFound; IllegalTransition when the batch
 * has ended in another way; JobsLeft when it has other jobs than these. If the batch ends in
 * another way while it is being canceled or created, that end stays. Its jobs are canceled all the
 * same: nothing else would end them.
 */
export function cancelBatchChanges(cancellation: Cancellation): Change[] {
  return [closeBatch(cancellation), ...cancelJobsChanges(cancellation), endBatch(cancellation)];
}

/** Cancels the unfinished jobs among these. Their batch may end by it (see derive-status.ts). */
export function cancelJobsChanges({ batchId, jobIds, now, errors }: Cancellation): Change[] {
  return changeJobs({ batchId, jobIds, endsJobs: true }, (job, batch, draft) => {
    if (isFinalJob(job)) return job;
    const { cancel_reason: reason } = batch;
    const said = errors ?? (reason === undefined ? undefined : [reason]);
    const update = { status: 'CANCELED', end_timestamp: now, ...(said && { errors: said }) } as const;
    return cancelJob(job, { ran: whatRan(draft, batch, now), update });
  });
}

/**
 * Cancels one job. Its batch may end by it. A job that is canceled already stays as it is. Throws
 * NotFound; IllegalTransition when the job has ended in another way.
 */
export function cancelJobChange({
  jobId,
  now,
  act,
}: { readonly jobId: string } & Pick<Cancellation, 'now' | 'act'>): Change {
  return {
    batchIds: [],
    jobIds: [jobId],
    endsJobs: true,
    apply(draft) {
      const job = requireFound(visibleJob(draft, jobId), 'job');
      if (job.status === 'CANCELED') return draft;
      if (isFinalJob(job)) throw new IllegalTransition('job_ended', `The job is ${job.status} and cannot be canceled.`);
      const batch = reportedBatch(draft, job.batch_id);
      if (batch === undefined) throw new CorruptData(`The batch of the job ${jobId} is missing.`);
      const update = { status: 'CANCELED', end_timestamp: now, ...(act && { errors: [act.text] }) } as const;
      const canceled = cancelJob(job, { ran: whatRan(draft, batch, now), update });
      const after = withJobs(draft, { batch, jobs: [canceled] });
      return act === undefined ? after : withWrite(after, act.write(batch, job));
    },
  };
}

function cancelJob(
  job: JobRow,
  { ran, update }: { readonly ran: BatchRow['ran']; readonly update: JobUpdate & { readonly end_timestamp: string } },
): JobRow {
  const canceled = updateRow(jobAsReported(job), update, { kind: 'direct call', time: update.end_timestamp });
  if (job.creation_order !== ran?.place) return canceled;
  return { ...canceled, device_us: (job.device_us ?? 0) + ran.device_us };
}

/**
 * The job of the batch that a device runs, and how long it ran under leases that its row does not
 * count yet: until now, or until the last heartbeat if the lease has run out. Undefined when no job
 * runs under a lease.
 */
function whatRan({ stored }: Draft, { id, ran }: BatchRow, now: string): BatchRow['ran'] {
  const item = stored.running?.get(id);
  if (item === undefined) return ran;
  const present = toMicroseconds(now) / 1_000;
  const until = item.lease_until > present ? present : lastHeartbeat(item);
  return { place: item.place, device_us: Math.floor(deviceMicroseconds({}, item, until)) };
}

function closeBatch({ batchId, jobIds, now, act }: Cancellation): Change {
  const close = onBatch(batchId, (draft, batch) => {
    if (jobIds.length < batch.jobs_count) throw new JobsLeft();
    const { status } = visibleBatch(draft, batchId) ?? batch;
    const isUnfinished = batch.canceling === true || batch.creating === true;
    if (status === 'CANCELED' && !isUnfinished) return draft;
    if (isFinalBatchStatus(status) && !isUnfinished) throw endedOtherwise({ status });
    if (batch.canceling === true && !batch.open) return draft;
    const update = { open: false, ...(act && { device_status: act.text }) } as const;
    const closed = updateRow(batch, update, { kind: 'direct call', time: now });
    // It leaves its queue with this: what runs may be canceled in a later transaction.
    const ran = whatRan(draft, batch, now);
    const marks = { canceling: true, ...(act && { cancel_reason: act.text }), ...(ran && { ran }) } as const;
    const begun = withRows(draft, { batches: [{ ...closed, ...marks, rev: batch.rev + 1 }] });
    return act === undefined ? begun : withWrite(begun, act.write(batch));
  });
  return { ...close, endsJobs: true };
}

function endBatch({ batchId, now }: Cancellation): Change {
  return onBatch(batchId, (draft, batch) => {
    if (countUnfinished(batch.jobs_count_per_status) > 0) throw new JobsLeft();
    if (batch.canceling !== true) return draft;
    const { canceling, cancel_reason, creating, pending_calls, jobs_to_come, ran, ...rest } = batch;
    const update = { status: 'CANCELED', end_datetime: now } as const;
    const ended = isFinalBatchStatus(rest.status)
      ? { ...rest, rev: rest.rev + 1 }
      : updateRow<BatchRow>(rest, update, { kind: 'direct call', time: now });
    return withRows(draft, { batches: [ended] });
  });
}

export function endedOtherwise({ status }: Pick<BatchRow, 'status'>): IllegalTransition {
  return new IllegalTransition('batch_ended', `The batch is ${status} and cannot be canceled.`);
}
