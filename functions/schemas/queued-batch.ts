/** A device's queue as operators see it. */

import * as z from 'zod/mini';
import { Batch, batchFields } from './batch.ts';
import { Count, NullableText, NullableUuid, Timestamp } from './values.ts';

const BatchLease = z
  .strictObject({ worker: NullableText, expires_at: Timestamp, job_id: NullableUuid, losses: Count })
  .register(z.globalRegistry, {
    id: 'BatchLease',
    fields: {
      worker: 'What the worker calls itself.',
      expires_at: 'When the lease ends unless a heartbeat comes.',
      job_id: 'The job that the worker runs; null while it waits for one.',
      losses: 'How many workers were lost while they ran that job.',
    },
  });

export const QueuedBatch = z
  .strictObject({ ...Batch.shape, position: z.nullable(Count), lease: z.nullable(BatchLease) })
  .register(z.globalRegistry, {
    id: 'QueuedBatch',
    fields: {
      ...batchFields,
      position: 'Number of batches before it in the queue; null once a worker has it.',
      lease: 'Who has it; null while nobody has.',
    },
  });
export type QueuedBatch = z.infer<typeof QueuedBatch>;
