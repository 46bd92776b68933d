/**
 * What an operator sets for a device. It is an item of the device's queue, so a claim has read it,
 * and the row of the device says the same.
 */

import { type DeviceMode, DeviceRules } from '../../schemas/device-rules.ts';
import { fromMilliseconds, toMicroseconds } from '../../values/timestamp.ts';
import { storedRow } from '../dynamodb/stored-row.ts';

/** The rules of a device for which an operator has set nothing. */
export const openRules: DeviceRules = { rev: 0, mode: 'OPEN', reason: null, windows: [] };

/** Its key sorts between the clock's and those of batches, so one read brings all of them. */
export const deviceRulesKey = '!device';

export function deviceRules(item: Readonly<Record<string, unknown>> | undefined): DeviceRules {
  return item === undefined ? openRules : storedRow(DeviceRules, item);
}

/** What keeps a device from new work, and until when if that is known. */
export interface Rest {
  readonly mode: Exclude<DeviceMode, 'OPEN'>;
  readonly reason: string | null;
  /** The end of the window. */
  readonly until: string | null;
}

/**
 * What keeps the device from new work at this time, in milliseconds since 1970; undefined where
 * nothing does. A window begins at its start, and is over at its end.
 */
export function restAt({ mode, reason, windows }: DeviceRules, now: number): Rest | undefined {
  const time = fromMilliseconds(now);
  const window = windows.find(({ starts_at, ends_at }) => starts_at <= time && time < ends_at);
  if (window !== undefined && (mode === 'OPEN' || mode === 'DRAINING')) {
    return { mode: 'PAUSED', reason: window.reason, until: window.ends_at };
  }
  return mode === 'OPEN' ? undefined : { mode, reason, until: null };
}

/**
 * When the next window begins, in milliseconds since 1970; the latest time where none is to come.
 */
export function nextWindow({ windows }: DeviceRules, now: number): number {
  const starts = windows.map(({ starts_at }) => Math.floor(toMicroseconds(starts_at) / 1_000));
  return Math.min(Number.MAX_SAFE_INTEGER, ...starts.filter((start) => start > now));
}

/** Whether a batch that a worker has goes on with its next job. */
export function goesOn(rest: Rest | undefined): boolean {
  return rest === undefined || rest.mode === 'DRAINING';
}

/** Why the device takes no new batches of users; undefined where it does. */
export function whyClosed(deviceType: string, { mode, reason }: DeviceRules): string | undefined {
  if (mode !== 'CLOSED' && mode !== 'RETIRED') return undefined;
  return describeRest(deviceType, { mode, reason, until: null });
}

const restWords: Readonly<Record<Rest['mode'], string>> = {
  DRAINING: 'takes no further batches',
  PAUSED: 'is paused',
  CLOSED: 'is closed',
  RETIRED: 'is retired',
};

/** The sentence for users. */
export function describeRest(deviceType: string, { mode, reason, until }: Rest): string {
  return `${deviceType} ${restWords[mode]}${until === null ? '' : ` until ${until}`}: ${reason}`;
}
