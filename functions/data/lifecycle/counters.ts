/**
 * What limits write into rows, and the counters that follow from rows: the unfinished batches and
 * jobs of a project, and the jobs that a user's calls have announced. Counters move in the
 * transactions of their rows.
 */

import { type CountedRows, limits, limitsOfKind, type RowLimit, rowLimits } from '../../limits.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import { type LimitCounter, projectSubject, userSubject } from '../../schemas/limits.ts';
import { lowerPriority, type QueuePriority } from '../../schemas/values.ts';
import { isFinalBatchStatus } from '../../statuses.ts';
import { minuteOf } from '../../values/timestamp.ts';
import type { Db } from '../dynamodb/db.ts';
import type { Write } from '../dynamodb/write-units.ts';
import type { EffectiveLimits } from '../limits/limits-of-subjects.ts';
import { limitCounterKey } from '../limits/used-of-limits.ts';

const monthLimits = limitsOfKind('month');

/** What a draft has of batches, before and after, and of limits. */
interface Counted {
  readonly stored: { readonly batches: ReadonlyMap<string, BatchRow>; readonly limits?: readonly EffectiveLimits[] };
  readonly batches: ReadonlyMap<string, BatchRow>;
  readonly begun?: object;
}

/**
 * The lowest of the wanted priority and the priorities that limits allow: the one that waits
 * longest.
 */
export function limitPriority(held: readonly EffectiveLimits[], wanted: QueuePriority): QueuePriority {
  return held.reduce((lowest, { limits }) => lowerPriority(limits.highest_priority ?? lowest, lowest), wanted);
}

/**
 * What the row of a batch keeps of the limits of a call that creates it or adds jobs. If the rows
 * of the project are counted, the batch and its jobs count for all its limits from now on.
 */
export function limitsOfRow(held: readonly EffectiveLimits[]): Partial<BatchRow> {
  const seconds = held.flatMap(({ limits }) => limits.max_job_seconds ?? []);
  return {
    ...(seconds.length > 0 && { max_job_seconds: Math.min(...seconds) }),
    ...(held.some(({ limits }) => monthLimits.some((name) => limits[name] !== undefined)) && { sums_at_once: true }),
    ...(held.some(({ isCounted }) => isCounted) && { counted_in_project: rowLimits }),
  };
}

/** Whether jobs count from the moment when a call announces them. */
export function limitsJobs(held: readonly EffectiveLimits[]): boolean {
  const ofJobs = rowLimits.filter((name) => limits[name].counts.list === 'job');
  return held.some(({ limits }) => ofJobs.some((name) => limits[name] !== undefined));
}

/**
 * The batch while a call is still to add this number of jobs; without the call if there are none.
 */
export function withJobsToCome<Row extends Pick<BatchRow, 'jobs_to_come'>>(
  batch: Row,
  callId: string,
  jobs: number,
): Row {
  const { [callId]: _, ...others } = batch.jobs_to_come ?? {};
  const jobs_to_come = jobs > 0 ? { ...others, [callId]: jobs } : others;
  const { jobs_to_come: __, ...rest } = batch;
  return (Object.keys(jobs_to_come).length > 0 ? { ...rest, jobs_to_come } : rest) as Row;
}

/** What counters hold of batches. */
export type Counts = Readonly<Partial<Record<RowLimit | 'jobs_to_come', number>>>;

/** Adds what batches count as, by subject. */
export function addCounts(sums: Map<string, Counts>, batch: BatchRow, sign: 1 | -1 = 1): void {
  for (const [subject, counts] of countsOf(batch)) {
    const sum: Counts = sums.get(subject) ?? {};
    const added = Object.entries(counts).map(([name, count]) => [
      name,
      (sum[name as keyof Counts] ?? 0) + sign * count,
    ]);
    sums.set(subject, { ...sum, ...Object.fromEntries(added) });
  }
}

