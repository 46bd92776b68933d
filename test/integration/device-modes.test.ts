/** What an operator sets for a device, and what users and workers notice of it. */

import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { estimateNewBatch } from '../../functions/data/batches/new-batch-estimate.ts';
import { announceDevice, getDevice, listDevices, removeDevice } from '../../functions/data/rows/devices.ts';
import type { DeviceModeName } from '../../functions/device-modes.ts';
import { LeaseLost } from '../../functions/errors.ts';
import type { RouteName } from '../../functions/routes.ts';
import { Availability } from '../../functions/schemas/device.ts';
import type { Claim } from '../../functions/schemas/lease.ts';
import { fromMilliseconds } from '../../functions/values/timestamp.ts';
import { ask } from '../support/ask.ts';
import { askLater } from '../support/ask-later.ts';
import { changeItem } from '../support/change-item.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { type GatewayRequest, lambdaContext } from '../support/gateway-event.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { overtakenClient } from '../support/overtaken-client.ts';
import { deviceContent, sequenceText } from '../support/sequence-text.ts';
import { testDb } from '../support/test-db.ts';
import { leaseFrom, newNames, workerStack } from '../support/worker-stack.ts';

const { client, names } = await functionEnvironment();
const db = testDb(client, names);
const clock = { now: Date.parse('2026-11-22T12:00:00Z') };
const stack = workerStack(client, names, clock);
const done = { job: null, done: true, retry_after: null };
const at = (time: string) => `2026-11-22T${time}.000000Z`;

const operate = (route: RouteName, request: GatewayRequest) =>
  ask(route, { userId: 'auth0|operator', scope: 'operator', ...request });

/** What a mode makes of each question. */
type Outcome = readonly [
  /** What users read where it refuses something; undefined where it never does. */
  says: string | undefined,
  creation: 'accepted' | 'refused',
  /** Where a batch goes that names no device: to it, or to another one of the same name. */
  unnamed: 'it' | 'another' | 'refused',
  claim: 'a batch' | 'nothing',
  report: 'the next job' | 'done',
  availability: 'ACTIVE' | 'INACTIVE' | 'RETIRED',
  /** Where no worker was seen. */
  noEstimate: 'no_worker' | 'paused' | 'closed',
];

/** Written out, so that deviceModes is compared with something. */
const outcomes: Readonly<Record<DeviceModeName, Outcome>> = {
  OPEN: [undefined, 'accepted', 'it', 'a batch', 'the next job', 'ACTIVE', 'no_worker'],
  DRAINING: ['takes no further batches', 'accepted', 'it', 'nothing', 'the next job', 'INACTIVE', 'paused'],
  PAUSED: ['is paused', 'accepted', 'it', 'nothing', 'done', 'INACTIVE', 'paused'],
  CLOSED: ['is closed', 'refused', 'refused', 'nothing', 'done', 'INACTIVE', 'closed'],
  RETIRED: ['is retired', 'refused', 'another', 'nothing', 'done', 'RETIRED', 'closed'],
};

const windowNow = () => ({
  starts_at: fromMilliseconds(clock.now - 1_000),
  ends_at: fromMilliseconds(clock.now + 9_000),
  reason: 'a window',
});

