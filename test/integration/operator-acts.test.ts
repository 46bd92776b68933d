/** What operators do to the batches of users: whole answers, at random moments, after crashes. */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { recoverBatch } from '../../functions/data/batches/recovery.ts';
import { cancelBatchOfUser, setBatchPriority } from '../../functions/data/operators/operator-acts.ts';
import type { RouteName } from '../../functions/routes.ts';
import type { QueuePriority } from '../../functions/schemas/values.ts';
import { ask } from '../support/ask.ts';
import { auditRows } from '../support/audit-rows.ts';
import { deep } from '../support/depth.ts';
import { dyingClient, isFinished } from '../support/dying-client.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { itemsOfOwner } from '../support/items-of-owner.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { ownerRows, soundRows } from '../support/owner-rows.ts';
import { testDb } from '../support/test-db.ts';
import { itemsOfQueue } from '../support/user-clocks.ts';
import { allResults, leaseFrom, newNames, project_id, workerStack } from '../support/worker-stack.ts';

const { client, names } = await functionEnvironment();
const db = testDb(client, names);
/** Time goes on by steps alone: real leases last for a minute, and a test may take longer. */
vi.useFakeTimers({ toFake: ['Date'] });
const later = () =>
  vi
    .setSystemTime(Date.now() + 1)
    .getMockedSystemTime()!
    .getTime();
const sink = await startMessageSink();
afterAll(() => sink.stop());
const stack = workerStack(client, names, {
  get now() {
    return later();
  },
});

let [user, device, operator] = ['', '', ''];
beforeEach(() => {
  ({ user, device } = newNames());
  operator = `operator|${randomUUID()}`;
});

async function askAs(route: RouteName, batch_id: string, body?: object, userId = operator) {
  later();
  const scope = userId === operator ? 'operator' : '';
  const { status, data } = await ask(route, { userId, scope, path: { user_id: user, batch_id }, body });
  return { status, data };
}
const cancel = (id: string, reason = 'The trap is empty') => askAs('cancelBatchOfUser', id, { reason });
const prioritize = (id: string, queue_priority: QueuePriority, reason = 'The demonstration') =>
  askAs('setBatchPriority', id, { queue_priority, reason });

/** What this test's operator did, oldest first. */
async function acts() {
  const rows = await auditRows(client, names);
  return rows.filter((row) => row.operator === operator);
}

const sound = () => soundRows(client, names, user);
const stored = () => ownerRows(client, names, user);

/** The device's queue, and the user's clock for it. */
async function queueAndClock() {
  const [items, columns] = await Promise.all([
    itemsOfQueue(client, names, device),
    itemsOfOwner(client, names.Columns, user),
  ]);
  return {
    items: items.filter(({ key }) => !key.startsWith('!')),
    clock: columns.find(({ key }) => key === `clock#${device}`)?.clocks,
  };
}

const why = 'An operator canceled the batch: The trap is empty';

