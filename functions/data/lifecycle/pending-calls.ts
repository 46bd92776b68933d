/**
 * Calls that add jobs to a batch, or cancel some of them, in several transactions. The batch lists
 * such a call until its last transaction. Until then the batch cannot end, and neither the jobs
 * that the call adds nor later ones are handed out: they may still be canceled. If a call that has
 * died is still listed, only a part of its jobs is there.
 */

import type { BatchRow } from '../../schemas/batch.ts';
import { withJobsToCome } from './counters.ts';
import { type Change, withRows } from './draft.ts';
import { onBatch } from './end-jobs.ts';

export function isPending({ pending_calls }: BatchRow, callId: string | undefined): boolean {
  return pending_calls?.some((call) => idOf(call) === callId) === true;
}

type PendingCall = NonNullable<BatchRow['pending_calls']>[number];

function idOf(call: PendingCall): string {
  return typeof call === 'string' ? call : call.id;
}

/** From this place on no job of the batch is for a device yet; infinite while no call adds jobs. */
export function firstPendingPosition({ pending_calls = [] }: BatchRow): number {
  return Math.min(...pending_calls.map((call) => (typeof call === 'string' ? Number.POSITIVE_INFINITY : call.from)));
}

/** The batch while the call is under way. */
export function withCall(batch: BatchRow, call: PendingCall): BatchRow {
  const { pending_calls = [], rev } = batch;
  return { ...batch, pending_calls: [...pending_calls, call], rev: rev + 1 };
}

/** The batch once the call has come to its end. */
export function withoutCall(batch: BatchRow, callId: string): BatchRow {
  const { pending_calls = [], ...rest } = withJobsToCome(batch, callId, 0);
  const others = pending_calls.filter((call) => idOf(call) !== callId);
  return { ...rest, ...(others.length > 0 && { pending_calls: others }), rev: batch.rev + 1 };
}

/**
 * These changes, after one that begins the call on their batch and before one that ends it. A call
 * that has begun or ended already stays so.
 */
export function changesOfCall(
  { batchId, callId }: { readonly batchId: string; readonly callId: string },
  operations: readonly Change[],
): readonly [Change, ...Change[]] {
  const begin = onBatch(batchId, (draft, batch) =>
    isPending(batch, callId) ? draft : withRows(draft, { batches: [withCall(batch, callId)] }),
  );
  return [begin, ...operations, endOfCall({ batchId, callId })];
}

export function endOfCall({ batchId, callId }: { readonly batchId: string; readonly callId: string }): Change {
  return onBatch(batchId, (draft, batch) =>
    isPending(batch, callId) ? withRows(draft, { batches: [withoutCall(batch, callId)] }) : draft,
  );
}
