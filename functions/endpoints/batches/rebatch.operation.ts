import type { Operation } from '../../http/operation.ts';
import { BatchPath, BatchWithJobs } from '../../schemas/batch.ts';
import { IdempotencyKeyHeader } from '../../schemas/idempotency-key.ts';
import { RebatchQuery } from '../../schemas/job-selection.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Run jobs of a batch again',
  description:
    'Creates a batch of jobs of a closed batch: of those that match all filters, or without filters of all. They keep their variables, runs and sequences. If no job matches, the call is refused with 422; if the batch is open, with 409.',
  path: BatchPath,
  query: RebatchQuery,
  headers: IdempotencyKeyHeader,
  success: { status: 200, data: () => BatchWithJobs },
  errors: ['project_not_allowed', 'not_found', 'batch_open', 'batch_ended', 'idempotency_key_reused'],
} satisfies Operation;
