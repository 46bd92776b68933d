import * as z from 'zod';
import { Job } from './job.ts';
import { JsonText, WrittenAt } from './row-values.ts';

/** A job as its table holds it: all of a Job, where its results are, and what the writers keep. */
export const JobRow = Job.extend({
  variables: z.string().nullable(),
  results_key: z.string().nullable().describe('Key of its results in the bucket; null until there are any.'),
  seq: z.int().nonnegative().describe('Place among the owner’s jobs, from 0, without gaps, in creation order.'),
  rev: z.int().nonnegative().describe('Grows with every write of the row: the condition of the next one.'),
  written_at: WrittenAt,
});
export type JobRow = z.infer<typeof JobRow>;

/** Reads from a row what a Job shows of it. */
export const JobOfRow = Job.extend({ variables: JsonText.nullable() });
