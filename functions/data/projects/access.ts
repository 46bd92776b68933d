/** Who may see and do what with the rows of others: the one rule, and how their rows are found. */

import { type ProjectRole, projectRoles } from '../../project-roles.ts';
import type { Claims } from '../../schemas/claims.ts';
import type { Db } from '../dynamodb/db.ts';
import { batchGet } from '../dynamodb/reads.ts';
import { listContributors } from './contributors.ts';

/** Who asks, and what their token says. */
export interface Member {
  readonly userId: string;
  readonly claims: Pick<Claims, 'projects' | 'user_name'>;
}

/** A row, by whose it is and in which project. */
export interface OwnedRow {
  readonly user_id: string;
  readonly project_id: string;
}

/** To see it; to cancel or close it; to change anything else of it. */
export type Right = 'read' | 'end' | 'change';

/** The rule. Owners may do everything with their rows; others what their role in its project permits. */
export function may(right: Right, { userId, claims }: Member, row: OwnedRow): boolean {
  if (row.user_id === userId) return true;
  const role = roleIn(claims, row.project_id);
  if (role === undefined || right === 'change') return false;
  return right === 'read' || projectRoles[role].administers;
}

export function roleIn({ projects = [] }: Member['claims'], projectId: string): ProjectRole | undefined {
  return projects.find(({ id }) => id === projectId)?.role;
}

/** The projects whose rows the caller may read, whoever owns them. */
export function readableProjects({ projects = [] }: Member['claims']): string[] {
  return projects.filter(({ role }) => role !== undefined).map(({ id }) => id);
}

/**
 * A row of another user that the caller may read; undefined for any other id, whether it exists or
 * not. Eventually consistent: what listContributors takes, and half a read unit for each
 * contributor, in two steps; nothing without a role.
 */
export async function findFellowsRow<Table extends 'Batches' | 'Jobs'>(
  db: Db<Table | 'Contributors'>,
  caller: Member,
  { table, id }: { readonly table: Table; readonly id: string },
): Promise<OwnedRow | undefined> {
  const contributors = await listContributors(db, readableProjects(caller.claims));
  const fellows = new Set(contributors.map(({ user_id }) => user_id).filter((userId) => userId !== caller.userId));
  const keys = Array.from(fellows, (user_id) => ({ user_id, id }));
  const found = await batchGet(db as Db<Table>, {
    table,
    keys,
    attributes: ['user_id', 'project_id'],
    consistent: false,
  });
  return (found as unknown as readonly OwnedRow[]).find((row) => may('read', caller, row));
}
