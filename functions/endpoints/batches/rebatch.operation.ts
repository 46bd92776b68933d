import type { Operation } from '../../http/operation.ts';
import { BatchPath, BatchWithJobs } from '../../schemas/batch.ts';
import { IdempotencyKeyHeader } from '../../schemas/idempotency-key.ts';
import { RebatchQuery } from '../../schemas/job-selection.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Run jobs of a batch again',
  description: `Creates a batch that runs jobs of a closed batch again: the jobs that match all filters, or all jobs without
filters. They keep their variables, runs and sequences. Members and administrators of a project may run the batches of others again:
the new batch is the caller’s, without the webhook. Answers with the new batch, whose \`parent_id\` is the old one’s id, and
with its jobs if there are at most 100. If no job matches, the call is refused (422).`,
  path: BatchPath,
  query: RebatchQuery,
  headers: IdempotencyKeyHeader,
  success: { status: 200, data: BatchWithJobs },
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
    'too_many_changes',
    'unfinished',
  ],
} satisfies Operation;
