import type { Operation } from '../../http/operation.ts';
import { DevicePath } from '../../schemas/device.ts';
import { PageQuery } from '../../schemas/page-query.ts';
import { QueuedBatch } from '../../schemas/queued-batch.ts';

export const operation = {
  tag: 'For operators',
  summary: 'Get the queue of a device',
  description:
    'The batches of all users that wait for the device or are on it, in the order in which claims take them: each as in its owner’s list, with its position and lease.',
  operator: true,
  path: DevicePath,
  query: PageQuery,
  success: { status: 200, list: () => QueuedBatch, headers: ['Content-Range'] },
  errors: ['not_found'],
} satisfies Operation;
