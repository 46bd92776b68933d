import type { Operation } from '../../http/operation.ts';
import { OwnLimits } from '../../schemas/limits.ts';

export const operation = {
  tag: 'Limits',
  summary: 'Get your limits',
  description:
    'The limits of the caller, what is used of each and what is left. Operators set limits for users and by default; those of a project hold besides, and are named where they refuse a call.',
  success: { status: 200, data: () => OwnLimits },
} satisfies Operation;
