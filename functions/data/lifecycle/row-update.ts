import { isDeepStrictEqual } from 'node:util';
import { IllegalTransition } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch-row.ts';
import type { JobRow } from '../../schemas/job-row.ts';
import { fromMicroseconds, toMicroseconds } from '../../timestamp.ts';
import { batchStages, jobStages, statusMove } from './status-moves.ts';

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
