import * as z from 'zod/mini';
import { BatchStatus, JobStatus, NullableText, Timestamp, Uuid } from './values.ts';

/** Texts and nulls as DynamoDB writes them; other values stay as they are. */
const PlainTexts = z.pipe(
  z.record(z.string(), z.looseObject({})),
  z.transform((item): unknown => {
    const values = Object.entries(item).map(([name, value]) => [name, value.NULL === true ? null : (value.S ?? value)]);
    return Object.fromEntries(values);
  }),
);

const common = { user_id: z.string(), id: Uuid, updated_at: Timestamp };
const EndedJob = z.object({
  ...common,
  batch_id: Uuid,
  status: JobStatus,
  results_key: NullableText,
});
const EndedBatch = z.object({ ...common, status: BatchStatus, webhook: z.string() });

/**
 * What a stream's record says of a job or a batch that ended: parts of the row after the change, as
 * DynamoDB writes values.
 */
export const EndedRow = z.pipe(
  PlainTexts,
  z.union([
    z.pipe(
      EndedJob,
      z.transform(({ id, results_key, ...row }) => ({ ...row, job: { id, results_key } })),
    ),
    z.pipe(
      EndedBatch,
      z.transform(({ id, ...row }) => ({ ...row, batch_id: id, job: null })),
    ),
  ]),
);
export type EndedRow = z.output<typeof EndedRow>;
