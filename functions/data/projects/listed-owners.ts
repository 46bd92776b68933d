/** Whose rows a list has: the caller's, and rows of fellows that the caller may read. */

import { InvalidInput } from '../../errors.ts';
import type { Db } from '../dynamodb/db.ts';
import { type Member, readableProjects } from './access.ts';
import { listContributors } from './contributors.ts';

export interface ListedOwner {
  readonly userId: string;
  /** What they are called, where that is known. */
  readonly userName?: string | undefined;
  /** Only rows of these projects are in the list; absent: all of the owner's rows. */
  readonly projectIds?: readonly string[];
}

interface ListScope {
  readonly scope?: 'project' | undefined;
  readonly user_id?: readonly string[] | undefined;
  readonly project_id?: readonly string[] | undefined;
  readonly id?: readonly string[] | undefined;
  readonly batch_id?: readonly string[] | undefined;
}

/** One list reads the columns of this number of owners at most. */
const maxOwners = 200;

/** Each id is looked up once for each owner, for half a read unit. */
const maxLookups = 2_000;

/**
 * The owners whose rows a list may have, by their ids. Ids and projects that the caller may not see
 * add nothing. Without a role, or where the caller asks for own rows alone, nothing is read.
 * Otherwise what listContributors takes. Throws InvalidInput for more than 200, and where ids and
 * owners make more than 2,000 pairs.
 */
export async function findListedOwners(
  db: Db<'Contributors'>,
  { userId, claims }: Member,
  { scope, user_id, project_id, id = [], batch_id = [] }: ListScope,
): Promise<readonly ListedOwner[]> {
  const isNamed = (id: string) => user_id === undefined || user_id.includes(id);
  const projects = readableProjects(claims).filter((id) => project_id === undefined || project_id.includes(id));
  const own = { userId, userName: claims.user_name, ...(scope && { projectIds: projects }) };
  const listed = isNamed(userId) && (scope === undefined || projects.length > 0) ? [own] : [];
  const asksForOthers = user_id === undefined ? scope !== undefined : user_id.some((id) => id !== userId);
  if (!asksForOthers || projects.length === 0) return listed;
  const contributors = await listContributors(db, projects);
  const others = contributors.filter(({ user_id: id }) => id !== userId && isNamed(id));
  const fellows = Array.from(
    Map.groupBy(others, ({ user_id: id }) => id),
    ([id, items]): ListedOwner => ({
      userId: id,
      userName: items.find(({ user_name }) => user_name !== undefined)?.user_name,
      projectIds: items.map(({ project_id: project }) => project),
    }),
  );
  const owners = [...listed, ...fellows].sort((a, b) => (a.userId < b.userId ? -1 : 1));
  if (owners.length > maxOwners)
    throw tooLong('user_id', `The projects have the rows of more than ${maxOwners} users: name some of them`);
  const [name, ids] = id.length > 0 ? (['id', id] as const) : (['batch_id', batch_id] as const);
  if (owners.length > 1 && owners.length * ids.length > maxLookups)
    throw tooLong(name, `At most ${maxLookups} pairs of ids and users are looked up: name fewer of either`);
  return owners;
}

function tooLong(parameter: string, msg: string): InvalidInput {
  return new InvalidInput([{ loc: ['query', parameter], msg, type: 'too_long' }]);
}
