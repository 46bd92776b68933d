/** A device's queue as operators see it. */

import * as z from 'zod/mini';
import { Batch, batchFields } from './batch.ts';
import { Count, NullableText, NullableUuid, ownerNameText, Timestamp } from './values.ts';

const BatchLease = z
  .strictObject({ worker: NullableText, expires_at: Timestamp, job_id: NullableUuid, losses: Count })
  .register(z.globalRegistry, {
    id: 'BatchLease',
    fields: {
      worker: 'Name of the worker.',
      expires_at: 'When the lease ends without a heartbeat.',
      job_id: 'The job that the worker runs; null while it waits for one.',
      losses: 'How many workers were lost while running that job.',
    },
  });

export const QueuedBatch = z
  .strictObject({
    ...Batch().shape,
    user_name: NullableText,
    position: z.nullable(Count),
    lease: z.nullable(BatchLease),
  })
  .register(z.globalRegistry, {
    id: 'QueuedBatch',
    fields: {
      ...batchFields,
      user_name: ownerNameText,
      position: 'Number of batches before it in the queue; null once a worker has it.',
      lease: 'The worker that has it; null if none has.',
    },
  });
export type QueuedBatch = z.infer<typeof QueuedBatch>;
