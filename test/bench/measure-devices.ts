import { randomUUID } from 'node:crypto';
import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { ListDescription } from '../../functions/data/columns/list-description.ts';
import { batchList, jobList } from '../../functions/data/columns/lists.ts';
import { foldChanges } from '../../functions/data/lists/fold-changes.ts';
import { deviceTimesKey, namesOfJobTimes } from '../../functions/data/queue/job-times.ts';
import type { TableNames } from '../../functions/tables.ts';
import type { CallFigure, ClaimFigure } from '../../infra/docs/performance.ts';
import { type Call, interceptedClient } from '../support/intercepted-client.ts';
import { leaseFrom, type Wanted, workerStack } from '../support/worker-stack.ts';
import type { EndpointBench, Measured } from './measure-endpoints.ts';
import { type Budget, excesses, maximum, type Units } from './units.ts';

type Stack = ReturnType<typeof workerStack>;

/** What is ready for one measurement: a batch that was claimed, unless it waits. */
interface Subject {
  readonly device: string;
  readonly user: string;
  readonly batchId: string;
  readonly jobIds: readonly string[];
  /** Undefined where the batch waits. */
  readonly lease: ReturnType<typeof leaseFrom> | undefined;
}

interface DeviceCase {
  readonly name: string;
  readonly budget?: Budget;
  readonly batch: Wanted;
  /** Whether the batch waits to be claimed. */
  readonly waits?: true;
  /** What comes before. */
  readonly before?: (stack: Stack, subject: Subject) => Promise<unknown>;
  readonly run: (stack: Stack, subject: Subject) => Promise<unknown>;
}

const runs = 3;

/** The user's newest 16 jobs, and batches, are others. */
async function createNewer(stack: Stack, { user }: Subject): Promise<void> {
  const device_type = randomUUID();
  for (let batches = 0; batches < 16; batches++) await stack.create(user, { device_type });
}

/**
 * What is to be folded: changes of `batches` older batches, and as many that were folded before and
 * may be deleted.
 */
async function changeOlder(stack: Stack, subject: Subject, { batches, list }: Folded): Promise<void> {
  const { user } = subject;
  const device_type = randomUUID();
  await stack.announce(device_type, {});
  for (let created = 0; created < 2 * batches; created++) await stack.create(user, { device_type, jobs: 4 });
  await createNewer(stack, subject);
  for (let ended = 0; ended < 2 * batches; ended++) {
    const claim = await stack.claim(device_type, 'worker');
    for (let id: string | undefined = claim!.job.id; id !== undefined; ) {
      id = (await stack.report(leaseFrom(claim!), id)).job?.id;
    }
    if (ended + 1 === batches) await foldChanges(stack.db, { userId: user, list });
  }
}

interface Folded {
  readonly batches: number;
  readonly list: ListDescription;
}

/** When what was folded may be deleted. */
function foldLater({ db }: Stack, { user }: Subject, list: ListDescription): Promise<number> {
  return foldChanges({ ...db, clock: { ...db.clock, now: () => db.clock.now() + 15_000 } }, { userId: user, list });
}

