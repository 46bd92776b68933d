/** Erases what users put into a batch, and what came of it; its numbered rows stay. */

import { requireFound, Unfinished } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import { timeLimits } from '../../time-limits.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import type { ResultsBucket } from '../aws/results-bucket.ts';
import { batchDelete } from '../dynamodb/batch-delete.ts';
import type { Db } from '../dynamodb/db.ts';
import { batchGet, queryAll } from '../dynamodb/reads.ts';
import { WritePace } from '../dynamodb/write-pace.ts';
import { commitTask } from '../lifecycle/commit-tasks.ts';
import { beginErasing, endErasing, eraseJobs, hasComeToRest, notEnded } from '../lifecycle/erase.ts';
import type { LifecycleDb, LifecycleTable } from '../lifecycle/lifecycle-db.ts';
import { recoveryDelaySeconds, type ScheduleRecovery } from '../lifecycle/schedule-recovery.ts';
import { processedEventKey } from '../lifecycle/transaction.ts';
import { type BatchOfUser, getBatchRow } from '../rows/batches.ts';
import { constantsId, hasMarker } from '../rows/constants.ts';
import { listJobIds } from '../rows/jobs.ts';
import { stopAttempts } from '../webhooks/webhook-attempts.ts';
import { eraseResults } from './erase-results.ts';

/** As many as BatchGetItem takes. */
const jobsInPart = 100;

/** No further part is begun when less is left of the call's time. */
const reservedMilliseconds = 1_000 * timeLimits.erasurePart;

/**
 * Erases the content of a batch that has ended, and returns its row:
 *
 * 1. Messages to its webhook that are under way are stopped: their attempts are what is left.
 * 2. Its row loses its content and says `erasing`. From then on events change nothing of it.
 * 3. Its sequence, its constants and the memory of the calls that made it are deleted; then, 100
 *    jobs at a time, their sequences, constants and results, and the content of their rows. Results
 *    and constants go before what names them.
 * 4. Once no job has content, `erasing` goes.
 *
 * An erased batch stays as it is. The recovery is scheduled before all that, whatever it takes:
 * links for uploads outlive their leases by minutes, so the results are looked for again
 * (finishErasure). A call that dies or throws Unfinished is repeated, or finished so.
 *
 * Throws NotFound; IllegalTransition while the batch or a job of it has not ended; Unfinished.
 *
 * Costs for each job: 4 to 11 write units; 2 read units for each 4 KB of its row; one listing of
 * the bucket, or less beyond 500 jobs. Half a read unit for each 4 KB of remembered calls.
 */
export async function eraseBatch(
  db: Db<LifecycleTable | 'WebhookAttempts'>,
  bucket: ResultsBucket,
  of: BatchOfUser,
  scheduleRecovery?: ScheduleRecovery,
): Promise<BatchRow> {
  const { userId, batchId } = of;
  const before = requireFound(await getBatchRow(db, userId, batchId), 'batch');
  if (before.erased_at === null && !hasComeToRest(before)) throw notEnded();
  if (before.erased_at === null || before.erasing === true) {
    await scheduleRecovery?.(of, recoveryDelaySeconds);
    if (before.webhook !== null) await stopAttempts(db, { user_id: userId, batch_id: batchId });
  }
  return eraseRest(db, bucket, { ...of, before });
}

interface BegunErasure extends BatchOfUser {
  /** The batch as it was read. */
  readonly before: BatchRow;
  readonly pace?: WritePace | undefined;
}

/** Erases what is left of a batch and its jobs, and returns its row. */
async function eraseRest(
  db: LifecycleDb,
  bucket: ResultsBucket,
  { userId, batchId, before, pace = new WritePace(db.clock) }: BegunErasure,
): Promise<BatchRow> {
  if (before.erased_at !== null && before.erasing === undefined) return before;
  const context = { userId, pace };
  const begin = beginErasing({ batchId, now: fromMilliseconds(db.clock.now()) });
  await commitTask(db, context, { changes: [begin] });
  await forgetCalls(db, { userId, batchId });
  const ofBatch = [batchId, constantsId({ id: batchId })].map((id) => ({ user_id: userId, id }));
  await batchDelete(db, 'Sequences', ofBatch);
  const jobIds = await listJobIds(db, { userId, batchId });
  for (let at = 0; at < jobIds.length; at += jobsInPart) {
    if (pace.isOver(reservedMilliseconds)) throw new Unfinished();
    const left = await erasePart(db, bucket, { userId, jobIds: jobIds.slice(at, at + jobsInPart) });
    await commitTask(db, context, { changes: eraseJobs({ batchId, jobIds: left }) });
  }
  const { batches } = await commitTask(db, context, { changes: [endErasing(batchId)] });
  return batches.get(batchId) as BatchRow;
}

/** Erases what jobs have outside of their rows. Returns the jobs whose rows have content. */
async function erasePart(
  db: Db<'Jobs' | 'Sequences'>,
  bucket: ResultsBucket,
  { userId, jobIds }: { readonly userId: string; readonly jobIds: readonly string[] },
): Promise<string[]> {
  const keys = jobIds.map((id) => ({ user_id: userId, id }));
  const attributes = ['id', 'results_key', 'erased_at', 'variables'];
  const rows = await batchGet(db, { table: 'Jobs', keys, consistent: true, attributes });
  const left = rows.filter(({ erased_at }) => erased_at === undefined);
  const ids = left.map(({ id }) => String(id));
  const beside = left.flatMap((row) => [row.id, ...(hasMarker(row) ? [constantsId(row)] : [])]);
  await batchDelete(
    db,
    'Sequences',
    beside.map((id) => ({ user_id: userId, id })),
  );
  await eraseResults(bucket, userId, { jobIds: ids, keys: left.flatMap(({ results_key }) => results_key ?? []) });
  return ids;
}

/** What remembers that the user's calls were carried out: a repetition adds nothing now. */
async function forgetCalls(db: Db<'Columns'>, { userId, batchId }: BatchOfUser): Promise<void> {
  const calls = await queryAll(db, {
    table: 'Columns',
    partition: { user_id: userId },
    sortKey: 'key',
    range: { startsWith: processedEventKey('request#') },
    attributes: ['key', 'batch_id'],
    consistent: false,
  });
  const keys = calls.filter(({ batch_id }) => batch_id === batchId).map(({ key }) => ({ user_id: userId, key }));
  await batchDelete(db, 'Columns', keys);
}

/**
 * Finishes an erasure that has begun, where its call died, and deletes the results that were
 * uploaded since: call it when no link for an upload is valid any more. By default at the pace of a
 * request.
 */
export async function finishErasure(
  db: LifecycleDb,
  bucket: ResultsBucket,
  of: BatchOfUser,
  pace?: WritePace,
): Promise<void> {
  const before = requireFound(await getBatchRow(db, of.userId, of.batchId), 'batch');
  await eraseRest(db, bucket, { ...of, pace, before });
  await eraseResults(bucket, of.userId, { jobIds: await listJobIds(db, of), keys: [] });
}
