/**
 * When workers of a device were there that have no batch: an item for each name in the table
 * Counters, for a day. One that asked for work and got none is noted at once. One that has a batch
 * is known from its lease, and noted each minute, so that it is known once it has none.
 */

import type { Db } from '../dynamodb/db.ts';
import { queryFirstPage } from '../dynamodb/reads.ts';
import { deviceSubject, updateCounter } from './device-counters.ts';

const keptSeconds = 24 * 3_600;
const prefix = 'worker#';

/** Notes that a worker was there at a time, by default now. 1 write unit. */
export async function noteIdleWorker(
  db: Db<'Counters'>,
  deviceType: string,
  worker: string,
  value = db.clock.now(),
): Promise<void> {
  const expires_at = Math.floor(value / 1_000) + keptSeconds;
  const name = `${prefix}${worker}`;
  await updateCounter(db, { deviceType, name }, { assignment: 'seen_at = :value', value, expires_at });
}

/**
 * When each worker of the last 24 hours was noted last, in milliseconds since 1970, by its name: up
 * to about 8,000, which one read holds. Half a read unit for about 30 workers.
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