describe.each(Object.entries(outcomes))('the mode %s', (mode, outcome) => {
  const [says, creation, unnamed, claims, reports, availability, noEstimate] = outcome;
  const reason = says && 'as the table says';
  const takesBatches = claims === 'a batch';
  const settings = { mode, ...(reason && { reason }) };
  const setMode = (device: string, more = {}) => stack.set(device, { ...settings, ...more });
  const answerOf = (call: Promise<unknown>) =>
    call.then(
      () => 'accepted',
      (error: Error & { reason: string }) => `${error.reason}: ${error.message}`,
    );
  const list = async (query: Readonly<Record<string, string | readonly string[]>>) =>
    (await askLater('listDevices', { query })).data;

  it('needs a reason, or takes none', async () => {
    const path = { device_type: newNames().device };
    expect((await operate('setDevice', { path, body: { mode } })).status).toBe(says ? 422 : 200);
    const { status: code, data } = await operate('setDevice', { path, body: { mode, reason: 'a reason' } });
    expect([code, data.mode, data.status_message]).toEqual([200, mode, says ? 'a reason' : null]);
  });

  it('decides about new batches, not about jobs of others', async () => {
    const { device, user } = newNames();
    const waits = await stack.create(user, { device_type: device, open: true });
    for (const windows of [[], [windowNow()]]) {
      await setMode(device, { windows });
      const refused = `device_closed: ${device} ${says}: ${reason}`;
      expect(await answerOf(stack.create(user, { device_type: device }))).toBe(
        creation === 'accepted' ? 'accepted' : refused,
      );
      expect(await answerOf(stack.add(user, waits.id, 1))).toBe('accepted');
    }
  });

  it('decides whether batches that name no device find it', async () => {
    const { device, user } = newNames();
    const [it, another] = [`A ${device}`, `B ${device}`];
    const specs = JSON.stringify({ name: device });
    for (const type of [it, another]) await announceDevice(db, type, { status: 'UP', specs });
    const sequence_builder = sequenceText({ device: deviceContent(device) });
    const body = { project_id: 'cccccccc-0000-4000-8000-000000000001', sequence_builder, jobs: [{}] };
    const found = [];
    for (const device_type of [it, another]) {
      await operate('setDevice', { path: { device_type }, body: settings });
      const { status: code, data } = await ask('createBatch', { userId: user, body });
      found.push(data?.device_type ?? code);
    }
    expect(found).toEqual({ it: [it, it], another: [another, 422], refused: [409, 409] }[unnamed]);
  });

  it('decides about claims', async () => {
    const { device, user } = newNames();
    const batch = await stack.create(user, { device_type: device });
    await setMode(device, { windows: [windowNow()] });
    expect(await stack.retryAfter(device)).toBe(reports === 'done' ? 60 : 9);
    await setMode(device, { windows: [] });
    if (takesBatches) expect((await stack.claimed(device)).batch.id).toBe(batch.id);
    else expect(await stack.retryAfter(device)).toBe(60);
  });

  it('decides about a claim that is under way', async () => {
    const { device, user } = newNames();
    await stack.announce(device, {});
    const batch = await stack.create(user, { device_type: device });
    const late = overtakenClient(client, () => setMode(device));
    const claim = await workerStack(late.client, names, clock).claim(device, 'worker');
    expect(late.isOvertaken).toBe(true);
    expect(claim?.batch.id).toBe(takesBatches ? batch.id : undefined);
    expect((await stack.batch(user, batch.id))?.status).toBe(takesBatches ? 'RUNNING' : 'PENDING');
  });

  it.each([
    ['', reports === 'the next job'],
    ['in a window ', false],
  ])('%sdecides about the next job, not about the one that runs', async (when, goesOn) => {
    const { device, user } = newNames();
    const held = await stack.create(user, { device_type: device, jobs: 2 });
    await stack.create(user, { device_type: device });
    const claim = await stack.claimed(device);
    const lease = leaseFrom(claim);
    await setMode(device, { windows: when === '' ? [] : [windowNow()] });
    // A question for the job that runs is answered as before.
    expect(await stack.heartbeat(lease, claim.job.id)).toMatchObject({ cancel: false });
    expect((await stack.next(lease)).job?.id).toBe(claim.job.id);
    const report = await stack.report(lease, claim.job.id);
    expect((await stack.job(user, claim.job.id))?.status).toBe('DONE');
    expect(report).toEqual(goesOn ? { job: expect.anything(), done: false, retry_after: null } : done);
    expect((await stack.batch(user, held.id))?.status).toBe(goesOn ? 'RUNNING' : 'PENDING');
    if (goesOn) await stack.release(lease);
    else {
      // It was reported already: the worker may not have got the answer.
      expect(await stack.report(lease, claim.job.id)).toEqual(done);
      await expect(stack.next(lease)).rejects.toThrow(LeaseLost);
    }
    await stack.set(device, { mode: 'OPEN', windows: [] });
    // It has kept its place, before the others.
    expect((await stack.claimed(device)).batch.id).toBe(held.id);
  });

  it('decides how the device is listed, and when', async () => {
    const { device } = newNames();
    await announceDevice(db, device, { status: 'UP' });
    expect(await list({ device_type: device })).toMatchObject([{ availability: 'ACTIVE' }]);
    await operate('setDevice', { path: { device_type: device }, body: settings });
    const shown = [{ device_type: device, availability, mode, status_message: reason ?? null, available_at: null }];
    expect(await list({ device_type: device })).toMatchObject(availability === 'RETIRED' ? [] : shown);
    expect(await list({ device_type: device, availability: Availability.options })).toMatchObject(shown);
    expect((await askLater('listDevices', { query: { availability: 'DOWN' } })).status).toBe(422);
    for (const each of Availability.options) {
      expect(await list({ device_type: device, availability: each })).toMatchObject(each === availability ? shown : []);
    }
  });

  it('decides what users read of a device in a window', async () => {
    const { device } = newNames();
    const rules = await setMode(device, { windows: [windowNow()] });
    const startsJobs = reports === 'the next job';
    expect(await stack.show({ device_type: device, status: 'UP', rules })).toMatchObject({
      availability: availability === 'RETIRED' ? 'RETIRED' : 'INACTIVE',
      mode,
      status_message: startsJobs ? 'a window' : reason,
      available_at: startsJobs ? windowNow().ends_at : null,
    });
  });

  it('decides what users read of a batch that waits, or would', async () => {
    const { device, user } = newNames();
    await stack.announce(device, {});
    const batch = await stack.create(user, { device_type: device });
    await setMode(device);
    expect(await stack.queued(user, batch.id)).toMatchObject({
      queue_position: 0,
      queue_reason: takesBatches ? null : `${device} ${says}: ${reason}`,
      estimated_start_reason: noEstimate,
    });
    const planned = { user_id: user, device_type: device, queue_priority: 'MEDIUM', jobs: 1 } as const;
    const estimate = await estimateNewBatch({ ...stack.db }, planned);
    expect(estimate.estimated_start_reason).toBe(noEstimate);
  });

  it('decides whether waiting batches raise an alarm', async () => {
    const { device, user } = newNames();
    await stack.create(user, { device_type: device });
    await setMode(device);
    expect(await stack.measure(device)).toMatchObject({ length: 1, unclaimed: takesBatches });
    await setMode(device, { windows: [windowNow()] });
    expect(await stack.measure(device)).toMatchObject({ length: 1, unclaimed: false });
  });
});

