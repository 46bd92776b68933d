/**
 * The events by which the machines that run the jobs tell what happened, and what they are made of. Ids and times are accepted
 * in any form that the API accepts and come out canonical.
 *
 * The bounds on texts keep 100 of the largest rows within one answer of a Lambda function (6 MB), which escapes its body once
 * more: so JSON is measured as the text of a text.
 */

import * as z from 'zod/mini';
import { toMicroseconds } from '../timestamp.ts';
import { TimestampText, UuidText } from './query-values.ts';
import { BatchStatus, Count, JobOrigin, JobStatus, QueuePriority } from './values.ts';

const text = (most: number) =>
  z.string().check(
    z.minLength(1),
    z.maxLength(most),
    z.refine((value: string) => value.isWellFormed(), 'Lone surrogates cannot be stored.'),
  );

/** What the columns hold of times: microseconds since 1970, up to 2^53. */
const Time = TimestampText.check(
  z.refine((time: string) => {
    const microseconds = toMicroseconds(time);
    return microseconds >= 0 && microseconds <= Number.MAX_SAFE_INTEGER;
  }, 'Times lie between 1970 and 2255.'),
);

/** Taken as it is: `z.record` would leave out a member named `__proto__`. */
const AnyJsonObject = z.custom<Readonly<Record<string, unknown>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  { message: 'Input should be a valid dictionary', params: { type: 'dict_type' } },
);

const atMostBytes = (most: number) =>
  z.refine(
    (value: unknown) => Buffer.byteLength(JSON.stringify(JSON.stringify(value))) <= most,
    `At most ${most} bytes of escaped JSON.`,
  );

const distinct = <Item>(keyOf: (item: Item) => string) =>
  z.refine<readonly Item[]>((items) => new Set(items.map(keyOf)).size === items.length, 'Each only once.');

/** What may be left out is null. */
const orNull = <Value extends z.ZodMiniType>(value: Value) => z._default(z.nullable(value), null);

export const UserId = text(256);

const Tags = z.pipe(
  z.array(text(256)).check(z.maxLength(20)),
  z.transform((tags) => [...new Set(tags)]),
);

/** A job to be created. */
export const NewJob = z.strictObject({
  id: UuidText,
  runs: Count,
  origin: z._default(JobOrigin, 'UNKNOWN'),
  parent_id: orNull(UuidText),
  variables: orNull(AnyJsonObject.check(atMostBytes(32_000))),
});
export type NewJob = z.output<typeof NewJob>;

const NewJobs = z.array(NewJob).check(
  z.maxLength(5_000),
  distinct<NewJob>((job) => job.id),
);

/** A batch to be created, with the jobs it starts with. */
export const NewBatch = z.strictObject({
  id: UuidText,
  project_id: UuidText,
  parent_id: orNull(UuidText),
  device_type: text(128),
  queue_priority: QueuePriority,
  /** Whether it accepts further jobs. */
  open: z._default(z.boolean(), false),
  tags: z._default(Tags, []),
  webhook: orNull(text(2_048)),
  configuration: orNull(AnyJsonObject.check(atMostBytes(12_000))),
  /** A serialized configuration; an object is serialized. */
  backend_configuration: orNull(
    z
      .union([
        text(24_000),
        z.pipe(
          AnyJsonObject,
          z.transform((value) => JSON.stringify(value)),
        ),
      ])
      .check(atMostBytes(24_000)),
  ),
  device_status: orNull(text(256)),
  jobs: z._default(NewJobs, []),
});
export type NewBatch = z.output<typeof NewBatch>;

const envelope = {
  /** Chosen by the sender; the same event sent again has the same id. */
  id: text(256),
  /** When it happened: of two words about one thing the later counts, whichever arrives first. */
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
      device_status: z.exactOptional(text(256)),
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
      errors: z.exactOptional(z.array(text(10_000)).check(atMostBytes(16_000))),
      /** Key of the results in the bucket, below `results/{user_id}/`. */
      results_key: z.exactOptional(text(1_024)),
    }),
  }),
]);
export type LifecycleEvent = z.output<typeof LifecycleEvent>;
