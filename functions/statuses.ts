/**
 * The statuses of batches and jobs and what follows from each: data only, and the only place that
 * lists them. The rules of changes, the order of enums, stored codes and stream patterns are
 * derived from here.
 *
 * The order is that of the specification. It is also the sort order, and stored codes follow it.
 */

/**
 * A status moves to any later stage (events may be lost or late). Between two statuses of the same
 * stage the later time decides: RUNNING and PAUSED take turns.
 * - 0: waits.
 * - 1: is at work.
 * - 2: is being canceled: nothing of it starts any more.
 * - 3: has ended. This stage is final: the status never changes.
 */
export type Stage = 0 | 1 | 2 | 3;

type BatchRules =
  | { readonly stage: Exclude<Stage, 3> }
  | {
      readonly stage: 3;
      /**
       * What a batch that ends this way as a whole makes of its jobs that have not ended: null
       * leaves them as they are; otherwise they are CANCELED, and these are their `errors`.
       */
      readonly endsJobs: { readonly errors: readonly string[] } | null;
    };

export const batchStatuses = {
  PENDING: { stage: 0 },
  RUNNING: { stage: 1 },
  DONE: { stage: 3, endsJobs: null },
  CANCELED: { stage: 3, endsJobs: { errors: [] } },
  CANCELING: { stage: 2 },
  TIMED_OUT: { stage: 3, endsJobs: { errors: ['The batch timed out.'] } },
  ERROR: { stage: 3, endsJobs: { errors: ['The batch failed.'] } },
  PAUSED: { stage: 1 },
} as const satisfies Record<string, BatchRules>;

export type BatchStatusName = keyof typeof batchStatuses;

export const jobStatuses = {
  PENDING: { stage: 0 },
  RUNNING: { stage: 1 },
  DONE: { stage: 3 },
  ERROR: { stage: 3 },
  CANCELED: { stage: 3 },
  CANCELING: { stage: 2 },
} as const satisfies Record<string, { readonly stage: Stage }>;

export type JobStatusName = keyof typeof jobStatuses;

export const batchStatusNames = Object.keys(batchStatuses) as BatchStatusName[];
export const jobStatusNames = Object.keys(jobStatuses) as JobStatusName[];

export function isFinalBatchStatus(status: BatchStatusName): boolean {
  return batchStatuses[status].stage === 3;
}

/** Whether the batch has ended or is being canceled: no device starts a job of it. */
export function isStopping(status: BatchStatusName): boolean {
  return batchStatuses[status].stage >= 2;
}

/** Whether the job has ended. */
export function isFinalJob({ status }: { readonly status: JobStatusName }): boolean {
  return jobStatuses[status].stage === 3;
}

/** Whether a device may run the job. It passes over a job that an event reported as CANCELING. */
export function isRunnable({ status }: { readonly status: JobStatusName }): boolean {
  return jobStatuses[status].stage < 2;
}

export const finalBatchStatuses = batchStatusNames.filter(isFinalBatchStatus);
export const finalJobStatuses = jobStatusNames.filter((status) => isFinalJob({ status }));
export const runnableJobStatuses = jobStatusNames.filter((status) => isRunnable({ status }));

/** What a batch that gets this status makes of its jobs that have not ended; null: nothing. */
export function endOfJobs(status: BatchStatusName): { readonly errors: readonly string[] } | null {
  const rules: BatchRules = batchStatuses[status];
  return rules.stage === 3 ? rules.endsJobs : null;
}

type JobCounts = Readonly<Record<JobStatusName, number>>;

/** How many jobs have not ended. */
export function countUnfinished(counts: JobCounts): number {
  return count(counts, (status) => !isFinalJob({ status }));
}

/** How many jobs a device may run. */
export function countRunnable(counts: JobCounts): number {
  return count(counts, (status) => isRunnable({ status }));
}

function count(counts: JobCounts, includes: (status: JobStatusName) => boolean): number {
  return jobStatusNames.reduce((sum, status) => (includes(status) ? sum + counts[status] : sum), 0);
}
