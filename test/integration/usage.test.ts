/** What users have used, as workers, users and events leave it, and who may see it. */

import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { bucketObjects } from '../../functions/data/aws/bucket-objects.ts';
import { countShots } from '../../functions/data/leases/count-shots.ts';
import { changeLimits } from '../../functions/data/limits/limits-of-subjects.ts';
import { keyOfFirst } from '../../functions/data/limits/usage-sums.ts';
import type { Claim } from '../../functions/schemas/lease.ts';
import type { LifecycleEvent } from '../../functions/schemas/lifecycle-event.ts';
import { fromMilliseconds } from '../../functions/values/timestamp.ts';
import { repairUser } from '../../infra/repair/repair-user.ts';
import { eraseItems } from '../../infra/user-data/user-items.ts';
import { ask } from '../support/ask.ts';
import { changeItem } from '../support/change-item.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { type GatewayRequest, gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { loadHandler } from '../support/handlers.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { usageItems } from '../support/items-of-owner.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { batchesAndJobs, recountOf } from '../support/owner-rows.ts';
import { startResultsStore } from '../support/results-store.ts';
import { testDb } from '../support/test-db.ts';
import { leaseFrom, newNames, workerStack } from '../support/worker-stack.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const results = await startResultsStore();
afterAll(() => results.stop());

const noon = Date.parse('2026-11-21T12:00:00Z');
const clock = { now: noon };
const callObject = bucketObjects('results-bucket');
const stack = workerStack(client, names, clock, callObject);
const events = writeApi(stack.db, { shotsOf: (userId, key) => countShots(callObject, userId, key) });
const seconds = (number: number) => {
  clock.now += number * 1_000;
};

/** The sums of November 2026, which must equal a recount. */
async function totalOf(userId: string) {
  expect(await recountOf(client, names, userId)).toEqual([]);
  return (await usage({ userId, query: november })).data.total;
}

const november = 'from=2026-11-01&to=2026-11-30';

const usage = (request: GatewayRequest) => ask('listUsage', request);
/** The answer as it is sent. */
const sent = async (request: GatewayRequest) =>
  (await loadHandler('listUsage'))(gatewayEvent('listUsage', request), lambdaContext());

/** A claim, whose worker then works for so long and sends a heartbeat. */
async function work(device: string, duration: number): Promise<Claim> {
  const claim = (await stack.claim(device, 'worker'))!;
  await stack.heartbeat(leaseFrom(claim), claim.job.id);
  seconds(duration);
  await stack.heartbeat(leaseFrom(claim), claim.job.id);
  return claim;
}

const report = (claim: Claim) => stack.report(leaseFrom(claim), claim.job.id);

interface History {
  readonly device: string;
  readonly user: string;
  readonly batchId: string;
}

/** What happens to a job, and for how long devices worked on it. */
const histories: Readonly<Record<string, readonly [number, (of: History) => Promise<unknown>]>> = {
  'a report': [25.5, async ({ device }) => report(await work(device, 25.5))],
  'a late report, while nobody else has the job': [
    220,
    async ({ device }) => {
      const claim = await work(device, 20);
      seconds(200);
      await report(claim);
    },
  ],
  'a worker that is lost, and the next one': [
    27,
    async ({ device }) => {
      await work(device, 20);
      seconds(90);
      await report(await work(device, 7));
    },
  ],
  'a worker that was never heard of, and the next one': [
    7,
    async ({ device }) => {
      await stack.claim(device, 'worker');
      seconds(90);
      await report(await work(device, 7));
    },
  ],
  'a worker that is lost, whose batch is put back': [
    27,
    async ({ device }) => {
      await work(device, 20);
      seconds(90);
      for (const item of (await stack.measure(device)).lapsed) await stack.putBack(item);
      seconds(1_000);
      await report(await work(device, 7));
    },
  ],
  'a release, and the next worker': [
    12,
    async ({ device }) => {
      await stack.release(leaseFrom(await work(device, 5)));
      seconds(1_000);
      await report(await work(device, 7));
    },
  ],
  'three workers that are lost': [
    60,
    async ({ device }) => {
      for (let losses = 0; losses < 3; losses++) {
        await work(device, 20);
        seconds(61);
      }
      expect(await stack.claim(device, 'worker')).toBeUndefined();
    },
  ],
  'a job that is canceled while it runs': [
    9,
    async ({ device, user }) => stack.cancelJob(user, (await work(device, 9)).job.id),
  ],
  'a batch that is canceled when its worker is lost': [
    20,
    async ({ device, user, batchId }) => {
      await work(device, 20);
      seconds(300);
      await stack.cancel(user, batchId);
    },
  ],
  'a batch that is canceled after a release': [
    5,
    async ({ device, user, batchId }) => {
      await stack.release(leaseFrom(await work(device, 5)));
      seconds(60);
      await stack.cancel(user, batchId);
    },
  ],
  'a batch that is canceled while it waits': [
    0,
    async ({ user, batchId }) => {
      seconds(60);
      await stack.cancel(user, batchId);
    },
  ],
};

