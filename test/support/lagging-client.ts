import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { type TableDescription, type TableNames, tables } from '../../functions/tables.ts';
import { type Call, interceptedClient } from './intercepted-client.ts';
import { ownTables } from './own-tables.ts';

type Item = Readonly<Record<string, unknown>>;

/** A version of an item: undefined where it was deleted. */
interface Version {
  readonly visibleAt: number;
  readonly table: string;
  readonly key: Item;
  readonly item: Item | undefined;
}

interface Lag {
  readonly now: () => number;
  /** After how many milliseconds indexes show what was written under this key. */
  readonly lagOf: (key: Item) => number;
}

/**
 * The client of a database whose indexes lag: a read through an index finds each item as it was
 * that long ago, by `now`; all other reads find it as it is. Pages, orders and units of such reads
 * are DynamoDB's own: they go to tables in which items change later. Only what this client writes
 * lags; items that it never wrote are in no index.
 */
export async function laggingClient(
  client: DynamoDBDocumentClient,
  names: TableNames,
  { now, lagOf }: Lag,
): Promise<DynamoDBDocumentClient> {
  const { tables: later } = await ownTables();
  const indexed = Object.entries<TableDescription>(tables).filter(([, { indexes }]) => Object.keys(indexes).length > 0);
  const places = new Map(indexed.map(([name, table]) => [names[name as keyof TableNames], { ...table, name }]));
  const laterOf = (table: string) => later[places.get(table)?.name as keyof TableNames];
  let hidden: Version[] = [];
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other, so that no earlier version of an item comes after a later one. */
  const inTurn = (work: () => Promise<void>) => {
    last = last.then(work);
    return last;
  };

  async function note(writes: ReturnType<typeof writesOf>) {
    const noted = writes.map(async ([table, given]) => {
      const { partitionKey, sortKey } = places.get(table)!;
      const key = { [partitionKey]: given[partitionKey], [sortKey]: given[sortKey] };
      const { Item: item } = await client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }));
      return { visibleAt: now() + lagOf(key), table, key, item };
    });
    hidden.push(...(await Promise.all(noted)));
  }

  async function show() {
    const due = hidden.filter(({ visibleAt }) => visibleAt <= now());
    hidden = hidden.filter((version) => !due.includes(version));
    const latest = new Map(due.map((version) => [JSON.stringify([version.table, version.key]), version]));
    const shown = [...latest.values()].map(({ table, key: Key, item: Item }) => {
      const TableName = laterOf(table);
      return Item
        ? client.send(new PutCommand({ TableName, Item }))
        : client.send(new DeleteCommand({ TableName, Key }));
    });
    await Promise.all(shown);
  }

  return interceptedClient(client, async (call) => {
    if (call.input.IndexName !== undefined) {
      await inTurn(show);
      Object.assign(call.input, { TableName: laterOf(String(call.input.TableName)) });
      return call.send();
    }
    const answer = await call.send();
    await inTurn(() => note(writesOf(call).filter(([table]) => places.has(table))));
    return answer;
  });
}

type Write = { readonly TableName: string; readonly Item?: Item; readonly Key?: Item };
type Request = { readonly PutRequest?: { readonly Item: Item }; readonly DeleteRequest?: { readonly Key: Item } };

/** What a call writes: the tables, and items or keys. */
function writesOf({ name, input }: Call): (readonly [table: string, itemOrKey: Item])[] {
  if (name === 'BatchWriteCommand') {
    const requests = Object.entries(input.RequestItems as Readonly<Record<string, readonly Request[]>>);
    return requests.flatMap(([table, all]) =>
      all.map(({ PutRequest, DeleteRequest }) => [table, PutRequest?.Item ?? DeleteRequest!.Key] as const),
    );
  }
  const parts = (input as unknown as TransactWriteCommandInput).TransactItems ?? [];
  const writes =
    name === 'TransactWriteCommand'
      ? parts.map(({ Put, Update, Delete }) => Put ?? Update ?? Delete)
      : [/^(Put|Update|Delete)Command$/.test(name) ? input : undefined];
  return (writes as (Write | undefined)[])
    .filter((write) => write !== undefined)
    .map(({ TableName, Item, Key }) => [TableName, (Item ?? Key)!]);
}
