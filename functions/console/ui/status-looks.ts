/** What each status looks like, and how it reads. */

import type { DeviceModeName } from '../../device-modes.ts';
import type { Device } from '../../schemas/device.ts';
import type { BatchStatusName, JobStatusName } from '../../statuses.ts';
import { texts } from './texts.ts';

/** What a status means for people: its color. What needs them comes first. */
const kinds = ['running', 'pending', 'done', 'failed', 'canceled'] as const;
type Kind = (typeof kinds)[number];

type Sign = 'check' | 'turning' | 'ring' | 'pause' | 'cross' | 'clock' | 'struck';
type Look = readonly [kind: Kind, sign: Sign];

type Known = BatchStatusName | JobStatusName | DeviceModeName | Device['availability'];

/** Any other, such as the outcome of a webhook call, looks like a canceled one. */
const known = {
  PENDING: ['pending', 'ring'],
  RUNNING: ['running', 'turning'],
  DONE: ['done', 'check'],
  ERROR: ['failed', 'cross'],
  TIMED_OUT: ['failed', 'clock'],
  CANCELED: ['canceled', 'struck'],
  CANCELING: ['canceled', 'struck'],
  PAUSED: ['pending', 'pause'],
  ACTIVE: ['done', 'check'],
  OPEN: ['done', 'check'],
  DRAINING: ['pending', 'ring'],
  CLOSED: ['failed', 'cross'],
  INACTIVE: ['canceled', 'ring'],
  RETIRED: ['canceled', 'ring'],
} as const satisfies Record<Known, Look>;
const looks: Readonly<Record<string, Look>> = known;

const unknown: Look = ['canceled', 'ring'];

function lookOf(status: string): Look {
  return Object.hasOwn(looks, status) ? looks[status]! : unknown;
}

/** The shape of a status. */
export function signOf(status: string): Sign {
  return lookOf(status)[1];
}

/** The color of a status, as a class: `kind-done`. */
export function kindOf(status: string): `kind-${Kind}` {
  return `kind-${lookOf(status)[0]}`;
}

/** `Timed out` for `TIMED_OUT`. */
export function statusWord(status: string): string {
  const word = Object.hasOwn(texts.statuses, status) ? texts.statuses[status as keyof typeof texts.statuses] : status;
  return word.charAt(0).toUpperCase() + word.slice(1).toLowerCase().replaceAll('_', ' ');
}

/** Statuses in the order of their kinds: at work, waiting, done, failed, canceled. */
export function sortStatuses<Status extends string>(statuses: readonly Status[]): readonly Status[] {
  const rank = (status: string) => kinds.indexOf(lookOf(status)[0]);
  return statuses.toSorted((one, other) => rank(one) - rank(other));
}
