import type { Operation } from '../../http/operation.ts';
import { Batch } from '../../schemas/batch.ts';
import { jsonBody } from '../../schemas/json-body.ts';
import { BatchOfUserPath, PriorityRequest } from '../../schemas/operator-act.ts';

export const operation = {
  tag: 'For operators',
  summary: 'Set the priority of a waiting batch',
  description: `The batch leaves its place in the queue and enters anew, as a batch of that priority would that comes now; what it was charged is given
back. Its \`device_status\` says "An operator set the priority to HIGH: REASON". A batch that a device has, or that has ended, is refused. A call
that names the priority that it has changes nothing. The audit trail gets one row.`,
  operator: true,
  path: BatchOfUserPath,
  body: jsonBody(PriorityRequest),
  success: { status: 200, data: () => Batch },
  errors: ['not_found', 'batch_ended', 'batch_not_waiting'],
} satisfies Operation;
