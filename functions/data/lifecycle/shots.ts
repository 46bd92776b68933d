import type { JobRow } from '../../schemas/job.ts';
import type { Draft } from './draft.ts';

/** Counts the shots of the results with this key; undefined when the results do not say. */
export type ShotsOf = (userId: string, key: string) => Promise<number | undefined>;

/**
 * The draft with the shots of jobs that are DONE and left open how often to run them. The results
 * are counted when the job has just got them, or has just ended.
 */
export async function withShots(draft: Draft, userId: string, shotsOf: ShotsOf | undefined): Promise<Draft> {
  if (shotsOf === undefined) return draft;
  const counted = await Promise.all(
    [...draft.jobs.values()].map(async (job): Promise<JobRow> => {
      const { results_key: key, shots: before, ...rest } = job;
      const isKnown = before !== undefined && draft.stored.jobs.get(job.id)?.results_key === key;
      if (job.status !== 'DONE' || job.runs !== null || key === null || isKnown) return job;
      const shots = await shotsOf(userId, key);
      return { ...rest, results_key: key, ...(shots !== undefined && { shots }) };
    }),
  );
  return { ...draft, jobs: new Map(counted.map((job) => [job.id, job])) };
}
