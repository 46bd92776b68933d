import type { Operation } from '../../http/operation.ts';
import { BatchWithJobs } from '../../schemas/batch.ts';
import { CreateBatchRequest } from '../../schemas/batch-request.ts';
import { IdempotencyKeyHeader } from '../../schemas/idempotency-key.ts';
import { jsonBody } from '../../schemas/json-body.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Create a batch',
  description:
    'Creates a batch with its jobs, all or none; it is in the lists when the call returns. Without `device_type` it is for the device whose specification has the name that the sequence’s device has. The priority is the token’s (claim `queue_priority`, otherwise `MEDIUM`) or a lower one that is asked for. At most 5,000 jobs a call, 350 KB a sequence once gzipped, 6 MB a body, which may be gzipped.',
  headers: IdempotencyKeyHeader,
  body: jsonBody(CreateBatchRequest),
  bodySchema: () => CreateBatchRequest,
  bodyMegabytes: 6,
  success: { status: 200, data: () => BatchWithJobs },
  errors: [409],
} satisfies Operation;
