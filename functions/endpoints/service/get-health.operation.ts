import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';

export const operation = {
  tag: 'Service',
  summary: 'Get the health of the service',
  description: 'Answers as long as requests reach the service.',
  success: {
    status: 200,
    data: () => z.strictObject({ healthy: z.literal(true) }).register(z.globalRegistry, { id: 'Health' }),
  },
} satisfies Operation;
