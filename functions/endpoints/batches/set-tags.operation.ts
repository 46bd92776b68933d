import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { Batch, BatchPath } from '../../schemas/batch.ts';
import { TagsRequest } from '../../schemas/batch-request.ts';
import { jsonBody } from '../../schemas/json-body.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Set the tags of a batch',
  description:
    'Replaces all tags of a batch: at most 20, of at most 256 characters each. A repeated call changes nothing.',
  path: BatchPath,
  body: jsonBody(TagsRequest),
  bodySchema: () => TagsRequest.register(z.globalRegistry, { example: ['adiabatic', 'paper-2026'] }),
  success: { status: 200, data: Batch },
  errors: ['not_the_owner', 'not_found', 'erased'],
} satisfies Operation;
