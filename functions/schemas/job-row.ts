import * as z from 'zod/mini';
import { JobOfRow } from './job-of-row.ts';
import { WrittenAt } from './row-values.ts';
import { Count, NullableText } from './values.ts';

/** A job as its table holds it: what is shown of it, where its results are, and what the writers keep. */
export const JobRow = z.extend(JobOfRow, {
  variables: NullableText,
  /** Key of its results in the bucket; null until there are any. */
  results_key: NullableText,
  /** Place among the owner’s jobs, from 0, without gaps, in creation order. */
  seq: Count,
  /** Grows with every write of the row: the condition of the next one. */
  rev: Count,
  written_at: WrittenAt,
});
export type JobRow = z.infer<typeof JobRow>;
