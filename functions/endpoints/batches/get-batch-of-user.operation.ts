import type { Operation } from '../../http/operation.ts';
import { BatchDetails } from '../../schemas/batch.ts';
import { BatchOfUserPath } from '../../schemas/operator-act.ts';

export const operation = {
  tag: 'For operators',
  summary: 'Get the batch of a user',
  description: `The batch as its owner sees it: with its sequence, the ids of its jobs and, if there are at most 100 and they fit into one
answer, its jobs with their errors; not with results, or links to them. The audit trail gets one row for each answer.`,
  operator: true,
  path: BatchOfUserPath,
  success: { status: 200, data: BatchDetails },
  errors: ['not_found'],
} satisfies Operation;
