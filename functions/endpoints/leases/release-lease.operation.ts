import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { LeasePath } from '../../schemas/lease.ts';

export const operation = {
  tag: 'For devices',
  summary: 'Release a lease',
  description:
    'Gives the batch back, so that it can be claimed at once. The batch and its running job are PENDING again. A lease that is lost already stays lost.',
  path: LeasePath,
  device: ({ path }: { readonly path: z.output<typeof LeasePath> }) => path.lease.deviceType,
  success: { status: 200, data: () => z.null() },
} satisfies Operation;