describe('a mode', () => {
  it('that pauses lets an open batch that waits for jobs go, and does not time it out', async () => {
    const { device, user, batch, claim, lease } = await stack.held({ open: true });
    expect(await stack.report(lease, claim.job.id)).toMatchObject({ job: null, done: false });
    await stack.set(device, { mode: 'DRAINING', reason: 'soon' });
    expect(await stack.next(lease)).toMatchObject({ job: null, done: false });
    await stack.set(device, { mode: 'PAUSED', reason: 'now' });
    expect(await stack.next(lease)).toEqual(done);
    clock.now += 600_000;
    await stack.add(user, batch.id, 1);
    expect(await stack.claim(device, 'worker')).toBeUndefined();
    await stack.set(device, { mode: 'OPEN' });
    expect((await stack.claimed(device)).batch.id).toBe(batch.id);
  });

  it('does not keep a batch from its end, nor a worker from what it has', async () => {
    const { device, user, batch, claim, lease } = await stack.held();
    const { job } = claim;
    await stack.set(device, { mode: 'PAUSED', reason: 'now' });
    clock.now += 50_000;
    await stack.heartbeat(lease, job.id);
    expect(await stack.uploadKey(lease, job.id, 'a'.repeat(64))).toContain(job.id);
    expect(await stack.report(lease, job.id)).toEqual(done);
    expect((await stack.batch(user, batch.id))?.status).toBe('DONE');
  });

  it('leaves a job that lost its worker to a claim after the pause, with the loss counted once', async () => {
    const { device, claim: lost, lease } = await stack.held();
    await stack.heartbeat(lease, lost.job.id);
    await stack.set(device, { mode: 'PAUSED', reason: 'now' });
    clock.now += 61_000;
    expect(await stack.claim(device, 'worker')).toBeUndefined();
    const { lapsed, unclaimed } = await stack.measure(device);
    // No alarm: no worker is to work.
    expect([lapsed.length, unclaimed]).toEqual([1, false]);
    await stack.putBack(lapsed[0]!);
    await stack.set(device, { mode: 'OPEN' });
    expect((await stack.claimed(device)).job.id).toBe(lost.job.id);
    expect(await stack.list(device)).toMatchObject([{ position: null, lease: { losses: 1, job_id: lost.job.id } }]);
  });
});

