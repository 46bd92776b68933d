/**
 * What is known of a device's workers: how long jobs took, how long jobs have kept them busy in
 * all, and which workers were there last. It is an item of the device's queue. Reads of the queue's
 * front include it; claims skip it.
 *
 * The times are a sample. A report replaces a slot chosen at random, so an update needs no read and
 * never conflicts. The weight of a time falls exponentially with the number of later ones. Once the
 * sample is full, only reports whose usage is summed bring their times: the last of a batch, and
 * about one in four.
 */

import type { Item } from '../dynamodb/reads.ts';

/** Its key sorts before the clock's: claims read from there on. */
export const deviceTimesKey = '!activity';

/**
 * Job times and workers together stay within a write unit, with a device's name of 128 ASCII
 * characters.
 */
const slots = 100;
const workerSlots = 16;

/**
 * A report's two numbers, each in steps of 2.5 %, share one stored number, with 1,000 steps each.
 */
const steps = 1_000;
const stepsPerE = 40;

const slotName = (slot: number) => `j${slot.toString(36)}`;
const workerName = (slot: number) => `w${slot.toString(36)}`;

const slotNames = Array.from({ length: slots }, (_, slot) => slotName(slot));
const workerNames = Array.from({ length: workerSlots }, (_, slot) => workerName(slot));

export const namesOfJobTimes: readonly string[] = [...slotNames, ...workerNames];

/**
 * The microseconds that rows of jobs count as time on a device, added after the changes of rows
 * that sum them (lifecycle/sum-usage.ts). A crash between the two loses them here: usage alone is
 * exact.
 */
export const busyName = 'busy_us';

/** How long a job occupied a worker, from the answer that handed it out to its report. */
export interface JobTime {
  readonly seconds: number;
  /** Undefined where the request left open how often to run it. */
  readonly shots: number | undefined;
}

export interface DeviceTimes {
  readonly jobs: readonly JobTime[];
  /**
   * When a worker was heard of last, by a report or a claim that found nothing, in milliseconds
   * since 1970, by `workerSlot`.
   */
  readonly seen: ReadonlyMap<number, number>;
}

/** Whether all slots of the item have a job time: the next ones may come less often. */
export function isFullSample(item: Item | undefined): boolean {
  return slotNames.every((name) => item?.[name] !== undefined);
}

/** Workers of different names may share a slot: then they count as one while they are idle. */
export function workerSlot(worker: string | undefined): number {
  return [...(worker ?? '')].reduce((sum, each) => sum + each.charCodeAt(0), 0) % workerSlots;
}

/** Attributes for a worker that was there, and for how long the job took that it reported. */
export function workerNote(worker: string | undefined, now: number, job?: JobTime): Record<string, number> {
  const note = { [workerName(workerSlot(worker))]: Math.round(now / 1_000) };
  if (job === undefined) return note;
  const { seconds, shots } = job;
  const code = (value: number) => Math.min(steps - 2, Math.round(Math.log(value) * stepsPerE));
  const time = code(1 + Math.max(0, seconds) * 1_000) * steps + (shots ? 1 + code(shots) : 0);
  return { ...note, [slotName(Math.floor(Math.random() * slots))]: time };
}

/**
 * The content of the item. Values that no report writes count as none: a status needs no estimate.
 */
export function deviceTimes(item: Item | undefined): DeviceTimes {
  const value = (code: number) => Math.exp(code / stepsPerE);
  const jobs = slotNames.flatMap((name): JobTime[] => {
    const stored = item?.[name];
    if (!Number.isSafeInteger(stored) || stored < 0 || stored >= steps ** 2) return [];
    const shots = stored % steps;
    const seconds = (value(Math.floor(stored / steps)) - 1) / 1_000;
    return [{ seconds, shots: shots === 0 ? undefined : value(shots - 1) }];
  });
  const seen = workerNames.flatMap((name, slot) => {
    const stored = item?.[name];
    return Number.isSafeInteger(stored) ? [[slot, stored * 1_000] as const] : [];
  });
  return { jobs, seen: new Map(seen) };
}