const cases: readonly DeviceCase[] = [
  {
    name: 'creation of a batch',
    batch: {},
    run: (stack, { device, user }) => stack.create(user, { device_type: device }),
  },
  {
    name: 'cancel, while it waits',
    batch: {},
    waits: true,
    run: (stack, { user, batchId }) => stack.cancel(user, batchId),
  },
  {
    name: 'cancel, while it runs',
    batch: {},
    run: (stack, { user, batchId }) => stack.cancel(user, batchId),
  },
  {
    name: 'claim, nothing there',
    budget: { readUnits: 1, writeUnits: 0 },
    batch: {},
    async before(stack, { lease, jobIds, device }) {
      await stack.report(lease!, jobIds[0]!);
      // Notes the worker, which the next claims of 30 s need not.
      await stack.claim(device, 'worker');
    },
    run: (stack, { device }) => stack.claim(device, 'worker'),
  },
  {
    name: 'claim, 1 batch waits',
    batch: {},
    waits: true,
    run: (stack, { device }) => stack.claim(device, 'worker'),
  },
  {
    name: 'claim, 1 of 30 waits',
    batch: {},
    waits: true,
    async before(stack, { device, user }) {
      for (let others = 0; others < 29; others++) await stack.create(user, { device_type: device });
      for (let others = 0; others < 29; others++) await stack.claim(device, 'worker');
    },
    run: (stack, { device }) => stack.claim(device, 'worker'),
  },
  {
    name: 'heartbeat',
    budget: { readUnits: 1, writeUnits: 1 },
    batch: {},
    run: (stack, { lease, jobIds }) => stack.heartbeat(lease!, jobIds[0]!),
  },
  {
    name: 'link for an upload',
    budget: { readUnits: 2, writeUnits: 1 },
    batch: {},
    run: (stack, { lease, jobIds }) => stack.uploadKey(lease!, jobIds[0]!, 'a'.repeat(64)),
  },
  {
    name: 'report, and the next job',
    batch: { jobs: 2 },
    run: (stack, { lease, jobIds }) => stack.report(lease!, jobIds[0]!),
  },
  {
    // S3 gets one PUT, beside the first read of the change.
    name: 'report with results, and the next job',
    batch: { jobs: 2 },
    run: (stack, { lease, jobIds }) => stack.report(lease!, jobIds[0]!, withResults),
  },
  {
    // S3 gets one HEAD. The link and the upload come on top.
    name: 'report of uploaded results, and the next job',
    batch: { jobs: 2 },
    before: (stack, { lease, jobIds }) => stack.uploadKey(lease!, jobIds[0]!, 'a'.repeat(64)),
    run: (stack, { lease, jobIds }) => stack.report(lease!, jobIds[0]!, { status: 'DONE', results: true }),
  },
  {
    name: 'report of the last job',
    batch: {},
    run: (stack, { lease, jobIds }) => stack.report(lease!, jobIds[0]!),
  },
  {
    name: 'report of the last job, with results',
    batch: {},
    run: (stack, { lease, jobIds }) => stack.report(lease!, jobIds[0]!, withResults),
  },
  {
    name: 'claim, of older jobs',
    batch: { jobs: 4 },
    waits: true,
    before: createNewer,
    run: (stack, { device }) => stack.claim(device, 'worker'),
  },
  {
    name: 'report of an older job, and the next job',
    batch: { jobs: 4 },
    before: createNewer,
    run: (stack, { lease, jobIds }) => stack.report(lease!, jobIds[0]!),
  },
  {
    name: 'report of an older job, the last of its batch',
    batch: {},
    before: createNewer,
    run: (stack, { lease, jobIds }) => stack.report(lease!, jobIds[0]!),
  },
  {
    name: 'look at changes, too few to be folded',
    budget: { writeUnits: 0 },
    batch: {},
    run: (stack, subject) => foldLater(stack, subject, jobList),
  },
  {
    name: 'fold of 24 older jobs, of 6 batches',
    batch: {},
    before: (stack, subject) => changeOlder(stack, subject, { batches: 6, list: jobList }),
    run: (stack, subject) => foldLater(stack, subject, jobList),
  },
  {
    name: 'fold of 24 older batches',
    batch: {},
    before: (stack, subject) => changeOlder(stack, subject, { batches: 24, list: batchList }),
    run: (stack, subject) => foldLater(stack, subject, batchList),
  },
  {
    name: 'report, repeated',
    budget: { writeUnits: 0 },
    batch: { jobs: 2 },
    before: (stack, { lease, jobIds }) => stack.report(lease!, jobIds[0]!),
    run: (stack, { lease, jobIds }) => stack.report(lease!, jobIds[0]!),
  },
  {
    name: 'next job, none yet',
    budget: { readUnits: 1, writeUnits: 1 },
    batch: { open: true },
    before: (stack, { lease, jobIds }) => stack.report(lease!, jobIds[0]!),
    run: (stack, { lease }) => stack.next(lease!),
  },
  {
    name: 'next job',
    batch: { open: true },
    async before(stack, { lease, jobIds, user, batchId }) {
      await stack.report(lease!, jobIds[0]!);
      await stack.add(user, batchId, 1);
    },
    run: (stack, { lease }) => stack.next(lease!),
  },
  {
    name: 'release',
    // It puts batch and job back, in the transaction that gives the lease up.
    budget: { readUnits: 6.5, writeUnits: 16 },
    batch: {},
    run: (stack, { lease }) => stack.release(lease!),
  },
];

