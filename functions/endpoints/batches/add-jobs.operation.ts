import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { BatchPath, BatchWithJobs } from '../../schemas/batch.ts';
import { AddJobsRequest } from '../../schemas/batch-request.ts';
import { IdempotencyKeyHeader } from '../../schemas/idempotency-key.ts';
import { jsonBody } from '../../schemas/json-body.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Add jobs to a batch',
  description:
    'Adds jobs to an open batch, after those that it has. They are in all lists and reads when the call returns. A job without a sequence of its own runs its batch’s. A call takes at most 5,000 jobs, 350 KB for each sequence once gzipped, and 6 MB in all; the body may be gzipped.',
  path: BatchPath,
  headers: IdempotencyKeyHeader,
  body: jsonBody(AddJobsRequest),
  bodySchema: () => AddJobsRequest.register(z.globalRegistry, { example: [{ runs: 100, variables: { omega: 2.5 } }] }),
  bodyMegabytes: 6,
  success: { status: 200, data: () => BatchWithJobs },
  errors: ['not_found', 'batch_closed', 'batch_ended', 'idempotency_key_reused', 'call_timed_out'],
} satisfies Operation;
