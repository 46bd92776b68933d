/**
 * Compares who has batches in projects with the projects that users' heads know. A crash leaves no
 * difference, since both change in one transaction. This mends what an earlier release did not
 * write, changes made by hand, and a table that was restored to another time than the others.
 */

import { paginateScan, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { headKey, StoredHead } from '../../functions/data/columns/head.ts';
import { formatsOf } from '../../functions/data/columns/lists.ts';
import { ifAbsent, ifUnchanged } from '../../functions/data/dynamodb/conditions.ts';
import type { Db } from '../../functions/data/dynamodb/db.ts';
import { optimisticTransaction } from '../../functions/data/dynamodb/optimistic-transaction.ts';
import { getItem, type Item } from '../../functions/data/dynamodb/reads.ts';
import { readDictionaries } from '../../functions/data/lists/read-dictionaries.ts';
import { contributorWrite } from '../../functions/data/projects/contributors.ts';
import { CorruptData } from '../../functions/errors.ts';
import { readBatchItems } from './stored-batches.ts';

interface ContributorRepair {
  readonly db: Db<'Batches' | 'Columns' | 'Contributors'>;
  readonly fix: boolean;
  /** All users with batches. */
  readonly users: readonly string[];
  /** Only this user. */
  readonly userId?: string | undefined;
}

interface ContributorDifference {
  readonly userId: string;
  readonly projectId: string;
  readonly reason: string;
}

/**
 * Finds the differences and, with `fix`, mends them, beside writers: a user becomes known without a
 * name, which the user's next call with one writes. Names that are there stay. An item is deleted
 * only where neither the head nor a row knows the project, and while that head is as it was read.
 * Heads that cannot be read are passed over: repairUser reports them.
 *
 * Reads the table of contributors, and the head of each user; for each superfluous item, the user's
 * batches.
 */
export async function repairContributors(repair: ContributorRepair): Promise<ContributorDifference[]> {
  const differences: (ContributorDifference | undefined)[] = [];
  const found = await readContributions(repair);
  for (const userId of new Set([...repair.users, ...found.keys()])) {
    const { projects } = (await readHead(repair, userId)) ?? {};
    if (projects === undefined) continue;
    const wrong = projects.symmetricDifference(found.get(userId) ?? new Set<string>());
    for (const projectId of wrong) differences.push(await checkContribution(repair, userId, projectId));
  }
  return differences.filter((difference) => difference !== undefined);
}

/** By user, the projects that know the user. */
async function readContributions({ db, userId }: ContributorRepair): Promise<ReadonlyMap<string, Set<string>>> {
  const found = new Map<string, Set<string>>();
  const input = { TableName: db.tables.Contributors, ConsistentRead: true };
  for await (const { Items = [] } of paginateScan({ client: db.client }, input)) {
    for (const { user_id, project_id } of Items) {
      if (userId !== undefined && user_id !== userId) continue;
      found.set(user_id, (found.get(user_id) ?? new Set()).add(project_id));
    }
  }
  return found;
}

/** The head of a user's batches, and the projects that it knows; undefined where it is broken. */
async function readHead({ db }: ContributorRepair, userId: string) {
  const list = formatsOf(db).batch;
  const key = { user_id: userId, key: headKey(list) };
  const item = await getItem(db, { table: 'Columns', key, consistent: true });
  if (item === undefined) return { key, head: {}, projects: new Set<string>() };
  const head = StoredHead.safeParse(item).data;
  if (head === undefined) return undefined;
  try {
    const { project_id = [] } = await readDictionaries(db, { userId, list, consistent: true }, head);
    return { key, head, projects: new Set(project_id) };
  } catch (error) {
    if (error instanceof CorruptData) return undefined;
    throw error;
  }
}

/** Looks once more: the head first, then a missing item is none that was written meanwhile. */
function checkContribution(
  repair: ContributorRepair,
  userId: string,
  projectId: string,
): Promise<ContributorDifference | undefined> {
  const { db, fix } = repair;
  return optimisticTransaction(db, async () => {
    const known = await readHead(repair, userId);
    const key = { project_id: projectId, user_id: userId };
    const item = await getItem(db, { table: 'Contributors', key, consistent: true });
    const isKnown = known?.projects.has(projectId);
    if (known === undefined || isKnown === (item !== undefined)) return { result: undefined };
    if (!isKnown && (await hasBatch(repair, userId, projectId))) return { result: undefined };
    const reason = isKnown ? 'does not know the user' : 'knows the user, who has no batch there';
    const TransactItems = isKnown ? additionOf(repair, known, key) : deletionOf(repair, known, key);
    return { result: { userId, projectId, reason }, transaction: fix ? { TransactItems } : undefined };
  });
}

async function hasBatch({ db }: ContributorRepair, userId: string, projectId: string): Promise<boolean> {
  for await (const { project_id } of readBatchItems({ db, userId, condition: 'attribute_exists(project_id)' })) {
    if (project_id === projectId) return true;
  }
  return false;
}

interface KnownHead {
  readonly key: Item;
  readonly head: object;
}

type Writes = NonNullable<TransactWriteCommandInput['TransactItems']>;
type Key = { readonly project_id: string; readonly user_id: string };

/** Without the tag in the head, the next call with a name writes it. */
function additionOf({ db }: ContributorRepair, { key, head }: KnownHead, contributor: Key): Writes {
  const condition = ifUnchanged(head, ['dictionaries', 'n']);
  const Update = { TableName: db.tables.Columns, Key: key, UpdateExpression: 'REMOVE #n', ...condition };
  return [{ Update }, { Put: { ...contributorWrite(db, contributor).Put!, ...ifAbsent('user_id') } }];
}

/** A first row in a project changes the texts of its owner's head. */
function deletionOf({ db }: ContributorRepair, { key, head }: KnownHead, contributor: Key): Writes {
  const ConditionCheck = { TableName: db.tables.Columns, Key: key, ...ifUnchanged(head, ['dictionaries']) };
  return [{ ConditionCheck }, { Delete: { TableName: db.tables.Contributors, Key: contributor } }];
}