describe('PATCH /api/v1/users/{user_id}/batches/{batch_id}/cancel', () => {
  it.each([1, 150])('cancels as the owner would, says why, and is audited once: %i jobs', async (jobs) => {
    const { id } = await stack.create(user, { device_type: device, jobs, open: true });
    const { status, data } = await cancel(id);
    expect(status).toBe(200);
    expect(data).toMatchObject({ user_id: user, status: 'CANCELED', open: false, device_status: why });
    const rows = await stored();
    expect(rows.jobs.map((job) => [job.status, job.errors])).toEqual(Array(jobs).fill(['CANCELED', [why]]));
    for (const flag of ['canceling', 'cancel_reason']) expect(rows.batches[0]).not.toHaveProperty(flag);
    expect((await askAs('getBatch', id, undefined, user)).data).toMatchObject({ device_status: why });
    expect((await queueAndClock()).items).toEqual([]);
    expect(await cancel(id, 'Another reason')).toEqual({ status, data });
    expect(await stored()).toEqual(rows);
    await sound();
    expect(await acts()).toEqual([
      {
        month: expect.any(String),
        key: expect.any(String),
        at: expect.stringMatching(/Z$/),
        expires_at: expect.any(Number),
        operator,
        action: 'batch.cancel',
        target: { user_id: user, batch_id: id, project_id, device_type: device },
        reason: 'The trap is empty',
        before: {
          ...{ status: 'PENDING', open: true, device_status: null },
          jobs_count_per_status: expect.objectContaining({ PENDING: jobs }),
        },
        after: { status: 'CANCELED', open: false, device_status: why },
      },
    ]);
  });

  it('stops the worker that has the batch, and keeps the jobs that have ended', async () => {
    const { id, jobs } = await stack.create(user, { device_type: device, jobs: 3 });
    const lease = leaseFrom((await stack.claim(device, 'worker'))!);
    await stack.report(lease, jobs![0]!.id);
    expect((await cancel(id)).status).toBe(200);
    expect(await stack.heartbeat(lease, jobs![1]!.id)).toMatchObject({ cancel: true });
    const rows = await sound();
    expect(rows.jobs.map((job) => [job.status, job.errors])).toEqual([
      ['DONE', null],
      ['CANCELED', [why]],
      ['CANCELED', [why]],
    ]);
  });

  it('refuses a batch that has ended otherwise, one that is not this user’s, and no reason', async () => {
    const { id, jobs } = await stack.create(user, { device_type: device });
    await stack.report(leaseFrom((await stack.claim(device, 'worker'))!), jobs![0]!.id);
    const rows = await stored();
    expect(await cancel(id)).toMatchObject({ status: 409, data: { reason: 'batch_ended' } });
    expect((await cancel(randomUUID())).status).toBe(404);
    for (const body of [{}, { reason: '' }, { reason: 'x'.repeat(513) }, { reason: null }])
      expect((await askAs('cancelBatchOfUser', id, body)).status).toBe(422);
    const [owner] = [user];
    user = `${user} `;
    expect((await cancel(id)).status).toBe(404);
    user = owner;
    expect(await stored()).toEqual(rows);
    await sound();
    expect(await acts()).toEqual([]);
  });

  it('gives no reason to what the owner is canceling, and none of its own to what it did not begin', async () => {
    const { id } = await stack.create(user, { device_type: device, jobs: 100 });
    await stack.cancel(user, id);
    expect(await cancel(id)).toMatchObject({ status: 200, data: { status: 'CANCELED', device_status: null } });
    expect(await acts()).toEqual([]);
  });

  it('is completed with its reason and audited once, wherever it dies, by a repetition or the recovery', async () => {
    const request = (userId: string, batchId: string) => ({ operator, userId, batchId, reason: 'The trap is empty' });
    let audited = 0;
    for (let most = 0, finished = false; !finished; most++) {
      ({ user } = newNames());
      const { id } = await stack.create(user, { device_type: device, jobs: 100 });
      const dying = { ...db, client: dyingClient(client, most).client };
      finished = await isFinished(cancelBatchOfUser(dying, request(user, id)));
      const begun = (await stack.batch(user, id))?.open === false && most > 0;
      if (most % 2 === 0) await cancelBatchOfUser(db, request(user, id));
      else
        expect(await recoverBatch(db, allResults, { user_id: user, batch_id: id })).toBe(
          finished ? 'finished' : begun ? 'canceled' : 'finished',
        );
      const rows = await sound();
      const isCanceled = most % 2 === 0 || begun || finished;
      if (isCanceled) {
        audited++;
        expect(rows.batches).toMatchObject([{ status: 'CANCELED', device_status: why }]);
        expect(new Set(rows.jobs.map(({ errors }) => String(errors)))).toEqual(new Set([why]));
      }
      expect((await acts()).length, `after ${most}`).toBe(audited);
    }
    expect(audited).toBeGreaterThan(2);
  });
});

