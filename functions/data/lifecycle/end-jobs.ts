/**
 * Ends the jobs of a batch that has ended, and holds what all changes of many jobs of one batch
 * have in common.
 */

import { requireFound } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import { isDeepStrictEqual } from '../../values/is-deep-strict-equal.ts';
import { deriveJob, hasJobsToEnd, jobAsReported } from './derive-status.ts';
import { type Change, type Draft, reportedBatch, visibleJob, withJobs } from './draft.ts';

/**
 * Jobs in one change. A transaction holds as many of these small parts as it can: about 60 jobs
 * that were created together.
 */
const maxJobsOfChange = 10;

/** A job was added after the jobs were found, or an index did not have it yet. */
export class JobsLeft extends Error {}

/** Some jobs of a batch, as they were found. */
export interface JobsOfBatch {
  readonly batchId: string;
  readonly jobIds: readonly string[];
  /** As of a change. */
  readonly endsJobs?: true;
}

/**
 * Ends the jobs of a batch that its end ends (see derive-status.ts), or that an earlier report of
 * this end has ended. The last change throws JobsLeft if a job is missing from these: then find the
 * jobs again.
 */
export function endJobsChanges(jobs: JobsOfBatch): Change[] {
  const deriveAgain = (job: JobRow, batch: BatchRow) => {
    const reported = jobAsReported(job);
    return isDeepStrictEqual(deriveJob(reported, batch), job) ? job : { ...reported, rev: reported.rev + 1 };
  };
  const requireEnded = onBatch(jobs.batchId, (draft, batch) => {
    if (hasJobsToEnd(batch)) throw new JobsLeft();
    return draft;
  });
  return [...changeJobs(jobs, deriveAgain), requireEnded];
}

/** Changes the jobs in small parts. `change` returns the same job to pass it over. */
export function changeJobs(
  jobs: JobsOfBatch,
  change: (job: JobRow, batch: BatchRow, draft: Draft) => JobRow,
): Change[] {
  const { jobIds } = jobs;
  return Array.from({ length: Math.ceil(jobIds.length / maxJobsOfChange) }, (_, part) =>
    changeSomeJobs({ ...jobs, jobIds: jobIds.slice(part * maxJobsOfChange, (part + 1) * maxJobsOfChange) }, change),
  );
}

function changeSomeJobs(jobs: JobsOfBatch, change: (job: JobRow, batch: BatchRow, draft: Draft) => JobRow): Change {
  const { batchId, jobIds, endsJobs } = jobs;
  return {
    ...onBatch(batchId, (draft, batch) => {
      const changed = jobIds.flatMap((id) => {
        const job = visibleJob(draft, id);
        const after = job && change(job, batch, draft);
        return after === undefined || after === job ? [] : [after];
      });
      return changed.length === 0 ? draft : withJobs(draft, { batch, jobs: changed });
    }),
    jobIds,
    ...(endsJobs && { endsJobs }),
    split() {
      if (jobIds.length < 2) return undefined;
      const middle = jobIds.length >> 1;
      return [
        changeSomeJobs({ ...jobs, jobIds: jobIds.slice(0, middle) }, change),
        changeSomeJobs({ ...jobs, jobIds: jobIds.slice(middle) }, change),
      ];
    },
  };
}

/** A change of a batch as it was reported. It throws NotFound without the batch. */
export function onBatch(batchId: string, apply: (draft: Draft, batch: BatchRow) => Draft): Change {
  return {
    batchIds: [batchId],
    jobIds: [],
    apply(draft) {
      const batch = requireFound(reportedBatch(draft, batchId), 'batch');
      return apply(draft, batch);
    },
  };
}
