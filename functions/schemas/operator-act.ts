/** What operators send about the batch of a user. */

import * as z from 'zod/mini';
import { isUserId } from '../identity/user-id.ts';
import { BatchPath } from './batch.ts';
import { boundedText } from './sent-values.ts';
import { QueuePriority } from './values.ts';

const { fields: ofBatch } = z.globalRegistry.get(BatchPath) as { readonly fields: object };

/** Parameters of a path that names a batch and its owner. */
export const BatchOfUserPath = z
  .extend(BatchPath, { user_id: z.string().check(z.refine(isUserId, 'Input should be the id of a user')) })
  .register(z.globalRegistry, {
    fields: { ...ofBatch, user_id: 'The owner of the batch: the `sub` of the user’s tokens.' },
    example: { user_id: '0f8d1c52-3b1e-4d59-9a53-6e2b7a1c4d10', batch_id: 'f575fbab-2bec-458e-b877-f5dcf5643560' },
  });

/** Why an operator does it. */
export const Reason = boundedText(512);
const reason = 'Why: shown to the owner of the batch, and kept in the audit trail.';

export const CancelRequest = z.object({ reason: Reason }).register(z.globalRegistry, {
  id: 'OperatorCancelRequest',
  fields: { reason },
  example: { reason: 'The trap lost its atoms.' },
});

export const PriorityRequest = z.object({ queue_priority: QueuePriority, reason: Reason }).register(z.globalRegistry, {
  id: 'OperatorPriorityRequest',
  fields: { queue_priority: 'The new priority.', reason },
  example: { queue_priority: 'HIGH', reason: 'The demonstration is at noon.' },
});
