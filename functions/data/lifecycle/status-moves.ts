import type { BatchStatus, JobStatus } from '../../schemas/values.ts';

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
