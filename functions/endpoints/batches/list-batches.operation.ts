import type { Operation } from '../../http/operation.ts';
import { ListedBatch } from '../../schemas/batch.ts';
import { BatchListQuery } from '../../schemas/batch-list-query.ts';
import { listRules } from '../../schemas/query-parameters.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Get all batches',
  description: `The caller’s batches, each with the number of its jobs in each status; with \`scope=project\` the batches of all members of the projects that the caller may read. ${listRules}`,
  query: BatchListQuery,
  success: { status: 200, list: ListedBatch, headers: ['Content-Range'] },
} satisfies Operation;
