/** The events by which the machines that run the jobs report what happened. */

import * as z from 'zod/mini';
import { isUserId } from '../identity/user-id.ts';
import { UuidText } from './id-and-time-texts.ts';
import { NewBatch, NewJobs } from './new-batch.ts';
import { boundedText, ErrorTexts, Tags, Time } from './sent-values.ts';
import { BatchStatus, JobStatus } from './values.ts';

const UserId = z
  .string()
  .check(z.refine(isUserId, 'Should be the sub of a token: at most 256 characters, and 768 bytes of escaped JSON.'));

const envelope = {
  /** Chosen by the sender; the same event sent again has the same id. */
  id: boundedText(256),
  /**
   * When it happened. If two events set the same field, the later time wins, whatever order they
   * arrive in.
   */
  time: Time,
  /** The owner: the `sub` of their tokens. */
  user_id: UserId,
};

export const LifecycleEvent = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('batch.created'), ...envelope, data: NewBatch }),
  z.strictObject({
    type: z.literal('jobs.added'),
    ...envelope,
    data: z.strictObject({ batch_id: UuidText, jobs: NewJobs.check(z.minLength(1)) }),
  }),
  z.strictObject({
    type: z.literal('batch.updated'),
    ...envelope,
    data: z.strictObject({
      batch_id: UuidText,
      status: z.exactOptional(BatchStatus),
      /** Closes the batch; nothing opens it again. */
      open: z.exactOptional(z.literal(false)),
      tags: z.exactOptional(Tags),
      start_datetime: z.exactOptional(Time),
      end_datetime: z.exactOptional(Time),
      device_status: z.exactOptional(boundedText(256)),
    }),
  }),
  z.strictObject({
    type: z.literal('job.updated'),
    ...envelope,
    data: z.strictObject({
      job_id: UuidText,
      status: z.exactOptional(JobStatus),
      start_timestamp: z.exactOptional(Time),
      end_timestamp: z.exactOptional(Time),
      errors: z.exactOptional(ErrorTexts),
      /**
       * Key of the results in the bucket; must be one of the owner's own (see
       * values/results-key.ts).
       */
      results_key: z.exactOptional(boundedText(1_024)),
    }),
  }),
]);
export type LifecycleEvent = z.output<typeof LifecycleEvent>;
