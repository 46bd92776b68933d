/**
 * Calls of a user that keep a function for long, and how many of a kind may be under way at once:
 * one user must not take the functions of all. A kind is an item of the user in the table Counters,
 * with a place for each call; a place holds the time until which its call has it. A call that died
 * loses its place then, so nothing that is counted can leak.
 */

import { randomInt } from 'node:crypto';
import { NumberValue, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { TooManyCalls } from '../../errors.ts';
import { userSubject } from '../../schemas/limits.ts';
import { timeLimits } from '../../time-limits.ts';
import { isConditionFailure, translateErrors } from '../dynamodb/aws-errors.ts';
import type { Db } from '../dynamodb/db.ts';

/**
 * The places of each kind: calls of several transactions, tests of webhooks, answers of the results
 * of many jobs.
 */
export const maxCallsAtOnce = { changes: 5, tests: 3, downloads: 5 } as const;

/** A call of a kind: counted as long as it is under way. */
export type CountedKind = keyof typeof maxCallsAtOnce;

/** DynamoDB may delete the item of a user who makes no such calls. */
const keptSeconds = 3_600;

/** Whose call it is. */
export interface CallOfUser {
  readonly userId: string;
  readonly kind: CountedKind;
}

interface Place {
  readonly name: string;
  /**
   * Milliseconds since 1970, with a random fraction of 14 digits: no two calls have the same. A
   * number of JavaScript has three of them.
   */
  readonly until: NumberValue;
}

/**
 * Does the work of a call, which takes a place by `begin` once it knows that it will be long, and
 * has it until its end. `begin` throws TooManyCalls when all places are taken; a further `begin`
 * changes nothing. Costs nothing before it, then 2 write units: 1 to take a place, 1 to leave it. A
 * refusal costs 1, and so does each place that another call takes at the same moment.
 */
export async function withPlace<Result>(
  db: Db<'Counters'>,
  call: CallOfUser,
  work: (begin: () => Promise<void>) => Promise<Result>,
): Promise<Result> {
  let taken: Promise<Place> | undefined;
  const begin = async () => {
    taken ??= takePlace(db, call);
    await taken;
  };
  try {
    return await work(begin);
  } finally {
    const place = await taken?.catch(() => undefined);
    if (place !== undefined) await leavePlace(db, call, place);
  }
}

async function takePlace(db: Db<'Counters'>, call: CallOfUser): Promise<Place> {
  const now = db.clock.now();
  const until = NumberValue.from(`${Math.floor(now) + 1_000 * timeLimits.heldPlace - 1}.${randomInt(1e14)}`);
  const names = Array.from({ length: maxCallsAtOnce[call.kind] }, (_, place) => `place_${place}`);
  let free = names;
  for (let attempt = 0; attempt < names.length && free.length > 0; attempt++) {
    const place = { name: free[Math.floor(Math.random() * free.length)]!, until };
    const held = await putPlace(db, call, place, now);
    if (held === undefined) return place;
    free = free.filter((name) => name !== place.name && !(Number(held[name]?.N) > now));
  }
  throw new TooManyCalls(call.kind);
}

/**
 * Returns undefined, or the item where another call has the place. The SDK repeats a write whose
 * answer was lost: then the place is this call's already.
 */
async function putPlace({ client, tables }: Db<'Counters'>, call: CallOfUser, { name, until }: Place, now: number) {
  const command = new UpdateCommand({
    TableName: tables.Counters,
    Key: placesKey(call),
    UpdateExpression: 'SET #place = :until, expires_at = :expiry',
    ConditionExpression: 'attribute_not_exists(#place) OR #place <= :now OR #place = :until',
    ExpressionAttributeNames: { '#place': name },
    ExpressionAttributeValues: { ':until': until, ':now': now, ':expiry': Math.floor(now / 1_000) + keptSeconds },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  try {
    await translateErrors(client.send(command));
    return undefined;
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    return (error as { Item?: Readonly<Record<string, { readonly N?: string }>> }).Item ?? {};
  }
}

/** A place that cannot be left ends by itself. */
async function leavePlace({ client, tables }: Db<'Counters'>, call: CallOfUser, { name, until }: Place): Promise<void> {
  const command = new UpdateCommand({
    TableName: tables.Counters,
    Key: placesKey(call),
    UpdateExpression: 'REMOVE #place',
    ConditionExpression: '#place = :until',
    ExpressionAttributeNames: { '#place': name },
    ExpressionAttributeValues: { ':until': until },
  });
  await client.send(command).catch(() => {});
}

function placesKey({ userId, kind }: CallOfUser) {
  return { subject: userSubject(userId), name: `places ${kind}` };
}
