/** What users cancel: batches with their jobs, or jobs. */

import { IllegalTransition, NotFound, requireFound, Unfinished } from '../../errors.ts';
import type { Batch, BatchRow } from '../../schemas/batch.ts';
import type { Job, JobRow } from '../../schemas/job.ts';
import type { CancelJobsQuery } from '../../schemas/job-selection.ts';
import { isFinalJob } from '../../statuses.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import { derivedUuid } from '../../values/uuid.ts';
import type { Db } from '../dynamodb/db.ts';
import { WritePace } from '../dynamodb/write-pace.ts';
import type { AuditedAct } from '../lifecycle/audited-act.ts';
import {
  type Cancellation,
  cancelBatchChanges,
  cancelJobChange,
  cancelJobsChanges,
  endedOtherwise,
} from '../lifecycle/cancel.ts';
import type { CommitContext } from '../lifecycle/commit-changes.ts';
import { commitTask } from '../lifecycle/commit-tasks.ts';
import type { LifecycleDb } from '../lifecycle/lifecycle-db.ts';
import { changesOfCall } from '../lifecycle/pending-calls.ts';
import { recoveryDelaySeconds, type ScheduleRecovery } from '../lifecycle/schedule-recovery.ts';
import { findFellowsRows, type Member, may, notTheOwner, readableProjects } from '../projects/access.ts';
import { type BatchOfUser, getBatchRow, showBatch } from '../rows/batches.ts';
import { withConstants, withTexts } from '../rows/constants.ts';
import { jobOf, listJobIds, showJobs } from '../rows/jobs.ts';
import { administratorsAct } from './administrators-act.ts';
import { selectJobs } from './selected-jobs.ts';

interface HowToCancel extends Pick<CommitContext, 'pace' | 'hasTime'>, Pick<Cancellation, 'act'> {
  readonly scheduleRecovery?: ScheduleRecovery | undefined;
}

/**
 * Cancels a batch and returns it: the batch is closed, then its unfinished jobs and the batch
 * itself become CANCELED. A batch that is canceled already stays as it is. If this takes several
 * transactions, the first closes the batch and marks it `canceling`. If the call dies or runs out
 * of time between two transactions, the same call again completes it. An act of someone else than
 * the owner gives the reason, and is audited in the first transaction.
 *
 * Throws NotFound; IllegalTransition when the batch has ended in another way; TooBusy; Unfinished.
 *
 * Write units for rows up to 1 KB: 12, 6 for each job, and 6 for each 30 jobs that were created
 * together. If a job runs, one read unit more, to learn for how long.
 */
export async function cancelBatch(
  db: LifecycleDb,
  of: BatchOfUser,
  { scheduleRecovery, act, ...time }: HowToCancel = {},
): Promise<BatchRow> {
  const { userId, batchId } = of;
  const changes = async () => {
    const jobIds = await listJobIds(db, of);
    return cancelBatchChanges({ batchId, jobIds, now: fromMilliseconds(db.clock.now()), act });
  };
  const announce = () => scheduleRecovery?.({ userId, batchId }, recoveryDelaySeconds);
  const { batches } = await commitTask(db, { ...time, userId }, { changes, announce });
  const batch = requireFound(batches.get(batchId), 'batch');
  if (batch.status === 'CANCELED') return batch;
  throw endedOtherwise(batch);
}

/**
 * Cancels a job and returns it; repeated, it changes nothing. Throws NotFound when the user has no
 * such job, IllegalTransition when the job has ended in another way. Write units for rows up to 1
 * KB: 18, or 14 for one of the newest jobs; 2 to 4 more for an act. One read unit more if the job
 * runs.
 */
export async function cancelJob(db: LifecycleDb, userId: string, jobId: string, act?: AuditedAct): Promise<Job> {
  const change = cancelJobChange({ jobId, now: fromMilliseconds(db.clock.now()), act });
  const { jobs } = await commitTask(db, { userId }, { changes: [change] });
  return (await showJobs(db, [jobs.get(jobId) as JobRow]))[0]!;
}

/** Why batches or jobs were not canceled, by their ids. */
type Reasons = Readonly<Record<string, string>>;

/** The caller, and batches of their own or of others. */
interface BatchesToCancel extends Member {
  readonly batchIds: readonly string[];
  /** By default there is time for all. */
  readonly hasTime?: () => boolean;
}

/** A batch to cancel; an act where it is another's. */
interface Target extends BatchOfUser, Pick<HowToCancel, 'act'> {}

/** The canceled batch, or why it is not canceled; undefined where time was over on the way. */
type Outcome = Batch | Error | undefined;

/** Batches of a call that are looked for among the work of others, each with each of them. */
const maxOfOthers = 25;
const tooManyOfOthers = `You have no such batch. Of others, a call cancels ${maxOfOthers}: name fewer.`;

/**
 * Cancels batches, each as cancelBatch does: the caller's own, and batches of others in projects
 * that the caller administers. A first round makes one transaction for each batch: it closes the
 * batch, and cancels it if it is small. Then the other batches are completed one by one. Batches
 * that there is no time to complete go to the recovery.
 *
 * Reports batches that the caller does not have or may not cancel, that have ended in another way,
 * or that are not canceled yet. Throws other errors of cancelBatch. Some batches may be canceled by
 * then; the same call again goes on. Batches of others are looked for together, 25 at most:
 * findFellowsRows.
 */
