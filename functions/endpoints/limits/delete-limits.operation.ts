import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { SubjectPath } from '../../schemas/limits.ts';
import { Preview, PreviewQuery } from '../../schemas/preview.ts';

export const operation = {
  tag: 'For operators',
  summary: 'Remove the limits of a subject',
  description: 'Removes the limits of a user, of a project or the default. A user without limits has the default ones.',
  operator: true,
  path: SubjectPath,
  query: PreviewQuery,
  success: { status: 200, data: () => z.nullable(Preview) },
  errors: ['not_found'],
} satisfies Operation;
