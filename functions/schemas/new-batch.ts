/**
 * Batches and jobs as events and requests create them. In a file of their own, because most
 * functions create neither.
 */

import * as z from 'zod/mini';
import { UuidText } from './id-and-time-texts.ts';
import { boundedText, deviceName, distinctItems, jsonObject, jsonText, orNull, Tags } from './sent-values.ts';
import { Count, JobOrigin, QueuePriority } from './values.ts';

/** A job to be created. */
export const NewJob = z.strictObject({
  id: UuidText,
  /** Null: the device chooses. */
  runs: orNull(Count),
  origin: z._default(JobOrigin, 'UNKNOWN'),
  parent_id: orNull(UuidText),
  variables: orNull(jsonObject(32_000)),
});
export type NewJob = z.output<typeof NewJob>;

export const NewJobs = distinctItems(NewJob, 5_000);

/** A batch to be created, with the jobs it starts with. */
export const NewBatch = z.strictObject({
  id: UuidText,
  project_id: UuidText,
  parent_id: orNull(UuidText),
  device_type: deviceName,
  queue_priority: QueuePriority,
  /** Whether it accepts further jobs. */
  open: z._default(z.boolean(), false),
  tags: z._default(Tags, []),
  webhook: orNull(boundedText(2_048)),
  configuration: orNull(jsonObject(12_000)),
  backend_configuration: orNull(jsonText(24_000)),
  device_status: orNull(boundedText(256)),
  jobs: z._default(NewJobs, []),
});
export type NewBatch = z.output<typeof NewBatch>;
