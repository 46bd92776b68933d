import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { deviceOfLease, LeasePath } from '../../schemas/lease.ts';

export const operation = {
  tag: 'For devices',
  summary: 'Release a lease',
  description:
    'Gives the batch back, so that it can be claimed at once. The batch and its running job are PENDING again. If the lease is lost already, nothing changes.',
  path: LeasePath,
  device: deviceOfLease,
  success: { status: 200, data: () => z.null() },
} satisfies Operation;
