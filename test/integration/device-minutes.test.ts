/**
 * What the service measures of devices over time, beside a judge who counts for himself; their
 * workers; and the same for Prometheus.
 */

import { execFileSync } from 'node:child_process';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { ScheduledEvent } from 'aws-lambda';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { measureDevices } from '../../functions/data/operators/device-metrics.ts';
import { keepMinute, listMinutes } from '../../functions/data/operators/device-minutes.ts';
import { watchDevice } from '../../functions/data/operators/watched-device.ts';
import { deviceSubject } from '../../functions/data/queue/device-counters.ts';
import { listIdleWorkers, noteIdleWorker } from '../../functions/data/queue/idle-workers.ts';
import { deviceTimesKey } from '../../functions/data/queue/job-times.ts';
import { announceDevice } from '../../functions/data/rows/devices.ts';
import { deviceModeNames } from '../../functions/device-modes.ts';
import { prometheusText } from '../../functions/endpoints/service/prometheus-text.ts';
import type { Claim } from '../../functions/schemas/lease.ts';
import { fromMilliseconds } from '../../functions/values/timestamp.ts';
import { itemBytes } from '../bench/bench-rows.ts';
import { ask } from '../support/ask.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { type GatewayRequest, gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { loadHandler } from '../support/handlers.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { loggedLines } from '../support/logged-lines.ts';
import { measuredClient } from '../support/measured-client.ts';
import { leaseFrom, newNames, workerStack } from '../support/worker-stack.ts';

const { client, names } = await functionEnvironment();
const noon = Date.parse('2026-11-22T12:00:00Z');
/** The handlers' clock is stopped at noon; below them the tests have a clock of their own. */
vi.useFakeTimers({ toFake: ['Date'], now: noon });
const clock = { now: noon };
const stack = workerStack(client, names, clock);
const { db } = stack;
const seconds = (number: number) => {
  clock.now += number * 1_000;
};
beforeAll(() => {
  clock.now = noon;
});

/** As the function that the clock calls, of one device. */
async function keep(device: string) {
  await keepMinute(db, device, { measure: await stack.measure(device), idle: await listIdleWorkers(db, device) });
}

const operator = (name: 'getDevice' | 'getMetrics', request: GatewayRequest = {}) =>
  ask(name, { userId: 'operator', scope: 'operator', ...request });
const minutesOf = (device_type: string, query: GatewayRequest['query'] = {}) =>
  ask('listMinutes', { userId: 'anyone', path: { device_type }, query });

interface Counted {
  readonly at: number;
  readonly queue: number;
  readonly started: number;
  readonly waited: number;
  readonly workers: number;
  readonly busy: number;
}

/** The steps that a judge expects, from what he has seen in each minute. */
function judged(counted: readonly Counted[], step: number) {
  const begin = (at: number) => at - (at % (step * 1_000));
  return [...new Set(counted.map(({ at }) => begin(at)))].map((at) => {
    const of = counted.filter((each) => begin(each.at) === at);
    const add = (values: number[]) => values.reduce((sum, value) => sum + value, 0);
    return {
      at: fromMilliseconds(at),
      queue_length: expect.closeTo(add(of.map(({ queue }) => queue)) / of.length, 1),
      longest_queue: Math.max(...of.map(({ queue }) => queue)),
      batches_started: add(of.map(({ started }) => started)),
      waited_seconds: add(of.map(({ waited }) => waited)),
      busy_seconds: expect.closeTo(add(of.map(({ busy }) => busy)), 6),
      workers: Math.max(...of.map(({ workers }) => workers)),
    };
  });
}

