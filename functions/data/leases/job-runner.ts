/** Under a lease: finds the job that comes next, starts it, and gives it to the worker. */

import { setTimeout as delay } from 'node:timers/promises';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { JobRow } from '../../schemas/job.ts';
import type { LeasedJob, LeaseReference, NextJob } from '../../schemas/lease.ts';
import { isRunnable } from '../../statuses.ts';
import type { TableNames } from '../../tables.ts';
import { parseStoredObject } from '../../values/json-text.ts';
import { queryFirstPage } from '../dynamodb/reads.ts';
import { commitTask, writeContext } from '../lifecycle/commit-tasks.ts';
import type { Change, Draft } from '../lifecycle/draft.ts';
import {
  type LeasedRequest,
  type LeaseEnd,
  type Progress,
  progressOf,
  releaseBatch,
  startJob,
} from '../lifecycle/run-jobs.ts';
import { batchIdOfKey } from '../queue/fair-order.ts';
import type { QueueOptions } from '../queue/queue.ts';
import { getSequence } from '../rows/sequences.ts';

/** Seconds after which a worker asks again for a further job of an open batch. */
const nextAgainSeconds = 2;

/** How long an open batch that lost its device while it waited is left alone. */
export const idleAgainMilliseconds = 5_000;

/** How often the index is asked for a job that it may not have yet, or that lies further on. */
const maxLooks = 5;

/**
 * After so many pages of jobs that have ended, up to 1 MB each, a look stops; the next one goes on
 * there.
 */
const maxPagesInLook = 20;

/** The answer to a worker whose batch has ended. */
export const ended: NextJob = { job: null, done: true, retry_after: null };

/** Commits the change, and returns what the device does next. */
export async function commitLeased(
  context: ReturnType<typeof writeContext>,
  { lease }: LeasedRequest,
  change: Change,
): Promise<Progress> {
  const { last } = await commitTask({ ...context, userId: lease.userId }, { changes: [change] });
  return progressOf(last as Draft, lease);
}

/** What gives leases up, and finds the jobs of their batches. */
export function leaseReleaser(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs' | 'Columns' | 'DeviceQueue'>,
  options: QueueOptions,
) {
  const context = writeContext(client, tables, options);
  return { findJobs, release };

  /**
   * Gives the lease up, whose device has got to this place of the batch: see releaseBatch. Throws
   * LeaseLost.
   */
  async function release(lease: LeaseReference, place: number, end: LeaseEnd): Promise<void> {
    const changes = async () => {
      const found = await findJobs(lease, place);
      return [releaseBatch({ lists: context.lists, lease, now: context.now(), ...found }, end)];
    };
    await commitTask({ ...context, userId: lease.userId }, { changes });
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
}

export function jobRunner(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs' | 'Columns' | 'DeviceQueue' | 'Sequences'>,
  options: QueueOptions,
) {
  const context = writeContext(client, tables, options);
  const sequenceOf = getSequence(client, tables);
  const { findJobs, release } = leaseReleaser(client, tables, options);
  return { advance, findJobs, release, nextJob, sequenceOf, leasedJob };

  /**
   * Starts the first unfinished job from this place on. The index may not have it yet: then it is
   * asked again.
   */
  async function advance(lease: LeaseReference, from: number, isClaim?: true): Promise<Progress> {
    let progress: Progress = { kind: 'looks', place: from };
    for (let looks = 1; looks <= maxLooks && progress.kind === 'looks'; looks++) {
      if (looks > 2) await delay(50 * 2 ** looks);
      const found = await findJobs(lease, progress.place);
      const request = { lists: context.lists, lease, now: context.now(), isClaim, ...found };
      progress = await commitLeased(context, request, startJob(request));
    }
    return progress;
  }

  async function nextJob(lease: LeaseReference, progress: Progress): Promise<NextJob> {
    if (progress.kind === 'ended' || progress.kind === 'paused') return ended;
    if (progress.kind !== 'runs') return { job: null, done: false, retry_after: nextAgainSeconds };
    return { job: await leasedJob(lease, progress.job), done: false, retry_after: null };
  }

  async function leasedJob(
    { lacksSequence }: LeaseReference,
    { id, batch_id, user_id, runs, variables }: JobRow,
  ): Promise<LeasedJob> {
    const own = await sequenceOf(user_id, id);
    const sequence = own === null && lacksSequence ? await sequenceOf(user_id, batch_id) : own;
    return { id, runs, variables: parseStoredObject(variables), sequence };
  }
}
