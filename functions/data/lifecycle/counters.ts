/**
 * What limits leave on rows, and the counters that follow from rows: what waits of a project, and
 * the jobs that a user's calls have announced. Counters move in the transactions of their rows.
 */

import type { BatchRow } from '../../schemas/batch.ts';
import { type LimitCounter, projectSubject, userSubject } from '../../schemas/limits.ts';
import { lowerPriority, type QueuePriority } from '../../schemas/values.ts';
import { countUnfinished, isFinalBatchStatus } from '../../statuses.ts';
import { requireTable, type TableNames } from '../../tables.ts';
import { minuteOf } from '../../values/timestamp.ts';
import type { Write } from '../dynamodb/write-units.ts';
import type { Bounds } from '../limits/limits.ts';
import { limitCounterKey } from '../limits/used-of-limits.ts';

/** What a draft has of batches, before and after, and of limits. */
interface Counted {
  readonly stored: { readonly batches: ReadonlyMap<string, BatchRow>; readonly bounds?: readonly Bounds[] };
  readonly batches: ReadonlyMap<string, BatchRow>;
  readonly begun?: object;
}

/** Of two priorities and those that limits allow, the one that waits longest. */
export function boundedPriority(bounds: readonly Bounds[], wanted: QueuePriority): QueuePriority {
  return bounds.reduce((lowest, { limits }) => lowerPriority(limits.highest_priority ?? lowest, lowest), wanted);
}

/**
 * What the row of a batch keeps of the limits of a call that creates it or adds jobs. It and its
 * jobs count from now on, if its project limits what waits.
 */
export function boundsOfRow(bounds: readonly Bounds[]): Partial<BatchRow> {
  const seconds = bounds.flatMap(({ limits }) => limits.max_job_seconds ?? []);
  const isCounted = bounds.some(
    ({ subject, limits: { max_waiting_batches, max_waiting_jobs } }) =>
      subject.startsWith('project:') && (max_waiting_batches ?? max_waiting_jobs) !== undefined,
  );
  return {
    ...(seconds.length > 0 && { max_job_seconds: Math.min(...seconds) }),
    ...(isCounted && { counted_in_project: true }),
  };
}

/** The batch while a call is still to add so many jobs; without the call where there are none. */
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

/** What counters hold of a batch. */
interface Counts {
  readonly waiting_batches: number;
  readonly waiting_jobs: number;
  readonly jobs_to_come: number;
}

const noCounts: Counts = { waiting_batches: 0, waiting_jobs: 0, jobs_to_come: 0 };

/** By subject, what the rows of a draft change in counters; all that is zero is left out. */
export function countChanges({ stored, batches }: Counted): ReadonlyMap<string, Counts> {
  const changes = new Map<string, Counts>();
  const add = (batch: BatchRow | undefined, sign: 1 | -1) => {
    for (const [subject, counts] of batch === undefined ? [] : countsOf(batch)) {
      const { waiting_batches, waiting_jobs, jobs_to_come } = changes.get(subject) ?? noCounts;
      changes.set(subject, {
        waiting_batches: waiting_batches + sign * counts.waiting_batches,
        waiting_jobs: waiting_jobs + sign * counts.waiting_jobs,
        jobs_to_come: jobs_to_come + sign * counts.jobs_to_come,
      });
    }
  };
  for (const row of batches.values()) {
    add(row, 1);
    add(stored.batches.get(row.id), -1);
  }
  return new Map([...changes].filter(([, counts]) => Object.values(counts).some((count) => count !== 0)));
}

/** What a row counts as, by subject: so counters equal a recount of the rows. */
function countsOf(batch: BatchRow): [subject: string, Counts][] {
  const {
    user_id,
    project_id,
    status,
    canceling,
    counted_in_project,
    jobs_count_per_status,
    jobs_to_come = {},
  } = batch;
  const hasEnded = isFinalBatchStatus(status);
  const toCome = hasEnded || canceling === true ? 0 : Object.values(jobs_to_come).reduce((sum, jobs) => sum + jobs, 0);
  const ofUser: [string, Counts] = [userSubject(user_id), { ...noCounts, jobs_to_come: toCome }];
  if (counted_in_project !== true) return [ofUser];
  const waiting_jobs = countUnfinished(jobs_count_per_status) + toCome;
  return [ofUser, [projectSubject(project_id), { ...noCounts, waiting_batches: hasEnded ? 0 : 1, waiting_jobs }]];
}

/** The counters that a transaction of this draft may write. */
export function countedSubjects(draft: Counted): ReadonlySet<string> {
  const checked = draft.begun === undefined ? [] : (draft.stored.bounds ?? []);
  return new Set([...countChanges(draft).keys(), ...checked.map(({ subject }) => subject)]);
}

/** The counters as the check read them. */
export type CheckedCounters = ReadonlyMap<string, LimitCounter>;

/** What moves the counters with the draft: for each 2 write units. */
export function counterWrites(
  tables: Partial<TableNames<'Usage'>>,
  {
    draft,
    counters: checked = new Map(),
    now,
  }: { readonly draft: Counted; readonly counters?: CheckedCounters | undefined; readonly now: number },
): Write[] {
  const changes = countChanges(draft);
  const ratesOf = (subject: string) => draft.stored.bounds?.find((each) => each.subject === subject)?.limits;
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
        TableName: requireTable(tables, 'Usage'),
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