describe('device seconds', () => {
  it('are summed over all leases, whatever happens to a job', async () => {
    clock.now = noon;
    const { user, device } = newNames();
    const expected = Object.entries(histories).map(([name, [device_seconds]]) => [`${device} ${name}`, device_seconds]);
    const busy: unknown[] = [];
    for (const [name, [, happens]] of Object.entries(histories)) {
      const ofHistory = `${device} ${name}`;
      const { id: batchId } = await stack.create(user, { device_type: ofHistory });
      await happens({ device: ofHistory, user, batchId });
      // What operators watch agrees: see data/operators/queue-measures.ts.
      busy.push([ofHistory, (await stack.measure(ofHistory)).busy / 1e6]);
    }
    expect(busy).toEqual(expected);
    expect(await totalOf(user)).toMatchObject({ batches: expected.length, jobs: expected.length });
    const { data } = await usage({ userId: user, query: `${november}&group_by=device_type` });
    const found = data.rows.map((row: Record<string, unknown>) => [
      ...[row.device_type, row.device_seconds],
      ...[row.batches, row.jobs],
    ]);
    expect(found.sort()).toEqual(expected.map((each) => [...each, 1, 1]).sort());
  });

  it('include the job that runs when a large batch is canceled, in several transactions', async () => {
    clock.now = noon;
    const { user, device } = newNames();
    const batch = await stack.create(user, { device_type: device, jobs: 250 });
    const { jobs } = await batchesAndJobs(client, names, user);
    const done = jobs.slice(0, 110).map(({ id }) => ({
      ...{ id: `done ${id}`, user_id: user, time: fromMilliseconds(clock.now) },
      ...({ type: 'job.updated', data: { job_id: id, status: 'DONE' } } as const),
    }));
    expect(await events.applyEvents(done)).toEqual(done.map(() => undefined));
    expect((await work(device, 11)).job.id).toBe(jobs[110]?.id);
    await stack.cancel(user, batch.id);
    expect(await totalOf(user)).toEqual({
      batches: 1,
      jobs: 250,
      jobs_per_status: { DONE: 110, ERROR: 0, CANCELED: 140 },
      shots: (110 * 111) / 2,
      device_seconds: 11,
    });
  });

  it('of jobs that events end are the time from start to end, if there are both and they ascend', async () => {
    clock.now = noon;
    const { user } = newNames();
    await events.createBatch(user, newBatch(1, { jobs: [1, 2, 3, 4].map((number) => newJob(number)) }));
    const [start, end] = ['2026-11-20T23:59:59.000001Z', '2026-11-21T00:00:01.500000Z'];
    const done = { status: 'DONE', end_timestamp: end } as const;
    await events.recordJobStatus(user, newJob(1).id, { ...done, start_timestamp: start });
    await events.recordJobStatus(user, newJob(2).id, done);
    await events.recordJobStatus(user, newJob(3).id, { ...done, start_timestamp: end, end_timestamp: start });
    await stack.cancelJob(user, newJob(4).id);
    expect(await totalOf(user)).toMatchObject({ jobs: 4, shots: 300, device_seconds: 2.499999 });
  });
});

