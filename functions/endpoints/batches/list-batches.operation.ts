import type { Operation } from '../../http/operation.ts';
import { Batch } from '../../schemas/batch.ts';
import { BatchListQuery } from '../../schemas/batch-list-query.ts';
import { listRules } from '../../schemas/query-parameters.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Get all batches',
  description: `The caller’s batches, each with the number of its jobs in each status. ${listRules}`,
  query: BatchListQuery,
  success: { status: 200, list: () => Batch, headers: ['Content-Range'] },
} satisfies Operation;
