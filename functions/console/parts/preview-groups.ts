/** What an act would do to batches, in groups and in words. */

import type { Delay, MovedBatch, Preview } from '../../schemas/preview.ts';
import { formatMoment, formatSeconds } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';

const { preview: words } = texts;

/** Batches to which the same happens, under a sentence. Of each, how much. */
export interface PreviewGroup {
  readonly name: GroupName;
  readonly batches: readonly { readonly batch: MovedBatch; readonly how: string }[];
}

type GroupName = keyof typeof words.groups;

const isHeld = (reason: MovedBatch['ends_after_reason']) => reason === 'paused' || reason === 'closed';

/** What happens to a batch; undefined where it has no end before and after, for the same cause. */
function groupOf(batch: MovedBatch): GroupName | undefined {
  const { ends_before, ends_before_reason, ends_after, ends_after_reason, delay_seconds } = batch;
  if (ends_after === null) {
    const group = isHeld(ends_after_reason) ? 'held' : 'lost';
    const before = isHeld(ends_before_reason) ? 'held' : 'lost';
    return ends_before === null && before === group ? undefined : group;
  }
  if (ends_before === null || delay_seconds === null) return 'gained';
  const { least, likely, most } = delay_seconds;
  return (likely || most + least) < 0 ? 'earlier' : 'later';
}

const order: readonly GroupName[] = ['held', 'lost', 'later', 'gained', 'earlier'];

/** What happens to batches, the worst first; within each group in the order of the answer. */
export function groupsOf({ batches }: Pick<Preview, 'batches'>): readonly PreviewGroup[] {
  const groups = Map.groupBy(batches, groupOf);
  return order.flatMap((name) => {
    const group = groups.get(name);
    if (group === undefined) return [];
    return [{ name, batches: group.map((batch) => ({ batch, how: howOf(batch) })) }];
  });
}

function howOf({ ends_after, delay_seconds }: MovedBatch): string {
  if (ends_after === null) return '';
  return delay_seconds === null ? words.endsAt(formatMoment(ends_after.likely)) : delayText(delay_seconds);
}

/** `by about 40 min (35 min to 52 min)`, without a sign; where both are possible, both ends. */
export function delayText({ least, likely, most }: Delay): string {
  const [low, high] = [least, most].map((each) => formatSeconds(roughly(Math.abs(each)))) as [string, string];
  if (least < 0 && most > 0) return words.between(low, high);
  const about = words.about(formatSeconds(roughly(Math.abs(likely))));
  if (low === high) return about;
  return likely < 0 ? words.range(about, high, low) : words.range(about, low, high);
}

/** Seconds as one says them: no end is known to the second. */
function roughly(seconds: number): number {
  const step = [
    [20, 1],
    [90, 5],
    [5_400, 60],
    [86_400, 300],
  ].find(([most]) => seconds < most!)?.[1];
  return Math.round(seconds / (step ?? 3_600)) * (step ?? 3_600);
}
