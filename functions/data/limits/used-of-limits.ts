/** How much of their limits users and projects have used. */

import { type CountedLimit, type CountedRows, countedLimits, limitNames, limits, type RowLimit } from '../../limits.ts';
import { LimitCounter, type OwnLimits, userSubject } from '../../schemas/limits.ts';
import { storedRow } from '../../schemas/stored-row.ts';
import { fromMilliseconds, minuteOf } from '../../values/timestamp.ts';
import { formatsOf } from '../columns/lists.ts';
import type { Db } from '../dynamodb/db.ts';
import { batchGet, queryAll } from '../dynamodb/reads.ts';
import { countRows } from '../lists/count-rows.ts';
import type { Condition } from '../lists/query.ts';
import { type EffectiveLimits, effectiveLimits } from './limits-of-subjects.ts';
import { usageOfItem, usagePartitions, usagePrefix } from './usage-sums.ts';

/** The key of a subject's counter in the table Counters. */
export function limitCounterKey(subject: string) {
  return { subject, name: 'limits' };
}

/** The counter of a subject before anything is counted. */
export const noCounter = LimitCounter.parse({});

/** The counters of these subjects, strongly consistent: 1 read unit each. */
export async function readLimitCounters(
  db: Db<'Counters'>,
  subjects: readonly string[],
): Promise<ReadonlyMap<string, LimitCounter>> {
  if (subjects.length === 0) return new Map();
  const keys = subjects.map(limitCounterKey);
  const items = await batchGet(db, { table: 'Counters', keys, consistent: true });
  const found = new Map(items.map((item) => [item.subject, storedRow(LimitCounter, item)]));
  return new Map(subjects.map((subject) => [subject, found.get(subject) ?? noCounter]));
}

/** When the month of a time in milliseconds since 1970 ends, as a canonical time. */
export function endOfMonth(now: number): string {
  const date = new Date(now);
  return fromMilliseconds(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1));
}

interface UsedLimits {
  readonly subject: string;
  readonly names: readonly CountedLimit[];
  /** Read before, or meanwhile where nothing is decided by it. */
  readonly counter: LimitCounter | Promise<LimitCounter>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * What a subject has used of these limits, strongly consistent. The rows of a user cost what
 * countRows costs. A month costs 1 read unit for about 15 items, up to four for each day, project
 * and device, and 1 for what an earlier release may have written; for a project, as much for all
 * users together, in 9 calls.
 */
export async function usedOfLimits(
  db: Db<'Columns' | 'Usage'>,
  { subject, names, counter, now }: UsedLimits,
): Promise<ReadonlyMap<CountedLimit, number>> {
  const usesMonth = names.some((name) => limits[name].kind === 'month');
  const month = usesMonth ? usageOfMonth(db, subject, now) : [];
  const usedOf = async (name: CountedLimit): Promise<number> => {
    const facts = limits[name];
    switch (facts.kind) {
      case 'rows':
        return subject.startsWith('user:')
          ? countRowsOfUser(db, subject, { counts: facts.counts, counter })
          : (await counter)[name as RowLimit];
      case 'month': {
        const { amount, perUnit } = facts.counts;
        const sum = (await month).reduce((total, { amounts }) => total + (amounts[amount] ?? 0n), 0n);
        return Number(sum) / perUnit;
      }
      case 'minute': {
        const { minute, creations } = await counter;
        return minute === minuteOf(now) ? creations : 0;
      }
    }
  };
  return new Map(await Promise.all(names.map(async (name) => [name, await usedOf(name)] as const)));
}

/** The number of rows that match; for jobs, the announced ones as well. */
async function countRowsOfUser(
  db: Db<'Columns'>,
  subject: string,
  { counts, counter }: { readonly counts: CountedRows } & Pick<UsedLimits, 'counter'>,
): Promise<number> {
  const conditions = Object.entries(counts.where).map(([facet, oneOf]): Condition => ({ kind: 'facet', facet, oneOf }));
  const [rows, { jobs_to_come }] = await Promise.all([
    countRows(db, formatsOf(db)[counts.list], idOf(subject), conditions),
    counter,
  ]);
  return rows + (counts.list === 'job' ? jobs_to_come : 0);
}

async function usageOfMonth(db: Db<'Usage'>, subject: string, now: number) {
  const [isUser, id] = [subject.startsWith('user:'), idOf(subject)];
  const partitions = usagePartitions(fromMilliseconds(now).slice(0, 7), isUser ? id : undefined);
  const range = isUser ? ({ startsWith: usagePrefix(id) } as const) : 'all';
  const reads = partitions.map((month) =>
    queryAll(db, { table: 'Usage', partition: { month }, sortKey: 'key', range, consistent: true }),
  );
  return (await Promise.all(reads))
    .flat()
    .map(usageOfItem)
    .filter(({ projectId }) => isUser || projectId === id);
}

function idOf(subject: string): string {
  return subject.slice(subject.indexOf(':') + 1);
}

/**
 * The limits of a user, what the user has used of each and what is left. Costs 2 read units, the
 * reads of the user's limits, and the count of what has not ended.
 */
export async function ownLimits(
  db: Db<'Limits' | 'Columns' | 'Usage' | 'Counters'>,
  userId: string,
): Promise<OwnLimits> {
  const found = effectiveLimits(db, userId).then(([own]) => own?.limits ?? {});
  return limitsWithUse(db, userSubject(userId), found);
}

/** What a user or a project has used of these limits, and what is left. */
export async function limitsWithUse(
  db: Db<'Columns' | 'Usage' | 'Counters'>,
  subject: string,
  found: EffectiveLimits['limits'] | Promise<EffectiveLimits['limits']>,
): Promise<OwnLimits> {
  const now = db.clock.now();
  const counter = readLimitCounters(db, [subject]).then((counters) => counters.get(subject)!);
  const [held, amounts] = await Promise.all([found, usedOfLimits(db, { subject, names: countedLimits, counter, now })]);
  // Calls are counted only where they are limited.
  const isCounted = (name: CountedLimit) => limits[name].kind !== 'minute' || held[name] !== undefined;
  const used = countedLimits.map((name) => [name, isCounted(name) ? amounts.get(name)! : null] as const);
  const left = used.map(([name, taken]) => {
    const max = held[name];
    return [name, max === undefined || taken === null ? null : Math.max(0, max - taken)];
  });
  return {
    limits: Object.fromEntries(limitNames.map((name) => [name, held[name] ?? null])) as OwnLimits['limits'],
    used: Object.fromEntries(used) as OwnLimits['used'],
    left: Object.fromEntries(left) as OwnLimits['left'],
    month_ends_at: endOfMonth(now),
  };
}