describe('what jobs of a batch have used, while a worker has it,', () => {
  /** A batch that a worker has, whose first jobs have ended: 10 s each. */
  async function ran(ended: number, jobs: number) {
    clock.now = noon;
    const held = await stack.held({ jobs });
    let { job }: { job: { id: string } | null } = held.claim;
    const reportNext = async () => {
      seconds(10);
      ({ job } = await stack.report(held.lease, job!.id));
      return totalOf(held.user);
    };
    for (let at = 0; at < ended; at++) await reportNext();
    return { ...held, reportNext };
  }
  const used = (jobs: number) => ({ jobs, device_seconds: 10 * jobs, shots: (jobs * (jobs + 1)) / 2 });
  const busySeconds = async (device: string) => (await stack.measure(device)).busy / 1e6;

  it('is summed with each fourth end and with the last, and at any time no recount differs', async () => {
    const { device, reportNext } = await ran(0, 10);
    const sums: unknown[] = [];
    for (let at = 1; at <= 10; at++) {
      sums.push((await reportNext()).jobs);
      expect(await busySeconds(device)).toBe(10 * at);
    }
    expect(sums).toEqual([0, 0, 0, 4, 4, 4, 4, 8, 8, 10]);
    expect((await stack.measure(device)).counted / 1e6).toBe(100);
  });

  it.each<[string, (of: Awaited<ReturnType<typeof ran>>) => Promise<unknown>, object]>([
    ['its release', ({ lease }) => stack.release(lease), used(2)],
    [
      'the loss of its worker, once the batch waits',
      async ({ device }) => {
        seconds(100);
        for (const item of (await stack.measure(device)).lapsed) await stack.putBack(item);
      },
      used(2),
    ],
    ['the batch’s cancellation', ({ user, batch }) => stack.cancel(user, batch.id), { jobs: 6, batches: 1 }],
    [
      'a cancellation of one of its jobs',
      async ({ user }) => stack.cancelJob(user, (await batchesAndJobs(client, names, user)).jobs[5]!.id),
      { ...used(2), jobs: 3 },
    ],
    [
      'an event about one of its jobs',
      async ({ user }) => {
        const { id } = (await batchesAndJobs(client, names, user)).jobs[0]!;
        seconds(13 * 3_600);
        await events.recordJobStatus(user, id, { end_timestamp: fromMilliseconds(clock.now) });
      },
      used(2),
    ],
    [
      'an event that ends the batch',
      ({ user, batch }) => events.recordBatchStatus(user, batch.id, { status: 'ERROR' }),
      { jobs: 6, batches: 1 },
    ],
    [
      'its end on another day',
      async ({ reportNext }) => {
        seconds(12 * 3_600);
        await reportNext();
      },
      { jobs: 3 },
    ],
  ])('is summed with %s', async (_, happens, expected) => {
    const history = await ran(2, 6);
    expect((await totalOf(history.user)).jobs).toBe(0);
    await happens(history);
    expect(await totalOf(history.user)).toMatchObject(expected);
    const [row] = (await batchesAndJobs(client, names, history.user)).batches;
    expect(row?.usage_to_add).toBeUndefined();
  });

  it('is lost by no worker that dies and by none that takes over', async () => {
    const { device, user } = await ran(2, 4);
    seconds(100);
    let { job, lease }: { job: { id: string } | null; lease: string } = await stack.claimed(device);
    expect(await totalOf(user)).toMatchObject({ jobs: 0 });
    for (; job !== null; { job } = await stack.report(leaseFrom({ lease }), job.id)) seconds(10);
    expect(await totalOf(user)).toMatchObject(used(4));
    expect(await busySeconds(device)).toBe(40);
  });

  it('is exact where a function dies at any of its calls, and the report is repeated', async () => {
    for (let at = 1, calls = at; at <= calls; at++) {
      const { device, user, lease } = await ran(3, 5);
      const [, , , job] = (await batchesAndJobs(client, names, user)).jobs;
      let made = 0;
      const dying = interceptedClient(client, async (call) => {
        made += 1;
        if (made === at) throw new Error('dies');
        return call.send();
      });
      const failing = workerStack(dying, names, clock, callObject);
      await failing.report(lease, job!.id).catch(() => {});
      calls = Math.max(calls, made);
      await stack.report(lease, job!.id);
      expect(await totalOf(user)).toMatchObject({ jobs: 4 });
      expect(await recountOf(client, names, user)).toEqual([]);
      expect(device).toBeDefined();
    }
  });

  it('brings one job time in four, once the device has a full sample of them', async () => {
    clock.now = noon;
    const { user, device } = newNames();
    const notes: unknown[] = [];
    const watched = interceptedClient(client, (call) => {
      if (call.name === 'UpdateCommand' && (call.input.Key as { key?: string }).key === '!activity') notes.push(call);
      return call.send();
    });
    const own = workerStack(watched, names, clock, callObject);
    const full = Object.fromEntries(Array.from({ length: 100 }, (_, slot) => [`j${slot.toString(36)}`, 1]));
    const Key = { device_type: device, key: '!activity' };
    const noted = async (attributes: object) => {
      await changeItem(client, names.DeviceQueue, { Key, attributes: { ...attributes } });
      await own.create(user, { device_type: device, jobs: 8 });
      notes.length = 0;
      const claim = await own.claimed(device);
      for (let { job }: { job: { id: string } | null } = claim; job !== null; ) {
        seconds(10);
        ({ job } = await own.report(leaseFrom(claim), job.id));
      }
      return notes.length;
    };
    expect(await noted({ j0: 1 })).toBe(8);
    // The first one shows that it is full now.
    expect(await noted(full)).toBe(3);
    expect(await noted(full)).toBe(2);
    expect(await busySeconds(device)).toBe(240);
  });

  it('is summed at once where months are limited', async () => {
    clock.now = noon;
    const { user, device } = newNames();
    await changeLimits(stack.db, { operator: 'op', subject: `user:${user}`, limits: { shots_per_month: 3 } });
    await stack.create(user, { device_type: device, jobs: 3 });
    const claim = await stack.claimed(device);
    const { job } = await stack.report(leaseFrom(claim), claim.job.id);
    expect(await totalOf(user)).toMatchObject({ jobs: 1 });
    await stack.create(user, { device_type: device });
    await stack.report(leaseFrom(claim), job!.id);
    await expect(stack.create(user, { device_type: device })).rejects.toThrow('shots_per_month');
  });

  it('is kept where its user is erased', async () => {
    const { user, batch } = await ran(2, 6);
    const data = { ...stack.db, results: { name: '', client: {} as never } } as never;
    for (const table of ['Batches', 'Usage'] as const) {
      await eraseItems(data, table, { userId: user, pseudonym: `erased ${batch.id}` });
    }
    expect((await usage({ userId: `erased ${batch.id}`, query: november })).data.total).toMatchObject(used(2));
  });
});

