/**
 * Folding: what changes of rows put beside the head (columns/changes.ts) goes into the head and the
 * blocks. Nothing depends on it: lists read changes that are not folded, at a cost that grows with
 * their number.
 *
 * An item that was folded stays for some seconds. So a list that does not find it any more reads
 * blocks that were folded long before, in whatever order it reads, and however copies of the
 * database lag. What was folded is noted in an item of its own; every fold is conditional on it, so
 * that no two go on from the same state.
 */

import { DeleteCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { CorruptData } from '../../errors.ts';
import { isDeepStrictEqual } from '../../values/is-deep-strict-equal.ts';
import { changedRowsOf, changesPrefix, changeToken, foldKey, type RowValues } from '../columns/changes.ts';
import { blockBytes } from '../columns/column-items.ts';
import { formatOf, headKey, headOf, type StoredHead } from '../columns/head.ts';
import type { ListDescription } from '../columns/list-description.ts';
import { formatsOf } from '../columns/lists.ts';
import { foldedColumns } from '../columns/tail.ts';
import { isConditionFailure, isConflict, translateErrors } from '../dynamodb/aws-errors.ts';
import { ifAbsent, ifUnchanged } from '../dynamodb/conditions.ts';
import type { Db } from '../dynamodb/db.ts';
import { fewAtOnce } from '../dynamodb/few-at-once.ts';
import { batchGet, type Item, queryAll } from '../dynamodb/reads.ts';
import type { Write } from '../dynamodb/write-units.ts';
import { blockWrites, ifHeadUnchanged, inColumns } from './column-writes.ts';

/** Unfolded, they cost a list half a read unit. To fold fewer takes more write units a row. */
const minRows = 24;

/**
 * Longer than, together, a list takes to read changes (owner-reads.ts), copies of the database lag,
 * and the transaction of a fold takes after its time was noted.
 */
const keptMilliseconds = 14_000;

/** After 200 write units: an owner's columns take 1,000 a second. */
const pauseMilliseconds = 250;
const deletedAtOnce = 200;

/**
 * With this number of rows, a fold waits until the items of the last one may be deleted, and then
 * until its own may: without another change, no later fold would begin.
 */
const manyRows = 100;

/** Parts of a transaction beside blocks and summaries: the head, and what was folded. */
const otherWrites = 2;
const maxWrites = 100;

const maxConflicts = 5;

/** What was folded last. */
interface Fold {
  /** Different after each transaction. */
  readonly t: string;
  /** Of the last transaction, in milliseconds since 1970. */
  readonly at: number;
  /** The tokens of the items. */
  readonly folded: readonly string[];
}

interface OwnerList {
  readonly userId: string;
  readonly list: ListDescription;
}

interface Found {
  readonly fold: Fold | undefined;
  readonly head: StoredHead;
  /** What was folded last, and has not changed since. */
  readonly foldedItems: readonly Item[];
  /** The changed rows of the other items, in their order. */
  readonly rows: readonly ChangedRow[];
}

interface ChangedRow {
  readonly seq: number;
  readonly values: RowValues;
  /** Of its item. */
  readonly token: string;
}

/** The list of this item of changes, which was put there for the first time. */
export function listOfChanges(db: Db<'Columns'>, key: string): ListDescription | undefined {
  return Object.values<ListDescription>({ ...formatsOf(db) }).find((list) => key.startsWith(changesPrefix(list)));
}

/**
 * Folds an owner's changes, if 24 rows (`least`) have changed since the last fold, and deletes the
 * items that this one has folded; not within 14 s after it: with 100 rows or more it waits for
 * that, and after it has folded as many, until it may delete their items, too. So it takes up to
 * 28 s longer than its calls. Returns the number of rows. Repeated and lost calls do no harm.
 * Throws what DynamoDB throws; CorruptData. Where other writers come first five times, the rest is
 * left for the next call.
 *
 * Reads head and changes, strongly consistent. Folding takes a write unit for each item, for its
 * deletion, and a read and 2 write units for each block that values of rows lie in.
 */
export async function foldChanges(db: Db<'Columns'>, of: OwnerList, least = minRows): Promise<number> {
  const folded = await foldRows(db, of, least);
  if (folded < manyRows) return folded;
  await db.clock.sleep(keptMilliseconds);
  const { fold, foldedItems } = await readChanges(db, of);
  const mayGo = fold !== undefined && fold.at + keptMilliseconds <= db.clock.now();
  // One stays: lists take items as a sign that others may be gone (owner-reads.ts).
  if (mayGo) await deleteItems(db, of, foldedItems.slice(1));
  return folded;
}

async function foldRows(db: Db<'Columns'>, of: OwnerList, least: number): Promise<number> {
  let [folded, wanted] = [0, 0];
  let hasWaited = false;
  // Of this call: an item may have rows in more blocks than a transaction holds.
  const inBlocks = new Set<string>();
  for (let conflicts = 0; conflicts < maxConflicts; ) {
    const found = await readChanges(db, of);
    const { fold, head, foldedItems } = found;
    const rows = found.rows.filter((row) => !inBlocks.has(nameOf(row)));
    const early = (fold?.at ?? 0) + keptMilliseconds - db.clock.now();
    if (folded === 0 && early > 0 && rows.length >= manyRows && !hasWaited) {
      hasWaited = true;
      await db.clock.sleep(early);
      continue;
    }
    if (folded === 0) wanted = early <= 0 && rows.length >= least ? rows.length : 0;
    if (folded >= wanted || rows.length === 0 || head.format !== formatOf(of.list)) return folded;
    if (folded === 0) await deleteItems(db, of, foldedItems);
    const done = await foldPart(db, of, { ...found, rows }, folded === 0 ? [] : (fold?.folded ?? []));
    if (done.length === 0) {
      conflicts += 1;
      await db.clock.sleep(pauseMilliseconds * conflicts * Math.random());
    }
    for (const row of done) inBlocks.add(nameOf(row));
    folded += done.length;
    if (done.length > 0 && folded < wanted) await db.clock.sleep(pauseMilliseconds);
  }
  return folded;
}

/** While the item has this token, its rows have these values. */
function nameOf({ token, seq }: ChangedRow): string {
  return `${token} ${seq}`;
}

/** One query, in the order of keys: what was folded, the changes, the head. */
async function readChanges(db: Db<'Columns'>, { userId, list }: OwnerList): Promise<Found> {
  const items = await queryAll(db, {
    table: 'Columns',
    partition: { user_id: userId },
    sortKey: 'key',
    range: { between: [foldKey(list), headKey(list)] },
    consistent: true,
  });
  const itemWith = (key: string) => items.find((item) => item.key === key);
  const fold = itemWith(foldKey(list)) as Fold | undefined;
  const changes = items.filter(({ key }) => String(key).startsWith(changesPrefix(list)));
  const folded = new Set(fold?.folded);
  const isFolded = ({ t }: Item) => folded.has(t);
  const rows = changes
    .filter((item) => !isFolded(item))
    .flatMap((item) => Array.from(changedRowsOf(list, item), ([seq, values]) => ({ seq, values, token: item.t })));
  return {
    fold,
    head: headOf(list, itemWith(headKey(list))),
    foldedItems: changes.filter(isFolded),
    rows: rows.sort((a, b) => a.seq - b.seq),
  };
}

/** Deletes the items, unless they have changed since. */
async function deleteItems(db: Db<'Columns'>, { userId }: OwnerList, items: readonly Item[]): Promise<void> {
  for (let at = 0; at < items.length; at += deletedAtOnce) {
    if (at > 0) await db.clock.sleep(pauseMilliseconds);
    await fewAtOnce(items.slice(at, at + deletedAtOnce), async (item) => {
      const Key = { user_id: userId, key: item.key };
      const command = new DeleteCommand({ TableName: db.tables.Columns, Key, ...ifUnchanged(item, ['t']) });
      await translateErrors(db.client.send(command)).catch((error: unknown) => {
        if (!isConditionFailure(error) && !isConflict(error)) throw error;
      });
    });
  }
}

/**
 * Folds as many of the rows as a transaction holds, and returns these; none where another writer
 * came first. `before`: the tokens that earlier parts have folded.
 */
async function foldPart(
  db: Db<'Columns'>,
  of: OwnerList,
  { rows, head, fold }: Found,
  before: readonly string[],
): Promise<readonly ChangedRow[]> {
  const { userId, list } = of;
  const { taken, edits, tail } = takeRows(list, head, rows);
  const keys = Array.from(new Set(edits.map(({ key }) => key)), (key) => ({ user_id: userId, key }));
  const found = await batchGet(db, { table: 'Columns', keys, consistent: true });
  const blocks = new Map(found.map((item) => [String(item.key), blockBytes(item)]));
  if (blocks.size < keys.length) throw new CorruptData('A block of a changed row is missing: npm run repair mends it.');
  const left = new Set(rows.slice(taken.length).map(({ token }) => token));
  const complete = new Set(taken.map(({ token }) => token)).difference(left);
  const next: Fold = { t: changeToken(), at: db.clock.now(), folded: [...before, ...complete] };
  const condition = fold === undefined ? ifAbsent('key') : ifUnchanged(fold, ['t']);
  const TransactItems = [
    headPart(db, of, { head, tail }),
    ...blockWrites(edits, blocks).map((write) => inColumns(db, userId, write)),
    inColumns(db, userId, { key: foldKey(list), item: { ...next }, condition }),
  ];
  try {
    await translateErrors(db.client.send(new TransactWriteCommand({ TransactItems })));
    return taken;
  } catch (error) {
    if (isConflict(error)) return [];
    throw error;
  }
}

/** The first of the rows, as far as a transaction has room for their blocks and summaries. */
function takeRows(list: ListDescription, head: StoredHead, rows: readonly ChangedRow[]) {
  const keys = new Set<string>();
  const end = rows.findIndex(({ seq, values }) => {
    for (const { key, summary } of foldedColumns(list, head, new Map([[seq, values]])).edits) {
      for (const each of [key, summary]) if (each !== undefined) keys.add(each);
    }
    return keys.size > maxWrites - otherWrites;
  });
  const taken = end < 0 ? rows : rows.slice(0, end);
  return { taken, ...foldedColumns(list, head, new Map(taken.map(({ seq, values }) => [seq, values]))) };
}

/**
 * The head with the new tail, or that it has kept its format: while a repair is at work it has
 * none.
 */
function headPart(
  db: Db<'Columns'>,
  { userId, list }: OwnerList,
  { head, tail }: { readonly head: StoredHead; readonly tail: StoredHead['tail'] },
): Write {
  const [TableName, Key] = [db.tables.Columns, { user_id: userId, key: headKey(list) }];
  if (isDeepStrictEqual(tail, head.tail))
    return { ConditionCheck: { TableName, Key, ...ifUnchanged(head, ['format']) } };
  return { Put: { TableName, Item: { ...Key, ...head, tail }, ...ifHeadUnchanged(head) } };
}
