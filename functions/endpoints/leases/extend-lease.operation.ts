import type { Operation } from '../../http/operation.ts';
import { jsonBody } from '../../schemas/json-body.ts';
import { deviceOfLease, Heartbeat, HeartbeatRequest, LeasePath } from '../../schemas/lease.ts';

export const operation = {
  tag: 'For devices',
  summary: 'Send a heartbeat',
  description: `Extends the lease by 60 s. Claims, reports and questions for the next job count as heartbeats: send one
once 20 s have passed without any. \`cancel\` means: stop the job, because
it was canceled, its batch has ended, or it has run for too long. Then ask for the next job.`,
  path: LeasePath,
  device: deviceOfLease,
  body: jsonBody(HeartbeatRequest),
  success: { status: 200, data: Heartbeat },
  errors: ['not_found', 'lease_lost'],
} satisfies Operation;