describe('sums of an earlier release, in one partition for all users,', () => {
  it('are added to what is summed since, and a repair makes up for them', async () => {
    clock.now = noon;
    const { user } = newNames();
    await events.createBatch(user, newBatch(1, { open: true, jobs: [1, 2, 3].map((number) => newJob(number)) }));
    for (const number of [1, 2]) await events.recordJobStatus(user, newJob(number).id, { status: 'DONE' });
    const items = await usageItems(client, names.Usage, user);
    const { month, key, device_type } = items[0]!;
    for (const item of items) {
      await client.send(new DeleteCommand({ TableName: names.Usage, Key: { month, key: item.key } }));
      await client.send(new PutCommand({ TableName: names.Usage, Item: { ...item, month: '2026-11' } }));
    }
    expect((await usage({ userId: user, query: november })).data.total).toMatchObject({ jobs: 2, shots: 200 });
    await events.recordJobStatus(user, newJob(3).id, { status: 'DONE' });
    expect((await usage({ userId: user, query: november })).data).toMatchObject({
      rows: [{ jobs: 3 }],
      total: { jobs: 3, shots: 300 },
    });
    expect((await repairUser({ db: testDb(client, names), userId: user }, { fix: true })).differences).toEqual([]);
    await changeItem(client, names.Usage, {
      Key: { month, key },
      attributes: { shots: 7, device_type },
    });
    await repairUser({ db: testDb(client, names), userId: user }, { fix: true });
    expect((await usage({ userId: user, query: november })).data.total).toMatchObject({ jobs: 3, shots: 300 });
    const operator = { userId: 'op', scope: 'operator', query: `${november}&scope=all&group_by=user_id&period=month` };
    const all = (await usage(operator)).data.rows.filter((row: { user_id: string }) => row.user_id === user);
    expect(all).toMatchObject([{ jobs: 3, shots: 300 }]);
  });
});

