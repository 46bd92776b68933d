import { isDeepStrictEqual } from 'node:util';
import { DeleteCommand, PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { headKey } from '../../functions/data/columns/head.ts';
import type { ListDescription } from '../../functions/data/columns/list-description.ts';
import { formatsOf, type OwnerFormats } from '../../functions/data/columns/lists.ts';
import { sealableSegments } from '../../functions/data/columns/summary.ts';
import { tailStart } from '../../functions/data/columns/tail.ts';
import { assign } from '../../functions/data/dynamodb/assign.ts';
import { isConditionFailure, isConflict, translateErrors } from '../../functions/data/dynamodb/aws-errors.ts';
import { ifUnchanged } from '../../functions/data/dynamodb/conditions.ts';
import type { Item } from '../../functions/data/dynamodb/reads.ts';
import { retry } from '../../functions/data/dynamodb/retry.ts';
import { itemsOfPlace, keyOfItem, usageKeyOf } from '../../functions/data/limits/usage-sums.ts';
import { sealSegment } from '../../functions/data/lists/seal-segments.ts';
import { type Difference, isCount, recount } from './recount.ts';
import { monthsOf, type RepairedOwner, readSnapshot } from './snapshot.ts';

interface RepairOptions {
  readonly fix: boolean;
  /** Called after each recount. */
  readonly progress?: (text: string) => void;
}

export interface RepairResult {
  /** What was not as the rows say. */
  readonly differences: readonly Difference[];
  /** What still is not, in the end. */
  readonly remaining: readonly Difference[];
  readonly rows: number;
}

interface Recount {
  readonly differences: readonly Difference[];
  readonly rows: Readonly<Record<keyof OwnerFormats, number>>;
}

type CountOnce = () => Promise<Recount>;

const maxRounds = 5;
const parallelWrites = 8;

/**
 * Recounts one owner's rows and, with `fix`, rebuilds the columns of an owner whose data differ.
 *
 * - Writers may go on during a recount. A difference counts only when three recounts find the same
 *   wrong content in an item: if a writer has changed it in between, the content is another.
 * - While the columns are rebuilt, writers and filtered or sorted lists of this owner fail with
 *   OutdatedColumns or CorruptData, which callers and queues retry. Other owners are not affected.
 * - Afterwards all old segments are sealed that are not. An owner without differences is not
 *   rebuilt, only sealed.
 *
 * Throws CorruptData or LimitExceeded when the rows cannot be described at all. If a rebuild
 * throws, the owner's lists stay closed until the next one is complete. Reads the owner's items
 * whole, strongly consistent: once if nothing differs, about five times for a rebuild. Holds about
 * 1 KB a row in memory.
 */
export async function repairUser(
  owner: RepairedOwner,
  { fix, progress = () => {} }: RepairOptions,
): Promise<RepairResult> {
  const lists = formatsOf(owner.db);
  let months: ReadonlySet<string> | undefined;
  const countOnce = async () => {
    const snapshot = await readSnapshot(owner, months);
    months = snapshot.usage.months.union(monthsOf([...snapshot.batches, ...snapshot.jobs]));
    const differences = recount(lists, snapshot);
    const rows = { batch: snapshot.batches.length, job: snapshot.jobs.length };
    progress(
      `${rows.batch + rows.job} rows, ${snapshot.columns.length} column items, ${differences.length} differences`,
    );
    return { differences, rows };
  };
  const found = await findDifferences(countOnce);
  const isWrong = (difference: Difference) => isMendable(difference) && difference.kind !== 'usage';
  const mend = found.differences.some(isWrong)
    ? () => rebuild(owner, countOnce)
    : () => mendUsage(owner, found, countOnce);
  const last = fix ? await mend() : found;
  if (fix && last.differences.length === 0) await sealOldSegments(owner, last.rows);
  return {
    differences: found.differences,
    remaining: last.differences,
    rows: last.rows.batch + last.rows.job,
  };
}

/**
 * Three recounts, because the first reads usage after the rows: nothing passes between that and the
 * next one's reading.
 */
async function findDifferences(countOnce: CountOnce): Promise<Recount> {
  let last = await countOnce();
  for (let recounts = 1; recounts < 3 && last.differences.length > 0; recounts++) {
    // A change of a row does not touch its block, so the changes beside the head count, too.
    // What is expected, too: a job may end between the readings of its batch, which carries its
    // usage, and of the job.
    const contentOf = (difference: Difference) => [
      difference.found,
      difference.kind === 'usage' && difference.expected,
      'folded' in difference && difference.folded,
      'others' in difference && difference.others,
    ];
    const found = new Map(last.differences.map((difference) => [nameOf(difference), contentOf(difference)]));
    const isSame = (difference: Difference) => isDeepStrictEqual(found.get(nameOf(difference)), contentOf(difference));
    const { differences, rows } = await countOnce();
    last = { differences: differences.filter(isSame), rows };
  }
  return last;
}

/**
 * Makes rows, columns and heads agree with the rows, and returns the last recount. It has only
 * differences that cannot be mended, unless other writers were in the way in every round.
 *
 * 1. Both heads lose their format. From now on no call reads columns or begins to write. A missing
 *    head becomes one without content, which has the same effect.
 * 2. Rows and blocks that differ are written, and changes beside the heads are deleted, each only
 *    where it is still as it was found: a writer that had read the heads before may commit a change
 *    until now.
 * 3. When a recount finds nothing but the heads to differ, they are written, with their format.
 *
 * So an interrupted rebuild leaves a head without format, which the next recount finds.
 */
async function rebuild(owner: RepairedOwner, countOnce: CountOnce): Promise<Recount> {
  await Promise.all(
    Object.values<ListDescription>({ ...formatsOf(owner.db) }).map((list) => removeFormat(owner, headKey(list))),
  );
  let last = await countOnce();
  for (let round = 1; round <= maxRounds; round++) {
    const mendable = last.differences.filter(isMendable);
    const rest = mendable.filter(({ kind }) => kind !== 'head');
    if (rest.length === 0 && (await writeAll(owner, mendable))) {
      return { ...last, differences: last.differences.filter((difference) => !isMendable(difference)) };
    }
    await writeAll(owner, rest);
    last = await countOnce();
  }
  return last;
}

/**
 * Makes usage what the rows say, while writers go on. What is written was read before the rows,
 * and is written only where all items of its place are still as they were read: so no writer
 * changed them and their rows in between.
 */
async function mendUsage(owner: RepairedOwner, found: Recount, countOnce: CountOnce): Promise<Recount> {
  let last = found;
  for (let round = 1; round <= maxRounds; round++) {
    const wrong = last.differences.filter(isMendable);
    if (await writeAll(owner, wrong))
      return { ...last, differences: last.differences.filter((each) => !isMendable(each)) };
    last = await countOnce();
  }
  return last;
}

type MendableDifference = Exclude<Difference, { kind: 'broken' }>;

function isMendable(difference: Difference): difference is MendableDifference {
  return difference.kind !== 'broken';
}

function nameOf(difference: Difference): string {
  return `${difference.kind} ${difference.kind === 'row' ? difference.table : ''} ${difference.key}`;
}

async function removeFormat({ db, userId }: RepairedOwner, key: string): Promise<void> {
  const command = new UpdateCommand({
    TableName: db.tables.Columns,
    Key: { user_id: userId, key },
    UpdateExpression: 'REMOVE #format',
    ExpressionAttributeNames: { '#format': 'format' },
  });
  await retry(db.clock, () => translateErrors(db.client.send(command)), {
    attempts: 12,
    firstMilliseconds: 20,
    maxDelayMilliseconds: 500,
    mayPass: isConflict,
    message: `Writers were at ${key} through all attempts.`,
  });
}

/** Returns whether everything was written: false where an item was not as it was found. */
async function writeAll(owner: RepairedOwner, differences: readonly MendableDifference[]): Promise<boolean> {
  const left = differences.values();
  let isComplete = true;
  const work = async () => {
    for (const difference of left) if (!(await writeExpected(owner, difference))) isComplete = false;
  };
  await Promise.all(Array.from({ length: parallelWrites }, work));
  return isComplete;
}

async function writeExpected(owner: RepairedOwner, difference: MendableDifference): Promise<boolean> {
  try {
    const { kind } = difference;
    const isOfColumns = kind === 'head' || kind === 'block';
    await translateErrors(isOfColumns ? writeColumnItem(owner, difference) : writeAttributes(owner, difference));
    return true;
  } catch (error) {
    if (isConditionFailure(error) || isConflict(error)) return false;
    throw error;
  }
}

async function writeColumnItem(
  { db: { client, tables }, userId }: RepairedOwner,
  difference: Exclude<MendableDifference, { kind: 'row' | 'usage' }>,
): Promise<void> {
  const [TableName, Key] = [tables.Columns, { user_id: userId, key: difference.key }];
  if (difference.kind === 'head') {
    const Item = { ...Key, ...difference.expected };
    await client.send(new PutCommand({ TableName, Item, ...ifUnchanged({}, ['format']) }));
    return;
  }
  const { found, expected } = difference;
  const condition = ifUnchanged(found ?? {}, ['v', 't']);
  if (expected === undefined) await client.send(new DeleteCommand({ TableName, Key, ...condition }));
  else await client.send(new PutCommand({ TableName, Item: { ...Key, v: expected }, ...condition }));
}

/**
 * Moves `rev` on: a writer who has read the row before does not undo this, and sums of usage that
 * come back to what they were are not taken for old.
 */
async function writeAttributes(
  { db: { client, tables }, userId }: RepairedOwner,
  difference: Extract<Difference, { kind: 'row' | 'usage' }>,
): Promise<void> {
  const { kind, key, expected } = difference;
  const [table, Key, rev] =
    kind === 'row'
      ? ([difference.table, { user_id: userId, id: key }, difference.rev] as const)
      : (['Usage', usageKeyOf(key), difference.found?.rev] as const);
  const { assignments, values } = assign({ ...expected, rev: isCount(rev) ? rev + 1 : 0 });
  const condition = ifUnchanged({ rev }, ['rev']);
  const exists = kind === 'row' ? 'attribute_exists(id) AND ' : '';
  const Update = {
    TableName: tables[table],
    Key,
    UpdateExpression: `SET ${assignments}`,
    ...condition,
    ConditionExpression: exists + condition.ConditionExpression,
    ExpressionAttributeValues: { ...condition.ExpressionAttributeValues, ...values },
  };
  if (kind === 'row') await client.send(new UpdateCommand(Update));
  else {
    const TransactItems = [{ Update }, ...othersUnchanged(tables.Usage, difference)];
    await client.send(new TransactWriteCommand({ TransactItems }));
  }
}

/** That the other items of the place are as they were found: there, or not. */
function othersUnchanged(TableName: string, { key, others }: Extract<Difference, { kind: 'usage' }>) {
  const keyOf = ({ month, key }: Item) => ({ month, key });
  const possible = Array.from({ length: itemsOfPlace }, (_, item) => usageKeyOf(keyOfItem(key, item)));
  const absent = possible.filter(
    (each) => each.key !== key && !others.some((other) => isDeepStrictEqual(keyOf(other), each)),
  );
  return [...others, ...absent].map((item: Item) => ({
    ConditionCheck: { TableName, Key: keyOf(item), ...ifUnchanged(item, ['rev']) },
  }));
}

/** Nothing else seals what was written anew. */
async function sealOldSegments({ db, userId }: RepairedOwner, rows: Recount['rows']): Promise<void> {
  for (const name of ['batch', 'job'] as const) {
    const list = formatsOf(db)[name];
    const segments = sealableSegments(list, tailStart(list, { next_seq: rows[name] }));
    for (let segment = 0; segment < segments; segment++) await sealSegment(db, { userId, list, segment });
  }
}
