import type { Operation } from '../../http/operation.ts';
import { BatchPath, BatchWithJobs } from '../../schemas/batch.ts';
import { IdempotencyKeyHeader } from '../../schemas/idempotency-key.ts';
import { RebatchQuery } from '../../schemas/job-selection.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Run jobs of a batch again',
  description:
    'Creates a batch of those jobs of a closed batch that match all filters: of all without any. They go with their variables, runs and sequences. No job is 422, an open batch 409.',
  path: BatchPath,
  query: RebatchQuery,
  headers: IdempotencyKeyHeader,
  success: { status: 200, data: () => BatchWithJobs },
  errors: [404, 409],
} satisfies Operation;
