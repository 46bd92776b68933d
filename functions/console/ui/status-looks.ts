/** What each status looks like, and how it reads. */

import { texts } from './texts.ts';

/** What a status means for people: its color. */
type Kind = 'done' | 'failed' | 'canceled' | 'running' | 'pending';

type Sign = 'check' | 'turning' | 'ring' | 'pause' | 'cross' | 'clock' | 'struck';
type Look = readonly [kind: Kind, sign: Sign];

/** Of batches, jobs, devices and webhook calls. Any other looks like a canceled one. */
const looks: Readonly<Record<string, Look>> = {
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
  DRAINING: ['pending', 'pause'],
  CLOSED: ['failed', 'cross'],
};

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
