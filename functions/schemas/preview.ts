/** What an operator's act would change, in answer to `preview`. */

import * as z from 'zod/mini';
import { estimatedTime } from './estimate.ts';
import { OwnLimits } from './limits.ts';
import { FlagFilter } from './query-parameters.ts';
import { Count, NullableText, NullableUuid, ownerNameText, QueuePriority, Uuid } from './values.ts';

/** Parameters of an act that can be looked at first. */
export const PreviewQuery = z.object({ preview: FlagFilter }).register(z.globalRegistry, {
  fields: {
    preview:
      'Only look: the request is judged as without it, and nothing is written. The answer names the batches that may end at another time.',
  },
});

const EstimatedEnd = estimatedTime('EstimatedEnd', 'ends');
export type EstimatedEnd = z.infer<typeof EstimatedEnd>;

const Delay = z.strictObject({ least: z.number(), likely: z.number(), most: z.number() }).register(z.globalRegistry, {
  id: 'EstimatedDelay',
  fields: {
    least: 'At least four of five delays lie between it and `most`.',
    likely: 'About half of all delays are less.',
    most: 'See `least`.',
  },
});
export type Delay = z.infer<typeof Delay>;

/** Why the end of a batch cannot be estimated. */
const NoEndReason = z
  .enum(['paused', 'closed', 'no_worker', 'unknown'])
  .register(z.globalRegistry, { id: 'NoEndReason' });
export type NoEndReason = z.infer<typeof NoEndReason>;

const reasons =
  '`paused` or `closed` (by an operator, without an end), `no_worker` (none was seen in the last minute), `unknown` (too little is known yet). Otherwise null.';

/** A batch whose end an act may move. */
export const MovedBatch = z
  .strictObject({
    user_id: z.string(),
    user_name: NullableText,
    batch_id: Uuid,
    project_id: NullableUuid,
    device_type: z.string(),
    queue_priority: QueuePriority,
    jobs_left: Count,
    is_at_work: z.boolean(),
    ends_before: z.nullable(EstimatedEnd),
    ends_before_reason: z.nullable(NoEndReason),
    ends_after: z.nullable(EstimatedEnd),
    ends_after_reason: z.nullable(NoEndReason),
    delay_seconds: z.nullable(Delay),
  })
  .register(z.globalRegistry, {
    id: 'MovedBatch',
    fields: {
      user_id: 'The owner.',
      user_name: ownerNameText,
      project_id: 'Its project; null if the batch has just gone.',
      queue_priority: 'Its priority before the act.',
      jobs_left: 'How many jobs it has to run, the running one included.',
      is_at_work: 'Whether a worker has it.',
      ends_before: 'When its present jobs are likely to have ended, without the act.',
      ends_before_reason: `Why \`ends_before\` is null: ${reasons}`,
      ends_after: 'When its present jobs are likely to have ended, after the act.',
      ends_after_reason: `Why \`ends_after\` is null: ${reasons}`,
      delay_seconds:
        'How much later it ends; earlier where it is negative. Null if an end is null. It comes from plays of the queue without and with the act, with the same job times.',
    },
  });
export type MovedBatch = z.infer<typeof MovedBatch>;

export const Preview = z
  .strictObject({
    batches: z.array(MovedBatch),
    looked_at: Count,
    is_complete: z.boolean(),
    limits: z.nullable(OwnLimits()),
    refuses_new: z.nullable(z.boolean()),
  })
  .register(z.globalRegistry, {
    id: 'ProducedPreviewResponse',
    fields: {
      batches:
        'The batches that the act may end at another time: by a second or more at one end of the range, or with an end that is null. Those without a new end first, then by the likely delay, the longest first.',
      looked_at: 'How many batches of the queue were looked at: the first 1,000 at most.',
      is_complete: 'Whether these are all. Batches further back are not looked at.',
      limits:
        'The limits that would hold for the user or the project, what is used and what is left of them; null for `default`, and of other acts.',
      refuses_new:
        'Whether the next batch would be refused: of the user or the project under its limits, or by the device. Null where that is not known: for `default`, and of priorities.',
    },
  });
export type Preview = z.infer<typeof Preview>;
