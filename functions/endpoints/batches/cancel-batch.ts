import { messageQueue } from '../../data/aws/message-queue.ts';
import { cancelBatch } from '../../data/batches/cancellations.ts';
import { recoveryBy } from '../../data/lifecycle/schedule-recovery.ts';
import { batchOf } from '../../data/rows/batches.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { queueUrl } from '../../runtime/env.ts';
import { operation } from './cancel-batch.operation.ts';

const scheduleRecovery = recoveryBy(messageQueue(queueUrl('Recovery')));

export const handler = endpoint(routes.cancelBatch, operation, async ({ db, userId, path }) =>
  success(batchOf(await cancelBatch(db, { userId, batchId: path.batch_id }, { scheduleRecovery }))),
);