const withResults = { status: 'DONE', results_document: '{"counter":{"0110":62,"1001":38}}' };

/** Gives the device as many job times as it keeps. */
async function fillJobTimes({ client, tables }: EndpointBench['db'], device_type: string): Promise<void> {
  const times = Object.fromEntries(namesOfJobTimes.map((name) => [name, 200_000]));
  await client.send(
    new PutCommand({ TableName: tables.DeviceQueue, Item: { device_type, key: deviceTimesKey, ...times } }),
  );
}

/**
 * Measures the calls of devices, and the calls of users that change a queue. Each run has a user of
 * its own. The devices have run more than 100 jobs, and the functions have served them before.
 */
export async function* measureDevices({ db, measure }: EndpointBench): AsyncGenerator<Measured<CallFigure>> {
  const stack = workerStack(db.client, db.tables, presentTime);
  for (const { name, budget, batch, waits, before, run } of cases) {
    const costs: Units[] = [];
    while (costs.length < runs) {
      const [device, user] = [randomUUID(), randomUUID()];
      // Every user has rows already, and the device a clock: it was announced.
      await stack.announce(device, {});
      await fillJobTimes(db, device);
      await stack.create(user, { device_type: device });
      const first = await stack.claim(device, 'worker');
      await stack.report(leaseFrom(first!), first!.job.id);
      const { id, jobs } = await stack.create(user, { ...batch, device_type: device });
      const claim = waits ? undefined : await stack.claim(device, 'worker');
      const lease = claim && leaseFrom(claim);
      const subject = { device, user, batchId: id, jobIds: jobs!.map((job) => job.id), lease };
      await before?.(stack, subject);
      costs.push((await measure(() => run(stack, subject))).cost);
    }
    const cost = maximum(costs);
    yield { name, ...cost, excesses: excesses(cost, budget) };
  }
}

const presentTime = {
  get now() {
    return Date.now();
  },
};

/**
 * How fast workers that do nothing else empty a queue of `batches` batches. 20 users own them. A
 * race is lost when another worker takes the batch first.
 */
export async function* measureClaims(
  client: DynamoDBDocumentClient,
  tables: TableNames,
  batches: number,
): AsyncGenerator<Measured<ClaimFigure>> {
  let lostRaces = 0;
  const counting = interceptedClient(client, async (call: Call) => {
    try {
      return await call.send();
    } catch (error) {
      if (String(call.input.ConditionExpression).includes('lease_until')) lostRaces += 1;
      throw error;
    }
  });
  const stack = workerStack(counting, tables, presentTime);
  for (const workers of [1, 4, 16]) {
    const device = randomUUID();
    await stack.announce(device, {});
    const users = Array.from({ length: 20 }, () => randomUUID());
    for (let at = 0; at < batches / users.length; at++) {
      await Promise.all(users.map((user) => stack.create(user, { device_type: device })));
    }
    let claims = 0;
    lostRaces = 0;
    const start = performance.now();
    const work = async (worker: string) => {
      for (;;) {
        if ((await stack.claim(device, worker)) === undefined) return;
        claims += 1;
      }
    };
    await Promise.all(Array.from({ length: workers }, (_, at) => work(`worker ${at}`)));
    const seconds = (performance.now() - start) / 1000;
    yield { name: `${workers}`, claimsPerSecond: claims / seconds, lostRaces: lostRaces / claims, excesses: [] };
  }
}
