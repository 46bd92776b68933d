import { isDeepStrictEqual } from 'node:util';
import {
  DeleteCommand,
  type DeleteCommandInput,
  PutCommand,
  type PutCommandInput,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { isBlockOfTexts } from '../../functions/data/columns/dictionaries.ts';
import { StoredHead } from '../../functions/data/columns/head.ts';
import { type OwnerLists, ownerLists } from '../../functions/data/columns/lists.ts';
import { sealableSegments } from '../../functions/data/columns/summary.ts';
import { tailStart } from '../../functions/data/columns/tail.ts';
import { isConditionFailure, isConflict, translateErrors } from '../../functions/data/dynamodb/aws-errors.ts';
import { sealSegment } from '../../functions/data/seal-segments.ts';
import { type Difference, isCount, recount } from './recount.ts';
import { isSealedItem, summaryOf } from './recount-summaries.ts';
import { type RepairedOwner, readSnapshot } from './snapshot.ts';

export interface RepairOptions {
  readonly fix: boolean;
  /** Tests repair lists of other descriptions. */
  readonly lists?: OwnerLists;
  /** Called after each recount. */
  readonly progress?: (text: string) => void;
}

export interface RepairResult {
  /** What was not as the rows say. */
  readonly differences: readonly Difference[];
  /** What still is not, in the end. */
  readonly remaining: readonly Difference[];
  /** Items we could not judge: writers changed them during every recount. */
  readonly undecided: readonly string[];
  readonly rows: number;
}

interface Findings {
  readonly differences: readonly Difference[];
  readonly undecided: readonly string[];
}

const mostRecounts = 8;
const mostRepairs = 5;
const parallelWrites = 8;

/**
 * Recounts one owner's rows and, with `fix`, mends what differs. Writers may go on meanwhile:
 * - A difference counts only when two recounts in a row find it alike. What a writer changes in
 *   between is gone by then, or differs in another way.
 * - An item is mended only where it is still as it was found.
 * - Afterwards everything is recounted again, until nothing differs, at most five times.
 * - Then all old segments are sealed that are not.
 *
 * Throws CorruptData or LimitExceeded when the rows cannot be described at all. Reads the owner's
 * items whole, strongly consistent, and holds about 1 KB a row in memory.
 */
export async function repairUser(
  owner: RepairedOwner,
  { fix, lists = ownerLists(), progress = () => {} }: RepairOptions,
): Promise<RepairResult> {
  let rows = 0;
  const rowsOf = { batch: 0, job: 0 };
  const first = await findDifferences();
  let last = first;
  for (let repair = 1; fix && repair <= mostRepairs && last.differences.some(isMendable); repair++) {
    await mendAll(last.differences.filter(isMendable));
    last = await findDifferences();
  }
  if (fix && last.differences.length === 0) await sealAll();
  return { differences: first.differences, remaining: last.differences, undecided: last.undecided, rows };

  async function findDifferences(): Promise<Findings> {
    const differences: Difference[] = [];
    let suspects = await countOnce();
    for (let recounts = 1; suspects.length > 0 && recounts < mostRecounts; recounts++) {
      const again = new Map((await countOnce()).map((difference) => [nameOf(difference), difference]));
      const isAlike = (suspect: Difference) => isDeepStrictEqual(again.get(nameOf(suspect)), suspect);
      differences.push(...suspects.filter(isAlike));
      suspects = suspects.filter((suspect) => !isAlike(suspect)).flatMap((suspect) => again.get(nameOf(suspect)) ?? []);
    }
    return { differences, undecided: suspects.map(nameOf) };
  }

  async function countOnce(): Promise<Difference[]> {
    const snapshot = await readSnapshot(owner, lists);
    rowsOf.batch = snapshot.batches.length;
    rowsOf.job = snapshot.jobs.length;
    rows = rowsOf.batch + rowsOf.job;
    const differences = recount(lists, snapshot);
    progress(`${rows} rows, ${snapshot.columns.length} column items, ${differences.length} differences`);
    return differences;
  }

  /**
   * The format in a head says that all blocks are of that format, and go by the head's texts. So a
   * head that is to change together with one of these loses its format first, which stops readers
   * and writers of both releases. Blocks of texts follow all others: where one is missing, nobody
   * reads or writes columns by texts until it is there. Heads are written last, and only when
   * everything else was: an interrupted repair must never pass for a complete one.
   */
  async function mendAll(differences: readonly MendableDifference[]): Promise<void> {
    const others = differences.filter((difference) => difference.kind !== 'head');
    const [texts, rest] = [others.filter(isOfTexts), others.filter((difference) => !isOfTexts(difference))];
    const heads: HeadDifference[] = [];
    for (const head of differences.filter((difference) => difference.kind === 'head')) {
      const { format, ...withoutFormat } = head.found ?? {};
      if (format === undefined || (texts.length === 0 && keepsMeaning(head))) heads.push(head);
      else if (await mendEach([{ ...head, expected: withoutFormat as StoredHead }])) {
        heads.push({ ...head, found: withoutFormat });
      } else return;
    }
    if ((await mendEach(rest)) && (await mendEach(texts))) await mendEach(heads);
  }

  async function mendEach(differences: readonly MendableDifference[]): Promise<boolean> {
    const groups = [...Map.groupBy(differences, (each) => summaryFor(each) ?? nameOf(each)).values()];
    const mended: boolean[] = [];
    for (let start = 0; start < groups.length; start += parallelWrites) {
      const some = groups.slice(start, start + parallelWrites);
      mended.push(...(await Promise.all(some.map((group) => mend(owner, group, summaryFor(group[0]!))))));
    }
    return mended.every(Boolean);
  }

  async function sealAll(): Promise<void> {
    for (const name of ['batch', 'job'] as const) {
      const list = lists[name];
      const segments = sealableSegments(list, tailStart(list, { next_seq: rowsOf[name] }));
      for (let segment = 0; segment < segments; segment++) await sealSegment(owner, list, segment);
    }
  }

  /**
   * Sealed blocks are mended together with their summary, which goes when they change; everything
   * else alone.
   */
  function summaryFor({ kind, key, found }: MendableDifference): string | undefined {
    if (kind !== 'block') return undefined;
    const summary = summaryOf(lists.batch, key) ?? summaryOf(lists.job, key);
    return key === summary || isSealedItem(found) ? summary : undefined;
  }
}

type MendableDifference = Exclude<Difference, { kind: 'broken' }>;
type HeadDifference = Extract<Difference, { kind: 'head' }>;

function isMendable(difference: Difference): difference is MendableDifference {
  return difference.kind !== 'broken';
}

/**
 * Whether columns that were right by the head as it was found are right by the one that is
 * expected.
 */
function keepsMeaning({ found, expected }: HeadDifference): boolean {
  return (['format', 'dictionaries', 'dictionary_blocks'] as const).every((name) =>
    isDeepStrictEqual(found?.[name], expected[name]),
  );
}

function isOfTexts({ key }: MendableDifference): boolean {
  return Object.values(ownerLists()).some((list) => isBlockOfTexts(list, key));
}

function nameOf(difference: Difference): string {
  return `${difference.kind} ${difference.kind === 'row' ? difference.table : ''} ${difference.key}`;
}

/**
 * Writes what is expected where all items of the group are still as they were found. Otherwise
 * returns false: the next recount looks again.
 */
async function mend(
  owner: RepairedOwner,
  group: readonly MendableDifference[],
  summary: string | undefined,
): Promise<boolean> {
  try {
    const blocks = group.flatMap((each) => (each.kind === 'block' && each.key !== summary ? [each] : []));
    const [first] = group;
    if (first?.kind === 'row') await mendRow(owner, first);
    else if (summary !== undefined && blocks.length > 0) await mendSealed(owner, summary, blocks);
    else if (first !== undefined) await mendColumnItem(owner, first);
    return true;
  } catch (error) {
    if (isConditionFailure(error) || isConflict(error)) return false;
    throw error;
  }
}

type ColumnDifference = Exclude<MendableDifference, { kind: 'row' }>;

async function mendSealed(
  { client, tables, userId }: RepairedOwner,
  summary: string,
  blocks: readonly ColumnDifference[],
): Promise<void> {
  const Delete = { TableName: tables.Columns, Key: { user_id: userId, key: summary } };
  const TransactItems = [...blocks.map((block) => columnWrite({ tables, userId }, block)), { Delete }];
  await translateErrors(client.send(new TransactWriteCommand({ TransactItems })));
}

async function mendColumnItem(owner: RepairedOwner, difference: ColumnDifference): Promise<void> {
  const { Put, Delete } = columnWrite(owner, difference);
  if (Put !== undefined) await owner.client.send(new PutCommand(Put));
  else await owner.client.send(new DeleteCommand(Delete));
}

type Write =
  | { readonly Put: PutCommandInput; readonly Delete?: never }
  | { readonly Put?: never; readonly Delete: DeleteCommandInput };

function columnWrite(
  { tables, userId }: Pick<RepairedOwner, 'tables' | 'userId'>,
  difference: ColumnDifference,
): Write {
  const TableName = tables.Columns;
  const { key, found } = difference;
  const condition = requireUnchanged('key', difference.kind === 'head' ? Object.keys(StoredHead.shape) : ['v'], found);
  if (difference.expected === undefined) return { Delete: { TableName, Key: { user_id: userId, key }, ...condition } };
  const content = difference.kind === 'head' ? difference.expected : { v: difference.expected };
  return { Put: { TableName, Item: { user_id: userId, key, ...content }, ...condition } };
}

async function mendRow(
  { client, tables, userId }: RepairedOwner,
  { table, key, rev, expected }: Extract<Difference, { kind: 'row' }>,
): Promise<void> {
  const { ConditionExpression, ...found } = requireUnchanged('id', ['rev'], { rev });
  const values = Object.entries({ ...expected, rev: isCount(rev) ? rev + 1 : 0 });
  await client.send(
    new UpdateCommand({
      TableName: tables[table],
      Key: { user_id: userId, id: key },
      UpdateExpression: `SET ${values.map((_, index) => `#a${index} = :a${index}`).join(', ')}`,
      ConditionExpression,
      ExpressionAttributeNames: {
        ...found.ExpressionAttributeNames,
        ...Object.fromEntries(values.map(([name], index) => [`#a${index}`, name])),
      },
      ExpressionAttributeValues: {
        ...found.ExpressionAttributeValues,
        ...Object.fromEntries(values.map(([, value], index) => [`:a${index}`, value])),
      },
    }),
  );
}

/**
 * The condition that the item is there with these attributes as they were found; without `found`,
 * that it is not there.
 */
function requireUnchanged(
  key: 'key' | 'id',
  attributes: readonly string[],
  found: Readonly<Record<string, unknown>> | undefined,
) {
  if (found === undefined) {
    return { ConditionExpression: 'attribute_not_exists(#key)', ExpressionAttributeNames: { '#key': key } };
  }
  const present = attributes.filter((name) => found[name] !== undefined);
  const terms = attributes.map((name) =>
    present.includes(name) ? `#${name} = :${name}` : `attribute_not_exists(#${name})`,
  );
  return {
    ConditionExpression: ['attribute_exists(#key)', ...terms].join(' AND '),
    ExpressionAttributeNames: { '#key': key, ...Object.fromEntries(attributes.map((name) => [`#${name}`, name])) },
    ...(present.length > 0 && {
      ExpressionAttributeValues: Object.fromEntries(present.map((name) => [`:${name}`, found[name]])),
    }),
  };
}
