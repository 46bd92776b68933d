/**
 * Calls that add jobs to a batch, or cancel some of them, in several transactions. The batch lists
 * such a call until its last transaction. Until then the batch cannot end, and neither the jobs
 * that the call adds nor later ones are handed out: they may still be canceled. If a call that has
 * died is still listed, only a part of its jobs is there.
 */

import type { BatchRow } from '../../schemas/batch.ts';
import type { AuditedAct } from './audited-act.ts';
import { withJobsToCome } from './counters.ts';
import { type Change, withRows, withWrite } from './draft.ts';
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

interface CallOnBatch {
  readonly batchId: string;
  readonly callId: string;
}

/**
 * These changes, and then one that ends the call on their batch. The call begins with the first of
 * them that changes anything, and an act is written with it. A call that has begun before goes on,
 * and its act is not written again.
 */
export function changesOfCall(call: CallOnBatch, operations: readonly Change[], act?: AuditedAct): readonly Change[] {
  const begin = onBatch(call.batchId, (draft, batch) => {
    if (isPending(batch, call.callId)) return draft;
    const begun = withRows(draft, { batches: [withCall(batch, call.callId)] });
    return act === undefined ? begun : withWrite(begun, act.write(batch));
  });
  return [...operations.map((operation) => beginBefore(begin, operation)), endOfCall(call)];
}

/** Both changes, unless the second changes nothing. */
function beginBefore(begin: Change, operation: Change): Change {
  return {
    ...operation,
    apply(draft) {
      const begun = begin.apply(draft);
      const after = operation.apply(begun);
      return after === begun ? draft : after;
    },
    split() {
      const halves = operation.split?.();
      return halves && [beginBefore(begin, halves[0]), beginBefore(begin, halves[1])];
    },
  };
}

function endOfCall({ batchId, callId }: CallOnBatch): Change {
  return onBatch(batchId, (draft, batch) =>
    isPending(batch, callId) ? withRows(draft, { batches: [withoutCall(batch, callId)] }) : draft,
  );
}
