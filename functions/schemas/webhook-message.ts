import * as z from 'zod/mini';
import { BatchStatus, Count, JobStatus, NullableText, Timestamp, Uuid } from './values.ts';

/** A message on the queue `Webhooks`: a batch or one of its jobs has ended. */
export const WebhookMessage = z.object({
  /** The same for all attempts, and for every repetition of the same end. */
  id: z.string(),
  webhook: z.string(),
  user_id: z.string(),
  batch_id: Uuid,
  /** Null: the batch itself has ended. */
  job: z.nullable(z.object({ id: Uuid, results_key: NullableText })),
  status: z.union([BatchStatus, JobStatus]),
  /** When it ended. */
  updated_at: Timestamp,
  /** How many failed. */
  attempts: Count,
  /**
   * Still to be waited for before the next attempt, after the delay that the message was sent with.
   */
  wait_seconds: Count,
  /** When it was first sent to wait, or came late. */
  waiting_since: z.exactOptional(Timestamp),
});
export type WebhookMessage = z.infer<typeof WebhookMessage>;
