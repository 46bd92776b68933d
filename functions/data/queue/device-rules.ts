/**
 * What an operator sets for a device. It is an item of the device's queue, so a claim has read it.
 * The row of the device has the same content.
 */

import { deviceModes } from '../../device-modes.ts';
import { DeviceRules } from '../../schemas/device-rules.ts';
import { storedRow } from '../../schemas/stored-row.ts';
import { fromMilliseconds, toMicroseconds } from '../../values/timestamp.ts';

/** The rules of a device for which an operator has set nothing. */
export const openRules: DeviceRules = { rev: 0, mode: 'OPEN', reason: null, windows: [] };

/** Its key sorts between the clock and the batches, so one read brings all of them. */
export const deviceRulesKey = '!device';

export function deviceRules(item: Readonly<Record<string, unknown>> | undefined): DeviceRules {
  // An item without rules holds calibrations only.
  return item?.rev === undefined ? openRules : storedRow(DeviceRules, item);
}

/** Why a device hands out no batches, and until when if that is known. */
export interface Pause {
  /** Batches that workers have go on with their next job. */
  readonly goesOn: boolean;
  readonly says: string;
  readonly reason: string | null;
  /** The end of the window. */
  readonly until: string | null;
}

/**
 * Why workers get none of the device's batches at this time, in milliseconds since 1970; undefined
 * when they get some. Within a window, a device that would start jobs is paused. A window includes
 * its start, and not its end.
 */
export function pauseAt({ mode, reason, windows }: DeviceRules, now: number): Pause | undefined {
  const { claims, goesOn, says } = deviceModes[mode];
  const time = fromMilliseconds(now);
  const window = windows.find(({ starts_at, ends_at }) => starts_at <= time && time < ends_at);
  if (goesOn && window !== undefined) {
    return { goesOn: false, says: deviceModes.PAUSED.says, reason: window.reason, until: window.ends_at };
  }
  return claims ? undefined : { goesOn, says, reason, until: null };
}

/**
 * When the next window begins, in milliseconds since 1970; the latest time where none is to come.
 */
export function nextWindow({ windows }: DeviceRules, now: number): number {
  const starts = windows.map(({ starts_at }) => Math.floor(toMicroseconds(starts_at) / 1_000));
  return Math.min(Number.MAX_SAFE_INTEGER, ...starts.filter((start) => start > now));
}

/** Why the device takes no new batches of users; undefined where it does. */
export function whyClosed(deviceType: string, { mode, reason }: DeviceRules): string | undefined {
  const { accepts, says } = deviceModes[mode];
  return accepts ? undefined : describePause(deviceType, { says, reason, until: null });
}

/** Why starts on the device are not estimated, windows aside; undefined where they are. */
export function whyNoStart({ mode }: DeviceRules): 'paused' | 'closed' | undefined {
  const { accepts, claims } = deviceModes[mode];
  if (claims) return undefined;
  return accepts ? 'paused' : 'closed';
}

/** The sentence for users. */
export function describePause(deviceType: string, { says, reason, until }: Omit<Pause, 'goesOn'>): string {
  return `${deviceType} ${says}${until === null ? '' : ` until ${until}`}: ${reason}`;
}
