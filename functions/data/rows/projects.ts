import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Claims, Project } from '../../schemas/claims.ts';
import type { TableNames } from '../../tables.ts';
import { readDictionaries } from '../columns/dictionaries.ts';
import { headKey, headOf } from '../columns/head.ts';
import { batchList } from '../columns/lists.ts';
import { getItem } from '../dynamodb/reads.ts';

/**
 * The function that lists a user's projects: those that the token names; where it names none, those
 * that the user's batches are of, in the order of their first use, with their ids for names. Read
 * units: 1 for the head of the user's batches, and from 24 projects on another for each 96.
 */
export function listProjects(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Columns'>,
): (userId: string, claims: Claims) => Promise<readonly Project[]> {
  return async (userId, { projects }) => {
    if (projects !== undefined) return projects;
    const key = { user_id: userId, key: headKey(batchList) };
    const reads = { table: tables.Columns, consistent: true };
    const head = headOf(batchList, await getItem(client, { ...reads, key }));
    const dictionaries = await readDictionaries({ ...reads, client, userId, list: batchList }, head);
    return (dictionaries.project_id ?? []).map((id) => ({ id, name: id }));
  };
}