describe('PATCH /api/v1/users/{user_id}/batches/{batch_id}/priority', () => {
  /** Creates the batches of these priorities and jobs, and returns their ids. */
  async function createAll(wanted: readonly (readonly [QueuePriority, number])[]) {
    const ids: string[] = [];
    for (const [priority, jobs] of wanted)
      ids.push((await stack.create(user, { device_type: device, priority, jobs })).id);
    return ids;
  }
  const tagsOf = (items: Awaited<ReturnType<typeof queueAndClock>>['items']) =>
    items.map(({ key }) => key.split('.').slice(0, 2).join('.'));

  it('places the last batch where one of each further priority would be, and its user’s clock too', async () => {
    const others = [
      ['LOW', 3],
      ['HIGH', 2],
      ['MEDIUM', 1],
    ] as const;
    const places = async () => {
      const { items, clock } = await queueAndClock();
      const ends = Object.entries(clock as Record<string, { end: number }>).map(([name, { end }]) => [name, end]);
      return { tags: tagsOf(items), ends: Object.fromEntries(ends.filter(([, end]) => end !== 0)) };
    };
    const wanted = new Map<QueuePriority, Awaited<ReturnType<typeof places>>>();
    for (const priority of ['LOW', 'CRITICAL', 'HIGH', 'FREE'] as const) {
      ({ user, device } = newNames());
      await createAll([...others, [priority, 4]]);
      wanted.set(priority, await places());
    }
    ({ user, device } = newNames());
    const id = (await createAll([...others, ['MEDIUM', 4]])).at(-1)!;
    let before: object = { queue_priority: 'MEDIUM', device_status: null };
    const made: object[] = [];
    for (const to of ['LOW', 'CRITICAL', 'LOW', 'HIGH', 'FREE'] as const) {
      const { status, data } = await prioritize(id, to);
      const after = { queue_priority: to, device_status: `An operator set the priority to ${to}: The demonstration` };
      expect([status, data]).toMatchObject([200, { ...after, status: 'PENDING' }]);
      expect(await places()).toEqual(wanted.get(to));
      expect((await askAs('getBatch', id, undefined, user)).data).toMatchObject(after);
      const target = { user_id: user, batch_id: id, project_id, device_type: device };
      made.push({ action: 'batch.priority', target, reason: 'The demonstration', before, after });
      before = after;
    }
    await sound();
    expect(await acts()).toMatchObject(made);
  });

  it('changes nothing where the batch has this priority, and gives all back when it is canceled then', async () => {
    const [, second] = await createAll([
      ['LOW', 2],
      ['LOW', 3],
      ['LOW', 1],
    ]);
    const { data } = await prioritize(second!, 'HIGH');
    const before = [await stored(), await queueAndClock()];
    expect((await prioritize(second!, 'HIGH', 'Again')).data).toEqual(data);
    expect([await stored(), await queueAndClock()]).toEqual(before);
    await sound();
    expect(await acts()).toHaveLength(1);
    await stack.cancel(user, second!);
    const { clock, items } = await queueAndClock();
    expect([clock.HIGH.end, clock.LOW.withdrawn.length, items.length]).toEqual([0, 1, 2]);
    await sound();
  });

  it('lets a batch go first, refuses it once a device has it, and takes it again when it is given up', async () => {
    const wanted = { device_type: device, priority: 'LOW', jobs: 2 } as const;
    const { id: other } = await stack.create(newNames().user, wanted);
    const { id } = await stack.create(user, wanted);
    await prioritize(id, 'CRITICAL');
    const claim = (await stack.claim(device, 'worker'))!;
    expect(claim.batch).toMatchObject({ id });
    expect(await prioritize(id, 'LOW')).toMatchObject({ status: 409, data: { reason: 'batch_not_waiting' } });
    expect(await prioritize(id, 'CRITICAL')).toMatchObject({ status: 409 });
    await stack.release(leaseFrom(claim));
    expect(await prioritize(id, 'FREE')).toMatchObject({ status: 200, data: { queue_priority: 'FREE' } });
    await sound();
    const order: string[] = [];
    for (let n = 0; n < 2; n++) order.push((await stack.claim(device, `worker ${n}`))!.batch.id);
    expect(order).toEqual([other, id]);
    expect(await acts()).toHaveLength(2);
  });

  it('takes along how often the job lost its device', async () => {
    const [id] = await createAll([['LOW', 2]]);
    const lease = leaseFrom((await stack.claim(device, 'worker'))!);
    await stack.heartbeat(lease, null);
    const later = workerStack(client, names, { now: Date.now() + 61_000 });
    const [item] = (await queueAndClock()).items;
    await later.putBack(item as never);
    await prioritize(id!, 'HIGH');
    expect(await later.claim(device, 'another')).toBeDefined();
    expect((await queueAndClock()).items).toMatchObject([{ losses: 1 }]);
  });

  it('refuses what has ended, what an event made, and what no user has', async () => {
    const { id } = await stack.create(user, { device_type: device });
    await stack.cancel(user, id);
    expect(await prioritize(id, 'HIGH')).toMatchObject({ status: 409, data: { reason: 'batch_ended' } });
    expect((await prioritize(randomUUID(), 'HIGH')).status).toBe(404);
    for (const body of [{ reason: 'x' }, { queue_priority: 'HIGHEST', reason: 'x' }, { queue_priority: 'LOW' }])
      expect((await askAs('setBatchPriority', id, body)).status).toBe(422);
    expect(await acts()).toEqual([]);
  });

  it('holds for an open batch that has no jobs yet', async () => {
    const { id } = await stack.create(user, { device_type: device, jobs: 0, open: true });
    expect((await prioritize(id, 'CRITICAL')).data).toMatchObject({ queue_priority: 'CRITICAL' });
    await stack.add(user, id, 1);
    expect(tagsOf((await queueAndClock()).items)).toEqual(['0000000000000000.0']);
  });

  it('is made in full or not at all, and audited as often, wherever it dies', async () => {
    for (let most = 0, finished = false; !finished; most++) {
      ({ user, device } = newNames());
      operator = `operator|${randomUUID()}`;
      const [, id] = await createAll([
        ['LOW', 1],
        ['LOW', 1],
      ]);
      const dying = { ...db, client: dyingClient(client, most).client };
      const request = { operator, userId: user, batchId: id!, priority: 'HIGH', reason: 'why' } as const;
      finished = await isFinished(setBatchPriority(dying, request));
      const { batches } = await sound();
      const isMade = batches.find((row) => row.id === id)!.queue_priority === 'HIGH';
      expect((await acts()).length).toBe(isMade ? 1 : 0);
      expect(await setBatchPriority(db, request)).toMatchObject({ queue_priority: 'HIGH' });
      expect((await queueAndClock()).items).toHaveLength(2);
      expect(await acts()).toHaveLength(1);
    }
  });

  it('agrees with workers, users and other operators at the same time', async () => {
    const ids = await createAll(Array.from({ length: deep ? 6 : 2 }, () => ['LOW', 1] as const));
    // On a busy machine a call may be refused: it has to be repeated.
    const busy = () => undefined;
    const claim = async (n: number) => (await stack.claim(device, `worker ${n}`).catch(busy))?.batch.id;
    const [answers, claims] = await Promise.all([
      Promise.all(ids.flatMap((id) => (['HIGH', 'CRITICAL', 'HIGH'] as const).map((to) => prioritize(id, to)))),
      Promise.all((deep ? [1, 2, 3] : [1]).map(claim)),
      ...(deep ? [1, 2] : [1]).map(() => stack.create(user, { device_type: device }).catch(busy)),
    ]);
    for (const { status } of answers) expect([200, 409, 429]).toContain(status);
    const rows = await sound();
    const { items } = await queueAndClock();
    expect(items.map(({ key }) => key).sort()).toEqual(rows.batches.map(({ queue_key }) => queue_key).sort());
    const running = rows.batches.filter(({ status }) => status === 'RUNNING').map(({ id }) => id);
    for (const id of claims.filter((each) => each !== undefined)) expect(running).toContain(id);
    // One act for each change: they lead from the first priority to the last.
    const changes = (await acts()).map(({ target, before, after }) => [target.batch_id, before, after] as const);
    for (const row of rows.batches.filter(({ id }) => ids.includes(id))) {
      const own = changes.filter(([id]) => id === row.id);
      for (const priority of ['LOW', 'HIGH', 'CRITICAL'] as const) {
        const [left, reached] = ([1, 2] as const).map(
          (at) => own.filter((each) => each[at].queue_priority === priority).length,
        );
        expect(left! - reached!).toBe(Number(priority === 'LOW') - Number(priority === row.queue_priority));
      }
    }
  });
});
