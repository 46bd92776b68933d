import { isDeepStrictEqual } from 'node:util';
import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  PutCommand,
  paginateQuery,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { Head } from '../../functions/data/columns/head.ts';
import { ownerLists } from '../../functions/data/columns/lists.ts';
import type { Item } from '../../functions/data/dynamodb/table-reads.ts';
import type { TableNames } from '../../functions/tables.ts';
import { CountedBatch, CountedJob, type Difference, recount, type Snapshot } from './recount.ts';

export interface RepairOptions {
  readonly fix: boolean;
  readonly rowsPerBlock?: number;
  /** Told after each recount. */
  readonly progress?: (text: string) => void;
}

export interface RepairResult {
  /** What was not as the rows say. */
  readonly differences: readonly Difference[];
  /** What is not, in the end. */
  readonly remaining: readonly Difference[];
  /** Items of which that cannot be told: writers changed them during each of the recounts. */
  readonly unsettled: readonly string[];
  readonly rows: number;
}

interface Findings {
  readonly differences: readonly Difference[];
  readonly unsettled: readonly string[];
}

type RepairTables = TableNames<'Batches' | 'Jobs' | 'Columns'>;

const headAttributes = Object.keys(Head.shape);

const mostRecounts = 8;
const mostRepairs = 5;
const parallelWrites = 8;

/**
 * Recounts one owner's rows and, with `fix`, mends what differs. Writers may go on meanwhile: a difference counts only when two
 * recounts in a row find it alike, since what a writer changes in between differs in another way or no more; and it is mended only
 * where the item is still as it was found. Afterwards everything is recounted again, until nothing differs (at most
 * five times).
 *
 * Reads the owner's items whole, strongly consistent, columns before rows before their counters' jobs, and holds them in memory: about
 * 1 KB a row.
 */
export async function repairUser(
  client: DynamoDBDocumentClient,
  tables: RepairTables,
  userId: string,
  options: RepairOptions,
): Promise<RepairResult> {
  const { progress = () => {} } = options;
  const lists = ownerLists(options.rowsPerBlock);
  let rows = 0;

  const first = await findings();
  let last = first;
  for (let repair = 1; options.fix && repair <= mostRepairs && last.differences.some(isMendable); repair++) {
    await mendAll(last.differences);
    last = await findings();
  }
  return { differences: first.differences, remaining: last.differences, unsettled: last.unsettled, rows };

  /** Differences that two recounts in a row find alike; what differs otherwise each time is unsettled. */
  async function findings(): Promise<Findings> {
    const differences: Difference[] = [];
    let suspects = await count();
    for (let recounts = 1; suspects.length > 0 && recounts < mostRecounts; recounts++) {
      const again = new Map((await count()).map((difference) => [nameOf(difference), difference]));
      const isAlike = (suspect: Difference) => isDeepStrictEqual(again.get(nameOf(suspect)), suspect);
      differences.push(...suspects.filter(isAlike));
      suspects = suspects.filter((suspect) => !isAlike(suspect)).flatMap((suspect) => again.get(nameOf(suspect)) ?? []);
    }
    return { differences, unsettled: suspects.map(nameOf) };
  }

  async function count(): Promise<Difference[]> {
    const snapshot = await readSnapshot(client, tables, userId);
    rows = snapshot.batches.length + snapshot.jobs.length;
    const differences = recount(lists, snapshot);
    progress(`${rows} rows, ${snapshot.columns.length} column items, ${differences.length} differences`);
    return differences;
  }

  /** Heads last: their format says that every other item is of it, so an interrupted repair never passes for a done one. */
  async function mendAll(differences: readonly Difference[]): Promise<void> {
    const isHead = ({ kind }: Difference) => kind === 'head';
    for (const part of [differences.filter((each) => !isHead(each)), differences.filter(isHead)]) {
      for (let start = 0; start < part.length; start += parallelWrites) {
        const group = part.slice(start, start + parallelWrites);
        await Promise.all(group.map((difference) => mend(client, tables, userId, difference)));
      }
    }
  }
}

function isMendable(difference: Difference): boolean {
  return difference.kind !== 'broken';
}

function nameOf(difference: Difference): string {
  return `${difference.kind} ${difference.kind === 'row' ? difference.table : ''} ${difference.key}`;
}