export async function cancelBatches(
  db: LifecycleDb & Db<'Audit'>,
  { batchIds, hasTime = () => true, ...caller }: BatchesToCancel,
  scheduleRecovery?: ScheduleRecovery,
): Promise<{ batches: Batch[]; errors: Reasons }> {
  const how = { pace: new WritePace(db.clock), scheduleRecovery, hasTime };
  const own = batchIds.map((batchId) => ({ userId: caller.userId, batchId }));
  const outcomes = await beginEach(db, own, how);
  const ids = batchIds.filter((id) => outcomes.get(id) instanceof NotFound);
  if (readableProjects(caller.claims).length > 0)
    for (const id of ids.splice(maxOfOthers)) outcomes.set(id, new Error(tooManyOfOthers));
  const theirs: Target[] = [];
  for (const row of await findFellowsRows(db, caller, { table: 'Batches', ids })) {
    const { id: batchId, user_id: userId } = row;
    const act = administratorsAct(db, caller, { owner: userId, action: 'batch.cancel' });
    if (may('end', caller, row)) theirs.push({ userId, batchId, act });
    else outcomes.set(batchId, notTheOwner('end'));
  }
  for (const [id, outcome] of await beginEach(db, theirs, how)) outcomes.set(id, outcome);
  const targets = new Map([...own, ...theirs].map((target) => [target.batchId, target]));
  const canceled: Batch[] = [];
  const errors: [id: string, why: string][] = [];
  for (const id of batchIds) {
    const outcome = outcomes.get(id) ?? (await finish(db, targets.get(id)!, how));
    if (outcome instanceof Error) errors.push([id, outcome.message]);
    else canceled.push(outcome);
  }
  return { batches: canceled, errors: Object.fromEntries(errors) };
}

/** What becomes of each of these batches, by its id, in one transaction. */
async function beginEach(db: LifecycleDb, targets: readonly Target[], how: HowToCancel): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  for (const target of targets) {
    const outcome =
      how.hasTime?.() !== false
        ? await tryToCancel(db, target, { ...how, hasTime: () => false })
        : new Error('There was no time left for the batch: cancel it again.');
    outcomes.set(target.batchId, outcome);
  }
  return outcomes;
}

/** Cancels what is left of a batch, or leaves it to the recovery. */
async function finish(db: LifecycleDb, target: Target, how: HowToCancel): Promise<Batch | Error> {
  const outcome = how.hasTime?.() !== false ? await tryToCancel(db, target, how) : undefined;
  if (outcome === undefined) await how.scheduleRecovery?.(target, 0);
  return outcome ?? new Error('The batch is closed and being canceled: this takes up to 15 minutes.');
}

async function tryToCancel(db: LifecycleDb, { act, ...of }: Target, how: HowToCancel): Promise<Outcome> {
  try {
    return await showBatch(db, await cancelBatch(db, of, { ...how, act }));
  } catch (error) {
    if (error instanceof Unfinished) return undefined;
    if (error instanceof NotFound || error instanceof IllegalTransition) return error;
    throw error;
  }
}

interface HowToCancelJobs extends Pick<HowToCancel, 'scheduleRecovery' | 'act'> {
  /** Is given the jobs before any is canceled: it may throw where an answer cannot hold them. */
  readonly requireRoom?: (jobs: readonly Job[]) => void;
}

/**
 * Cancels the jobs of a batch that a query selects, and returns all that are canceled now. Reports
 * ids of jobs that the batch does not have, and jobs that have ended in another way. Throws
 * NotFound when the user has no such batch. Many jobs take several transactions: if the call dies
 * between two, the same call again completes it. An act is audited with the first job that is
 * canceled. Costs: what selectJobs and withConstants read, and cancelBatch's writes.
 */
export async function cancelJobs(
  db: LifecycleDb,
  of: BatchOfUser,
  query: CancelJobsQuery,
  { requireRoom, scheduleRecovery, act }: HowToCancelJobs = {},
): Promise<{ jobs: Job[]; errors: Reasons }> {
  const { userId, batchId } = of;
  const [batch, { jobs: selected, unknown }] = await Promise.all([
    getBatchRow(db, userId, batchId),
    selectJobs(db, of, query),
  ]);
  requireFound(batch, 'batch');
  const jobs = await withConstants(db, selected);
  requireRoom?.(jobs.map(jobOf));
  const rows = new Map(jobs.map((job) => [job.id, job]));
  const jobIds = jobs.filter((job) => !isFinalJob(job)).map(({ id }) => id);
  // The same for a repetition, which so ends what has begun. Each actor has calls of their own.
  const callId = derivedUuid(['cancel', batchId, query, ...(act === undefined ? [] : [act.actor])]);
  const errors = act && [act.text];
  const call = { id: callId, job_ids: jobIds, errors: errors ?? null };
  const cancel = cancelJobsChanges({ batchId, jobIds, now: fromMilliseconds(db.clock.now()), errors });
  const changes = changesOfCall({ batchId, callId }, cancel, act);
  const announce = () => scheduleRecovery?.({ userId, batchId, call }, recoveryDelaySeconds);
  const committed = await commitTask(db, { userId }, { changes, announce });
  for (const id of jobIds) {
    const before = rows.get(id) as JobRow;
    rows.set(id, withTexts(committed.jobs.get(id) ?? before, before));
  }
  const ended = [...rows.values()].filter(({ status }) => status !== 'CANCELED');
  return {
    jobs: [...rows.values()].filter(({ status }) => status === 'CANCELED').map(jobOf),
    errors: Object.fromEntries([
      ...unknown.map((id) => [id, 'The batch has no such job.']),
      ...ended.map(({ id, status }) => [id, `The job is ${status} and cannot be canceled.`]),
    ]),
  };
}
