import type { Operation } from '../../http/operation.ts';
import { BatchPath, BatchWithJobs } from '../../schemas/batch.ts';
import { IdempotencyKeyHeader } from '../../schemas/idempotency-key.ts';
import { RebatchQuery } from '../../schemas/job-selection.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Run jobs of a batch again',
  description: `Runs jobs of a closed batch again: those that match all filters; without filters, all of them. They keep their variables, runs and
sequences. Answers with the new batch, whose \`parent_id\` names the old one, and with its jobs if they are at most 100. If no job matches,
the call is refused (422).`,
  path: BatchPath,
  query: RebatchQuery,
  headers: IdempotencyKeyHeader,
  success: { status: 200, data: () => BatchWithJobs },
  errors: [
    'project_not_allowed',
    'device_type_not_allowed',
    'not_found',
    'batch_open',
    'batch_ended',
    'device_closed',
    'erased',
    'idempotency_key_reused',
    'limit_exceeded',
    'payload_too_large',
    'too_many_creations',
    'unfinished',
  ],
} satisfies Operation;
