/**
 * What users have used: the one place that derives it from rows. Each transaction adds what its
 * rows count as now, less what they counted as before, or leaves that to a later one
 * (lifecycle/sum-usage.ts). So the table always equals a recount of the rows, less what batches
 * carry, also after a correction.
 */

import { createHash } from 'node:crypto';
import { CorruptData } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import { isFinalBatchStatus, isFinalJob } from '../../statuses.ts';
import { toMicroseconds } from '../../values/timestamp.ts';
import type { Db } from '../dynamodb/db.ts';
import type { Write } from '../dynamodb/write-units.ts';

/** What is summed. A sum may exceed 2^53: the runs of two jobs can. */
export const usageAmounts = ['batches', 'jobs_done', 'jobs_error', 'jobs_canceled', 'shots', 'device_us'] as const;
type Amounts = Readonly<Partial<Record<(typeof usageAmounts)[number], bigint>>>;

/** What sums are of: each combination has items of its own. */
interface UsagePlace {
  readonly userId: string;
  /** UTC, of the end: `2026-11-22`. */
  readonly day: string;
  readonly projectId: string;
  readonly deviceType: string;
}

export interface Usage extends UsagePlace {
  readonly amounts: Amounts;
}

type EndedBatch = Pick<BatchRow, 'user_id' | 'project_id' | 'device_type' | 'status' | 'end_datetime'>;
type EndedJob = Pick<
  JobRow,
  'user_id' | 'project_id' | 'status' | 'runs' | 'shots' | 'device_us' | 'start_timestamp' | 'end_timestamp'
>;

/** What a batch counts as; undefined until it has ended. */
export function usageOfBatch(batch: EndedBatch | undefined): Usage | undefined {
  if (batch === undefined || !isFinalBatchStatus(batch.status) || batch.end_datetime === null) return undefined;
  const { user_id: userId, project_id: projectId, device_type: deviceType, end_datetime: end } = batch;
  return { userId, day: end.slice(0, 10), projectId, deviceType, amounts: { batches: 1n } };
}

/**
 * What a job counts as; undefined until it has ended. The time on a device is what leases measured,
 * otherwise the time from the job's start to its end. Throws CorruptData when the type of its
 * device is unknown, because its batch is missing.
 */
export function usageOfJob(job: EndedJob | undefined, deviceType: string | undefined): Usage | undefined {
  if (job === undefined || !isFinalJob(job) || job.end_timestamp === null) return undefined;
  if (deviceType === undefined) throw new CorruptData('The batch of a job is missing.');
  const { user_id: userId, project_id: projectId, status, runs, shots, end_timestamp: end } = job;
  const ended = { jobs_done: 0n, jobs_error: 0n, jobs_canceled: 0n };
  const amounts = {
    ...ended,
    [`jobs_${status.toLowerCase()}`]: 1n,
    shots: BigInt(status === 'DONE' ? (runs ?? shots ?? 0) : 0),
    device_us: BigInt(deviceTimeOf(job)),
  };
  return { userId, day: end.slice(0, 10), projectId, deviceType, amounts };
}

/** What a batch carries of the usage of its jobs; undefined where it carries none. */
export function carriedUsage(
  batch: Pick<BatchRow, 'user_id' | 'project_id' | 'device_type' | 'usage_to_add'>,
): Usage | undefined {
  const { user_id: userId, project_id: projectId, device_type: deviceType, usage_to_add } = batch;
  if (usage_to_add === undefined) return undefined;
  const [day, ...counts] = usage_to_add;
  const amounts = usageAmounts.slice(1).map((name, at) => [name, BigInt(counts[at]!)]);
  return { userId, day, projectId, deviceType, amounts: Object.fromEntries(amounts) };
}

/** In microseconds, as the row counts it: also before the job has ended, if a lease did. */
function deviceTimeOf(job: EndedJob | undefined): number {
  if (job === undefined) return 0;
  const { device_us, start_timestamp: start, end_timestamp: end } = job;
  if (device_us !== undefined) return device_us;
  return !isFinalJob(job) || start === null || end === null
    ? 0
    : Math.max(0, toMicroseconds(end) - toMicroseconds(start));
}

/**
 * The sums, grouped by `keyOf`, by default by place; each has the place of its first part. Sums
 * that are all zero are left out. Writers sum at each change that they add, so nothing is hashed.
 */
export function sumUsage(
  parts: readonly (Usage | undefined | false)[],
  keyOf = ({ userId, day, projectId, deviceType }: Usage) => JSON.stringify([userId, day, projectId, deviceType]),
): Usage[] {
  const known = parts.filter((part) => part !== undefined && part !== false);
  return Array.from(Map.groupBy(known, keyOf).values(), (of) => ({ ...of[0]!, amounts: totalUsage(of) })).filter(
    ({ amounts }) => Object.values(amounts).some((amount) => amount !== 0n),
  );
}

function totalUsage(parts: readonly Pick<Usage, 'amounts'>[]): Amounts {
  const sum = (name: keyof Amounts) => parts.reduce((total, { amounts }) => total + (amounts[name] ?? 0n), 0n);
  return Object.fromEntries(usageAmounts.map((name) => [name, sum(name)]));
}

export function negative(usage: Usage | undefined): Usage | undefined {
  if (usage === undefined) return undefined;
  const amounts = Object.entries(usage.amounts).map(([name, amount]) => [name, -amount]);
  return { ...usage, amounts: Object.fromEntries(amounts) };
}

