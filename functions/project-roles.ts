/** What the roles in a project permit: data only. Tokens name them, and nothing else does. */

interface RoleRules {
  /** May create batches in the project, and run a fellow's batch again. All roles may read. */
  readonly submits: boolean;
  /** May end the work of others in the project, and read its usage, limits and audit trail. */
  readonly administers: boolean;
}

/** From the weakest to the strongest: a token that names a project twice has the stronger role. */
export const projectRoles = {
  viewer: { submits: false, administers: false },
  member: { submits: true, administers: false },
  admin: { submits: true, administers: true },
} as const satisfies Readonly<Record<string, RoleRules>>;

export type ProjectRole = keyof typeof projectRoles;

/**
 * What answers say that their reader may do with a batch or job: read it, run it again, cancel and
 * close it, and change or erase it in any other way.
 */
export const rowRights = ['read', 'repeat', 'end', 'change'] as const;

export type RowRight = (typeof rowRights)[number];

/**
 * What they may do in a project: read the rows of others, create batches, and what administrators
 * do (RoleRules).
 */
export const projectRights = ['read', 'submit', 'administer'] as const;

export type ProjectRight = (typeof projectRights)[number];

export const projectRoleNames = Object.keys(projectRoles) as [ProjectRole, ...ProjectRole[]];
