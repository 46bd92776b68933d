import * as z from 'zod/mini';
import { Uuid } from './values.ts';

/** A call that adds jobs to a batch, or cancels some of its jobs, in several transactions. */
export const InterruptedCall = z.object({
  /** As the batch names it while it is under way. */
  id: z.string(),
  /** The jobs that are canceled where the call does not come to its end. */
  job_ids: z.array(Uuid),
  /** What these then say, if anything. */
  errors: z.nullable(z.array(z.string())),
});
export type InterruptedCall = z.infer<typeof InterruptedCall>;

/**
 * A message about a batch that is created, canceled or ended in several transactions, or about a
 * call that changes its jobs so.
 */
export const RecoveryRequest = z.object({
  user_id: z.string(),
  batch_id: Uuid,
  call: z.exactOptional(InterruptedCall),
});
export type RecoveryRequest = z.infer<typeof RecoveryRequest>;
