import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { Batch } from '../../schemas/batch.ts';
import { jsonBody } from '../../schemas/json-body.ts';
import { BatchOfUserPath, PriorityRequest } from '../../schemas/operator-act.ts';
import { Preview, PreviewQuery } from '../../schemas/preview.ts';

export const operation = {
  tag: 'For operators',
  summary: 'Set the priority of a waiting batch',
  description: `The batch leaves its place in the queue and enters it again like a new batch of that priority; its charge is given
back. Its \`device_status\` says "An operator set the priority to HIGH: REASON". If a device has the batch, or it has ended, the
call is refused. Setting the present priority again changes nothing. The audit trail gets one row.`,
  operator: true,
  path: BatchOfUserPath,
  query: PreviewQuery,
  body: jsonBody(PriorityRequest),
  success: { status: 200, data: () => z.union([Batch(), Preview]) },
  errors: ['not_found', 'batch_ended', 'batch_not_waiting'],
} satisfies Operation;