describe('a correction', () => {
  it('moves what a job counts as, to another status, day and month', async () => {
    clock.now = noon;
    const { user } = newNames();
    await events.createBatch(user, newBatch(1, { jobs: [newJob(1)] }));
    await events.recordBatchStatus(user, newBatch(1).id, { status: 'TIMED_OUT' });
    const perDay = async () => {
      expect(await recountOf(client, names, user)).toEqual([]);
      const { data } = await usage({ userId: user, query: 'from=2026-10-01&to=2026-11-30' });
      return data.rows.map(({ period, batches, jobs_per_status, shots }: Record<string, unknown>) =>
        JSON.stringify([period, batches, ...Object.values(jobs_per_status as object), shots]),
      );
    };
    expect(await perDay()).toEqual(['["2026-11-21",1,0,0,1,0]']);
    const update = (of: object) => events.recordJobStatus(user, newJob(1).id, of);
    await update({ status: 'DONE' });
    expect(await perDay()).toEqual(['["2026-11-21",1,1,0,0,100]']);
    await update({ start_timestamp: '2026-10-01T00:00:00.000000Z', end_timestamp: '2026-11-20T10:00:00.000000Z' });
    expect(await perDay()).toEqual(['["2026-11-20",0,1,0,0,100]', '["2026-11-21",1,0,0,0,0]']);
    await update({ end_timestamp: '2026-10-31T23:59:59.999999Z' });
    expect(await perDay()).toEqual(['["2026-10-31",0,1,0,0,100]', '["2026-11-21",1,0,0,0,0]']);
  });
});