describe('a window', () => {
  const windows = [
    { starts_at: '2026-11-22T13:00:00Z', ends_at: '2026-11-22T14:00:00Z', reason: 'first' },
    { starts_at: '2026-11-22T14:00:00Z', ends_at: '2026-11-22T14:30:00.5Z', reason: 'second' },
  ];

  it('holds from its start to before its end, for claims, next jobs and what users see', async () => {
    const { device, user } = newNames();
    await stack.announce(device, {});
    await announceDevice(db, device, { status: 'UP' });
    const moments: [time: string, reason: string | null, retryAfter: number][] = [
      ['12:59:59.999', null, 0],
      ['13:00:00.000', 'first', 60],
      ['13:59:30.000', 'first', 30],
      ['13:59:59.000', 'first', 3],
      ['14:00:00.000', 'second', 60],
      ['14:30:00.499', 'second', 3],
      ['14:30:00.500', null, 0],
    ];
    clock.now = Date.parse('2026-11-22T12:00:00Z');
    await stack.set(device, { windows: windows.toReversed() });
    await stack.create(user, { device_type: device, jobs: 5 });
    for (const [time, reason, retryAfter] of moments) {
      clock.now = Date.parse(`2026-11-22T${time}Z`);
      const shown = await stack.show((await getDevice(db, device))!);
      const until = reason === 'first' ? windows[0]!.ends_at : windows[1]!.ends_at;
      expect(shown, time).toMatchObject({
        availability: reason === null ? 'ACTIVE' : 'INACTIVE',
        mode: 'OPEN',
        status_message: reason,
        available_at: reason === null ? null : new Date(until).toISOString().replace('Z', '000Z'),
        windows: windows
          .filter(({ ends_at }) => Date.parse(ends_at) > clock.now)
          .map((each) => ({ reason: each.reason })),
      });
      // In a window a claim is answered null; the lease of one before it ends with the report.
      if (reason !== null) {
        expect(await stack.retryAfter(device), time).toBe(retryAfter);
        continue;
      }
      const claim = await stack.claimed(device);
      const lease = leaseFrom(claim);
      expect((await stack.report(lease, claim.job.id)).done, time).toBe(false);
      await stack.release(lease);
    }
    // A job that was started right before a window is reported in it.
    clock.now = Date.parse('2026-11-22T12:59:59.999Z');
    const claim = await stack.claimed(device);
    clock.now += 1;
    expect(await stack.report(leaseFrom(claim), claim.job.id)).toEqual(done);
  });

  it('lets an open batch go that waits for jobs when it begins', async () => {
    const { device, user } = newNames();
    clock.now = Date.parse('2026-11-22T12:58:30Z');
    await stack.set(device, { windows });
    await stack.create(user, { device_type: device, open: true });
    const claim = await stack.claimed(device);
    await stack.report(leaseFrom(claim), claim.job.id);
    clock.now = Date.parse('2026-11-22T12:59:59.999Z');
    expect(await stack.next(leaseFrom(claim))).toMatchObject({ done: false });
    clock.now += 1;
    expect(await stack.next(leaseFrom(claim))).toEqual(done);
  });
});

