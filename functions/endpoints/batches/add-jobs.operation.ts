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
    'Adds jobs to an open batch, after those it has; they are in the lists when the call returns. A job without a sequence of its own runs its batch’s. At most 5,000 jobs a call, 350 KB a sequence once gzipped, 6 MB a body, which may be gzipped.',
  path: BatchPath,
  headers: IdempotencyKeyHeader,
  body: jsonBody(AddJobsRequest),
  bodySchema: () => AddJobsRequest.register(z.globalRegistry, { example: [{ runs: 100, variables: { omega: 2.5 } }] }),
  bodyMegabytes: 6,
  success: { status: 200, data: () => BatchWithJobs },
  errors: [404, 409],
} satisfies Operation;
