/**
 * Recovers batches whose creation, cancellation or end died on its way. A message is queued before
 * the first of several transactions. Ten minutes later, a batch that is still unfinished is
 * canceled, and the jobs of a batch that has ended otherwise are ended.
 */

import { IllegalTransition } from '../../errors.ts';
import { BatchRow } from '../../schemas/batch.ts';
import type { RecoveryRequest } from '../../schemas/recovery-request.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import type { ResultsBucket } from '../aws/results-bucket.ts';
import { getRow } from '../dynamodb/reads.ts';
import { WritePace } from '../dynamodb/write-pace.ts';
import { cancelJobsChanges } from '../lifecycle/cancel.ts';
import { commitTask } from '../lifecycle/commit-tasks.ts';
import { hasJobsToEnd } from '../lifecycle/derive-status.ts';
import { endJobsChanges } from '../lifecycle/end-jobs.ts';
import type { LifecycleDb } from '../lifecycle/lifecycle-db.ts';
import { changesOfCall, isPending } from '../lifecycle/pending-calls.ts';
import { listJobIds } from '../rows/jobs.ts';
import { cancelBatch } from './cancellations.ts';
import { finishErasure } from './erasures.ts';

type RecoveryOutcome = 'finished' | 'not begun' | 'canceled' | 'ended' | 'ended otherwise' | 'erased';

/**
 * Finishes what was announced, unless it was finished since, or never begun. It
 * - cancels a batch that is half created or half canceled;
 * - ends the jobs of a batch that has ended;
 * - cancels the jobs that a call has added or canceled only in part;
 * - erases a batch that is half erased, and results that were uploaded after it was erased.
 *
 * Returns what it did. Throws cancelBatch's errors, but not when the batch has ended meanwhile. By
 * default at the pace of a request.
 */
export async function recoverBatch(
  db: LifecycleDb,
  bucket: ResultsBucket,
  { user_id: userId, batch_id: batchId, call }: RecoveryRequest,
  pace = new WritePace(db.clock),
): Promise<RecoveryOutcome> {
  const of = { userId, batchId };
  const batch = await getRow(db, { table: 'Batches', key: { user_id: userId, id: batchId }, schema: BatchRow() });
  if (batch === undefined) return 'not begun';
  if (batch.erased_at !== null) {
    await finishErasure(db, bucket, of, pace);
    return 'erased';
  }
  if (call !== undefined) {
    if (!isPending(batch, call.id)) return 'finished';
    const jobs = { batchId, jobIds: call.job_ids, now: fromMilliseconds(db.clock.now()) };
    const cancelJobs = cancelJobsChanges({ ...jobs, errors: call.errors ?? undefined });
    await commitTask(db, { userId, pace }, { changes: changesOfCall({ batchId, callId: call.id }, cancelJobs) });
    return 'canceled';
  }
  if (batch.creating !== true && batch.canceling !== true) {
    if (!hasJobsToEnd(batch)) return 'finished';
    const changes = async () => endJobsChanges({ batchId, jobIds: await listJobIds(db, of) });
    await commitTask(db, { userId, pace }, { changes });
    return 'ended';
  }
  try {
    await cancelBatch(db, of, { pace });
    return 'canceled';
  } catch (error) {
    if (error instanceof IllegalTransition) return 'ended otherwise';
    throw error;
  }
}