describe('minutes', () => {
  it('are what a judge counts, in steps of every length, also beyond an item', async () => {
    const { device, user } = newNames();
    await stack.announce(device, {});
    clock.now = noon;
    const counted: Counted[] = [];
    const created: number[] = [];
    const held = new Map<string, { claim: Claim; since: number }>();
    const asked = new Map<string, number>();
    let unseen = 0;
    await keep(device);
    for (let minute = 0; minute < 65; minute++) {
      const at = clock.now;
      let [started, waited] = [0, 0];
      seconds(5);
      for (let each = 0; each < (minute * 7) % 3; each++) {
        await stack.create(user, { device_type: device });
        created.push(clock.now);
      }
      seconds(20);
      // The second worker comes and goes. Each is at a batch for a minute and a half.
      for (const worker of minute % 20 < 10 ? ['one', 'two'] : ['one']) {
        if (held.has(worker)) continue;
        const claim = await stack.claim(device, worker);
        if (claim === undefined) {
          asked.set(worker, clock.now);
          continue;
        }
        held.set(worker, { claim, since: clock.now });
        started += 1;
        waited += (clock.now - created.shift()!) / 1_000;
      }
      seconds(30);
      // Up to the heartbeats: 30 s of each batch that began, and a minute of each that goes on.
      const busy = started * 30 + (held.size - started) * 60;
      for (const [worker, { claim, since }] of held) {
        await stack.heartbeat(leaseFrom(claim), claim.job.id);
        if (clock.now - since < 60_000) continue;
        await stack.report(leaseFrom(claim), claim.job.id);
        held.delete(worker);
      }
      seconds(5);
      // Nothing is measured at the end of two minutes. The next value has their busy time.
      if (minute === 22 || minute === 23) {
        unseen += busy;
        continue;
      }
      await keep(device);
      const idle = [...asked].filter(([, time]) => time > clock.now - 90_000).map(([worker]) => worker);
      const workers = new Set([...held.keys(), ...idle]).size;
      counted.push({ at, queue: created.length + held.size, started, waited, workers, busy: busy + unseen });
      unseen = 0;
    }
    const from = fromMilliseconds(noon);
    for (const step of [60, 300, 900, 3_600] as const) {
      expect(await listMinutes(db, device, { step, from })).toEqual({
        device_type: device,
        step,
        minutes: judged(counted, step),
      });
    }
    expect((await listMinutes(db, device, { from })).step).toBe(300);
  });

  it('have the seconds of a long job in each of them, and of a lost worker those that count', async () => {
    const { device, user } = newNames();
    clock.now = noon;
    await stack.create(user, { device_type: device });
    const busy = async () => (await listMinutes(db, device, { step: 60 })).minutes.map((each) => each.busy_seconds);
    await keep(device);
    const claim = await stack.claimed(device);
    const pass = async (isAlive: boolean) => {
      for (let part = 0; part < 3; part++) {
        seconds(20);
        if (isAlive) await stack.heartbeat(leaseFrom(claim), claim.job.id);
      }
      await keep(device);
    };
    for (const isAlive of [true, true, false, false]) await pass(isAlive);
    expect(await busy()).toEqual([0, 60, 60, 0, 0]);
    const next = await stack.claimed(device);
    seconds(30);
    await stack.report(leaseFrom(next), next.job.id);
    seconds(30);
    await keep(device);
    expect(await busy()).toEqual([0, 60, 60, 0, 0, 30]);
    const usage = await ask('listUsage', { userId: user, query: 'from=2026-11-01&to=2026-11-30' });
    expect(usage.data.total.device_seconds).toBe(150);
  });

  it('count once, however often and late a minute is measured', async () => {
    const { device, user } = newNames();
    clock.now = noon;
    await stack.announce(device, {});
    await stack.create(user, { device_type: device });
    await keep(device);
    const claim = await stack.claimed(device);
    seconds(59.9);
    await stack.report(leaseFrom(claim), claim.job.id);
    seconds(0.1);
    await Promise.all([keep(device), keep(device), keep(device)]);
    await stack.create(user, { device_type: device });
    seconds(58);
    await keep(device);
    seconds(2);
    await keep(device);
    const { minutes } = await listMinutes(db, device, { step: 60 });
    expect(minutes.map((each) => [each.queue_length, each.batches_started, each.busy_seconds])).toEqual([
      [1, 0, 0],
      [0, 1, 59.9],
      [1, 0, 0],
    ]);
  });

  it('take one write unit each, also where all numbers are as large as they get', async () => {
    const device = 'D'.repeat(128);
    const now = Date.parse('2105-01-01T00:00:00Z');
    const most = { length: 36 ** 3, started: { batches: 36 ** 3, seconds: 10 ** 10 }, busy: Number.MAX_SAFE_INTEGER };
    const measure = await stack.measure(device);
    const idle = new Map(Array.from({ length: 9_999 }, (_, at) => [`${at}`, now]));
    const atWork = Array(4_000).fill({});
    for (let minute = 1; minute <= 20; minute++) {
      const at = now + 60_000 * minute;
      await keepMinute(db, device, { measure: { ...measure, ...most, at, atWork }, idle });
    }
    const name = `minutes#${Math.floor(now / 60_000 / 20)}`;
    const Key = { subject: deviceSubject(device), name };
    const { Item } = await client.send(new GetCommand({ TableName: names.Counters, Key }));
    expect(Object.keys(Item!)).toHaveLength(3 + 20);
    expect(itemBytes(Item!)).toBeLessThanOrEqual(1_024);
    expect(Item!.expires_at - now / 1_000).toBeLessThan(8.1 * 86_400);
  });

  it('of other times than the last 8 days are none', async () => {
    const { device } = newNames();
    clock.now = noon - 9 * 86_400_000;
    await keep(device);
    clock.now = noon;
    await keep(device);
    const all = (query: object) => listMinutes(db, device, { step: 3_600, ...query });
    expect((await all({ from: fromMilliseconds(noon - 12 * 86_400_000) })).minutes).toHaveLength(1);
    expect((await all({ from: fromMilliseconds(noon + 1), to: '2026-12-01T00:00:00.000000Z' })).minutes).toEqual([]);
    const ages = { from: '0001-01-01T00:00:00.000000Z', to: '0001-02-01T00:00:00.000000Z' };
    expect((await all(ages)).minutes).toEqual([]);
    const end = { from: '9999-12-01T00:00:00.000000Z', to: '9999-12-31T00:00:00.000000Z' };
    expect((await all(end)).minutes).toEqual([]);
  });

  it.each([
    ['step=61', ['step']],
    ['step=', ['step']],
    ['step=5e1', ['step']],
    ['step=0x3c', ['step']],
    ['from=yesterday&to=x', ['from', 'to']],
    ['from=2026-11-22T12:00:00Z&to=2026-11-22T12:00:00Z', ['to']],
    ['from=2026-11-23', ['to']],
    ['step=60&from=2026-11-20', ['to']],
    ['step=3600&from=2026-09-20', ['to']],
  ])('with the query %s are refused, at its place', async (query, places) => {
    const { status, detail } = await minutesOf('FRESNEL', query);
    expect([status, detail.map(({ loc }: { loc: string[] }) => loc[1])]).toEqual([422, places]);
  });

  it('come to every user and machine, up to 1,500 values, and of no device to nobody', async () => {
    const { device } = newNames();
    expect((await minutesOf(device)).status).toBe(404);
    clock.now = noon;
    await keep(device);
    const { status, data } = await minutesOf(device, { step: '60', from: '2026-11-21T11:00:00Z' });
    expect([status, data.minutes.length]).toEqual([200, 1]);
    expect(
      (await ask('listMinutes', { userId: 'machine', scope: 'device:*', path: { device_type: device } })).status,
    ).toBe(200);
    const { device: silent } = newNames();
    await announceDevice(db, silent, { status: 'UP' });
    expect(await minutesOf(silent)).toMatchObject({ status: 200, data: { minutes: [] } });
  });

  it('are kept by the function that measures queues', async () => {
    const { device } = newNames();
    await announceDevice(db, device, { status: 'UP' });
    const { handler } = await import('../../functions/schedules/measure-queues.ts');
    const lines = await loggedLines(() => handler({} as ScheduledEvent, lambdaContext()));
    expect(lines.find(({ device_type }) => device_type === device)).toMatchObject({ QueueLength: 0 });
    expect((await minutesOf(device)).data.minutes).toMatchObject([{ queue_length: 0, workers: 0 }]);
  });
});

