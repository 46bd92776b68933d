import * as z from 'zod/mini';
import { attributesOf, storedRow } from '../../schemas/stored-row.ts';
import { newestTextKey, unpackTexts } from '../columns/dictionaries.ts';
import { headKey, StoredHead } from '../columns/head.ts';
import { formatsOf } from '../columns/lists.ts';
import type { Db } from '../dynamodb/db.ts';
import { batchGet } from '../dynamodb/reads.ts';
import { Contributor } from './contributors.ts';

/**
 * What these users are called, for operators: by the user's id, the name in the newest of their
 * projects; no entry where none is known. Eventually consistent: a read unit for each user, in two
 * steps. Half a unit more, in a third, for a user whose newest project has just left the head with
 * 23 others.
 */
export async function namesOf(
  db: Db<'Columns' | 'Contributors'>,
  userIds: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const keys = await newestContributions(db, [...new Set(userIds)]);
  const found = await batchGet(db, { table: 'Contributors', keys, consistent: false });
  const named = found.map((item) => storedRow(Contributor, item));
  return new Map(named.flatMap(({ user_id, user_name }) => (user_name === undefined ? [] : [[user_id, user_name]])));
}

/** What of a head says which texts it learned last. */
const HeadTexts = z.pick(StoredHead, { dictionaries: true, dictionary_blocks: true });

/** The users' keys in the newest of their projects; none of a user without batches. */
async function newestContributions(db: Db<'Columns'>, userIds: readonly string[]) {
  const list = formatsOf(db).batch;
  const attribute = 'project_id';
  const newest: { readonly project_id: string; readonly user_id: string }[] = [];
  const note = (user_id: string, texts: readonly string[] = []) => {
    for (const project_id of texts.slice(-1)) newest.push({ project_id, user_id });
  };
  const headKeys = userIds.map((user_id) => ({ user_id, key: headKey(list) }));
  const attributes = ['user_id', ...attributesOf(HeadTexts)];
  const heads = await batchGet(db, { table: 'Columns', keys: headKeys, attributes, consistent: false });
  const blocks = heads.flatMap(({ user_id, ...item }) => {
    const head = HeadTexts.safeParse(item).data;
    // A repair makes it anew.
    if (head === undefined) return [];
    note(user_id, head.dictionaries[attribute]);
    const key = newestTextKey(list, attribute, head);
    return key === undefined ? [] : [{ user_id, key }];
  });
  const found = await batchGet(db, { table: 'Columns', keys: blocks, consistent: false });
  for (const { user_id, v } of found) note(user_id, unpackTexts(list, v));
  return newest;
}
