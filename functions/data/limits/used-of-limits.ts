/** How much of their limits users and projects have used. */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import {
  type CountedLimit,
  countedLimits,
  LimitCounter,
  Limits,
  type OwnLimits,
  userSubject,
} from '../../schemas/limits.ts';
import { batchStatusNames, isFinalBatchStatus, isFinalJob, jobStatusNames } from '../../statuses.ts';
import { requireTable, type TableNames } from '../../tables.ts';
import { fromMilliseconds, minuteOf } from '../../values/timestamp.ts';
import { type OwnerLists, ownerLists } from '../columns/lists.ts';
import { batchGet, queryAll } from '../dynamodb/reads.ts';
import { storedRow } from '../dynamodb/stored-row.ts';
import { countRows } from '../lists/count-rows.ts';
import { type Bounds, boundsOf } from './limits.ts';
import { usageOfItem, usagePrefix } from './usage-sums.ts';

/** Counters are in the table of usage, which all functions write that end batches or jobs. */
export function limitCounterKey(subject: string) {
  return { month: 'counters', key: subject };
}

const noCounter = LimitCounter.parse({});

/** The counters of these subjects, strongly consistent: 1 read unit each. */
export async function readLimitCounters(
  client: DynamoDBDocumentClient,
  tables: UsedTables,
  subjects: readonly string[],
): Promise<ReadonlyMap<string, LimitCounter>> {
  const keys = subjects.map(limitCounterKey);
  const items = await batchGet(client, { table: requireTable(tables, 'Usage'), keys, consistent: true });
  const found = new Map(items.map((item) => [item.key, storedRow(LimitCounter, item)]));
  return new Map(subjects.map((subject) => [subject, found.get(subject) ?? noCounter]));
}

/** When the month of a time in milliseconds since 1970 ends, as a canonical time. */
export function endOfMonth(now: number): string {
  const date = new Date(now);
  return fromMilliseconds(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1));
}

const waitingBatches = batchStatusNames.filter((status) => !isFinalBatchStatus(status));
const waitingJobs = jobStatusNames.filter((status) => !isFinalJob({ status }));

type UsedTables = Partial<TableNames<'Columns' | 'Usage'>>;

/**
 * The functions that find what has been used. All read strongly consistent.
 * - `waiting`: a user's batches or jobs that have not ended, as countRows.
 * - `inMonth`: shots and seconds of devices in the month of a time. For a user 1 read unit for
 *   about 25 combinations of day, project and device; for a project as much for all users together.
 */
export function usedOfLimits(
  client: DynamoDBDocumentClient,
  tables: UsedTables,
  { batch, job }: OwnerLists = ownerLists,
) {
  const countBatches = countRows({ client, tables, list: batch });
  const countJobs = countRows({ client, tables, list: job });
  return {
    waiting: async (userId: string, { max_waiting_batches, max_waiting_jobs }: Bounds['limits']) => {
      const [batches, jobs] = await Promise.all([
        max_waiting_batches === undefined
          ? 0
          : countBatches(userId, [{ kind: 'facet', facet: 'status', oneOf: waitingBatches }]),
        max_waiting_jobs === undefined
          ? 0
          : countJobs(userId, [{ kind: 'facet', facet: 'status', oneOf: waitingJobs }]),
      ]);
      return { batches, jobs };
    },
    inMonth: async (subject: string, now: number) => {
      const isUser = subject.startsWith('user:');
      const id = subject.slice(subject.indexOf(':') + 1);
      const items = await queryAll(client, {
        table: requireTable(tables, 'Usage'),
        partition: { month: fromMilliseconds(now).slice(0, 7) },
        sortKey: 'key',
        range: isUser ? { startsWith: usagePrefix(id) } : 'all',
        consistent: true,
      });
      const parts = items.map(usageOfItem).filter(({ projectId }) => isUser || projectId === id);
      const sum = (name: 'shots' | 'device_us') =>
        Number(parts.reduce((total, { amounts }) => total + (amounts[name] ?? 0n), 0n));
      return { shots: sum('shots'), seconds: sum('device_us') / 1_000_000 };
    },
  };
}

/**
 * The function that shows a user what bounds them, what they have used of it and what is left. 2
 * read units, what the limits cost that they have, and the count of what waits.
 */
export function ownLimits(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Limits' | 'Columns' | 'Usage'>,
  { now = Date.now }: { readonly now?: () => number } = {},
): (userId: string) => Promise<OwnLimits> {
  const bounds = boundsOf(client, tables);
  const { waiting, inMonth } = usedOfLimits(client, tables);
  return async (userId) => {
    const [subject, time] = [userSubject(userId), now()];
    const both = { max_waiting_batches: 0, max_waiting_jobs: 0 };
    const [[bound], counters, waits, month] = await Promise.all([
      bounds(userId),
      readLimitCounters(client, tables, [subject]),
      waiting(userId, both),
      inMonth(subject, time),
    ]);
    const { limits = {} } = bound ?? {};
    const { jobs_to_come, minute, creations } = counters.get(subject) as LimitCounter;
    const inMinute = minute === minuteOf(time) ? creations : 0;
    const used: OwnLimits['used'] = {
      max_waiting_batches: waits.batches,
      max_waiting_jobs: waits.jobs + jobs_to_come,
      shots_per_month: month.shots,
      device_seconds_per_month: month.seconds,
      creations_per_minute: limits.creations_per_minute === undefined ? null : inMinute,
    };
    const leftOf = (name: CountedLimit) => {
      const [max, taken] = [limits[name], used[name]];
      return max === undefined || taken === null ? null : Math.max(0, max - taken);
    };
    const left = Object.fromEntries(countedLimits.map((name) => [name, leftOf(name)])) as OwnLimits['left'];
    const all = Object.keys(Limits.shape).map((name) => [name, limits[name as keyof Limits] ?? null]);
    return { limits: Object.fromEntries(all) as OwnLimits['limits'], used, left, month_ends_at: endOfMonth(time) };
  };
}
