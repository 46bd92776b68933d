import { type TableDescription, tables } from '../../functions/tables.ts';
import { startPassingServer } from './passing-server.ts';

export interface Throughput {
  /** Units a second on each partition key; a second's units can be saved. By default, AWS's. */
  readonly writeUnits?: number;
  readonly readUnits?: number;
  /** Write units that each key has at first; by default, a second's. */
  readonly savedUnits?: number;
  /** How much a refused transaction uses up of what is left on the keys that refuse it. */
  readonly refusalUses?: keyof typeof partUsed;
  /** In milliseconds, asked once for each request. */
  readonly now?: () => number;
}

/** AWS does not say which of these holds. */
const partUsed = { none: 0, half: 0.5, all: 1 };

interface ThrottlingProxy {
  readonly url: string;
  /** Since the start, by the operation: calls, and how many of them were refused. */
  readonly counts: ReadonlyMap<string, { readonly calls: number; readonly refused: number }>;
  stop(): Promise<void>;
}

type Value = Readonly<Record<string, unknown>>;
type Item = Readonly<Record<string, Value>>;

/** What a request writes at one key of a table, or reads there. */
interface Use {
  readonly key: string;
  readonly units: number;
}

interface Body {
  readonly TableName?: string;
  readonly Item?: Item;
  readonly Key?: Item;
  readonly KeyConditionExpression?: string;
  readonly ExpressionAttributeValues?: Item;
  readonly RequestItems?: Readonly<Record<string, { readonly Keys: readonly Item[] }>>;
  readonly TransactItems?: readonly Readonly<Record<string, Body>>[];
}

/**
 * A proxy before DynamoDB Local that throttles as AWS's documentation says: each partition key of a
 * table has its units a second. A transaction that lacks them is canceled, with `ThrottlingError`
 * for the parts whose key lacks them; a single call is refused. Reads are paid for afterwards.
 * Indexes are not counted: the keys of their tables are hotter.
 */
export async function startThrottlingProxy(endpoint: string, throughput: Throughput = {}): Promise<ThrottlingProxy> {
  const {
    writeUnits = 1_000,
    readUnits = 3_000,
    savedUnits,
    refusalUses = 'none',
    now = () => performance.now(),
  } = throughput;
  const buckets = new Map<string, { units: number; at: number }>();
  const counts = new Map<string, { calls: number; refused: number }>();
  const bucketOf = (key: string, perSecond: number, time: number, saved = perSecond) => {
    const bucket = buckets.get(key) ?? { units: saved, at: time };
    buckets.set(key, bucket);
    bucket.units = Math.min(perSecond, bucket.units + (perSecond * (time - bucket.at)) / 1_000);
    bucket.at = time;
    return bucket;
  };
  const server = await startPassingServer(endpoint, async ({ headers, body, response }, pass, answer) => {
    const operation = String(headers['x-amz-target']).split('.')[1] ?? '';
    const request = JSON.parse(body.toString() || '{}') as Body;
    const time = now();
    const count = counts.get(operation) ?? { calls: 0, refused: 0 };
    counts.set(operation, count);
    count.calls += 1;
    const refuse = (type: string, more: object = {}) => {
      count.refused += 1;
      response.writeHead(400, { 'Content-Type': 'application/x-amz-json-1.0' });
      const message = 'Throughput exceeds the current capacity of your table or index.';
      response.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message, ...more }));
    };
    if (/^(Get|BatchGet|Query)/.test(operation)) {
      const reads = readsOf(request).map((read) => ({
        ...read,
        bucket: bucketOf(`read ${read.key}`, readUnits, time),
      }));
      // AWS would answer for the tables that have the units. Refusing all is harder on the caller.
      if (reads.some(({ bucket }) => bucket.units <= 0)) return refuse('ProvisionedThroughputExceededException');
      const passed = await pass();
      const { Responses } = JSON.parse(passed.body.toString()) as { Responses?: Readonly<Record<string, object>> };
      for (const { table, items, bucket } of reads) {
        const bytes = Responses === undefined ? passed.body.length : JSON.stringify(Responses[table] ?? []).length;
        bucket.units -= Math.max(items, Math.ceil(bytes / 4_096));
      }
      return answer(passed);
    }
    const isTransaction = request.TransactItems !== undefined;
    const uses = isTransaction
      ? request.TransactItems.map((write) => useOf(Object.values(write)[0] as Body, 2))
      : [useOf(request, 1)];
    const needed = new Map<string, number>();
    for (const { key, units } of uses) needed.set(key, (needed.get(key) ?? 0) + units);
    const lacking = new Set<string>();
    for (const [key, units] of needed) if (bucketOf(key, writeUnits, time, savedUnits).units < units) lacking.add(key);
    if (lacking.size > 0) {
      for (const key of lacking) bucketOf(key, writeUnits, time).units *= 1 - partUsed[refusalUses];
      if (!isTransaction) return refuse('ThrottlingException');
      const CancellationReasons = uses.map(({ key }) => ({ Code: lacking.has(key) ? 'ThrottlingError' : 'None' }));
      return refuse('TransactionCanceledException', { CancellationReasons });
    }
    for (const [key, units] of needed) bucketOf(key, writeUnits, time).units -= units;
    answer(await pass());
  });
  return { url: server.url, counts, stop: server.stop };
}

/**
 * The partition keys that are read, one of each table, and how many items at least are paid for.
 */
function readsOf({
  TableName: table = '',
  Key = {},
  KeyConditionExpression,
  ExpressionAttributeValues,
  RequestItems,
}: Body): readonly { readonly table: string; readonly key: string; readonly items: number }[] {
  if (RequestItems !== undefined) {
    return Object.entries(RequestItems).map(([table, { Keys }]) => ({
      table,
      key: keyOf(table, Keys[0] ?? {}),
      items: Keys.length,
    }));
  }
  if (KeyConditionExpression === undefined) return [{ table, key: keyOf(table, Key), items: 1 }];
  const name = /= (:\w+)/.exec(KeyConditionExpression)?.[1] ?? '';
  return [{ table, key: `${table} ${JSON.stringify(ExpressionAttributeValues?.[name])}`, items: 1 }];
}

function useOf({ TableName = '', Item, Key, ExpressionAttributeValues }: Body, unitsPerKilobyte: number): Use {
  const bytes = Item === undefined ? bytesOf({ ...Key, ...ExpressionAttributeValues }) : bytesOf(Item);
  return { key: keyOf(TableName, Item ?? Key ?? {}), units: unitsPerKilobyte * Math.ceil(bytes / 1_024) };
}

function keyOf(table: string, item: Item): string {
  const [, description] = Object.entries<TableDescription>(tables).find(([name]) => table.endsWith(name)) ?? [];
  return `${table} ${JSON.stringify(item[description?.partitionKey ?? ''])}`;
}

/** Of an item in DynamoDB's own notation. */
function bytesOf(item: Item): number {
  return Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + sizeOf(value), 0);
}

function sizeOf(value: Value): number {
  const [[type, content]] = Object.entries(value) as [[string, unknown]];
  if (type === 'S') return Buffer.byteLength(String(content));
  if (type === 'B') return Buffer.byteLength(String(content), 'base64');
  if (type === 'N') return Math.ceil(String(content).length / 2) + 1;
  if (type === 'L') return (content as Value[]).reduce((sum, each) => sum + 1 + sizeOf(each), 3);
  if (type === 'M') return 3 + Object.keys(content as Item).length + bytesOf(content as Item);
  return 1;
}
