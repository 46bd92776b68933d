import type { Operation } from '../../http/operation.ts';
import { SubjectLimits } from '../../schemas/limits.ts';
import { PageQuery } from '../../schemas/page-query.ts';

export const operation = {
  tag: 'For operators',
  summary: 'Get all limits',
  description: 'The limits of all subjects that have any, as set: the default first, then by subject.',
  operator: true,
  query: PageQuery,
  success: { status: 200, list: SubjectLimits, headers: ['Content-Range'] },
} satisfies Operation;
