import type { Operation } from '../../http/operation.ts';
import { OwnLimits } from '../../schemas/limits.ts';

export const operation = {
  tag: 'Limits',
  summary: 'Get your limits',
  description:
    'The caller’s limits: what is used and what is left. Operators set limits for single users and for all by default. Limits of a project hold as well; a refusal names them.',
  success: { status: 200, data: OwnLimits },
} satisfies Operation;