/** Everything of the owner that the recount looks at, strongly consistent, the columns before the rows. */
export async function readSnapshot(
  client: DynamoDBDocumentClient,
  tables: RepairTables,
  userId: string,
): Promise<Snapshot> {
  const columns = await readAll(client, tables.Columns, userId, ['key', 'v', ...headAttributes]);
  const batches = await readAll(client, tables.Batches, userId, Object.keys(CountedBatch.shape));
  const jobs = await readAll(client, tables.Jobs, userId, Object.keys(CountedJob.shape));
  return { columns, batches, jobs };
}

async function readAll(
  client: DynamoDBDocumentClient,
  table: string,
  userId: string,
  attributes: readonly string[],
): Promise<Item[]> {
  const items: Item[] = [];
  const pages = paginateQuery(
    { client },
    {
      TableName: table,
      KeyConditionExpression: 'user_id = :user',
      ExpressionAttributeValues: { ':user': userId },
      ProjectionExpression: attributes.map((_, index) => `#a${index}`).join(', '),
      ExpressionAttributeNames: Object.fromEntries(attributes.map((name, index) => [`#a${index}`, name])),
      ConsistentRead: true,
    },
  );
  for await (const { Items = [] } of pages) items.push(...Items);
  return items;
}

/** Writes what is expected where the item is still as it was found; else leaves it to the next recount. */
async function mend(
  client: DynamoDBDocumentClient,
  tables: RepairTables,
  userId: string,
  difference: Difference,
): Promise<void> {
  const TableName = tables.Columns;
  try {
    if (difference.kind === 'row') await mendRow(client, tables[difference.table], userId, difference);
    if (difference.kind === 'head') {
      const { key, found, expected } = difference;
      const attributes = Object.fromEntries(headAttributes.map((name) => [name, found?.[name]]));
      const condition = found === undefined ? absent : unchanged(attributes);
      await client.send(new PutCommand({ TableName, Item: { user_id: userId, key, ...expected }, ...condition }));
    }
    if (difference.kind === 'block') {
      const { key, found, expected } = difference;
      const condition = found === undefined ? absent : unchanged({ v: found });
      if (expected === undefined) {
        await client.send(new DeleteCommand({ TableName, Key: { user_id: userId, key }, ...condition }));
      } else {
        await client.send(new PutCommand({ TableName, Item: { user_id: userId, key, v: expected }, ...condition }));
      }
    }
  } catch (error) {
    if (!(error instanceof Error && error.name === 'ConditionalCheckFailedException')) throw error;
  }
}

async function mendRow(
  client: DynamoDBDocumentClient,
  table: string,
  userId: string,
  { key, rev, expected }: Extract<Difference, { kind: 'row' }>,
): Promise<void> {
  const values = Object.entries({ ...expected, rev: rev === undefined ? 0 : rev + 1 });
  await client.send(
    new UpdateCommand({
      TableName: table,
      Key: { user_id: userId, id: key },
      UpdateExpression: `SET ${values.map((_, index) => `#a${index} = :v${index}`).join(', ')}`,
      ConditionExpression: rev === undefined ? 'attribute_exists(id) AND attribute_not_exists(rev)' : 'rev = :found',
      ExpressionAttributeNames: Object.fromEntries(values.map(([name], index) => [`#a${index}`, name])),
      ExpressionAttributeValues: {
        ...Object.fromEntries(values.map(([, value], index) => [`:v${index}`, value])),
        ...(rev !== undefined && { ':found': rev }),
      },
    }),
  );
}

const absent = { ConditionExpression: 'attribute_not_exists(#key)', ExpressionAttributeNames: { '#key': 'key' } };

/** The attributes are as they were; undefined: not there. */
function unchanged(attributes: Readonly<Record<string, unknown>>) {
  const present = Object.entries(attributes).filter(([, value]) => value !== undefined);
  const missing = Object.keys(attributes).filter((name) => attributes[name] === undefined);
  return {
    ConditionExpression: [
      ...present.map(([name]) => `#${name} = :${name}`),
      ...missing.map((name) => `attribute_not_exists(#${name})`),
    ].join(' AND '),
    ExpressionAttributeNames: Object.fromEntries(Object.keys(attributes).map((name) => [`#${name}`, name])),
    ...(present.length > 0 && {
      ExpressionAttributeValues: Object.fromEntries(present.map(([name, value]) => [`:${name}`, value])),
    }),
  };
}
