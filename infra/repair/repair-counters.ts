/**
 * Compares the counters of limits with the batches that count in them. A crash leaves no
 * difference, since both change in one transaction: this mends what was changed by hand, or a table
 * that was restored to another time than the others.
 */

import { paginateScan, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { assign } from '../../functions/data/dynamodb/assign.ts';
import { isConditionFailure, isConflict, translateErrors } from '../../functions/data/dynamodb/aws-errors.ts';
import { ifUnchanged } from '../../functions/data/dynamodb/conditions.ts';
import type { Db } from '../../functions/data/dynamodb/db.ts';
import { getItem, type Item } from '../../functions/data/dynamodb/reads.ts';
import { addCounts, type Counts } from '../../functions/data/lifecycle/counters.ts';
import { limitCounterKey } from '../../functions/data/limits/used-of-limits.ts';
import { rowLimits } from '../../functions/limits.ts';
import { projectSubject, userSubject } from '../../functions/schemas/limits.ts';
import { isCount } from './recount.ts';
import { readBatch, readBatchItems } from './stored-batches.ts';

interface CounterRepair {
  readonly db: Db<'Batches' | 'Counters'>;
  readonly fix: boolean;
  /** Only the counter of this user. */
  readonly userId?: string | undefined;
}

interface CounterDifference {
  readonly subject: string;
  /** What is not as the rows say. */
  readonly found: Item;
  readonly expected: Item;
}

/** What follows from rows. `rev` says whether anything was added since. */
const derived = [...rowLimits, 'jobs_to_come'] as const;
const compared = [...derived, 'rev'];
const maxRounds = 5;

/**
 * Finds the differences and, with `fix`, mends them, beside writers. Counters are read before the
 * rows. One that is still the same afterwards was not moved by any row in between, so its
 * difference is real; others are recounted, up to five times, and then not judged. Rows that break
 * their schema cannot be counted: repairUser reports them, and their counters are passed over.
 *
 * Each recount reads all batches, of one user or of all.
 */
export async function repairCounters(repair: CounterRepair): Promise<CounterDifference[]> {
  const differences = new Map<string, CounterDifference>();
  for (let round = 1; round <= maxRounds; round++) {
    const counters = await readCounters(repair);
    const expected = await recountCounters(repair);
    let areJudged = true;
    for (const subject of new Set([...counters.keys(), ...expected.keys()])) {
      const [counter, counts] = [counters.get(subject) ?? {}, expected.get(subject) ?? {}];
      const wrong = counts === 'unknown' ? [] : derived.filter((name) => (counter[name] ?? 0) !== (counts[name] ?? 0));
      if (counts === 'unknown' || wrong.length === 0) continue;
      const right = Object.fromEntries(wrong.map((name) => [name, counts[name] ?? 0]));
      const isReal = repair.fix
        ? await writeCounter(repair, { subject, counter, right })
        : isSame(counter, await readCounter(repair, subject));
      areJudged &&= isReal;
      const found = Object.fromEntries(wrong.map((name) => [name, counter[name] ?? 0]));
      if (isReal) differences.set(subject, { subject, found, expected: right });
    }
    if (areJudged) break;
  }
  return [...differences.values()];
}

async function readCounters(repair: CounterRepair): Promise<ReadonlyMap<string, Item>> {
  const { db, userId } = repair;
  const counters = new Map<string, Item>();
  if (userId !== undefined) return counters.set(userSubject(userId), await readCounter(repair, userSubject(userId)));
  const input = {
    TableName: db.tables.Counters,
    FilterExpression: '#name = :name',
    ExpressionAttributeNames: { '#name': 'name' },
    ExpressionAttributeValues: { ':name': limitCounterKey('').name },
    ConsistentRead: true,
  };
  for await (const { Items = [] } of paginateScan({ client: db.client }, input)) {
    for (const item of Items) counters.set(item.subject, item);
  }
  return counters;
}

async function readCounter({ db }: CounterRepair, subject: string): Promise<Item> {
  const key = limitCounterKey(subject);
  return (await getItem(db, { table: 'Counters', key, consistent: true })) ?? {};
}

function isSame(before: Item, after: Item): boolean {
  return compared.every((name) => before[name] === after[name]);
}

/** By subject, what batches count as; unknown where a row of it cannot be read. */
async function recountCounters({ db, userId }: CounterRepair) {
  const sums = new Map<string, Counts>();
  const unknown = new Set<string>();
  const condition = 'attribute_exists(counted_in_project) OR attribute_exists(jobs_to_come)';
  for await (const item of readBatchItems({ db, userId, condition })) {
    const row = readBatch(item);
    if (row !== undefined) addCounts(sums, row);
    else for (const subject of [userSubject(item.user_id), projectSubject(item.project_id)]) unknown.add(subject);
  }
  const found = [...sums].filter(([subject]) => userId === undefined || subject === userSubject(userId));
  return new Map<string, Counts | 'unknown'>([
    ...found,
    ...[...unknown].map((subject) => [subject, 'unknown'] as const),
  ]);
}

/** Moves `rev` on, so that a creation which has read the counter before checks again. */
async function writeCounter(
  { db: { client, tables } }: CounterRepair,
  { subject, counter, right }: { readonly subject: string; readonly counter: Item; readonly right: Item },
): Promise<boolean> {
  const { assignments, values } = assign({ ...right, rev: isCount(counter.rev) ? counter.rev + 1 : 1 });
  const condition = ifUnchanged(counter, compared);
  const command = new UpdateCommand({
    TableName: tables.Counters,
    Key: limitCounterKey(subject),
    UpdateExpression: `SET ${assignments}`,
    ...condition,
    ExpressionAttributeValues: { ...values, ...condition.ExpressionAttributeValues },
  });
  try {
    await translateErrors(client.send(command));
    return true;
  } catch (error) {
    if (isConditionFailure(error) || isConflict(error)) return false;
    throw error;
  }
}
