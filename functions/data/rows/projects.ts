import { OutdatedColumns } from '../../errors.ts';
import { type Claims, type Project, rightsIn, roleIn } from '../../schemas/claims.ts';
import { headKey, headOf } from '../columns/head.ts';
import { formatsOf } from '../columns/lists.ts';
import type { Db } from '../dynamodb/db.ts';
import { fewAtOnce } from '../dynamodb/few-at-once.ts';
import { getItem } from '../dynamodb/reads.ts';
import type { ListQuery } from '../lists/query.ts';
import { readDictionaries } from '../lists/read-dictionaries.ts';
import { readList } from '../lists/reader.ts';
import { readableProjects } from '../projects/access.ts';
import { type Contributor, listContributors } from '../projects/contributors.ts';

type ProjectsDb = Db<'Columns' | 'Contributors'>;

/** Members whose batches are counted: in a project, and in all of an answer. */
const maxCounted = { inProject: 200, inAll: 1_000 };

/**
 * A user's projects: the projects that the token names. If it names none, the projects of the
 * user's batches, in the order of their first use, with their ids for names. Read units: 1 for the
 * head of the user's batches, and from 24 projects on another for each 96.
 *
 * A project where the token gives a role has its members, by user id: what listContributors takes,
 * and for each member counted the facets of a filtered list (reader.ts), eventually consistent, in
 * two steps more.
 */
export async function listProjects(db: ProjectsDb, userId: string, claims: Claims): Promise<readonly Project[]> {
  const projects = claims.projects ?? (await projectsOfBatches(db, userId));
  const contributors = await listContributors(db, readableProjects(claims));
  const byProject = Map.groupBy(contributors, ({ project_id }) => project_id);
  let left = maxCounted.inAll;
  const counted = [...byProject.values()].flatMap((members) => {
    const isCounted = members.length <= Math.min(maxCounted.inProject, left);
    if (isCounted) left -= members.length;
    return isCounted ? members : [];
  });
  const counts = await countBatches(db, counted);
  const memberOf = (contributor: Contributor) => {
    const { user_id, user_name = null } = contributor;
    return { user_id, user_name, batches_count: counts.get(contributor) ?? null };
  };
  return projects.map(({ id, name }) => {
    const role = roleIn(claims, id) ?? null;
    const rights = rightsIn(claims, id);
    const members = rights.includes('read') ? { members: (byProject.get(id) ?? []).map(memberOf) } : {};
    return { id, name, role, rights, ...members };
  });
}

async function projectsOfBatches(db: Db<'Columns'>, userId: string) {
  const list = formatsOf(db).batch;
  const key = { user_id: userId, key: headKey(list) };
  const head = headOf(list, await getItem(db, { table: 'Columns', key, consistent: true }));
  const dictionaries = await readDictionaries(db, { userId, list, consistent: true }, head);
  return (dictionaries.project_id ?? []).map((id) => ({ id, name: id }));
}

/** How many batches each has in its project; nothing while a repair rebuilds the columns. */
async function countBatches(db: Db<'Columns'>, contributors: readonly Contributor[]) {
  const list = formatsOf(db).batch;
  const counts = new Map<Contributor, number>();
  await fewAtOnce(contributors, async (contributor) => {
    const conditions = [{ kind: 'facet', facet: 'project_id', oneOf: [contributor.project_id] }] as const;
    const query: ListQuery = { conditions, order: { kind: 'creation' }, direction: 'ASC', offset: 0, limit: 0 };
    try {
      // A page of no rows names no other table.
      const { total } = await readList(db as Db<'Columns' | 'Batches'>, list, contributor.user_id, query);
      counts.set(contributor, total);
    } catch (error) {
      if (!(error instanceof OutdatedColumns)) throw error;
    }
  });
  return counts;
}
