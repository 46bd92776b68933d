import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { BatchPath } from '../../schemas/batch.ts';
import { AddJobsRequest } from '../../schemas/batch-request.ts';
import { IdempotencyKeyHeader } from '../../schemas/idempotency-key.ts';
import { jsonBody } from '../../schemas/json-body.ts';
import { CreationAnswer, CreationQuery } from '../../schemas/validation.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Add jobs to a batch',
  description: `Adds jobs to an open batch, after its present ones. From the answer on, all lists and reads show them. A job
without its own sequence runs the batch’s. Sequences and variables are checked as for a new batch. If the token has a claim \`projects\`, the batch’s project must be one of them.

- A call takes at most 5,000 jobs, 350 KB for each sequence once gzipped, and 6 MB in all. A batch holds at most 20,000 jobs.
  The body may be gzipped; AWS refuses about
  4.4 MB and more once unzipped (413).
- More than about 80 jobs take several transactions. If a call dies part-way or stops (429, \`unfinished\`), repeat it with the same \`Idempotency-Key\` to add the rest;
  without a key, a repeated call adds all jobs again. If it is not repeated, the jobs it had added are CANCELED after ten minutes, and their
  \`errors\` say why. A call without a key stops with 413, and its jobs are CANCELED at once.
- No device gets these jobs, or later jobs of the batch, before the call is complete or its jobs are canceled.
- \`validate_only=true\` stores nothing, and answers as for a new batch.`,
  path: BatchPath,
  query: CreationQuery,
  headers: IdempotencyKeyHeader,
  body: jsonBody(AddJobsRequest),
  bodySchema: () => AddJobsRequest.register(z.globalRegistry, { example: [{ runs: 100, variables: { omega: 2.5 } }] }),
  bodyMegabytes: 6,
  success: { status: 200, data: CreationAnswer },
  errors: [
    'project_not_allowed',
    'device_type_not_allowed',
    'not_the_owner',
    'not_found',
    'batch_closed',
    'batch_ended',
    'erased',
    'limit_exceeded',
    'idempotency_key_reused',
    'call_timed_out',
    'too_many_creations',
    'too_many_changes',
    'unfinished',
  ],
} satisfies Operation;