describe('the shots of jobs without runs', () => {
  it('are the sum of the counter, when results are reported', async () => {
    clock.now = noon;
    const { user, device } = newNames();
    const batch = await stack.create(user, { device_type: device, jobs: 1, open: true });
    await stack.add(user, batch.id, 2);
    const claim = await work(device, 1);
    const lease = leaseFrom(claim);
    const upload = async (jobId: string, document: unknown) => {
      await results.put(await stack.uploadKey(lease, jobId, 'a'.repeat(64)), document);
      return (await stack.report(lease, jobId, { status: 'DONE', results: true })).job?.id ?? '';
    };
    const second = await upload(claim.job.id, { counter: { 0: 99 } });
    const third = await upload(second, { counter: { '00': 8, '01': 3 } });
    expect(await totalOf(user)).toMatchObject({ jobs: 0 });
    await upload(third, { counter: { '00': -8, '01': 0.5 } });
    expect(await totalOf(user)).toMatchObject({ jobs: 3, shots: 1 + 11 });
  });

  it('are the sum of the counter that an event names, before or after the end', async () => {
    clock.now = noon;
    const { user } = newNames();
    const ids = [1, 2, 3].map((number) => newJob(number).id);
    const key = (name: string) => `results/${user}/${name}.json`;
    await events.createBatch(user, newBatch(1, { jobs: [1, 2, 3].map((number) => newJob(number, { runs: null })) }));
    await results.put(key('a'), { counter: { 0: 5, 1: 7 } });
    await results.put(key('b'), { counter: { 0: 1 } });
    await events.recordJobStatus(user, ids[0]!, { status: 'RUNNING', results_key: key('a') });
    await events.recordJobStatus(user, ids[0]!, { status: 'DONE' });
    await events.recordJobStatus(user, ids[1]!, { status: 'DONE' });
    await events.recordJobStatus(user, ids[2]!, { status: 'ERROR', results_key: key('a') });
    expect((await totalOf(user)).shots).toBe(12);
    await events.recordJobStatus(user, ids[1]!, { results_key: key('a') });
    expect((await totalOf(user)).shots).toBe(24);
    await events.recordJobStatus(user, ids[1]!, { results_key: key('b') });
    expect((await totalOf(user)).shots).toBe(13);
    await events.recordJobStatus(user, ids[1]!, { results_key: key('lost') });
    expect((await totalOf(user)).shots).toBe(12);
  });

  it('are tried again where the store of results fails', async () => {
    const { user } = newNames();
    const results_key = `results/${user}/a.json`;
    await events.createBatch(user, newBatch(1, { jobs: [newJob(1, { runs: null })] }));
    results.handle = async (_, __, answer) => answer({ status: 500, headers: {}, body: Buffer.from('') });
    const done = () => events.recordJobStatus(user, newJob(1).id, { status: 'DONE', results_key });
    await expect(done()).rejects.toThrow('failed');
    results.handle = async (_, pass, answer) => answer(await pass());
    await results.put(results_key, { counter: { 0: 5 } });
    await done();
    expect((await totalOf(user)).shots).toBe(5);
  });
});

describe('a repair of usage', () => {
  const repairOf = (userId: string, by = client) => repairUser({ db: testDb(by, names), userId }, { fix: true });

  /** A user with a job that has ended. The user's sums were changed by hand. */
  async function spoiled(attributes: object = { shots: 7, rev: 7 }) {
    const { user } = newNames();
    await events.createBatch(
      user,
      newBatch(1, { open: true, jobs: Array.from({ length: 30 }, (_, at) => newJob(1 + at)) }),
    );
    await events.recordJobStatus(user, newJob(1).id, { status: 'DONE' });
    const [item] = await usageItems(client, names.Usage, user);
    const { month, key } = item!;
    const Key = { month, key };
    const spoil = () => changeItem(client, names.Usage, { Key, attributes: { ...attributes } });
    await spoil();
    return { user, Key, spoil };
  }

  it('mends sums, also those that are missing, and leaves the lists alone', async () => {
    const { user, Key } = await spoiled();
    const writes: unknown[] = [];
    const watched = interceptedClient(client, (call) => {
      const { TransactItems = [] } = call.input as { TransactItems?: { Update?: { TableName: string } }[] };
      if (/Put|Update|Delete|Write/.test(call.name)) writes.push(TransactItems[0]?.Update?.TableName);
      return call.send();
    });
    const { differences, remaining } = await repairOf(user, watched);
    expect([differences.map(({ kind, key }) => [kind, key]), remaining]).toEqual([
      [['usage', keyOfFirst(Key.key)]],
      [],
    ]);
    expect(writes).toEqual([names.Usage]);
    expect(await totalOf(user)).toMatchObject({ jobs: 1, shots: 100 });
    await client.send(new DeleteCommand({ TableName: names.Usage, Key }));
    await repairOf(user);
    expect(await totalOf(user)).toMatchObject({ jobs: 1, shots: 100 });
  });

  it('takes no writer for a difference, in whatever order it reads', async () => {
    const { user } = await spoiled({ device_type: newBatch(1).device_type });
    let reads = 0;
    const busy = interceptedClient(client, async ({ input, send }) => {
      if (input.TableName !== names.Jobs) return send();
      reads += 1;
      const first = reads === 1 ? await send() : undefined;
      await events.recordJobStatus(user, newJob(1 + reads).id, { status: 'DONE' });
      return first ?? send();
    });
    expect((await repairUser({ db: testDb(busy, names), userId: user }, { fix: false })).differences).toEqual([]);
  });

  it('loses nothing that a writer adds in between, whenever that is', async () => {
    const { user, spoil } = await spoiled();
    // The writer's item is another one than the repair's.
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.9);
    onTestFinished(() => random.mockRestore());
    let jobs = 1;
    for (let at = 1, calls = at; at <= calls; at++) {
      if (at > 1) await spoil();
      let made = 0;
      const interrupted = interceptedClient(client, async (call) => {
        made += 1;
        if (made === at) await events.recordJobStatus(user, newJob(++jobs).id, { status: 'DONE' });
        return call.send();
      });
      const { differences, remaining } = await repairOf(user, interrupted);
      calls = made;
      expect([at, remaining]).toEqual([at, []]);
      // It may have taken the writer for the cause.
      if (differences.length === 0) await repairOf(user);
      expect(await totalOf(user)).toMatchObject({ jobs, shots: 100 * jobs });
    }
  });
});