/** By subject, what the rows of a draft change in counters; all that is zero is left out. */
function countChanges({ stored, batches }: Counted): ReadonlyMap<string, Counts> {
  const changes = new Map<string, Counts>();
  for (const row of batches.values()) {
    const before = stored.batches.get(row.id);
    addCounts(changes, row);
    if (before !== undefined) addCounts(changes, before, -1);
  }
  return new Map([...changes].filter(([, counts]) => Object.values(counts).some((count) => count !== 0)));
}

/** What a row counts as, by subject: so counters equal a recount of the rows. */
function countsOf(batch: BatchRow): [subject: string, counts: Counts][] {
  const { user_id, project_id, counted_in_project = [] } = batch;
  const counted = rowLimits.filter((name) => counted_in_project.includes(name));
  const ofProject = counted.map((name) => [name, countOf(limits[name].counts, batch)]);
  return [
    [userSubject(user_id), { jobs_to_come: jobsToCome(batch) }],
    ...(counted.length > 0 ? [[projectSubject(project_id), Object.fromEntries(ofProject)] as [string, Counts]] : []),
  ];
}

/** How many rows of the batch and its jobs match, with the jobs that calls have announced. */
export function countOf({ list, where }: CountedRows, batch: BatchRow): number {
  if (list === 'batch') {
    return where.status.includes(batch.status) && where.open?.includes(batch.open) !== false ? 1 : 0;
  }
  return where.status.reduce((sum, status) => sum + batch.jobs_count_per_status[status], jobsToCome(batch));
}

function jobsToCome({ status, canceling, jobs_to_come = {} }: BatchRow): number {
  if (isFinalBatchStatus(status) || canceling === true) return 0;
  return Object.values(jobs_to_come).reduce((sum, jobs) => sum + jobs, 0);
}

/** The counters that a transaction of this draft may write. */
export function countedSubjects(draft: Counted): ReadonlySet<string> {
  const checked = draft.begun === undefined ? [] : (draft.stored.limits ?? []);
  return new Set([...countChanges(draft).keys(), ...checked.map(({ subject }) => subject)]);
}

/** The counters as the check read them. */
export type CheckedCounters = ReadonlyMap<string, LimitCounter>;

/** What moves the counters with the draft: for each 2 write units. */
export function counterWrites(
  { tables }: Db<'Counters'>,
  {
    draft,
    counters: checked = new Map(),
    now,
  }: { readonly draft: Counted; readonly counters?: CheckedCounters | undefined; readonly now: number },
): Write[] {
  const changes = countChanges(draft);
  const ratesOf = (subject: string) => draft.stored.limits?.find((each) => each.subject === subject)?.limits;
  return [...new Set([...changes.keys(), ...checked.keys()])].map((subject) => {
    const read = checked.get(subject);
    const counts = Object.entries(changes.get(subject) ?? {}).filter(([, count]) => count !== 0);
    const grows = read !== undefined || counts.some(([, count]) => count > 0);
    const added = Object.fromEntries([...(grows ? [['rev', 1] as const] : []), ...counts]);
    const minute = minuteOf(now);
    const isRated = read !== undefined && ratesOf(subject)?.creations_per_minute !== undefined;
    const set = isRated && { minute, creations: read.minute === minute ? read.creations + 1 : 1 };
    const names = [...Object.keys(added), ...Object.keys(set || {})];
    const values = Object.entries({ ...added, ...set }).map(([name, value]) => [`:${name}`, value]);
    const isFirst = read?.rev === 0;
    return {
      Update: {
        TableName: tables.Counters,
        Key: limitCounterKey(subject),
        UpdateExpression: `${set ? 'SET #minute = :minute, #creations = :creations ' : ''}ADD ${Object.keys(added)
          .map((name) => `#${name} :${name}`)
          .join(', ')}`,
        ...(read && { ConditionExpression: isFirst ? 'attribute_not_exists(#rev)' : '#rev = :read' }),
        ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
        ExpressionAttributeValues: { ...Object.fromEntries(values), ...(read && !isFirst && { ':read': read.rev }) },
      },
    };
  });
}
