import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { jsonBody } from '../../schemas/json-body.ts';
import { Limits, SubjectLimits, SubjectPath } from '../../schemas/limits.ts';
import { Preview, PreviewQuery } from '../../schemas/preview.ts';

export const operation = {
  tag: 'For operators',
  summary: 'Set the limits of a subject',
  description: `Sets the limits of a user, of a project or the default; they replace the former ones. They hold for every creation
that begins after the answer; existing batches stay. A user’s own limits replace the default ones, member by member; null removes a
default limit. A project’s limits hold as well.`,
  operator: true,
  path: SubjectPath,
  query: PreviewQuery,
  body: jsonBody(Limits),
  success: { status: 200, data: () => z.union([SubjectLimits(), Preview]) },
  errors: ['limit_exceeded'],
} satisfies Operation;
