/** A day of a device: what is drawn and counted of its minutes. */

import type { DeviceMinutes } from '../../schemas/device-minutes.ts';
import type { Axis } from '../ui/axis.ts';
import { formatTimeOfDay, timeOf } from '../ui/format.ts';

type Step = DeviceMinutes['minutes'][number];

export const hourMilliseconds = 3_600_000;
export const dayMilliseconds = 24 * hourMilliseconds;

/** What was measured in a time. */
interface Measured {
  /** Mean of batches that waited or were at work. */
  readonly queue: number;
  readonly longest: number;
  /** How many batches got their first worker. */
  readonly started: number;
  /** Mean seconds that these had waited; undefined where there are none. */
  readonly waited: number | undefined;
  readonly busySeconds: number;
  /** Of the time of all workers that were there: 0 to 1. */
  readonly busyShare: number;
  readonly workers: number;
  /** How much of the time was measured. */
  readonly seconds: number;
}

/** An hour and what was measured in it, by the milliseconds at which it begins. */
export interface Hour extends Measured {
  readonly at: number;
}

/** When a step begins, in milliseconds. */
export function beginOf({ at }: Pick<Step, 'at'>): number {
  return timeOf(at);
}

/** The sum of steps of `step` seconds; undefined where there are none. */
export function measuredOf(steps: readonly Step[], step: number): Measured | undefined {
  if (steps.length === 0) return undefined;
  const sum = (value: (each: Step) => number) => steps.reduce((total, each) => total + value(each), 0);
  const most = (value: (each: Step) => number) => steps.reduce((high, each) => Math.max(high, value(each)), 0);
  const started = sum((each) => each.batches_started);
  const busySeconds = sum((each) => each.busy_seconds);
  // Time without a worker counts as that of one: a device that no one runs is not at work.
  const workerSeconds = sum((each) => Math.max(1, each.workers)) * step;
  return {
    queue: sum((each) => each.queue_length) / steps.length,
    longest: most((each) => each.longest_queue),
    started,
    waited: started === 0 ? undefined : sum((each) => each.waited_seconds) / started,
    busySeconds,
    busyShare: Math.min(1, busySeconds / workerSeconds),
    workers: most((each) => each.workers),
    seconds: steps.length * step,
  };
}

/** The hours in which something was measured, in the order of time. */
export function hoursOf({ minutes, step }: Pick<DeviceMinutes, 'minutes' | 'step'>): readonly Hour[] {
  const hours = Map.groupBy(minutes, (each) => Math.floor(beginOf(each) / hourMilliseconds) * hourMilliseconds);
  return [...hours].map(([at, steps]) => ({ at, ...measuredOf(steps, step)! }));
}

/** Runs of steps without a gap between them. */
export function runsOf({ minutes, step }: Pick<DeviceMinutes, 'minutes' | 'step'>): readonly (readonly Step[])[] {
  const runs: Step[][] = [];
  let end: number | undefined;
  for (const each of minutes) {
    const at = beginOf(each);
    if (at !== end) runs.push([]);
    runs.at(-1)!.push(each);
    end = at + step * 1_000;
  }
  return runs;
}

const hoursBetweenTicks = 3;

/** An axis of time, with a tick at every third hour of the reader's day. */
export function timeAxis(least: number, greatest: number): Axis {
  const first = new Date(least);
  first.setHours(Math.ceil(first.getHours() / hoursBetweenTicks) * hoursBetweenTicks, 0, 0, 0);
  const ticks: { value: number; label: string }[] = [];
  for (const at = first; at.getTime() <= greatest; at.setHours(at.getHours() + hoursBetweenTicks)) {
    if (at.getTime() >= least) ticks.push({ value: at.getTime(), label: formatTimeOfDay(at) });
  }
  return { least, greatest, ticks };
}

const units = [
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** The unit in which seconds up to this many are small numbers, and how many seconds it has. */
export function unitOf(most: number): (typeof units)[number] {
  return units.find(([, seconds]) => most >= 2 * seconds) ?? units[2];
}
