import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';

export const operation = {
  tag: 'Service',
  summary: 'Get this document',
  description: 'The OpenAPI document of this service.',
  success: {
    status: 200,
    body: () => z.looseObject({ openapi: z.string().register(z.globalRegistry, { examples: ['3.1.1'] }) }),
  },
} satisfies Operation;
