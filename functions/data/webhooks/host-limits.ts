/**
 * How often the hosts of webhooks are called. Two counts in the table Counters: one of a user, a
 * host and a minute, under the user, and one of a host and a minute, under the host. The first also
 * counts calls that the host left unanswered, in this minute and the one before. A user's tests
 * have a count of their own. An hour later DynamoDB may delete them.
 */

import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { TooManyCalls } from '../../errors.ts';
import { userSubject } from '../../schemas/limits.ts';
import { timeLimits } from '../../time-limits.ts';
import { minuteOf } from '../../values/timestamp.ts';
import { derivedUuid } from '../../values/uuid.ts';
import { translateErrors } from '../dynamodb/aws-errors.ts';
import type { Db } from '../dynamodb/db.ts';
import type { Item } from '../dynamodb/reads.ts';

/**
 * Calls of one host in a minute, at most: about the batches of one user, and in all. A host that
 * leaves as many calls of a user unanswered as `ofSilent` gets no more of theirs: one of the places
 * of `deliverWebhooks` can wait for these, one after the other.
 */
export const maxCallsPerMinute: Readonly<Record<'ofUser' | 'ofAll' | 'ofSilent', number>> = {
  ofUser: 300,
  ofAll: 600,
  ofSilent: 60 / timeLimits.receiverCall,
};

/** Tests of webhooks that a user may ask for in a minute. */
export const maxTestsPerMinute = 10;

/** A message that must wait asks again after this number of seconds, at the latest. */
export const maxHostWaitSeconds = 900;

const minuteMilliseconds = 60_000;
const keptSeconds = 3_600;

interface Counted {
  readonly calls?: number;
  readonly unanswered?: number;
}

/** Adds one to a count of an item and returns the item as it is then. 1 write unit. */
async function countUp(
  { client, tables, clock }: Db<'Counters'>,
  Key: Item,
  name: keyof Counted = 'calls',
): Promise<Counted> {
  const command = new UpdateCommand({
    TableName: tables.Counters,
    Key,
    UpdateExpression: `ADD ${name} :one SET expires_at = :expiry`,
    ExpressionAttributeValues: { ':one': 1, ':expiry': Math.floor(clock.now() / 1000) + keptSeconds },
    ReturnValues: 'ALL_NEW',
  });
  return (await translateErrors(client.send(command))).Attributes ?? {};
}

/** A name of any length becomes a part of a key; with a dot at its end it is the same host. */
function hostIdOf(host: string): string {
  return derivedUuid(host.replace(/\.+(?=:|$)/, ''));
}

function keyOfUser(userId: string, host: string, minute: number) {
  return { subject: userSubject(userId), name: `${minute} ${hostIdOf(host)}` };
}

interface HostWait {
  /** 0: the call may be made now. Otherwise after how long to ask again. */
  readonly seconds: number;
  /** It is because the host leaves calls of this user unanswered. */
  readonly isSilent: boolean;
}

/**
 * Counts a call of a host, and says whether it may be made now. The seconds that it must wait
 * spread waiting calls evenly over the minutes after this one. Calls beyond a user's own limit do
 * not count for the other users of the host. 1 write unit, or 2.
 */
export async function countHostCall(
  db: Db<'Counters'>,
  userId: string,
  host: string,
  max = maxCallsPerMinute,
): Promise<HostWait> {
  const minute = minuteOf(db.clock.now());
  const counted = [
    { key: keyOfUser(userId, host, minute), most: max.ofUser },
    { key: { subject: `host:${hostIdOf(host)}`, name: `${minute}` }, most: max.ofAll },
  ];
  for (const { most, key } of counted) {
    const { calls = 0, unanswered = 0 } = await countUp(db, key);
    const isSilent = unanswered >= max.ofSilent;
    const limit = isSilent ? max.ofSilent : most;
    if (calls <= limit) continue;
    const minutesAfterNext = calls / limit - 1;
    const until = (minute + 1 + minutesAfterNext) * minuteMilliseconds;
    return { seconds: Math.min(Math.ceil((until - db.clock.now()) / 1000), maxHostWaitSeconds), isSilent };
  }
  return { seconds: 0, isSilent: false };
}

/**
 * Counts a call of a host that it left unanswered: for the rest of this minute, and the next one.
 * Other users' calls of the host are not slowed down. 2 write units.
 */
export async function countUnanswered(db: Db<'Counters'>, userId: string, host: string): Promise<void> {
  const minute = minuteOf(db.clock.now());
  const keys = [minute, minute + 1].map((each) => keyOfUser(userId, host, each));
  await Promise.all(keys.map((key) => countUp(db, key, 'unanswered')));
}

/** Counts a test that a user asks for. Throws TooManyCalls beyond ten in a minute. 1 write unit. */
export async function countTest(db: Db<'Counters'>, userId: string): Promise<void> {
  const now = db.clock.now();
  const minute = minuteOf(now);
  const { calls = 0 } = await countUp(db, { subject: userSubject(userId), name: `${minute} tests` });
  if (calls <= maxTestsPerMinute) return;
  throw new TooManyCalls('tests', Math.ceil(((minute + 1) * minuteMilliseconds - now) / 1000));
}
