/**
 * The workers of a device that asked for work and got none: an item for each name in the table
 * Counters, for a day. Busy ones are known from their leases.
 */

import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { translateErrors } from '../dynamodb/aws-errors.ts';
import type { Db } from '../dynamodb/db.ts';
import { queryFirstPage } from '../dynamodb/reads.ts';

const keptSeconds = 24 * 3_600;
const prefix = 'worker#';

/** Under what the table Counters holds what is known of a device. */
export function deviceSubject(deviceType: string): string {
  return `device:${deviceType}`;
}

/** Notes that a worker asks for work now. 1 write unit. */
export async function noteIdleWorker(
  { client, tables, clock }: Db<'Counters'>,
  deviceType: string,
  worker: string,
): Promise<void> {
  const now = clock.now();
  const command = new UpdateCommand({
    TableName: tables.Counters,
    Key: { subject: deviceSubject(deviceType), name: `${prefix}${worker}` },
    UpdateExpression: 'SET seen_at = :now, expires_at = :expiry',
    ExpressionAttributeValues: { ':now': now, ':expiry': Math.floor(now / 1_000) + keptSeconds },
  });
  await translateErrors(client.send(command));
}

/**
 * When each worker of the last 24 hours asked last, in milliseconds since 1970, by its name: up to
 * about 8,000, which one read holds. Half a read unit for about 30 workers.
 */
export async function listIdleWorkers(db: Db<'Counters'>, deviceType: string): Promise<ReadonlyMap<string, number>> {
  const { items } = await queryFirstPage(db, {
    table: 'Counters',
    partition: { subject: deviceSubject(deviceType) },
    sortKey: 'name',
    range: { startsWith: prefix },
    consistent: false,
  });
  const first = db.clock.now() - keptSeconds * 1_000;
  const seen = items.map(({ name, seen_at }) => [String(name).slice(prefix.length), Number(seen_at)] as const);
  // DynamoDB may take days to delete what has expired.
  return new Map(seen.filter(([, at]) => at > first));
}
