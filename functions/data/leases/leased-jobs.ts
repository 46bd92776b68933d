/** Under a lease: finds the job that comes next, starts it, and gives it to the worker. */

import { JobRow } from '../../schemas/job.ts';
import type { LeasedJob, LeaseReference, NextJob } from '../../schemas/lease.ts';
import { isRunnable, runnableJobStatuses } from '../../statuses.ts';
import { parseStoredObject } from '../../values/json-text.ts';
import type { Db } from '../dynamodb/db.ts';
import { getRow, type KeyRange, queryFirst } from '../dynamodb/reads.ts';
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
import type { QueueItem } from '../queue/queue-item.ts';
import { withConstants } from '../rows/constants.ts';
import { listJobIds } from '../rows/jobs.ts';
import { getSequence } from '../rows/sequences.ts';

/** Seconds after which a worker asks again for a further job of an open batch. */
const nextAgainSeconds = 2;

/** How long an open batch that lost its device while it waited is left alone. */
export const idleAgainMilliseconds = 5_000;

/** How often a job is looked for, while other calls end each that is found. */
const maxSearches = 5;

/** The answer to a worker whose batch has ended. */
export const ended: NextJob = { job: null, done: true, retry_after: null };

/** A job of a lease's batch; undefined when the batch has no such job. */
export async function getJobRow(
  db: Db<'Jobs'>,
  { userId, key }: LeaseReference,
  jobId: string,
): Promise<JobRow | undefined> {
  const found = await getRow(db, { table: 'Jobs', key: { user_id: userId, id: jobId }, schema: JobRow() });
  return found?.batch_id === batchIdOfKey(key) ? found : undefined;
}

type Found = Pick<LeasedRequest, 'jobIds' | 'from'>;

/** What the item of a lease says of where its batch's jobs are. */
type Placed = Pick<QueueItem, 'place' | 'first_seq'>;

/**
 * Finds the first jobs of a lease's batch that can run from a place on, two at most, and a place
 * before which none can. It may miss jobs when it is first asked, and never after that.
 */
type FindJobs = (place: number) => Promise<Found>;

/**
 * First by the index in creation order, for half a read unit: the next job most often lies close
 * behind the present one. It may lag, or have many other jobs between the two, or many ended jobs
 * before the first that can run. So what it says is never relied on: the change reads the jobs
 * themselves, and if the batch counts one that can run and was not found, it asks again. Then the
 * columns answer, which never lag: see listJobIds.
 */
export function jobFinder(db: LifecycleDb, lease: LeaseReference, { first_seq }: Placed): FindJobs {
  const byColumns: FindJobs = (place) => findByColumns(db, lease, place);
  if (first_seq === undefined) return byColumns;
  let find: FindJobs = (place) => findByIndex(db, lease, { place, first_seq });
  return (place) => {
    const found = find(place);
    find = byColumns;
    return found;
  };
}

/** Places have no gaps. If the answer has one, jobs behind it may not be the first. */
async function findByIndex(
  db: LifecycleDb,
  { userId, key }: LeaseReference,
  { place, first_seq }: Required<Placed>,
): Promise<Found> {
  const range: KeyRange<'Jobs'> = {
    table: 'Jobs',
    index: 'by_creation',
    partition: { user_id: userId },
    sortKey: 'seq',
    range: { between: [first_seq + place, Number.MAX_SAFE_INTEGER] },
    consistent: false,
    attributes: ['id', 'batch_id', 'creation_order', 'status'],
  };
  const items = (await queryFirst(db, range, 4)).filter(({ batch_id }) => batch_id === batchIdOfKey(key));
  const end = items.findIndex(({ creation_order }, at) => creation_order !== place + at);
  const known = end < 0 ? items : items.slice(0, end);
  const jobs = known.filter(({ status }) => isRunnable({ status }));
  return { jobIds: jobs.slice(0, 2).map(({ id }) => id), from: jobs[0]?.creation_order ?? place + known.length };
}

async function findByColumns(db: LifecycleDb, { userId, key }: LeaseReference, from: number): Promise<Found> {
  const of = { userId, batchId: batchIdOfKey(key) };
  return { jobIds: await listJobIds(db, of, { status: runnableJobStatuses, limit: 2 }), from };
}

/** Commits the change, and returns what the device does next. */
export async function commitLeased(
  db: LifecycleDb,
  { lease, ...context }: { readonly lease: LeaseReference } & Pick<CommitContext, 'shotsOf' | 'countBusy'>,
  plan: () => Promise<Change>,
): Promise<Progress> {
  const changes = async () => [await plan()];
  const { last } = await commitTask(db, { userId: lease.userId, ...context }, { changes });
  return progressOf(last as Draft, lease);
}

/** From where on a job is to start, and how it is found. */
interface Advance {
  readonly from: number;
  readonly find: FindJobs;
  readonly isClaim?: true;
}

/**
 * Starts the first unfinished job from this place on, as soon as the call that creates it has its
 * answer: no index delays it.
 */
export async function advance(
  db: LifecycleDb,
  lease: LeaseReference,
  { from, find, isClaim }: Advance,
): Promise<Progress> {
  let progress: Progress = { kind: 'search', place: from };
  for (let searches = 1; searches <= maxSearches && progress.kind === 'search'; searches++) {
    const { place } = progress;
    progress = await commitLeased(db, { lease }, async () => {
      const found = await find(place);
      return startJob({ lease, now: db.clock.now(), isClaim, ...found });
    });
  }
  return progress;
}

/**
 * Gives up the lease, whose device has reached the item's place: see releaseBatch. Throws
 * LeaseLost.
 */
export async function giveUpLease(db: LifecycleDb, lease: LeaseReference, item: Placed, end: LeaseEnd): Promise<void> {
  const find = jobFinder(db, lease, item);
  const changes = async () => {
    const found = await find(item.place);
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

/** The job as its worker gets it. Costs: see getSequence and withConstants, side by side. */
export async function leasedJob(
  db: Db<'Sequences'>,
  { lacksSequence }: LeaseReference,
  row: JobRow,
): Promise<LeasedJob> {
  const { id, batch_id, user_id, runs } = row;
  const [own, [job]] = await Promise.all([getSequence(db, user_id, id), withConstants(db, [row])]);
  const sequence = own === null && lacksSequence ? await getSequence(db, user_id, batch_id) : own;
  return { id, runs, variables: parseStoredObject(job!.variables), sequence };
}
