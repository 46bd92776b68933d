/** Under a lease: finds the job that comes next, starts it, and gives it to the worker. */

import { JobRow } from '../../schemas/job.ts';
import type { LeasedJob, LeaseReference, NextJob } from '../../schemas/lease.ts';
import { isRunnable } from '../../statuses.ts';
import { parseStoredObject } from '../../values/json-text.ts';
import type { Db } from '../dynamodb/db.ts';
import { getRow, queryFirstPage } from '../dynamodb/reads.ts';
import type { CommitContext } from '../lifecycle/commit-changes.ts';
import { commitTask } from '../lifecycle/commit-tasks.ts';
import type { Change, Draft } from '../lifecycle/draft.ts';
import type { LifecycleDb } from '../lifecycle/lifecycle-db.ts';
import {
  type LeasedRequest,
  type LeaseEnd,
  type Progress,
  progressOf,
  releaseBatch,
  startJob,
} from '../lifecycle/run-jobs.ts';
import { batchIdOfKey } from '../queue/fair-order.ts';
import { getSequence } from '../rows/sequences.ts';

/** Seconds after which a worker asks again for a further job of an open batch. */
const nextAgainSeconds = 2;

/** How long an open batch that lost its device while it waited is left alone. */
export const idleAgainMilliseconds = 5_000;

/** How often the index is asked for a job that it may not have yet, or that is further on. */
const maxSearches = 5;

/**
 * A search stops after this number of pages of ended jobs, up to 1 MB each. The next one goes on
 * there.
 */
const maxPagesInSearch = 20;

/** The answer to a worker whose batch has ended. */
export const ended: NextJob = { job: null, done: true, retry_after: null };

/** A job of a lease's batch; undefined when the batch has no such job. */
export async function getJobRow(
  db: Db<'Jobs'>,
  { userId, key }: LeaseReference,
  jobId: string,
): Promise<JobRow | undefined> {
  const found = await getRow(db, { table: 'Jobs', key: { user_id: userId, id: jobId }, schema: JobRow });
  return found?.batch_id === batchIdOfKey(key) ? found : undefined;
}

/**
 * The ids of the first unfinished jobs from this place on, two at most, as an index has them; and
 * the place of the first, or the one where the search ended. Places have no gaps. If the index has
 * one, it lags: jobs behind the gap are not among the first.
 */
export async function findJobs(
  db: Db<'Jobs'>,
  { userId, key }: LeaseReference,
  start: number,
): Promise<Pick<LeasedRequest, 'jobIds' | 'from'>> {
  const found: { readonly id: string; readonly place: number }[] = [];
  let place = start;
  const result = () => ({ jobIds: found.slice(0, 2).map(({ id }) => id), from: found[0]?.place ?? place });
  for (let pages = 1; ; pages++) {
    const { items, more } = await queryFirstPage(db, {
      table: 'Jobs',
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
    if (!more || found.length > 0 || pages > maxPagesInSearch) return result();
  }
}

/** Commits the change, and returns what the device does next. */
export async function commitLeased(
  db: LifecycleDb,
  { lease, shotsOf }: { readonly lease: LeaseReference } & Pick<CommitContext, 'shotsOf'>,
  change: Change,
): Promise<Progress> {
  const { last } = await commitTask(db, { userId: lease.userId, shotsOf }, { changes: [change] });
  return progressOf(last as Draft, lease);
}

/**
 * Starts the first unfinished job from this place on. If the index does not have it yet, the index
 * is asked again.
 */
export async function advance(db: LifecycleDb, lease: LeaseReference, from: number, isClaim?: true): Promise<Progress> {
  let progress: Progress = { kind: 'search', place: from };
  for (let searches = 1; searches <= maxSearches && progress.kind === 'search'; searches++) {
    if (searches > 2) await db.clock.sleep(50 * 2 ** searches);
    const found = await findJobs(db, lease, progress.place);
    progress = await commitLeased(db, { lease }, startJob({ lease, now: db.clock.now(), isClaim, ...found }));
  }
  return progress;
}

/**
 * Gives up the lease, whose device has reached this place of the batch: see releaseBatch. Throws
 * LeaseLost.
 */
export async function giveUpLease(db: LifecycleDb, lease: LeaseReference, place: number, end: LeaseEnd): Promise<void> {
  const changes = async () => {
    const found = await findJobs(db, lease, place);
    return [releaseBatch({ lease, now: db.clock.now(), ...found }, end)];
  };
  await commitTask(db, { userId: lease.userId }, { changes });
}

/** The answer to a worker that asks for its next job. */
export async function nextJobOf(db: Db<'Sequences'>, lease: LeaseReference, progress: Progress): Promise<NextJob> {
  if (progress.kind === 'ended' || progress.kind === 'paused') return ended;
  if (progress.kind !== 'runs') return { job: null, done: false, retry_after: nextAgainSeconds };
  return { job: await leasedJob(db, lease, progress.job), done: false, retry_after: null };
}

/** The job as its worker gets it. */
export async function leasedJob(
  db: Db<'Sequences'>,
  { lacksSequence }: LeaseReference,
  { id, batch_id, user_id, runs, variables }: JobRow,
): Promise<LeasedJob> {
  const own = await getSequence(db, user_id, id);
  const sequence = own === null && lacksSequence ? await getSequence(db, user_id, batch_id) : own;
  return { id, runs, variables: parseStoredObject(variables), sequence };
}
