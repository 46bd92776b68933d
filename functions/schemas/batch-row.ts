import * as z from 'zod/mini';
import { BatchOfRow } from './batch-of-row.ts';
import { WrittenAt } from './row-values.ts';
import { Count, NullableText } from './values.ts';

/** A batch as its table holds it: what is shown of it, and what the writers keep. */
export const BatchRow = z.extend(BatchOfRow, {
  configuration: NullableText,
  /** Place among the owner’s batches, from 0, without gaps, in creation order. */
  seq: Count,
  /** Grows with every write of the row: the condition of the next one. */
  rev: Count,
  written_at: WrittenAt,
  /** Not all jobs that it is created with are stored yet. */
  creating: z.exactOptional(z.literal(true)),
});
export type BatchRow = z.infer<typeof BatchRow>;
