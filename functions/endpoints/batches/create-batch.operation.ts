import type { Operation } from '../../http/operation.ts';
import { BatchWithJobs } from '../../schemas/batch.ts';
import { CreateBatchRequest } from '../../schemas/batch-request.ts';
import { IdempotencyKeyHeader } from '../../schemas/idempotency-key.ts';
import { jsonBody } from '../../schemas/json-body.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Create a batch',
  description:
    'Creates a batch with all its jobs, or nothing. It is in all lists and reads when the call returns. Without `device_type` it is for the device that the sequence was made for: the one whose specification has the same name. The priority is the token’s (claim `queue_priority`, otherwise `MEDIUM`); the body may ask for a lower one. A call takes at most 5,000 jobs, 350 KB for each sequence once gzipped, and 6 MB in all; the body may be gzipped.',
  headers: IdempotencyKeyHeader,
  body: jsonBody(CreateBatchRequest),
  bodySchema: () => CreateBatchRequest,
  bodyMegabytes: 6,
  success: { status: 200, data: () => BatchWithJobs },
  errors: ['project_not_allowed', 'batch_ended', 'idempotency_key_reused', 'limit_exceeded'],
} satisfies Operation;