describe('max_job_seconds', () => {
  const tooLong = ['The job ran longer than 100 s.'];
  type Held = Pick<Claim, 'lease' | 'job'>;

  /** What ends the job of a worker, whose batch has more, and who has the next one then. */
  const ways: Record<string, (device: string, held: Held) => Promise<Held>> = {
    async 'a report'(_, { lease, job }) {
      const report = () => stack.report(leaseFrom({ lease }), job.id, { status: 'DONE', errors: ['mine'] });
      const answer = await report();
      expect(await report()).toEqual(answer);
      return { lease, job: answer.job! };
    },
    next: async (_, { lease }) => ({ lease, job: (await stack.next(leaseFrom({ lease }))).job! }),
    async 'a release'(device, claim) {
      await stack.release(leaseFrom(claim));
      return stack.claimed(device);
    },
    'the next claim, where the worker is silent': async (device) => {
      clock.now += 61_000;
      return stack.claimed(device);
    },
    async 'the next claim, where the worker does not stop'(device, claim) {
      let another: Claim | undefined;
      for (const [seconds, isKept] of [
        [59.999, true],
        [0.001, false],
      ] as const) {
        clock.now += seconds * 1_000;
        expect((await stack.heartbeat(leaseFrom(claim), claim.job.id)).cancel).toBe(true);
        another = await stack.claim(device, 'another');
        expect(another === undefined).toBe(isKept);
      }
      return another!;
    },
    async 'the put-back, where the worker is silent'(device) {
      clock.now += 61_000;
      for (const item of (await stack.measure(device)).lapsed) await stack.putBack(item);
      expect((await stack.measure(device)).lapsed).toEqual([]);
      return stack.claimed(device);
    },
  };

  it('ends the job, whatever call comes, and the next one is handed out', async () => {
    const { device, user } = newNames();
    await stack.set(device, { max_job_seconds: 100 });
    const ends = Object.entries(ways);
    const batch = await stack.create(user, { device_type: device, jobs: ends.length + 1 });
    let holder: Held = await stack.claimed(device);
    for (const [at, [name, way]] of ends.entries()) {
      const { lease, job } = holder;
      for (const [seconds, cancel] of [
        [50, false],
        [49.999, false],
        [0.001, true],
      ] as const) {
        clock.now += seconds * 1_000;
        expect((await stack.heartbeat(leaseFrom({ lease }), job.id)).cancel, name).toBe(cancel);
      }
      holder = await way(device, holder);
      expect(holder.job.id, name).toBe(batch.jobs![at + 1]!.id);
      expect(await stack.job(user, job.id), name).toMatchObject({ status: 'ERROR', errors: tooLong });
      expect((await stack.list(device))[0], name).toMatchObject({
        jobs_count_per_status: { ERROR: at + 1, RUNNING: 1 },
        lease: { losses: 0, job_id: holder.job.id },
      });
    }
  });

  it.each([
    ['releaseLease', 30],
    ['measureQueues', 100],
  ] as const)('ends the job also by the function %s, with what that may use', async (name, ago) => {
    const { device, user } = newNames();
    clock.now = Date.now() - ago * 1_000;
    await announceDevice(db, device, { status: 'UP' });
    await stack.set(device, { max_job_seconds: 20 });
    const { id } = await stack.create(user, { device_type: device, jobs: 2 });
    const { lease } = await stack.claimed(device);
    if (name === 'releaseLease') {
      expect((await operate(name, { path: { lease }, scope: 'device:*' })).status).toBe(200);
    } else {
      const { handler } = await import('../../functions/schedules/measure-queues.ts');
      await handler({} as never, lambdaContext());
    }
    expect((await stack.batch(user, id))?.jobs_count_per_status).toMatchObject({ ERROR: 1, PENDING: 1 });
  });

  it('is the strictest of the device’s and the batch’s, for each start anew', async () => {
    const { device, user } = newNames();
    const bounds = [
      [undefined, undefined, undefined],
      [100, undefined, 100],
      [undefined, 80, 80],
      [100, 80, 80],
      [60, 80, 60],
    ] as const;
    const batch = await stack.create(user, { device_type: device, jobs: bounds.length });
    let { lease, job } = await stack.claimed(device);
    for (const [at, [ofDevice, ofBatch, expected]] of bounds.entries()) {
      await stack.set(device, { max_job_seconds: ofDevice ?? null });
      if (ofBatch !== undefined) {
        const Key = { user_id: user, id: batch.id };
        await changeItem(client, names.Batches, { Key, attributes: { max_job_seconds: ofBatch } });
      }
      clock.now += 50_000;
      await stack.release(leaseFrom({ lease }));
      ({ lease, job } = await stack.claimed(device));
      const { id } = job;
      clock.now += 50_000;
      // It has run for 50 s since it was started anew.
      expect((await stack.heartbeat(leaseFrom({ lease }), id)).cancel).toBe(false);
      clock.now += 50_000;
      expect((await stack.heartbeat(leaseFrom({ lease }), id)).cancel).toBe(expected !== undefined);
      const report = () => stack.report(leaseFrom({ lease }), id);
      const answer = await report();
      // The second answers as the first, also where that has ended the batch.
      expect(await report()).toEqual(answer);
      expect((await stack.job(user, id))?.errors).toEqual(
        expected === undefined ? null : [`The job ran longer than ${expected} s.`],
      );
      if (at === bounds.length - 1) expect(answer).toEqual(done);
      else job = answer.job!;
    }
    expect((await stack.batch(user, batch.id))?.status).toBe('DONE');
  });
});

