/**
 * Calls that wait for a change of a batch or a job. Each of them keeps an execution environment
 * busy, and an account has 1,000: so what waits at once is counted, for each user and for all.
 */

import { setTimeout as delay } from 'node:timers/promises';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { TooBusy } from '../errors.ts';
import { millisecondsLeft } from '../request-lifetime.ts';
import { maxWaitSeconds } from '../schemas/query-parameters.ts';
import type { TableNames } from '../tables.ts';
import { derivedUuid } from '../uuid.ts';
import type { CountUnits } from './dynamodb/reads.ts';
import { countUp } from './host-limits.ts';

/** What is waited for. */
export interface Awaited<Row> {
  readonly read: (count?: CountUnits) => Promise<Row | undefined>;
  readonly hasEnded: (row: Row) => boolean;
  /** The call is answered when this text changes. */
  readonly stateOf: (row: Row) => string;
}

/** Reads a row, now or when it has changed; undefined where there is none. */
export type Look = <Row>(awaited: Awaited<Row>) => Promise<Row | undefined>;

/** Reads it now. */
export const lookOnce: Look = ({ read }) => read();

export interface WaitOptions {
  /** Milliseconds, of the machine's clock or of a test's. */
  readonly now?: () => number;
  readonly pause?: (milliseconds: number) => Promise<unknown>;
  /** Calls of all users that wait at once, at most. */
  readonly maxWaits?: number;
}

/** Kept back from the function's time for what follows the wait. */
const reservedMilliseconds = 3_000;

/** Timers are no more precise than this. */
const timersMilliseconds = 20;

/** How much of what all users may begin in a time a single one may. */
const shareOfUser = 0.2;

/**
 * The function that gives a user's call its way to look: it waits up to so many seconds until the
 * state differs from that of its first read, and not at all where it has ended, or where too many
 * calls wait already.
 *
 * Besides the first read it takes at most 1 read unit a second: a row is read once in as many
 * seconds as its read takes units, one for each 4 KB, and when the time is over. Where it waits, 2
 * write units.
 */
export function waitForChange(
  client: DynamoDBDocumentClient,
  tables: TableNames<'WebhookAttempts'>,
  { now = Date.now, pause = delay, maxWaits = 200 }: WaitOptions = {},
): (userId: string, seconds: number | undefined) => Look {
  return (userId, seconds) => {
    if (seconds === undefined) return lookOnce;
    return async ({ read, hasEnded, stateOf }) => {
      let pace = 1;
      const look = () => read((readUnits) => (pace = Math.max(readUnits, 1)));
      let row = await look();
      if (row === undefined || hasEnded(row) || !(await mayWait(userId))) return row;
      const state = stateOf(row);
      const end = now() + Math.min(seconds * 1000, millisecondsLeft() - reservedMilliseconds);
      for (let rest = end - now(); rest > timersMilliseconds; rest = end - now()) {
        // Evenly, so that the last read is at the end and none comes early.
        await pause(rest / Math.max(1, Math.floor(rest / 1000 / pace)));
        row = await look();
        if (row === undefined || stateOf(row) !== state) break;
      }
      return row;
    };
  };

  /**
   * Counts the calls that begin to wait, for as long as one may wait: calls of two such times may
   * wait together.
   */
  async function mayWait(userId: string): Promise<boolean> {
    const maxOfAll = Math.ceil(maxWaits / 2);
    const time = `waits ${Math.floor(now() / 1000 / maxWaitSeconds)}`;
    const counted = [
      { user_id: userId, batch_id: time, max: Math.ceil(maxOfAll * shareOfUser) },
      { user_id: derivedUuid('waits'), batch_id: time, max: maxOfAll },
    ];
    try {
      for (const { max, ...key } of counted)
        if ((await countUp(client, { table: tables.WebhookAttempts, key, now: now() })) > max) return false;
      return true;
    } catch (error) {
      // So many calls want to wait that DynamoDB refuses to count them.
      if (error instanceof TooBusy) return false;
      throw error;
    }
  }
}
