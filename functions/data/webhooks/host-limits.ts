/**
 * How often the hosts of webhooks are called. Two counts in the table Counters: one of a user, a
 * host and a minute, under the user, and one of a host and a minute, under the host. An hour later
 * DynamoDB may delete them.
 */

import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { userSubject } from '../../schemas/limits.ts';
import type { TableNames } from '../../tables.ts';
import { minuteOf } from '../../values/timestamp.ts';
import { derivedUuid } from '../../values/uuid.ts';
import { translateErrors } from '../dynamodb/aws-errors.ts';

/** Calls of one host in a minute, at most: those about one user's batches, and all. */
export const maxCallsPerMinute: Readonly<Record<'ofUser' | 'ofAll', number>> = { ofUser: 300, ofAll: 600 };

/** A message that must wait asks again after so many seconds, at the latest. */
export const maxHostWaitSeconds = 900;

const minuteMilliseconds = 60_000;
const keptSeconds = 3_600;

interface CountedItem {
  readonly table: string;
  readonly key: Readonly<Record<string, string>>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Adds one to the count of an item and returns what it is then. 1 write unit. */
export async function countUp(client: DynamoDBDocumentClient, { table, key, now }: CountedItem): Promise<number> {
  const command = new UpdateCommand({
    TableName: table,
    Key: key,
    UpdateExpression: 'ADD calls :one SET expires_at = :expiry',
    ExpressionAttributeValues: { ':one': 1, ':expiry': Math.floor(now / 1000) + keptSeconds },
    ReturnValues: 'UPDATED_NEW',
  });
  return (await translateErrors(client.send(command))).Attributes?.calls;
}

/**
 * The function that counts a call of a host. Returns 0 where it may be made now; otherwise the
 * seconds after which to ask again, so that what waits comes evenly in the minutes after this one.
 * What a user sends beyond its own limit does not count for the others of the same host. 1 write
 * unit, or 2.
 */
export function countHostCall(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Counters'>,
  { now = () => Date.now(), max = maxCallsPerMinute } = {},
): (userId: string, host: string) => Promise<number> {
  return async (userId, host) => {
    const minute = minuteOf(now());
    // A name of any length becomes a part of a key; with a dot at its end it is the same host.
    const hostId = derivedUuid(host.replace(/\.+(?=:|$)/, ''));
    const counted = [
      { key: { subject: userSubject(userId), name: `${minute} ${hostId}` }, limit: max.ofUser },
      { key: { subject: `host:${hostId}`, name: `${minute}` }, limit: max.ofAll },
    ];
    for (const { limit, key } of counted) {
      const calls = await countUp(client, { table: tables.Counters, key, now: now() });
      if (calls > limit) return waitSeconds(calls / limit - 1, minute);
    }
    return 0;
  };

  /** Until so many minutes after the next minute has begun. */
  function waitSeconds(minutesLater: number, minute: number): number {
    const until = (minute + 1 + minutesLater) * minuteMilliseconds;
    return Math.min(Math.ceil((until - now()) / 1000), maxHostWaitSeconds);
  }
}
