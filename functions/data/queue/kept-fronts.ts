import { keptRead } from '../dynamodb/kept-reads.ts';
import { maxCountedBatches, readFront } from './queue.ts';

/**
 * The front of a device's queue, up to 10 s old: anyone may ask for its length, with no token. Half
 * a read unit for about 16 batches, 31 at most.
 */
export const keptFront = keptRead(readFront);

/** Null where there are more than are counted. */
export function upToMax(count: number): number | null {
  return count > maxCountedBatches ? null : count;
}