describe('average_queue_time', () => {
  const average = async (device: string) =>
    (await stack.show({ device_type: device, status: 'UP' })).average_queue_time;

  it('is the mean wait for the first worker of the batches claimed within the last hour', async () => {
    const { device, user } = newNames();
    await stack.announce(device, {});
    expect(await average(device)).toBeNull();
    const create = (open = false) => stack.create(user, { device_type: device, open });
    await create();
    clock.now += 10_000;
    const claim = await stack.claimed(device);
    expect(await average(device)).toBe(10);
    // What is claimed again does not count again.
    clock.now += 30_000;
    await stack.release(leaseFrom(claim));
    await stack.claimed(device);
    expect(await average(device)).toBe(10);
    // Jobs that are added move a batch further back; it has waited since it came.
    const open = await create(true);
    await create();
    clock.now += 20_000;
    await stack.add(user, open.id, 2);
    clock.now += 20_000;
    await Promise.all([stack.claimed(device), stack.claimed(device)]);
    expect(await average(device)).toBe(30);
    clock.now += 61 * 60_000;
    expect(await average(device)).toBeNull();
    await create();
    clock.now += 2_000;
    // The others have lost their workers.
    for (let batches = 0; batches < 4; batches++) await stack.claimed(device);
    expect(await average(device)).toBe(2);
    const counted = (await stack.clockItem(device))!;
    expect(Object.keys(counted).filter((name) => name.startsWith('w_'))).toHaveLength(1);
  });
});

describe('the queue, as operators see it', () => {
  it('has the batches of all users in the order of claims, with positions and leases', async () => {
    const { device, user } = newNames();
    await stack.announce(device, {});
    const users = [user, `${user} 2`];
    const created: { readonly id: string }[] = [];
    for (let nr = 0; nr < 4; nr++) created.push(await stack.create(users[nr % 2]!, { device_type: device, jobs: 2 }));
    const list = async (query = {}) => operate('listQueue', { path: { device_type: device }, query });
    const all = await list();
    expect(all.pagination).toEqual({ total: 4, start: 0, end: 4 });
    const order: string[] = all.data.map(({ id }: { id: string }) => id);
    expect(new Set(order)).toEqual(new Set(created.map(({ id }) => id)));
    expect(all.data.map(({ user_id, position, lease }: never) => [user_id, position, lease])).toEqual(
      order.map((id, place) => [users[created.findIndex((each) => each.id === id) % 2], place, null]),
    );
    clock.now = Date.now();
    const claim = await stack.claimed(device);
    expect(claim.batch.id).toBe(order[0]);
    const pages = [await list({ limit: 2 }), await list({ limit: 1, offset: 2 }), await list({ limit: 9, offset: 3 })];
    const listed = pages.flatMap(({ data }) => data);
    expect(listed.map(({ id }) => id)).toEqual(order);
    expect(listed.map(({ position }) => position)).toEqual([null, 1, 2, 3]);
    expect(pages.map(({ pagination }) => pagination.total)).toEqual([4, 4, 4]);
    const lease = { worker: 'worker', expires_at: claim.expires_at, job_id: claim.job.id, losses: 0 };
    expect(listed[0]).toMatchObject({ status: 'RUNNING', lease });
    for (const id of order.slice(1)) expect((await stack.claimed(device)).batch.id).toBe(id);
    expect((await list({ offset: 9 })).data).toEqual([]);
  });

  it('is 404 for an unknown type, and 403 for users and devices', async () => {
    const { device } = newNames();
    const path = { device_type: device };
    expect((await operate('listQueue', { path })).status).toBe(404);
    await stack.announce(device, {});
    expect(await operate('listQueue', { path })).toMatchObject({ status: 200, data: [] });
    for (const scope of ['', 'device:*']) expect((await operate('listQueue', { path, scope })).status).toBe(403);
  });
});

