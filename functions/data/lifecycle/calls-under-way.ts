/**
 * A call that adds jobs to a batch, or cancels some of them, in several transactions: the batch
 * names it from the first of these to the last. Meanwhile the batch does not settle, and devices
 * get no job that such a call adds, nor one behind it: it may be canceled yet. Whoever finds the
 * name after the call has died knows that its jobs are half there.
 */

import type { BatchRow } from '../../schemas/batch.ts';
import type { OwnerLists } from '../columns/lists.ts';
import { type Operation, withRows } from './draft.ts';
import { onBatch } from './end-jobs.ts';

export function isUnderWay({ calls_under_way }: BatchRow, callId: string | undefined): boolean {
  return calls_under_way?.some((call) => idOf(call) === callId) === true;
}

type CallUnderWay = NonNullable<BatchRow['calls_under_way']>[number];

function idOf(call: CallUnderWay): string {
  return typeof call === 'string' ? call : call.id;
}

/** From this place on no job of the batch is for a device yet; infinite while no call adds jobs. */
export function firstPlaceToCome({ calls_under_way = [] }: BatchRow): number {
  return Math.min(...calls_under_way.map((call) => (typeof call === 'string' ? Number.POSITIVE_INFINITY : call.from)));
}

/** The batch while the call is under way. */
export function withCall(batch: BatchRow, call: CallUnderWay): BatchRow {
  const { calls_under_way = [], rev } = batch;
  return { ...batch, calls_under_way: [...calls_under_way, call], rev: rev + 1 };
}

/** The batch once the call has come to its end. */
export function withoutCall(batch: BatchRow, callId: string): BatchRow {
  const { calls_under_way = [], ...rest } = batch;
  const others = calls_under_way.filter((call) => idOf(call) !== callId);
  return { ...rest, ...(others.length > 0 && { calls_under_way: others }), rev: batch.rev + 1 };
}

/**
 * The operations between two that begin and end a call on their batch; begun already, and ended
 * before, it stays so.
 */
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