describe('busy time', () => {
  it('takes no call and no unit of a report, and its failure fails no call', async () => {
    const { device, user, claim, lease } = await stack.held({ jobs: 2 });
    const failing = interceptedClient(client, ({ name, input, send }) => {
      const isNote = name === UpdateCommand.name && (input.Key as { key?: string }).key === deviceTimesKey;
      return isNote ? Promise.reject(new Error('fails')) : send();
    });
    seconds(10);
    const { job } = await workerStack(failing, names, clock).report(lease, claim.job.id);
    seconds(5);
    await workerStack(failing, names, clock).cancelJob(user, job!.id);
    expect((await stack.job(user, job!.id))?.status).toBe('CANCELED');
    // Usage is exact; what operators watch lacks what was not counted.
    const usage = await ask('listUsage', { userId: user, query: 'from=2026-11-01&to=2026-12-30' });
    expect([usage.data.total.device_seconds, (await stack.measure(device)).busy]).toEqual([15, 0]);
  });

  it('costs other ends one unit, and only where a device was busy', async () => {
    const notes: unknown[] = [];
    const watched = interceptedClient(client, ({ name, input, send }) => {
      if (name === UpdateCommand.name && (input.Key as { key?: string }).key === deviceTimesKey) notes.push(input);
      return send();
    });
    const { user, batch } = await stack.held();
    seconds(5);
    await workerStack(watched, names, clock).cancel(user, batch.id);
    expect(notes).toHaveLength(1);
    const waits = await stack.create(user, { device_type: newNames().device });
    await workerStack(watched, names, clock).cancel(user, waits.id);
    expect(notes).toHaveLength(1);
  });
});

