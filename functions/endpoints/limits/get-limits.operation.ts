import type { Operation } from '../../http/operation.ts';
import { projectOfSubject, SubjectLimits, SubjectPath } from '../../schemas/limits.ts';

export const operation = {
  tag: 'For operators',
  summary: 'Get the limits of a subject',
  description: 'The limits of a user, of a project or the default, as set.',
  operator: true,
  projects: ({ path }: { path: { subject: string } }) => [projectOfSubject(path.subject) ?? []].flat(),
  path: SubjectPath,
  success: { status: 200, data: SubjectLimits },
  errors: ['not_found'],
} satisfies Operation;
