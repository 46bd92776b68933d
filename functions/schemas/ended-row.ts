import * as z from 'zod/mini';
import { BatchStatus, JobStatus, Timestamp, Uuid } from './values.ts';

const attribute = <Value extends z.ZodMiniType>(value: Value) => z.object({ S: value });
const nullableText = z.union([
  z.pipe(
    attribute(z.string()),
    z.transform(({ S }) => S),
  ),
  z.pipe(
    z.object({ NULL: z.literal(true) }),
    z.transform(() => null),
  ),
]);

const common = { user_id: attribute(z.string()), id: attribute(Uuid), updated_at: attribute(Timestamp) };

/**
 * What a stream's record says of a job or a batch that ended: parts of the row after the change, as
 * DynamoDB writes values.
 */
export const EndedRow = z.union([
  z.pipe(
    z.object({
      ...common,
      batch_id: attribute(Uuid),
      status: attribute(JobStatus),
      results_key: z._default(nullableText, null),
    }),
    z.transform(({ user_id, id, batch_id, status, updated_at, results_key }) => ({
      user_id: user_id.S,
      batch_id: batch_id.S,
      job: { id: id.S, results_key },
      status: status.S,
      updated_at: updated_at.S,
    })),
  ),
  z.pipe(
    z.object({ ...common, status: attribute(BatchStatus), webhook: attribute(z.string()) }),
    z.transform(({ user_id, id, status, updated_at, webhook }) => ({
      user_id: user_id.S,
      batch_id: id.S,
      job: null,
      status: status.S,
      updated_at: updated_at.S,
      webhook: webhook.S,
    })),
  ),
]);
export type EndedRow = z.output<typeof EndedRow>;