describe('workers', () => {
  it('are those with batches, and those that asked for one within a day: the latest first', async () => {
    const { device, user } = newNames();
    clock.now = noon;
    await stack.announce(device, {});
    await noteIdleWorker(db, device, 'of yesterday');
    seconds(86_300);
    expect(await stack.claim(device, 'early')).toBeUndefined();
    await stack.create(user, { device_type: device, open: true });
    seconds(60);
    const claim = await stack.claimed(device, 'busy');
    const started = fromMilliseconds(clock.now);
    expect(await stack.claim(device, 'idle#1')).toBeUndefined();
    seconds(40);
    await stack.heartbeat(leaseFrom(claim), claim.job.id);
    const none = { user_id: null, user_name: null, batch_id: null, job_id: null, job_started_at: null };
    const shown = await watchDevice(db, device);
    expect(shown).toMatchObject({ device_type: device, status: 'NOT ANNOUNCED', batches_at_work: 1 });
    const seen = (ago: number) => fromMilliseconds(clock.now - ago * 1_000);
    const ofBatch = { user_id: user, user_name: null, batch_id: claim.batch.id };
    expect(shown.workers).toEqual([
      { worker: 'busy', seen_at: seen(0), ...ofBatch, job_id: claim.job.id, job_started_at: started },
      { worker: 'idle#1', seen_at: seen(40), ...none },
      { worker: 'early', seen_at: seen(100), ...none },
    ]);
    await stack.report(leaseFrom(claim), claim.job.id);
    // It waits for a job, as an open batch.
    expect((await watchDevice({ ...db }, device)).workers.at(0)).toMatchObject({ ...ofBatch, job_id: null });
    await stack.cancel(user, claim.batch.id);
    expect(await watchDevice({ ...db }, device)).toMatchObject({ batches_at_work: 0, workers: { length: 2 } });
  });

  it('are known from their last heartbeat on once they have no batch, however long they had one', async () => {
    const { device, user } = newNames();
    clock.now = noon - 86_400_000;
    await announceDevice(db, device, { status: 'UP' });
    await stack.announce(device, {});
    await stack.claim(device, 'lost');
    clock.now = noon - 20_000;
    await stack.create(user, { device_type: device });
    const claim = await stack.claimed(device, 'lost');
    clock.now = noon;
    await stack.heartbeat(leaseFrom(claim), claim.job.id);
    const { handler } = await import('../../functions/schedules/measure-queues.ts');
    await loggedLines(() => handler({} as ScheduledEvent, lambdaContext()));
    seconds(300);
    await stack.claimed(device, 'next');
    expect((await watchDevice(db, device)).workers).toMatchObject([
      { worker: 'next', batch_id: claim.batch.id },
      { worker: 'lost', seen_at: fromMilliseconds(noon), batch_id: null },
    ]);
  });

  it('are noted while the device is paused, too, and never of a device that nobody knows', async () => {
    const { device } = newNames();
    clock.now = noon;
    await stack.claim(device, 'worker');
    expect((await listIdleWorkers(db, device)).size).toBe(0);
    await stack.announce(device, {});
    await stack.set(device, { mode: 'PAUSED', reason: 'Works' });
    await stack.claim(device, 'worker');
    expect([...(await listIdleWorkers(db, device))]).toEqual([['worker', noon]]);
  });

  it('are at most 200', async () => {
    const { device } = newNames();
    await stack.announce(device, {});
    for (let at = 0; at < 210; at++) await noteIdleWorker(db, device, `worker ${at}`);
    expect((await watchDevice(db, device)).workers).toHaveLength(200);
  });

  it('and their device are for operators; of no device there are none', async () => {
    const { device: device_type } = newNames();
    const path = { device_type };
    expect((await operator('getDevice', { path })).status).toBe(404);
    await stack.set(device_type, { max_job_seconds: 60 });
    expect(await operator('getDevice', { path })).toMatchObject({
      status: 200,
      data: { status: 'NOT ANNOUNCED', max_job_seconds: 60, batches_at_work: 0, workers: [] },
    });
    const { device: queued, user } = newNames();
    await stack.create(user, { device_type: queued });
    expect((await operator('getDevice', { path: { device_type: queued } })).status).toBe(200);
    for (const scope of ['', 'device:*']) {
      expect((await operator('getDevice', { path, scope })).status).toBe(403);
      expect((await operator('getMetrics', { scope })).status).toBe(403);
    }
  });
});

