import type { Operation } from '../../http/operation.ts';
import { jsonBody } from '../../schemas/json-body.ts';
import { Limits, SubjectLimits, SubjectPath } from '../../schemas/limits.ts';

export const operation = {
  tag: 'For operators',
  summary: 'Set the limits of a subject',
  description: `Sets the limits of a user, of a project or the default, in place of those before. They hold for every creation that begins after the answer;
what is there stays. A user’s own limits replace the default’s, member by member: null lifts a limit of the default. A project’s hold besides.`,
  operator: true,
  path: SubjectPath,
  body: jsonBody(Limits),
  success: { status: 200, data: () => SubjectLimits },
  errors: ['limit_exceeded'],
} satisfies Operation;
