/**
 * A call that adds jobs to a batch, or cancels some of them, in several transactions: the batch names it from the first of these to the
 * last. Meanwhile the batch does not settle. Whoever finds the name after the call has died knows that its jobs are half there.
 */

import type { BatchRow } from '../../schemas/batch.ts';
import type { OwnerLists } from '../columns/lists.ts';
import { type Operation, withRows } from './draft.ts';
import { onBatch } from './end-jobs.ts';

export function isUnderWay({ calls_under_way }: BatchRow, callId: string | undefined): boolean {
  return callId !== undefined && calls_under_way?.includes(callId) === true;
}

/** The batch while the call is under way. */
export function withCall(batch: BatchRow, callId: string): BatchRow {
  const { calls_under_way = [], rev } = batch;
  return { ...batch, calls_under_way: [...calls_under_way, callId], rev: rev + 1 };
}

/** The batch once the call has come to its end. */
export function withoutCall(batch: BatchRow, callId: string): BatchRow {
  const { calls_under_way = [], ...rest } = batch;
  const others = calls_under_way.filter((id) => id !== callId);
  return { ...rest, ...(others.length > 0 && { calls_under_way: others }), rev: batch.rev + 1 };
}

/** The operations between two that begin and end a call on their batch; begun already, and ended before, it stays so. */
export function operationsOfCall(
  lists: OwnerLists,
  { batchId, callId }: { readonly batchId: string; readonly callId: string },
  operations: readonly Operation[],
): readonly [Operation, ...Operation[]] {
  const begin = onBatch(batchId, (draft, batch) =>
    isUnderWay(batch, callId) ? draft : withRows(lists, draft, { batches: [withCall(batch, callId)] }),
  );
  return [begin, ...operations, endOfCall(lists, { batchId, callId })];
}

export function endOfCall(
  lists: OwnerLists,
  { batchId, callId }: { readonly batchId: string; readonly callId: string },
): Operation {
  return onBatch(batchId, (draft, batch) =>
    isUnderWay(batch, callId) ? withRows(lists, draft, { batches: [withoutCall(batch, callId)] }) : draft,
  );
}
