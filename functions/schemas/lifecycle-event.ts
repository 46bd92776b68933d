/**
 * The events by which the machines that run the jobs tell what happened, and what they are made of. Ids and times are accepted
 * in any form that the API accepts and come out canonical.
 *
 * The bounds on texts keep 100 of the largest rows within one answer of a Lambda function (6 MB), which escapes its body once
 * more: so JSON is measured as the text of a text.
 */

import * as z from 'zod';
import { toMicroseconds } from '../timestamp.ts';
import { BatchStatus, QueuePriority } from './batch.ts';
import { JobOrigin, JobStatus } from './job.ts';
import { TimestampText, UuidText } from './query-values.ts';
import { JsonObject } from './values.ts';

const text = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .refine((value) => value.isWellFormed(), 'Lone surrogates cannot be stored.');

/** What the columns hold of times: microseconds since 1970, up to 2^53. */
const Time = TimestampText.refine((time) => {
  const microseconds = toMicroseconds(time);
  return microseconds >= 0 && microseconds <= Number.MAX_SAFE_INTEGER;
}, 'Times lie between 1970 and 2255.');

const atMostBytes = (most: number) =>
  [
    (value: unknown) => Buffer.byteLength(JSON.stringify(JSON.stringify(value))) <= most,
    `At most ${most} bytes of escaped JSON.`,
  ] as const;

const distinct = <Item>(keyOf: (item: Item) => string) =>
  [(items: readonly Item[]) => new Set(items.map(keyOf)).size === items.length, 'Each only once.'] as const;

export const UserId = text(256);

const Tags = z
  .array(text(256))
  .max(20)
  .transform((tags) => [...new Set(tags)]);

/** A job to be created. */
export const NewJob = z.strictObject({
  id: UuidText,
  runs: z.int().nonnegative(),
  origin: JobOrigin.default('UNKNOWN'),
  parent_id: UuidText.nullable().default(null),
  variables: JsonObject.refine(...atMostBytes(32_000))
    .nullable()
    .default(null),
});
export type NewJob = z.output<typeof NewJob>;

const NewJobs = z
  .array(NewJob)
  .max(5_000)
  .refine(...distinct<NewJob>((job) => job.id));

/** A batch to be created, with the jobs it starts with. */
export const NewBatch = z.strictObject({
  id: UuidText,
  project_id: UuidText,
  parent_id: UuidText.nullable().default(null),
  device_type: text(128),
  queue_priority: QueuePriority,
  open: z.boolean().default(false).describe('Whether it accepts further jobs.'),
  tags: Tags.default([]),
  webhook: text(2_048).nullable().default(null),
  configuration: JsonObject.refine(...atMostBytes(12_000))
    .nullable()
    .default(null),
  backend_configuration: z
    .union([text(24_000), JsonObject.transform((value) => JSON.stringify(value))])
    .refine(...atMostBytes(24_000))
    .nullable()
    .default(null)
    .describe('A serialized configuration; an object is serialized.'),
  device_status: text(256).nullable().default(null),
  jobs: NewJobs.default([]),
});
export type NewBatch = z.output<typeof NewBatch>;

const envelope = {
  id: text(256).describe('Chosen by the sender; the same event sent again has the same id.'),
  time: Time.describe('When it happened: of two words about one thing the later counts, whichever arrives first.'),
  user_id: UserId.describe('The owner: the `sub` of their tokens.'),
};

export const LifecycleEvent = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('batch.created'), ...envelope, data: NewBatch }),
  z.strictObject({
    type: z.literal('jobs.added'),
    ...envelope,
    data: z.strictObject({ batch_id: UuidText, jobs: NewJobs.min(1) }),
  }),
  z.strictObject({
    type: z.literal('batch.updated'),
    ...envelope,
    data: z.strictObject({
      batch_id: UuidText,
      status: BatchStatus.exactOptional(),
      open: z.literal(false).exactOptional().describe('Closes the batch; nothing opens it again.'),
      tags: Tags.exactOptional(),
      start_datetime: Time.exactOptional(),
      end_datetime: Time.exactOptional(),
      device_status: text(256).exactOptional(),
    }),
  }),
  z.strictObject({
    type: z.literal('job.updated'),
    ...envelope,
    data: z.strictObject({
      job_id: UuidText,
      status: JobStatus.exactOptional(),
      start_timestamp: Time.exactOptional(),
      end_timestamp: Time.exactOptional(),
      errors: z
        .array(text(10_000))
        .refine(...atMostBytes(16_000))
        .exactOptional(),
      results_key: text(1_024)
        .exactOptional()
        .describe('Key of the results in the bucket, below `results/{user_id}/`.'),
    }),
  }),
]);
export type LifecycleEvent = z.output<typeof LifecycleEvent>;