interface Rows {
  readonly batches: ReadonlyMap<string, BatchRow>;
  readonly jobs: ReadonlyMap<string, JobRow>;
}

/** What rows count as afterwards, less what they counted as before. */
export function usageChanges({ stored, batches, jobs }: Rows & { readonly stored: Rows }): Usage[] {
  return sumUsage([
    ...[...batches.values()].flatMap((row) => [usageOfBatch(row), negative(usageOfBatch(stored.batches.get(row.id)))]),
    ...[...jobs.values()].flatMap((row) => {
      const { device_type } = batches.get(row.batch_id) ?? stored.batches.get(row.batch_id) ?? {};
      return [usageOfJob(row, device_type), negative(usageOfJob(stored.jobs.get(row.id), device_type))];
    }),
  ]);
}

/**
 * By type of the device, the microseconds that jobs count as more than before. Once all jobs have
 * ended, the sum of these over all changes is what usage counts as `device_us`.
 */
export function deviceTimeChanges({ stored, batches, jobs }: Rows & { readonly stored: Rows }): Map<string, number> {
  const changes = new Map<string, number>();
  for (const row of jobs.values()) {
    const added = deviceTimeOf(row) - deviceTimeOf(stored.jobs.get(row.id));
    const { device_type } = batches.get(row.batch_id) ?? stored.batches.get(row.batch_id) ?? {};
    if (added === 0 || device_type === undefined) continue;
    changes.set(device_type, (changes.get(device_type) ?? 0) + added);
  }
  return changes;
}

/**
 * If two transactions write the same item at the same time, DynamoDB cancels one, and all workers
 * of a user add to one place. So each place has several items, and a transaction takes any of them.
 * Stored: this number may grow, but not shrink.
 */
export const itemsOfPlace = 4;

/** What adds the changes to what is stored: for each 2 write units. */
export function usageWrites({ tables }: Db<'Usage'>, changes: readonly Usage[]): Write[] {
  return changes.map(({ amounts, ...place }) => {
    const changed = Object.entries(amounts).filter(([, amount]) => amount !== 0n);
    return {
      Update: {
        TableName: tables.Usage,
        Key: usageKey(place, Math.floor(Math.random() * itemsOfPlace)),
        UpdateExpression: `SET device_type = :type ADD ${['rev', ...changed.map(([name]) => name)].map((name) => `${name} :${name}`).join(', ')}`,
        ExpressionAttributeValues: {
          ':type': place.deviceType,
          ':rev': 1,
          ...Object.fromEntries(changed.map(([name, amount]) => [`:${name}`, storedAmount(amount)])),
        },
      },
    };
  });
}

/** As DynamoDB's client takes it, and gives it back. */
export function storedAmount(amount: bigint): number | bigint {
  return Number.isSafeInteger(Number(amount)) ? Number(amount) : amount;
}

/** The key of one of the items that together hold the sums of a place. */
export function usageKey({ userId, day, projectId, deviceType }: UsagePlace, item = 0) {
  // Types of devices can be longer than keys.
  const device = createHash('sha256').update(deviceType).digest('base64url').slice(0, 22);
  return usageKeyOf(keyOfItem(`${usagePrefix(userId)}${day}#${projectId}#${device}`, item));
}

/** The key of the item of this number, from that of the first. Earlier releases had only that. */
export function keyOfItem(first: string, item: number): string {
  return item === 0 ? first : `${first}.${item}`;
}

/** The key of the first item of the same place. */
export function keyOfFirst(key: string): string {
  return key.replace(/\.\d+$/, '');
}

/**
 * A partition takes 500 transactions a second, so a month has several, each for some of the users.
 * Stored: this number never changes.
 */
export const partitionsOfMonth = 8;

/** The whole key, by its sort key. */
export function usageKeyOf(key: string) {
  const [user = '', day = ''] = key.split('#');
  return { month: partitionOf(day.slice(0, 7), user), key };
}

function partitionOf(month: string, user: string): string {
  const sum = [...user].reduce((hash, each) => (hash * 31 + each.charCodeAt(0)) % 65_521, 7);
  return `${month}.${sum % partitionsOfMonth}`;
}

/**
 * The partitions of a month (`2026-11`) that hold usage of a user, or of everyone. Earlier releases
 * had one for all users: the month itself.
 */
export function usagePartitions(month: string, userId?: string): string[] {
  const places = Array.from({ length: partitionsOfMonth }, (_, place) => `${month}.${place}`);
  return [month, ...(userId === undefined ? places : [partitionOf(month, usagePrefix(userId).slice(0, -1))])];
}

/** The beginning of all keys of one user; no other user's key begins like this. */
export function usagePrefix(userId: string): string {
  return `${userId.replace(/[%#]/g, encodeURIComponent)}#`;
}

/** The sums of an item as it is stored. */
export function usageOfItem(item: Readonly<Record<string, unknown>>): Usage {
  const [user, day, projectId] = String(item.key).split('#');
  if (user === undefined || day === undefined || projectId === undefined || typeof item.device_type !== 'string') {
    throw new CorruptData(`The usage ${item.key} is corrupt.`);
  }
  const userId = user.replace(/%2[35]/g, decodeURIComponent);
  return { userId, day, projectId, deviceType: item.device_type, amounts: amountsOfItem(item) };
}

/** What the item has of each amount. */
export function amountsOfItem(item: Readonly<Record<string, unknown>>): Required<Amounts> {
  const amounts = usageAmounts.map((name) => [name, BigInt((item[name] ?? 0) as number | bigint)]);
  return Object.fromEntries(amounts);
}
