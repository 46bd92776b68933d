/** Who may see and do what with the rows of others: the one rule, and how their rows are found. */

import { Forbidden, NotFound, requireFound } from '../../errors.ts';
import { type ProjectRight, type RowRight, rowRights } from '../../project-roles.ts';
import { type Claims, rightsIn } from '../../schemas/claims.ts';
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

/** What permits it in the row's project, to others than the owner; null: nothing does. */
const rightOfOthers = {
  read: 'read',
  repeat: 'submit',
  end: 'administer',
  change: null,
} as const satisfies Readonly<Record<RowRight, ProjectRight | null>>;

/**
 * The rule. Owners may do everything with their rows, but run them again only where they may
 * submit; others what their role permits there.
 */
export function may(right: RowRight, { userId, claims }: Member, row: OwnedRow): boolean {
  if (row.user_id === userId && right !== 'repeat') return true;
  const needed = rightOfOthers[right];
  return needed !== null && rightsIn(claims, row.project_id).includes(needed);
}

/** What the caller may do with a row that they may see, whatever its state. */
export function rightsTo(caller: Member, row: OwnedRow): RowRight[] {
  return rowRights.filter((right) => may(right, caller, row));
}

/** The projects whose rows the caller may read, of any owner. */
export function readableProjects(claims: Member['claims']): string[] {
  const ids = claims.projects?.map(({ id }) => id) ?? [];
  return ids.filter((id) => rightsIn(claims, id).includes('read'));
}

type RowTable = 'Batches' | 'Jobs';

interface NamedRow<Table extends RowTable> {
  readonly table: Table;
  readonly id: string;
}

const nouns = { Batches: 'batch', Jobs: 'job' } as const;

/**
 * Does what a call asks of a row, as of its owner. `attempt` is given the owner's user id: first
 * the caller's own, at no further cost. Where it returns undefined or throws NotFound, a fellow's
 * row of this id is looked for (findFellowsRows); then it is called again, if the caller has the
 * right.
 *
 * Throws NotFound, alike for what no one has and what the caller may not see; Forbidden
 * (`not_the_owner`) for what the caller may see alone.
 */
export async function asOwner<Table extends RowTable, Value>(
  db: Db<NoInfer<Table> | 'Contributors'>,
  caller: Member,
  { right, table, id }: NamedRow<Table> & { readonly right: RowRight },
  attempt: (owner: string) => Promise<Value | undefined>,
): Promise<Value> {
  const own = await attempt(caller.userId).catch(unlessMissing);
  if (own !== undefined) return own;
  const [row] = await findFellowsRows<Table>(db, caller, { table, ids: [id] });
  if (row !== undefined && !may(right, caller, row)) throw notTheOwner(right);
  return requireFound(row && (await attempt(row.user_id)), nouns[table]);
}

/** Results that are gone had a row, which is there. */
function unlessMissing(error: unknown): undefined {
  if (error instanceof NotFound && error.reason === 'not_found') return undefined;
  throw error;
}

/** The caller may see a fellow's row, and lacks this right. */
export function notTheOwner(right: RowRight): Forbidden {
  const others = right === 'end' ? ', or an administrator of its project,' : '';
  return new Forbidden('not_the_owner', `Only its owner${others} may do this.`);
}

/**
 * The rows with these ids that other users own and the caller may read; ids that others have are
 * left out as ids that no one has. Eventually consistent: what listContributors takes, and half a
 * read unit for each id and contributor, in two steps; nothing without a role.
 */
export async function findFellowsRows<Table extends RowTable>(
  db: Db<NoInfer<Table> | 'Contributors'>,
  caller: Member,
  { table, ids }: { readonly table: Table; readonly ids: readonly string[] },
): Promise<(OwnedRow & { readonly id: string })[]> {
  const projects = ids.length === 0 ? [] : readableProjects(caller.claims);
  const contributors = await listContributors(db, projects);
  const fellows = new Set(contributors.map(({ user_id }) => user_id).filter((userId) => userId !== caller.userId));
  const found = await batchGet(db as Db<Table>, {
    table,
    keys: Array.from(fellows, (user_id) => ids.map((id) => ({ user_id, id }))).flat(),
    attributes: ['user_id', 'id', 'project_id'],
    consistent: false,
  });
  return (found as unknown as (OwnedRow & { readonly id: string })[]).filter((row) => may('read', caller, row));
}
