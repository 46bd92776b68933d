import type { Db } from '../dynamodb/db.ts';
import { keptWith } from '../dynamodb/kept-with.ts';
import { maxCountedBatches, type QueueFront, readFront } from './queue.ts';

/** How long a process keeps the front of a queue: anyone may ask for its length, with no token. */
const secondsKept = 10;

interface KeptFront {
  readonly until: number;
  readonly front: Promise<QueueFront>;
}

const frontsOf = keptWith(() => new Map<string, KeptFront>());

/**
 * The front of a device's queue, read at most once in 10 s, so up to 10 s old. Half a read unit for
 * about 16 batches, 31 at most.
 */
export function keptFront(db: Db<'DeviceQueue'>, deviceType: string): Promise<QueueFront> {
  const kept = frontsOf(db);
  const now = db.clock.now();
  // The oldest come first. Users may name any device.
  for (const [name, { until }] of kept) {
    if (until > now) break;
    kept.delete(name);
  }
  const known = kept.get(deviceType);
  if (known !== undefined) return known.front;
  const front = readFront(db, deviceType);
  kept.set(deviceType, { until: now + secondsKept * 1_000, front });
  front.catch(() => kept.delete(deviceType));
  return front;
}

/** Null where there are more than are counted. */
export function upToMax(count: number): number | null {
  return count > maxCountedBatches ? null : count;
}
