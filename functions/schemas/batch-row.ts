import * as z from 'zod';
import { Batch } from './batch.ts';
import { JsonText, WrittenAt } from './row-values.ts';

/** A batch as its table holds it: all of a Batch but `complete`, which follows from `open`, and what the writers keep. */
export const BatchRow = Batch.omit({ complete: true }).extend({
  configuration: z.string().nullable(),
  seq: z.int().nonnegative().describe('Place among the owner’s batches, from 0, without gaps, in creation order.'),
  rev: z.int().nonnegative().describe('Grows with every write of the row: the condition of the next one.'),
  written_at: WrittenAt,
  creating: z.literal(true).exactOptional().describe('Not all jobs that it is created with are stored yet.'),
});
export type BatchRow = z.infer<typeof BatchRow>;

/** Reads from a row what a Batch shows of it. */
export const BatchOfRow = Batch.omit({ complete: true }).extend({
  configuration: JsonText.nullable(),
});
