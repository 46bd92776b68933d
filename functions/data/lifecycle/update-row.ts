import { IllegalTransition } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import { batchStatuses, jobStatuses, type Stage } from '../../statuses.ts';
import { isDeepStrictEqual } from '../../values/is-deep-strict-equal.ts';
import { fromMicroseconds, laterOf, toMicroseconds } from '../../values/timestamp.ts';

type Statuses<Status extends string> = Readonly<Record<Status, { readonly stage: Stage }>>;

/**
 * What it means to set a row in status `current` to `next`:
 * - `moves`: the row moves there;
 * - `same`: it is there already;
 * - `behind`: it has got further: to a later stage, or by a later update within the same stage;
 * - `illegal`: it has reached another end.
 */
export function statusMove<Status extends string>(
  statuses: Statuses<Status>,
  { current, next, isOlder }: { current: Status; next: Status; isOlder: boolean },
): 'moves' | 'same' | 'behind' | 'illegal' {
  if (next === current) return 'same';
  const [from, to] = [statuses[current].stage, statuses[next].stage];
  if (to > from) return 'moves';
  if (to < from) return 'behind';
  if (to === 3) return 'illegal';
  return isOlder ? 'behind' : 'moves';
}

/** What an update may set of a batch; `open: false` closes it, nothing opens it again. */
export type BatchUpdate = Partial<
  Pick<BatchRow, 'status' | 'tags' | 'start_datetime' | 'end_datetime' | 'device_status' | 'queue_priority'>
> & { open?: false };

export type JobUpdate = Partial<
  Pick<JobRow, 'status' | 'start_timestamp' | 'end_timestamp' | 'errors' | 'results_key'>
>;

/**
 * The source of an update. An event takes effect at its own time, so a late one changes only what
 * no newer event has set. A direct call is newer than everything before it, and fails if its change
 * is impossible.
 */
export interface UpdateSource {
  readonly kind: 'event' | 'direct call';
  readonly time: string;
}

/** One value to set, and since when it holds, in microseconds since 1970. */
interface FieldUpdate {
  readonly field: string;
  readonly value: unknown;
  readonly at: number;
  readonly byEvent: boolean;
}

/**
 * The row after the update; the same object when nothing changes. Throws IllegalTransition when the
 * row has reached another final status, and when a direct call asks for a status behind the present
 * one.
 */
export function updateRow<Row extends BatchRow | JobRow>(
  row: Row,
  update: BatchUpdate | JobUpdate,
  source: UpdateSource,
): Row {
  const byEvent = source.kind === 'event';
  const at = effectiveTime(row, source);
  const given = Object.entries(update).filter(([, value]) => value !== undefined);
  const winning = given.filter(([field, value]) => wins(row, { field, value, at, byEvent }));
  // The time of the latest update, whether or not any of its values won: so it is the same for the
  // same events in any order.
  const updated_at = laterOf(row.updated_at, fromMicroseconds(at));
  const isLater = byEvent && given.length > 0 && updated_at > row.updated_at;
  if (winning.length === 0 && !isLater) return row;
  return {
    ...row,
    ...Object.fromEntries(winning),
    written_at: { ...row.written_at, ...Object.fromEntries(winning.map(([field]) => [field, at])) },
    updated_at,
    rev: row.rev + 1,
  };
}

/**
 * An event's own time. For a direct call the present, or the row's latest update where a sender's
 * clock is ahead of ours.
 */
function effectiveTime({ written_at }: BatchRow | JobRow, { kind, time }: UpdateSource): number {
  if (kind === 'event') return toMicroseconds(time);
  return Math.max(toMicroseconds(time), ...Object.values(written_at));
}

function wins(row: BatchRow | JobRow, update: FieldUpdate): boolean {
  if (update.field === 'status') return statusWins(row, update);
  if (update.field === 'open') return closingWins(row as BatchRow, update);
  return valueWins(row, update);
}

/**
 * If two updates set the same field, the later time wins; at the same time, the one that arrives
 * later.
 */
function valueWins(row: BatchRow | JobRow, update: FieldUpdate): boolean {
  const present = (row as Readonly<Record<string, unknown>>)[update.field];
  return isDeepStrictEqual(update.value, present) ? confirms(row, update) : update.at >= setAt(row, update.field);
}

/**
 * An event that repeats a value moves its time forward: against it, an older event with another
 * value must lose.
 */
function confirms(row: BatchRow | JobRow, { field, at, byEvent }: FieldUpdate): boolean {
  return byEvent && at > setAt(row, field);
}

/** A batch is closed from its earliest closing on. What is created closed has no such time. */
function closingWins(row: BatchRow, { at, byEvent }: FieldUpdate): boolean {
  return row.open || (byEvent && at < setAt(row, 'open'));
}

/**
 * A status wins by its stage. An event that is behind is ignored; a direct call that is behind is
 * refused.
 */
function statusWins(row: BatchRow | JobRow, update: FieldUpdate): boolean {
  const { value: next, at, byEvent } = update;
  const statuses: Statuses<string> = 'batch_id' in row ? jobStatuses : batchStatuses;
  const move = statusMove(statuses, { current: row.status, next: String(next), isOlder: at < setAt(row, 'status') });
  if (move === 'same') return confirms(row, update);
  if (move === 'illegal' || (move === 'behind' && !byEvent)) {
    throw new IllegalTransition('illegal_transition', `${row.id} is ${row.status} and cannot become ${next}.`);
  }
  return move === 'moves';
}

function setAt({ written_at }: BatchRow | JobRow, field: string): number {
  return written_at[field] ?? Number.NEGATIVE_INFINITY;
}
