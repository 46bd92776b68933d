import { AsyncLocalStorage } from 'node:async_hooks';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** What calls cost, as DynamoDB counts it. */
export interface Cost {
  readonly calls: number;
  /** Calls in the longest chain in which each started after the one before had ended. */
  readonly depth: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  /** Size of the responses' bodies. */
  readonly bytes: number;
  /**
   * Calls that the same reads take on AWS, where a page ends at 1 MB. DynamoDB Local lets pages
   * with a filter grow.
   */
  readonly pages: number;
}

/** A call that succeeded: `name` as in `GetItem`. */
interface MeasuredCall {
  readonly name: string;
  readonly depth: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly bytes: number;
  readonly pages: number;
}

/** Does one request's work and returns the calls that it sent, in the order in which they ended. */
export type Measure = <Value>(work: () => Promise<Value>) => Promise<{
  readonly value: Value;
  readonly cost: Cost;
  readonly calls: readonly MeasuredCall[];
}>;

type Input = Readonly<Record<string, unknown>> & { readonly TransactItems?: readonly unknown[] };
type Capacity = {
  readonly CapacityUnits?: number;
  readonly GlobalSecondaryIndexes?: Readonly<Record<string, { readonly CapacityUnits: number }>>;
};
type Response = { readonly headers: Readonly<Record<string, string>> };

/** Bytes that a read unit pays for. */
const bytesPerUnit = { eventual: 8_192, consistent: 4_096 };
const pageBytes = 2 ** 20;

/**
 * Makes every call of the client ask for its consumed capacity, and returns the function that
 * measures. Several requests can be measured at once: a call belongs to the asynchronous context in
 * which it is sent.
 *
 * Units are as AWS bills them: DynamoDB Local counts what a transaction writes to indexes twice,
 * AWS once, because only the write to the table is prepared and committed.
 *
 * The items of a transaction are written one by one, each in a transaction of its own, and count as
 * one call. The reason: DynamoDB Local counts only one of several items in a transaction that take
 * the same capacity of a table. So this client does not suit writers that disturb each other. It
 * also does not suit measurements of their time.
 */
export function measuredClient(client: DynamoDBDocumentClient): Measure {
  const request = new AsyncLocalStorage<MeasuredCall[]>();
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const ended = request.getStore();
      const depth = 1 + Math.max(0, ...(ended ?? []).map((call) => call.depth));
      const name = String(context.commandName).replace(/Command$/, '');
      const input = args.input as Input;
      const isTransaction = name === 'TransactWriteItems';
      let units = 0;
      let bytes = 0;
      const send = async (part: Input) => {
        const answer = await next({ ...args, input: { ...part, ReturnConsumedCapacity: 'INDEXES' } });
        const { ConsumedCapacity } = answer.output as { ConsumedCapacity?: Capacity | Capacity[] };
        for (const { CapacityUnits = 0, GlobalSecondaryIndexes = {} } of [ConsumedCapacity ?? []].flat()) {
          const ofIndexes = Object.values(GlobalSecondaryIndexes).reduce((sum, each) => sum + each.CapacityUnits, 0);
          units += CapacityUnits - (isTransaction ? ofIndexes / 2 : 0);
        }
        bytes += Number((answer.response as Response).headers['content-length']);
        return answer;
      };
      const { ClientRequestToken: _, TransactItems: [first, ...others] = [], ...rest } = input;
      const answer = await send(isTransaction ? { ...rest, TransactItems: [first] } : input);
      if (isTransaction) for (const item of others) await send({ ...rest, TransactItems: [item] });
      const reads = /^(Get|BatchGet|Query|Scan|TransactGet)/.test(name);
      ended?.push({
        name,
        depth,
        readUnits: reads ? units : 0,
        writeUnits: reads ? 0 : units,
        bytes,
        pages: /^(Query|Scan)/.test(name) ? pagesOf(units, input.ConsistentRead === true) : 1,
      });
      return answer;
    },
    { step: 'initialize', name: 'measureCall' },
  );
  return async (work) => {
    const calls: MeasuredCall[] = [];
    const value = await request.run(calls, work);
    return { value, cost: costOf(calls), calls: [...calls] };
  };
}

function pagesOf(readUnits: number, consistent: boolean): number {
  return Math.max(1, Math.ceil((readUnits * bytesPerUnit[consistent ? 'consistent' : 'eventual']) / pageBytes));
}

function costOf(calls: readonly MeasuredCall[]): Cost {
  const sum = (what: 'readUnits' | 'writeUnits' | 'bytes' | 'pages') =>
    calls.reduce((total, call) => total + call[what], 0);
  return {
    calls: calls.length,
    depth: Math.max(0, ...calls.map((call) => call.depth)),
    readUnits: sum('readUnits'),
    writeUnits: sum('writeUnits'),
    bytes: sum('bytes'),
    pages: sum('pages'),
  };
}
