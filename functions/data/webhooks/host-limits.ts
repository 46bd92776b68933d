/**
 * How often the hosts of webhooks are called. Two counts in the table Counters: one of a user, a
 * host and a minute, under the user, and one of a host and a minute, under the host. A user's tests
 * have a count of their own. An hour later DynamoDB may delete them.
 */

import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { TooManyCalls } from '../../errors.ts';
import { userSubject } from '../../schemas/limits.ts';
import { minuteOf } from '../../values/timestamp.ts';
import { derivedUuid } from '../../values/uuid.ts';
import { translateErrors } from '../dynamodb/aws-errors.ts';
import type { Db } from '../dynamodb/db.ts';
import type { Item } from '../dynamodb/reads.ts';

/** Calls of one host in a minute, at most: about the batches of one user, and in all. */
export const maxCallsPerMinute: Readonly<Record<'ofUser' | 'ofAll', number>> = { ofUser: 300, ofAll: 600 };

/** Tests of webhooks that a user may ask for in a minute. */
export const maxTestsPerMinute = 10;

/** A message that must wait asks again after this number of seconds, at the latest. */
export const maxHostWaitSeconds = 900;

const minuteMilliseconds = 60_000;
const keptSeconds = 3_600;

/** Adds one to the count of an item and returns what it is then. 1 write unit. */
async function countUp({ client, tables, clock }: Db<'Counters'>, Key: Item): Promise<number> {
  const command = new UpdateCommand({
    TableName: tables.Counters,
    Key,
    UpdateExpression: 'ADD calls :one SET expires_at = :expiry',
    ExpressionAttributeValues: { ':one': 1, ':expiry': Math.floor(clock.now() / 1000) + keptSeconds },
    ReturnValues: 'UPDATED_NEW',
  });
  return (await translateErrors(client.send(command))).Attributes?.calls;
}

/**
 * Counts a call of a host. Returns 0 when the call may be made now; otherwise the seconds after
 * which to ask again. These spread waiting calls evenly over the minutes after this one. Calls
 * beyond a user's own limit do not count for the other users of the host. 1 write unit, or 2.
 */
export async function countHostCall(
  db: Db<'Counters'>,
  userId: string,
  host: string,
  max = maxCallsPerMinute,
): Promise<number> {
  const minute = minuteOf(db.clock.now());
  // A name of any length becomes a part of a key; with a dot at its end it is the same host.
  const hostId = derivedUuid(host.replace(/\.+(?=:|$)/, ''));
  const counted = [
    { key: { subject: userSubject(userId), name: `${minute} ${hostId}` }, limit: max.ofUser },
    { key: { subject: `host:${hostId}`, name: `${minute}` }, limit: max.ofAll },
  ];
  for (const { limit, key } of counted) {
    const calls = await countUp(db, key);
    if (calls <= limit) continue;
    const minutesAfterNext = calls / limit - 1;
    const until = (minute + 1 + minutesAfterNext) * minuteMilliseconds;
    return Math.min(Math.ceil((until - db.clock.now()) / 1000), maxHostWaitSeconds);
  }
  return 0;
}

/** Counts a test that a user asks for. Throws TooManyCalls beyond ten in a minute. 1 write unit. */
export async function countTest(db: Db<'Counters'>, userId: string): Promise<void> {
  const now = db.clock.now();
  const minute = minuteOf(now);
  const tests = await countUp(db, { subject: userSubject(userId), name: `${minute} tests` });
  if (tests <= maxTestsPerMinute) return;
  throw new TooManyCalls('tests', Math.ceil(((minute + 1) * minuteMilliseconds - now) / 1000));
}