describe('GET /api/v1/usage', () => {
  const project = (number: number) => uuid('c', number);
  const user = 'a#b';
  /** Users who could be taken for the first. */
  const others = ['a', 'a#', 'a%23b', 'a%2523b', 'a#b#2026-11-21', 'A#b', '=1+1", "@x', 'ä\n'];

  beforeAll(async () => {
    clock.now = noon;
    for (const [at, userId] of [user, ...others].entries()) {
      const runs = at === 0 ? Number.MAX_SAFE_INTEGER : 10 ** at;
      const ofDays = [20, 21].flatMap((day): LifecycleEvent[] => {
        const [start_timestamp, end_timestamp] = [`2026-11-${day}T00:00:00.000000Z`, `2026-11-${day}T00:00:00.000001Z`];
        const number = 10 * day;
        const jobs = [newJob(number, { runs }), newJob(number + 1, { runs })];
        const device_type = day === 20 ? '=cmd()' : 'a "quoted", one';
        const update = { status: 'DONE', start_timestamp, end_timestamp } as const;
        const event = (id: string, time: string) => ({ id: `${day} ${id}`, user_id: userId, time });
        return [
          {
            ...event('batch', start_timestamp),
            ...{ type: 'batch.created', data: newBatch(number, { device_type, jobs }) },
          },
          ...jobs.map(({ id }) => ({
            ...event(id, end_timestamp),
            ...({ type: 'job.updated', data: { job_id: id, ...update } } as const),
          })),
        ];
      });
      expect(await events.applyEvents(ofDays)).toEqual(ofDays.map(() => undefined));
    }
  });

  it.each([user, ...others])('answers %j with their own alone', async (userId) => {
    const { data } = await usage({ userId, query: `${november}&group_by=user_id` });
    expect(data.rows.map((row: Record<string, unknown>) => [row.period, row.user_id, row.jobs])).toEqual([
      ['2026-11-20', userId, 2],
      ['2026-11-21', userId, 2],
    ]);
    expect(await usage({ userId, query: { user_id: userId, from: '2026-11-01', to: '2026-11-30' } })).toMatchObject({
      data: { total: { jobs: 4 } },
    });
  });

  it.each([{ scope: 'all' }, ...others.map((user_id) => ({ user_id }))])('refuses %j to users', async (query) => {
    const { status, data } = await usage({ userId: user, query, scope: 'openid' });
    expect([status, data.reason]).toEqual([403, 'insufficient_scope']);
  });

  it('shows operators everyone, or one user, and devices nothing', async () => {
    const operator = { userId: 'op', scope: 'operator' };
    const { data } = await usage({
      ...operator,
      query: 'scope=all&group_by=user_id&period=month&from=2026-11-20&to=2026-11-21',
    });
    const byUser = new Map(data.rows.map((row: Record<string, unknown>) => [row.user_id, row.jobs]));
    expect([user, ...others].map((each) => byUser.get(each))).toEqual([user, ...others].map(() => 4));
    expect(data.rows.map((row: Record<string, unknown>) => row.user_id)).toEqual([...byUser.keys()].toSorted());
    expect(
      (await usage({ ...operator, query: { user_id: 'a', from: '2026-11-21', to: '2026-11-21' } })).data.rows,
    ).toMatchObject([{ period: '2026-11-21', jobs: 2 }]);
    expect((await usage({ ...operator, query: november })).data.rows).toEqual([]);
    expect((await usage({ userId: 'd', scope: 'device:* operator' })).status).toBe(403);
  });

  it('writes numbers with all their digits, and groups in the order of the query', async () => {
    const query = `${november}&group_by=device_type&group_by=project_id`;
    const { body } = await sent({ userId: user, query });
    const row = (day: number, device: string, id: string) =>
      `{"period":"2026-11-${day}","device_type":${JSON.stringify(device)},"project_id":"${id}","batches":1,"jobs":2,` +
      '"jobs_per_status":{"DONE":2,"ERROR":0,"CANCELED":0},"shots":18014398509481982,"device_seconds":0.000002}';
    expect(body).toContain(`[${row(20, '=cmd()', project(200 % 3))},${row(21, 'a "quoted", one', project(210 % 3))}]`);
    expect(body).toContain('"shots":36028797018963964,"device_seconds":0.000004}');
  });

  it.each(['text/csv', 'application/json;q=0.5, Text/CSV ;q=0.9'])('answers %j with CSV', async (Accept) => {
    const query = `${november}&group_by=device_type`;
    const { body, headers } = await sent({ userId: user, query, headers: { Accept } });
    expect(headers).toMatchObject({ 'Content-Type': 'text/csv; charset=utf-8; header=present', Vary: 'Accept' });
    expect(body).toBe(
      [
        'period,device_type,batches,jobs,jobs_done,jobs_error,jobs_canceled,shots,device_seconds',
        "2026-11-20,'=cmd(),1,2,2,0,0,18014398509481982,0.000002",
        '2026-11-21,"a ""quoted"", one",1,2,2,0,0,18014398509481982,0.000002',
        '',
      ].join('\r\n'),
    );
  });

  it.each(['*/*', 'text/csv;q=0', 'text/csv;q=0.5, application/json', 'text/html'])(
    'answers %j with JSON',
    async (Accept) => {
      expect((await usage({ userId: user, query: november, headers: { Accept } })).data.total.jobs).toBe(4);
    },
  );

  it.each([
    ['from=2026-11-31', 'from', 'date_parsing'],
    ['to=2026-11-01T00:00:00Z', 'to', 'date_parsing'],
    ['from=2026-11', 'from', 'date_parsing'],
    ['from=2026-11-02&to=2026-11-01', 'to', 'value_error'],
    ['from=9999-12-31', 'from', 'value_error'],
    ['from=2025-01-01&to=2026-11-01', 'to', 'value_error'],
    ['period=year', 'period', 'enum'],
    ['group_by=tag', 'group_by', 'enum'],
    ['scope=mine', 'scope', 'enum'],
    [`user_id=${'a'.repeat(257)}`, 'user_id', 'string_too_long'],
  ])('refuses %s', async (query, parameter, type) => {
    const { status, detail } = await usage({ userId: user, query });
    expect([status, detail[0].loc[1], detail[0].type]).toEqual([422, parameter, type]);
  });

  it('takes the month of today by default, and any days until 9999', async () => {
    expect((await usage({ userId: user })).status).toBe(200);
    expect((await usage({ userId: user, query: 'from=9999-12-01&to=9999-12-31' })).data.rows).toEqual([]);
  });
});
