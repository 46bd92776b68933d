/** A device with its workers, as operators see it. */

import * as z from 'zod/mini';
import { OperatedDevice, operatedFields } from './device.ts';
import { Count, NullableText, NullableTimestamp, NullableUuid, ownerNameText, Timestamp } from './values.ts';

const Worker = z
  .strictObject({
    worker: z.string(),
    seen_at: Timestamp,
    user_id: NullableText,
    user_name: NullableText,
    batch_id: NullableUuid,
    job_id: NullableUuid,
    job_started_at: NullableTimestamp,
  })
  .register(z.globalRegistry, {
    id: 'Worker',
    fields: {
      worker: 'What it calls itself.',
      seen_at: 'When it was last heard of: within half a minute.',
      user_id: 'The owner of the batch that it has; null while it has none.',
      user_name: ownerNameText,
      batch_id: 'The batch that it has; null while it has none.',
      job_id: 'The job that it runs; null while it runs none.',
      job_started_at: 'When that job was handed out; null while it runs none.',
    },
  });
export type Worker = z.infer<typeof Worker>;

export const WatchedDevice = z
  .strictObject({ ...OperatedDevice().shape, batches_at_work: Count, workers: z.array(Worker) })
  .register(z.globalRegistry, {
    id: 'WatchedDevice',
    fields: {
      ...operatedFields,
      batches_at_work: 'Number of batches that workers have.',
      workers: 'The workers of the last 24 hours, at most 200: first those heard of last.',
    },
  });
export type WatchedDevice = z.infer<typeof WatchedDevice>;
