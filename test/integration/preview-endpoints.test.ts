/** What operators read of an act before they do it, and that looking writes nothing. */

import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it, vi } from 'vitest';
import type { RouteName } from '../../functions/routes.ts';
import { ask } from '../support/ask.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import type { GatewayRequest } from '../support/gateway-event.ts';
import { leaseFrom, newNames, project_id, workerStack } from '../support/worker-stack.ts';

const { client, names } = await functionEnvironment();
vi.useFakeTimers({ toFake: ['Date'] });
const clock = {
  get now() {
    return Date.now();
  },
};
const stack = workerStack(client, names, clock);
const goOn = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1_000);

const operate = (route: RouteName, request: GatewayRequest) =>
  ask(route, { userId: 'auth0|operator', scope: 'operator', ...request });
const look = (route: RouteName, request: GatewayRequest) => operate(route, { ...request, query: 'preview=true' });
const setDevice = (device_type: string, body: object) => ({ path: { device_type }, body });
const pause = { mode: 'PAUSED', reason: 'Works' };
const setPriority = (user_id: string, batch_id: string, queue_priority: string) => ({
  path: { user_id, batch_id },
  body: { queue_priority, reason: 'The demonstration' },
});
const ofSubject = (subject: string, body?: object) => ({ path: { subject }, body });

/** Everything that is stored. */
async function stored() {
  const items = await Promise.all(
    Object.values(names).map(async (TableName) => {
      const { Items = [] } = await client.send(new ScanCommand({ TableName, ConsistentRead: true }));
      return Items.map((item) => JSON.stringify(item)).sort();
    }),
  );
  return items;
}

/** A device whose jobs take 60 s: a worker has one batch of three jobs, two others wait. */
async function busyDevice() {
  const { device, user } = newNames();
  await stack.announce(device, {});
  const create = (of: string, jobs: number) => stack.create(of, { device_type: device, jobs });
  await create(user, 1);
  const first = (await stack.claim(device, 'worker'))!;
  goOn(60);
  await stack.report(leaseFrom(first), first.job.id);
  const held = await create(user, 3);
  await stack.claim(device, 'worker');
  const waiting = await create(user, 1);
  goOn(1);
  const other = await create(`${user} 2`, 2);
  return { device, user, held, waiting, other };
}