describe('a call that sets a device', () => {
  const set = (device_type: string, body: unknown) => operate('setDevice', { path: { device_type }, body });
  const list = async (query: Readonly<Record<string, string | readonly string[]>>) =>
    (await askLater('listDevices', { query })).data;

  it('answers with the device, which announcements do not change, and is a row of the audit trail', async () => {
    const { device } = newNames();
    const specs = JSON.stringify({
      name: 'D',
      max_atom_num: 80,
      is_virtual: true,
      channels: [{ id: 'rydberg_global' }],
    });
    const announced = { status: 'UP', specs, idle_seconds: 30 };
    await operate('announceDevice', { path: { device_type: device }, scope: 'device:*', body: announced });
    const windows = [{ starts_at: '2036-01-01', ends_at: '2036-01-02T01:00:00+01:00', reason: 'new lasers' }];
    const first = await set(device, { mode: 'PAUSED', reason: 'calibration', windows, idle_seconds: 60 });
    const shown = {
      device_type: device,
      status: 'UP',
      availability: 'INACTIVE',
      queue_length: 0,
      mode: 'PAUSED',
      status_message: 'calibration',
      available_at: null,
      windows: [
        { starts_at: '2036-01-01T00:00:00.000000Z', ends_at: '2036-01-02T00:00:00.000000Z', reason: 'new lasers' },
      ],
      average_queue_time: null,
      max_atom_num: 80,
      is_emulator: true,
      channels: [{ id: 'rydberg_global' }],
      calibration: null,
    };
    expect(first.data).toEqual({ ...shown, max_job_seconds: null, idle_seconds: 60, max_batch_seconds: null });
    await operate('announceDevice', { path: { device_type: device }, scope: 'device:*', body: { status: 'UP' } });
    expect(await list({ device_type: device })).toEqual([{ ...shown, idle_seconds: 60 }]);
    const second = await set(device, { mode: 'OPEN', reason: 'calibrated', idle_seconds: null, max_job_seconds: 600 });
    expect(second.data).toMatchObject({ availability: 'ACTIVE', status_message: null, max_job_seconds: 600 });
    expect(second.data.idle_seconds).toBeNull();
    for (const nothing of [{ mode: 'OPEN' }, { reason: 'x' }]) {
      expect((await set(device, nothing)).data).toEqual(second.data);
    }
    const rows = await itemsOfMonth();
    const acts = rows.filter(({ target }) => target.device_type === device);
    expect(
      acts.map(({ operator, action, reason, before, after }) => ({ operator, action, reason, before, after })),
    ).toEqual(
      [
        {
          reason: 'calibration',
          before: { mode: 'OPEN', windows: [], idle_seconds: null },
          after: { mode: 'PAUSED', windows: shown.windows, idle_seconds: 60 },
        },
        {
          reason: 'calibrated',
          before: { mode: 'PAUSED', idle_seconds: 60, max_job_seconds: null },
          after: { mode: 'OPEN', idle_seconds: null, max_job_seconds: 600 },
        },
      ].map((act) => ({ operator: 'auth0|operator', action: 'device.set', ...act })),
    );
  });

  async function itemsOfMonth() {
    const { Items = [] } = await client.send(new ScanCommand({ TableName: names.Audit, ConsistentRead: true }));
    return Items.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  it('may come before the device announces itself, and outlives its removal', async () => {
    const { device } = newNames();
    const { data } = await set(device, { mode: 'CLOSED', reason: 'not yet' });
    expect(data).toMatchObject({ status: 'NOT ANNOUNCED', availability: 'INACTIVE', status_message: 'not yet' });
    expect(await list({ device_type: device })).toEqual([]);
    for (let times = 0; times < 2; times++) {
      await announceDevice(db, device, { status: 'UP' });
      expect(await list({ device_type: device })).toMatchObject([{ status: 'UP', mode: 'CLOSED' }]);
      await removeDevice(db, device);
      expect(await list({ device_type: device })).toEqual([]);
    }
    await expect(removeDevice(db, device)).rejects.toThrow('There is no such device.');
    expect(await listDevices(db)).not.toContainEqual(expect.objectContaining({ device_type: device }));
  });

  it('takes what the operator sets before what the device announces', async () => {
    const { device, user } = newNames();
    await stack.announce(device, { idle_seconds: 30, max_batch_seconds: 60 });
    await set(device, { idle_seconds: 500 });
    clock.now = Date.now();
    await stack.create(user, { device_type: device, open: true });
    const claim = await stack.claimed(device);
    const lease = leaseFrom(claim);
    await stack.report(lease, claim.job.id);
    clock.now += 59_000;
    expect((await stack.next(lease)).done).toBe(false);
    // As it has announced, the batch goes behind the others after 60 s.
    clock.now += 1_000;
    expect((await stack.next(lease)).done).toBe(true);
  });

  it('leaves batches that were claimed before nothing of what it takes back', async () => {
    const { device, user } = newNames();
    clock.now = Date.now();
    await set(device, { idle_seconds: 500, max_batch_seconds: 60 });
    await stack.create(user, { device_type: device, open: true });
    await stack.release(leaseFrom(await stack.claimed(device)));
    await set(device, { idle_seconds: null, max_batch_seconds: null });
    const claim = await stack.claimed(device);
    const lease = leaseFrom(claim);
    clock.now += 60_000;
    expect((await stack.report(lease, claim.job.id)).done).toBe(false);
    clock.now += 119_999;
    expect((await stack.next(lease)).done).toBe(false);
    clock.now += 1;
    expect((await stack.next(lease)).done).toBe(true);
  });

  it('is audited once where the answer of its transaction is lost', async () => {
    const { device } = newNames();
    let sent = 0;
    const lossy = interceptedClient(client, async ({ name, send }) => {
      const output = await send();
      if (name === 'TransactWriteCommand' && sent++ === 0) {
        throw Object.assign(new Error('No answer'), { name: 'TimeoutError' });
      }
      return output;
    });
    await workerStack(lossy, names, clock).set(device, { mode: 'PAUSED', reason: 'calibration' });
    expect(sent).toBe(2);
    expect((await itemsOfMonth()).filter(({ target }) => target.device_type === device)).toHaveLength(1);
  });

  it('is refused with all faults at once', async () => {
    const { device } = newNames();
    const hours = (from: number, to: number) => ({
      starts_at: at(`0${from}:00:00`),
      ends_at: at(`0${to}:00:00`),
      reason: 'x',
    });
    const cases: [body: unknown, faults: [string, string][]][] = [
      [{}, [['body.mode', 'missing']]],
      [{ mode: 'PAUSED' }, [['body.reason', 'missing']]],
      [
        { mode: 'DOWN', idle_seconds: 9, max_job_seconds: 0, reason: '' },
        [
          ['body.mode', 'enum'],
          ['body.reason', 'string_too_short'],
          ['body.max_job_seconds', 'greater_than_equal'],
          ['body.idle_seconds', 'greater_than_equal'],
        ],
      ],
      [{ reason: 'x'.repeat(513) }, [['body.reason', 'string_too_long']]],
      [
        { windows: [hours(2, 2), hours(3, 1)] },
        [
          ['body.windows.0.ends_at', 'value_error'],
          ['body.windows.1.ends_at', 'value_error'],
        ],
      ],
      [{ windows: [hours(4, 6), hours(1, 2), hours(3, 5)] }, [['body.windows.0.starts_at', 'value_error']]],
      [{ windows: Array.from({ length: 51 }, () => hours(1, 2)) }, [['body.windows', 'too_long']]],
      [
        { windows: [{ starts_at: 'now', ends_at: at('01:00:00') }] },
        [
          ['body.windows.0.starts_at', 'datetime_parsing'],
          ['body.windows.0.reason', 'missing'],
        ],
      ],
    ];
    for (const [body, faults] of cases) {
      const { status, detail = [] } = await set(device, body);
      const found = detail.map(({ loc, type }: { loc: string[]; type: string }) => [loc.join('.'), type]);
      expect([status, found], JSON.stringify(body).slice(0, 80)).toEqual([422, faults]);
    }
    for (const scope of ['', 'device:*']) {
      expect((await operate('setDevice', { path: { device_type: device }, scope, body: { windows: [] } })).status).toBe(
        403,
      );
    }
  });
});
