import type { Claims, Project } from '../../schemas/claims.ts';
import { headKey, headOf } from '../columns/head.ts';
import { formatsOf } from '../columns/lists.ts';
import type { Db } from '../dynamodb/db.ts';
import { getItem } from '../dynamodb/reads.ts';
import { readDictionaries } from '../lists/read-dictionaries.ts';

/**
 * A user's projects: the projects that the token names. If it names none, the projects of the
 * user's batches, in the order of their first use, with their ids for names. Read units: 1 for the
 * head of the user's batches, and from 24 projects on another for each 96.
 */
export async function listProjects(
  db: Db<'Columns'>,
  userId: string,
  { projects }: Claims,
): Promise<readonly Project[]> {
  if (projects !== undefined) return projects.map(({ id, name }) => ({ id, name }));
  const list = formatsOf(db).batch;
  const key = { user_id: userId, key: headKey(list) };
  const head = headOf(list, await getItem(db, { table: 'Columns', key, consistent: true }));
  const dictionaries = await readDictionaries(db, { userId, list, consistent: true }, head);
  return (dictionaries.project_id ?? []).map((id) => ({ id, name: id }));
}