describe('preview=true', () => {
  it('writes nothing, whatever the act', async () => {
    const { device, user, waiting } = await busyDevice();
    await operate('putLimits', ofSubject(`user:${user}`, { max_unfinished_batches: 9 }));
    const before = await stored();
    const answers = [
      await look('setDevice', setDevice(device, pause)),
      await look('setDevice', setDevice('A device of which nothing is known', pause)),
      await look('setBatchPriority', setPriority(user, waiting.id, 'CRITICAL')),
      await look('putLimits', ofSubject(`user:${user}`, { max_unfinished_batches: 1 })),
      await look('putLimits', ofSubject(`project:${project_id}`, { shots_per_month: 1 })),
      await look('putLimits', ofSubject('default', {})),
      await look('deleteLimits', ofSubject(`user:${user}`)),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(await stored()).toEqual(before);
    // The act itself, by contrast.
    await operate('setDevice', setDevice(device, pause));
    expect(await stored()).not.toEqual(before);
  });

  it('names the batches with their owners and projects, those without a new end first', async () => {
    const { device, user, held, waiting, other } = await busyDevice();
    const { data } = await look('setDevice', setDevice(device, pause));
    expect(data).toMatchObject({ looked_at: 3, is_complete: true, limits: null, refuses_new: false });
    const ids = data.batches.map(({ batch_id }: { batch_id: string }) => batch_id);
    expect(new Set(ids)).toEqual(new Set([held.id, waiting.id, other.id]));
    const shown = data.batches.find(({ batch_id }: { batch_id: string }) => batch_id === held.id);
    expect(shown).toMatchObject({
      ...{ user_id: user, user_name: null, project_id, device_type: device, queue_priority: 'MEDIUM' },
      ...{ jobs_left: 3, is_at_work: true, ends_before_reason: null },
      ...{ ends_after: null, ends_after_reason: 'paused', delay_seconds: null },
    });
    const likely = (Date.parse(shown.ends_before.likely) - Date.now()) / 1_000;
    expect(likely).toBeGreaterThan(120);
    expect(likely).toBeLessThan(240);
    const closed = await look('setDevice', setDevice(device, { mode: 'CLOSED', reason: 'Works' }));
    expect(closed.data).toMatchObject({ refuses_new: true, batches: [{ ends_after_reason: 'closed' }, {}, {}] });
  });

  it('says who is overtaken, and that the act does the same', async () => {
    const { user, device, waiting, other } = await busyDevice();
    const [first, second] = (await stack.list(device)).filter(({ position }) => position !== null);
    const { data } = await look('setBatchPriority', setPriority(second!.user_id, second!.id, 'CRITICAL'));
    expect(data).toMatchObject({ looked_at: 3, refuses_new: null });
    const [later, earlier] = data.batches;
    expect(later).toMatchObject({ batch_id: first!.id, queue_priority: 'MEDIUM', is_at_work: false });
    expect(later.delay_seconds.likely).toBeGreaterThan(30);
    expect(earlier).toMatchObject({ batch_id: second!.id, queue_priority: 'MEDIUM' });
    expect(earlier.delay_seconds.likely).toBeLessThan(-30);
    await operate('setBatchPriority', setPriority(second!.user_id, second!.id, 'CRITICAL'));
    const after = (await stack.list(device)).filter(({ position }) => position !== null);
    expect(after.map(({ id }) => id)).toEqual([second!.id, first!.id]);
    expect([user, `${user} 2`]).toContain(second!.user_id);
    expect([waiting.id, other.id]).toContain(second!.id);
  });

  it('says what is left under new limits, and whether the next batch would be refused', async () => {
    const { user } = await busyDevice();
    const put = async (subject: string, body: object) => (await look('putLimits', ofSubject(subject, body))).data;
    const subject = `user:${user}`;
    // The batch of three jobs, and one that waits.
    expect(await put(subject, { max_unfinished_batches: 3 })).toMatchObject({
      ...{ batches: [], refuses_new: false },
      limits: {
        limits: { max_unfinished_batches: 3 },
        used: { max_unfinished_batches: 2 },
        left: { max_unfinished_batches: 1 },
      },
    });
    expect(await put(subject, { max_unfinished_batches: 2 })).toMatchObject({ refuses_new: true });
    expect(await put(subject, { device_types: [] })).toMatchObject({ refuses_new: true });
    expect(await put(subject, { device_types: ['A'] })).toMatchObject({ refuses_new: false });
    expect(await put(`project:${project_id}`, { shots_per_month: 0 })).toMatchObject({ refuses_new: true });
    expect(await put('default', { shots_per_month: 0 })).toMatchObject({ limits: null, refuses_new: null });
    await operate('putLimits', ofSubject(subject, { max_unfinished_batches: 2 }));
    const { data } = await look('deleteLimits', ofSubject(subject));
    expect(data).toMatchObject({ refuses_new: false, limits: { limits: { max_unfinished_batches: null } } });
    const refused = await stack.create(user, {}).catch(({ reason }) => reason);
    expect(refused).toBe('limit_exceeded');
  });

  it('is refused as the act is', async () => {
    const { device, user, held } = await busyDevice();
    const unknown = '00000000-0000-4000-8000-000000000000';
    const requests: readonly [RouteName, GatewayRequest, number][] = [
      ['setDevice', setDevice(device, { mode: 'PAUSED' }), 422],
      ['setBatchPriority', setPriority(user, unknown, 'HIGH'), 404],
      ['setBatchPriority', setPriority(user, held.id, 'HIGH'), 409],
      ['putLimits', ofSubject('user:x', { max_unfinished_batches: -1 }), 422],
      ['deleteLimits', ofSubject(`user:${user}`), 404],
    ];
    for (const [route, request, status] of requests) {
      const { headers: _, ...looked } = await look(route, request);
      const { headers: __, ...acted } = await operate(route, request);
      expect(looked).toMatchObject({ status });
      expect(looked).toEqual(acted);
      expect((await operate(route, { ...request, query: 'preview=perhaps' })).status).toBe(422);
      expect((await ask(route, { userId: 'auth0|nobody', ...request, query: 'preview=true' })).status).toBe(403);
    }
  });
});
