/**
 * What a token allows besides scopes, as the authorizer hands it on: all values are texts there.
 */

import * as z from 'zod/mini';
import { type ProjectRight, projectRights, projectRoleNames, projectRoles } from '../project-roles.ts';
import { onDemand } from './on-demand.ts';
import { Count, NullableText, QueuePriority, Uuid } from './values.ts';

export const ProjectRole = z.enum(projectRoleNames).register(z.globalRegistry, { id: 'ProjectRole' });

/** A project that the token names, with the role of its holder there, if it gives one. */
const ProjectOfToken = z.object({ id: Uuid, name: z.string(), role: z.optional(ProjectRole) });

const ProjectMember = onDemand(() =>
  z
    .strictObject({ user_id: z.string(), user_name: NullableText, batches_count: z.nullable(Count) })
    .register(z.globalRegistry, {
      id: 'ProjectMember',
      fields: {
        user_id: 'The `sub` of their tokens.',
        user_name: 'What their token called them when they last created something; null where it did not say.',
        batches_count: 'How many batches they have in the project; null where the members are too many to count.',
      },
    }),
);

/** A project that the token's holder belongs to. */
export const Project = onDemand(() =>
  z
    .strictObject({
      id: Uuid,
      name: z.string(),
      role: z.nullable(ProjectRole),
      members: z.exactOptional(z.array(ProjectMember())),
      rights: z.array(z.enum(projectRights).register(z.globalRegistry, { id: 'ProjectRight' })),
    })
    .register(z.globalRegistry, {
      id: 'ProducedProjectResponse',
      fields: {
        id: 'Id of the project.',
        name: 'Its name.',
        role: 'The caller’s role there; null where the token gives none.',
        members: 'Who has batches in it, by user id; only for callers with a role.',
        rights:
          'What the caller may do there: `read` the batches of others, `submit` batches, `administer` (end the work of others; read usage, limits and audit trail).',
      },
    }),
);
export type Project = z.infer<ReturnType<typeof Project>>;

export const Claims = z.object({
  /** The highest priority that its batches may have. */
  queue_priority: z._default(QueuePriority, 'MEDIUM'),
  /** The only projects that its batches may be of; absent: any. */
  projects: z.optional(
    z.pipe(
      z.pipe(
        z.string(),
        z.transform((text): unknown => JSON.parse(text)),
      ),
      z.array(ProjectOfToken),
    ),
  ),
  /** What people call the user: at most 128 characters. */
  user_name: z.optional(z.string()),
});
export type Claims = z.output<typeof Claims>;

/** What the OpenAPI document says of calls that others than the owner may make. */
export const readByRole = 'All who have a role in its project read it as the owner does.';
export const endedByAdministrators =
  'Administrators of its project may do it, too: then the owner reads who did it, and the audit trail has an entry.';

/** The role that the token gives in the project, if any. */
export function roleIn({ projects = [] }: Pick<Claims, 'projects'>, projectId: string) {
  return projects.find(({ id }) => id === projectId)?.role;
}

/** What the token lets its holder do in the project. One that names no projects restricts none. */
export function rightsIn({ projects }: Pick<Claims, 'projects'>, projectId: string): ProjectRight[] {
  const project = projects?.find(({ id }) => id === projectId);
  const rules = project?.role && projectRoles[project.role];
  const has: Readonly<Record<ProjectRight, boolean>> = {
    read: rules !== undefined,
    submit: rules?.submits ?? (projects === undefined || project !== undefined),
    administer: rules?.administers ?? false,
  };
  return projectRights.filter((right) => has[right]);
}

/** Whether the token makes its holder an administrator of the project. */
export function administers(claims: Pick<Claims, 'projects'>, projectId: string): boolean {
  return rightsIn(claims, projectId).includes('administer');
}
