/**
 * When what rows count as is added to the sums of usage. A job that ends under a lease is not
 * summed at once: its batch, whose row is written anyway, carries what is to be added, for three
 * jobs at most. The fourth adds all, as do the batch's end, the end of its lease, and whatever else
 * ends jobs of it. So at any time the sums equal a recount of the rows, less what batches carry;
 * and once no worker has a batch, they equal the recount.
 *
 * Batches of users and projects whose months are limited carry nothing (`sums_at_once`): limits
 * read the sums. A limit that is set later finds batches that do.
 */

import type { BatchRow } from '../../schemas/batch.ts';
import { countRunnable, isFinalBatchStatus } from '../../statuses.ts';
import {
  carriedUsage,
  deviceTimeChanges,
  sumUsage,
  type Usage,
  usageAmounts,
  usageChanges,
} from '../limits/usage-sums.ts';
import { batchIdOfKey } from '../queue/fair-order.ts';
import { type Draft, visibleBatch } from './draft.ts';

/** A batch carries the usage of this number of ended jobs at most. */
const maxCarriedJobs = 3;

/** A draft whose batches carry what is not summed yet, and what its transaction adds. */
export interface SummedDraft {
  readonly draft: Draft;
  readonly usage: readonly Usage[];
  /**
   * By type of the device, the microseconds to count as busy once the transaction is made. Where it
   * sums what was done under a lease, the lease's device is there.
   */
  readonly busy: ReadonlyMap<string, number>;
}

/** Decides what of a draft's usage is summed with it. */
export function sumDraft(draft: Draft): SummedDraft {
  const changes = usageChanges(draft);
  const times = deviceTimeChanges(draft);
  const carried = carryingBatches(draft);
  const { lease } = draft;
  const leased = lease && visibleBatch(draft, batchIdOfKey(lease.item.key));
  const goesOn = leased !== undefined && carries(draft, leased);
  if (goesOn && changes.length === 0) return { draft, usage: [], busy: times };
  const more = goesOn && draft.batches.has(leased.id) ? withMore(leased, changes, times) : undefined;
  if (more !== undefined) return { draft: withCarrying(draft, [more]), usage: [], busy: new Map() };
  if (changes.length === 0 && leased === undefined) return { draft, usage: [], busy: times };
  const busy = new Map(leased === undefined ? times : [[leased.device_type, 0], ...times]);
  for (const { device_type, usage_to_add } of carried) {
    busy.set(device_type, (busy.get(device_type) ?? 0) + usage_to_add![6]);
  }
  return {
    draft: withCarrying(draft, carried.map(withoutUsage)),
    usage: sumUsage([...changes, ...carried.map(carriedUsage)]),
    busy,
  };
}

/** The batches that carry something, of the rows that the draft changes, as they are after it. */
export function carryingBatches({ stored, batches, jobs }: Draft): BatchRow[] {
  const ids = new Set([...batches.keys(), ...Array.from(jobs.values(), ({ batch_id }) => batch_id)]);
  return [...ids].flatMap((id) => {
    const row = batches.get(id) ?? stored.batches.get(id);
    return row?.usage_to_add === undefined ? [] : [row];
  });
}

/** Whether the batch goes on under the draft's lease, so that later changes of it will come. */
function carries({ lease }: Draft, batch: BatchRow): boolean {
  const { status, canceling, sums_at_once, jobs_count_per_status } = batch;
  const isGivenUp = lease === undefined || lease.fence !== undefined || lease.put_back || lease.goesBehind;
  const ends = isFinalBatchStatus(status) || canceling === true || countRunnable(jobs_count_per_status) === 0;
  return !isGivenUp && !ends && sums_at_once === undefined;
}

/** The batch with these changes to carry; undefined where they are too much, or of another day. */
function withMore(batch: BatchRow, changes: readonly Usage[], times: ReadonlyMap<string, number>) {
  const [change, ...others] = changes;
  const before = batch.usage_to_add ?? [change!.day, 0, 0, 0, 0, 0, 0];
  const added = usageAmounts.slice(1).map((name) => change!.amounts[name] ?? 0n);
  const isOther = others.length > 0 || (change!.amounts.batches ?? 0n) !== 0n || before[0] !== change!.day;
  const [, ...counts] = before;
  const amounts = [...added, BigInt(times.get(batch.device_type) ?? 0)].map((each, at) => Number(each) + counts[at]!);
  const jobs = amounts.slice(0, 3).reduce((sum, each) => sum + each, 0);
  if (isOther || jobs > maxCarriedJobs || !amounts.every((each) => Number.isSafeInteger(each) && each >= 0)) return;
  return { ...batch, usage_to_add: [change!.day, ...amounts] } as BatchRow;
}

function withoutUsage({ usage_to_add, ...batch }: BatchRow): BatchRow {
  return batch;
}

/** The draft with these batches; the `rev` of a batch grows once. */
function withCarrying(draft: Draft, batches: readonly BatchRow[]): Draft {
  const rows = batches.map((row) => (draft.batches.has(row.id) ? row : { ...row, rev: row.rev + 1 }));
  const all = new Map([...draft.batches, ...rows.map((row) => [row.id, row] as const)]);
  return { ...draft, batches: all };
}
