import { setTimeout as delay } from 'node:timers/promises';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { OwnerFormats } from '../../functions/data/columns/lists.ts';
import type { Db } from '../../functions/data/dynamodb/db.ts';
import type { Clock } from '../../functions/runtime/clock.ts';
import type { TableName, TableNames } from '../../functions/tables.ts';

interface TestDbOptions {
  /** Milliseconds since 1970; by default the machine's. */
  readonly now?: (() => number) | undefined;
  /** By default, what sleeps, sleeps. */
  readonly sleep?: Clock['sleep'] | undefined;
  readonly formats?: OwnerFormats | undefined;
}

/** A clock on which no time runs out, however slow the machine is. What sleeps, sleeps. */
export function patientClock(now: () => number = () => Date.now()): Clock {
  return { now, elapsed: () => 0, sleep: (milliseconds) => delay(milliseconds) };
}

/** The database as functions are given it, with these tables. */
export function testDb<Named extends TableName>(
  client: DynamoDBDocumentClient,
  tables: TableNames<Named>,
  { now, sleep, formats }: TestDbOptions = {},
): Db<Named> {
  return { client, tables, clock: { ...patientClock(now), ...(sleep && { sleep }) }, formats };
}
