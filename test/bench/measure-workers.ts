import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type TableName, type TableNames, tables } from '../../functions/tables.ts';
import type { WorkerFigure } from '../../infra/docs/performance.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { leaseFrom, workerStack } from '../support/worker-stack.ts';
import type { Measured } from './measure-endpoints.ts';

/** On AWS a read takes some 4 ms and a transaction 15 to 25: each waits for so long. */
const readMilliseconds = 4;
const transactionMilliseconds = 20;
const workers = 8;

interface WorkerCase {
  readonly name: string;
  readonly users: number;
  readonly batches: number;
  readonly jobs: number;
}

const cases: readonly WorkerCase[] = [
  { name: 'single jobs, 1 user', users: 1, batches: 96, jobs: 1 },
  { name: 'batches of 12 jobs, 1 user', users: 1, batches: 16, jobs: 12 },
  { name: 'single jobs, 8 users', users: 8, batches: 96, jobs: 1 },
  { name: 'batches of 12 jobs, 8 users', users: 8, batches: 16, jobs: 12 },
];

/**
 * Measures how eight workers empty a queue of jobs that were submitted together, if they do nothing
 * else: so their rows lie side by side. Transactions overlap when they write the same item at the
 * same time; AWS would fail one of them, DynamoDB Local only if a condition does not hold.
 */
export async function* measureWorkers(
  plain: DynamoDBDocumentClient,
  names: TableNames,
): AsyncGenerator<Measured<WorkerFigure>> {
  const counts = { transactions: 0, failed: 0, overlapping: 0 };
  const client = delayedClient(plain, names, counts);
  const presentTime = {
    get now() {
      return Date.now();
    },
  };
  for (const { name, users, batches, jobs } of cases) {
    const stack = workerStack(client, names, presentTime);
    const setup = workerStack(plain, names, presentTime);
    const device = randomUUID();
    await setup.announce(device, {});
    const owners = Array.from({ length: users }, () => randomUUID());
    for (let at = 0; at < batches; at++) {
      await setup.create(owners[at % users] as string, { device_type: device, jobs });
    }
    Object.assign(counts, { transactions: 0, failed: 0, overlapping: 0 });
    const result = { done: 0, busy: 0 };
    const start = performance.now();
    await Promise.all(
      Array.from({ length: workers }, (_, at) => work(stack, { device, worker: `worker ${at}` }, result)),
    );
    const seconds = (performance.now() - start) / 1_000;
    yield {
      name,
      jobsPerSecond: result.done / seconds,
      transactionsPerJob: counts.transactions / result.done,
      failedPerJob: counts.failed / result.done,
      overlappingPerJob: counts.overlapping / result.done,
      tooBusy: result.busy,
      excesses: [],
    };
  }
}

type Stack = ReturnType<typeof workerStack>;

/** Claims and reports until nothing is left that it can have. */
async function work(
  stack: Stack,
  { device, worker }: { readonly device: string; readonly worker: string },
  result: { done: number; busy: number },
): Promise<void> {
  const unlessBusy = async <Answer>(call: () => Promise<Answer>): Promise<Answer | 'busy'> => {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof Error && error.name === 'TooBusy')) throw error;
      result.busy += 1;
      return 'busy';
    }
  };
  for (;;) {
    const claim = await unlessBusy(() => stack.claim(device, worker));
    if (claim === undefined) return;
    if (claim === 'busy') continue;
    for (let id: string | undefined = claim.job.id; id !== undefined; ) {
      const reported: string = id;
      const answer = await unlessBusy(() => stack.report(leaseFrom(claim), reported));
      if (answer === 'busy') continue;
      result.done += 1;
      id = answer.job?.id;
    }
  }
}

function delayedClient(
  plain: DynamoDBDocumentClient,
  names: TableNames,
  counts: { transactions: number; failed: number; overlapping: number },
) {
  const inFlight = new Map<string, number>();
  return interceptedClient(plain, async ({ name, input, send }) => {
    if (name !== 'TransactWriteCommand') {
      await delay(readMilliseconds);
      return send();
    }
    const keys = keysOf(names, input.TransactItems as TransactItems);
    counts.transactions += 1;
    if (keys.some((key) => inFlight.has(key))) counts.overlapping += 1;
    for (const key of keys) inFlight.set(key, (inFlight.get(key) ?? 0) + 1);
    await delay(transactionMilliseconds);
    try {
      return await send();
    } catch (error) {
      counts.failed += 1;
      throw error;
    } finally {
      for (const key of keys) {
        const others = (inFlight.get(key) ?? 1) - 1;
        if (others === 0) inFlight.delete(key);
        else inFlight.set(key, others);
      }
    }
  });
}

type Key = Readonly<Record<string, unknown>>;
type Write = { readonly TableName: string; readonly Key?: Key; readonly Item?: Key };
type TransactItems = readonly Readonly<Record<string, Write>>[];

/** The keys that a transaction writes. */
function keysOf(names: TableNames, items: TransactItems): string[] {
  return items.flatMap((item) =>
    Object.values(item).map(({ TableName, Key, Item }) => {
      const name = (Object.keys(tables) as TableName[]).find((each) => names[each] === TableName) as TableName;
      const { partitionKey, sortKey } = tables[name];
      const key = (Key ?? Item) as Key;
      return JSON.stringify([name, key[partitionKey], key[sortKey]]);
    }),
  );
}
