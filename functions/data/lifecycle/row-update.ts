import { isDeepStrictEqual } from 'node:util';
import { IllegalTransition } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import type { BatchStatus, JobStatus } from '../../schemas/values.ts';
import { fromMicroseconds, toMicroseconds } from '../../timestamp.ts';

/**
 * The stages of a life. A status only moves to a later stage, skipping any (events may be lost or late), or between two of
 * the same stage, by the later word: RUNNING and PAUSED take turns. The last stage is final: it never changes.
 */
type Stages<Status extends string> = Readonly<Record<Status, 0 | 1 | 2 | 3>>;

const finalStage = 3;

export const batchStages: Stages<BatchStatus> = {
  PENDING: 0,
  RUNNING: 1,
  PAUSED: 1,
  CANCELING: 2,
  DONE: 3,
  CANCELED: 3,
  TIMED_OUT: 3,
  ERROR: 3,
};

export const jobStages: Stages<JobStatus> = { PENDING: 0, RUNNING: 1, CANCELING: 2, DONE: 3, ERROR: 3, CANCELED: 3 };

/**
 * What saying `next` means for a row in status `current`: it `moves` there, it is so already (`same`), it is `behind` what the
 * row has reached (an earlier stage, or an older word on the same one), or it contradicts the end that was reached (`illegal`).
 */
export function statusMove<Status extends string>(
  stages: Stages<Status>,
  current: Status,
  next: Status,
  isOlder: boolean,
): 'moves' | 'same' | 'behind' | 'illegal' {
  if (next === current) return 'same';
  if (stages[next] > stages[current]) return 'moves';
  if (stages[next] < stages[current]) return 'behind';
  if (stages[next] === finalStage) return 'illegal';
  return isOlder ? 'behind' : 'moves';
}

/** What an update may say of a batch; `open: false` closes it, nothing opens it again. */
export type BatchUpdate = Partial<
  Pick<BatchRow, 'status' | 'tags' | 'start_datetime' | 'end_datetime' | 'device_status'>
> & { open?: false };

export type JobUpdate = Partial<
  Pick<JobRow, 'status' | 'start_timestamp' | 'end_timestamp' | 'errors' | 'results_key'>
>;

/**
 * Who says it and when. An event's word counts from its own time, so a late one changes only what no newer event has set. A
 * direct call is the newest word there is; what it asks for must be possible.
 */
export interface Word {
  readonly time: string;
  readonly event: boolean;
}

/**
 * The row after the update; the same object when it changes nothing. Throws IllegalTransition when the status contradicts the final
 * one that was reached, or, asked for directly, is behind the present one.
 */
export function updatedRow<Row extends BatchRow | JobRow>(row: Row, update: BatchUpdate | JobUpdate, word: Word): Row {
  const newest = Math.max(...Object.values(row.written_at));
  const at = word.event ? toMicroseconds(word.time) : Math.max(toMicroseconds(word.time), newest);
  const winning = Object.entries(update).filter(([field, value]) => {
    if (value === undefined) return false;
    const setAt = row.written_at[field] ?? Number.NEGATIVE_INFINITY;
    const same = isDeepStrictEqual(value, (row as Readonly<Record<string, unknown>>)[field]);
    // Of what is said again the later word counts; but a batch is closed from the earliest one on.
    if (same) return word.event && (field === 'open' ? at < setAt : at > setAt);
    if (field === 'status') return statusCounts(row, String(value), at < setAt, word);
    return at >= setAt;
  });
  if (winning.length === 0) return row;
  const moment = fromMicroseconds(at);
  return {
    ...row,
    ...Object.fromEntries(winning),
    written_at: { ...row.written_at, ...Object.fromEntries(winning.map(([field]) => [field, at])) },
    updated_at: moment > row.updated_at ? moment : row.updated_at,
    rev: row.rev + 1,
  };
}

function statusCounts(row: BatchRow | JobRow, next: string, isOlder: boolean, word: Word): boolean {
  const stages: Readonly<Record<string, 0 | 1 | 2 | 3>> = 'batch_id' in row ? jobStages : batchStages;
  const move = statusMove(stages, row.status as string, next, isOlder);
  if (move === 'illegal' || (move === 'behind' && !word.event)) {
    throw new IllegalTransition(`${row.id} is ${row.status} and cannot become ${next}.`);
  }
  return move === 'moves';
}