describe('metrics', () => {
  const strange = 'D "quoted" \\ back\nslash';
  const text = async () => {
    const handler = await loadHandler('getMetrics');
    return handler(gatewayEvent('getMetrics', { userId: 'operator', scope: 'operator' }), lambdaContext());
  };

  it('are text that Prometheus reads, of every announced device', async () => {
    await announceDevice(db, strange, { status: 'UP' });
    const { statusCode, headers, body } = await text();
    expect([statusCode, headers?.['Content-Type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(body).toContain('{device_type="D \\"quoted\\" \\\\ back\\nslash"} 0\n');
    for (const line of body.split('\n').slice(0, -1)) {
      expect(line).toMatch(
        /^(# HELP \w+ .+|# TYPE \w+ (gauge|counter)|\w+\{device_type="(\\.|[^"\\])*"(,mode="\w+")?\} \d+(\.\d+)?)$/,
      );
    }
    // Each family once, its help and type before its values.
    const families = [...body.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name);
    expect(new Set(families).size).toBe(families.length);
  });

  it('agree with usage, and say the mode', async () => {
    const { device, user, claim, lease } = await stack.held();
    await announceDevice(db, device, { status: 'UP' });
    seconds(12.5);
    await stack.report(lease, claim.job.id);
    await stack.set(device, { mode: 'PAUSED', reason: 'Works' });
    const measured = prometheusText((await measureDevices(db)).filter(({ deviceType }) => deviceType === device));
    const { data } = await ask('listUsage', { userId: user, query: 'from=2026-11-01&to=2026-12-30' });
    const label = `device_type="${device}"`;
    expect(data.total.device_seconds).toBe(12.5);
    expect(measured).toContain(`\nquantum_batch_device_busy_seconds_total{${label}} 12.5\n`.slice(1));
    for (const mode of deviceModeNames) {
      expect(measured).toContain(`device_mode{${label},mode="${mode}"} ${mode === 'PAUSED' ? 1 : 0}\n`);
    }
  });

  it('have a busy time that does not fall while a report is under way', async () => {
    const { device, claim, lease } = await stack.held();
    await announceDevice(db, device, { status: 'UP' });
    const busy: number[] = [];
    const look = async () => {
      const text = prometheusText((await measureDevices(db)).filter(({ deviceType }) => deviceType === device));
      busy.push(Number(/busy_seconds_total\{.*\} (.*)/.exec(text)![1]));
    };
    const watched = interceptedClient(client, async ({ name, input, send }) => {
      if (name === UpdateCommand.name && (input.Key as { key?: string }).key === deviceTimesKey) await look();
      return send();
    });
    seconds(40);
    await stack.heartbeat(lease, claim.job.id);
    await look();
    await workerStack(watched, names, clock).report(lease, claim.job.id);
    await look();
    expect(busy).toEqual(busy.toSorted((a, b) => a - b));
    expect([busy.length, busy.at(-1)]).toEqual([3, 40]);
  });

  /** `PROMTOOL` is the path of Prometheus' own checker. */
  it.runIf(process.env.PROMTOOL)('pass the checks of Prometheus', async () => {
    const { body } = await text();
    const check = (input: string) =>
      execFileSync(process.env.PROMTOOL!, ['check', 'metrics'], { input, stdio: 'pipe' });
    expect(check(body).toString()).toBe('');
    expect(() => check(body.replace('# TYPE', '# TYPO\n# TYPE').replace(/ \d+\n$/, ' x\n'))).toThrow();
  });

  it('cost a few reads of each device', async () => {
    const measure = measuredClient(client);
    const { device } = newNames();
    await stack.announce(device, {});
    await announceDevice(db, device, { status: 'UP' });
    const devices = (await measureDevices(db)).length;
    const { cost } = await measure(() => measureDevices(db));
    expect(cost.readUnits).toBeLessThanOrEqual(2 * devices + 1);
    expect(cost.writeUnits).toBe(0);
  });
});
