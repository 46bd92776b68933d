/**
 * Devices whose calls are interrupted: DynamoDB fails before or after what it was asked for, and
 * calls meet each other.
 */

import { randomUUID } from 'node:crypto';
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recoverBatch } from '../../functions/data/batches/recovery.ts';
import { tagSteps } from '../../functions/data/queue/fair-order.ts';
import { CorruptData, IllegalTransition, LeaseLost } from '../../functions/errors.ts';
import { deep, trials } from '../support/depth.ts';
import { dyingClient } from '../support/dying-client.ts';
import { failures, mistakes } from '../support/faults.ts';
import { type Call, interceptedClient } from '../support/intercepted-client.ts';
import { overtakenClient } from '../support/overtaken-client.ts';
import { ownTables } from '../support/own-tables.ts';
import { batchesAndJobs, soundRows } from '../support/owner-rows.ts';
import { seed } from '../support/seed.ts';
import { struckClient } from '../support/strike-each.ts';
import { clocksOf, keysInQueue, misplacedBatches } from '../support/user-clocks.ts';
import { allResults, leaseFrom, newNames, workerStack } from '../support/worker-stack.ts';
import { writeApi } from '../support/write-api.ts';

const { client, tables: names } = await ownTables();
const clock = { now: Date.parse('2026-11-21T12:00:00Z') };
const sound = workerStack(client, names, clock);

const faults = Object.entries({ ...failures, ...mistakes });

/**
 * Does the work with each call of DynamoDB struck in turn: of every stack that it asks for, the
 * first, then the second, until there are no more. Faults go round; in a deep run each has its own.
 */
async function strikeEachCall(round: typeof faults, work: (struckStack: () => typeof sound) => Promise<void>) {
  for (let place = 0, wasStruck = true; wasStruck; place++) {
    const [name, fault] = round[(seed + place) % round.length]!;
    const clients: ReturnType<typeof struckClient>[] = [];
    await work(() => {
      clients.push(struckClient(client, { place, name, fault }));
      return workerStack(clients.at(-1)!.client, names, clock);
    });
    wasStruck = clients.some(({ struck }) => struck > 0);
  }
}

/** Everything of the user agrees with the rows, and the queue with the batches. */
async function expectSound(user: string, device: string) {
  const { batches, jobs } = await soundRows(client, names, user);
  const now = new Date(clock.now).toISOString();
  for (const row of batches) expect((row.end_datetime ?? '') <= now).toBe(true);
  for (const row of jobs) expect((row.end_timestamp ?? '') <= now).toBe(true);
  const inQueue = batches.flatMap(({ queue_key }) => (typeof queue_key === 'string' ? [queue_key] : []));
  expect((await keysInQueue(client, names, device)).sort()).toEqual(inQueue.sort());
  expect(await misplacedBatches(client, names, { user, device })).toEqual([]);
}

// Before the others, which make more devices than are announced by themselves.
describe('a device that cannot be announced', () => {
  it('gets its work all the same', async () => {
    const { device, user } = newNames();
    const batch = await sound.create(user, { device_type: device });
    let isFirst = true;
    const intercepted = interceptedClient(client, async (call: Call) => {
      if (call.name !== 'TransactWriteCommand' || !isFirst) return call.send();
      isFirst = false;
      throw Object.assign(new Error('Denied'), { name: 'AccessDeniedException', $fault: 'client' });
    });
    expect((await workerStack(intercepted, names, clock).claim(device, 'worker'))?.batch.id).toBe(batch.id);
    expect(isFirst).toBe(false);
  });
});

const rounds = deep ? faults.map((each) => [each]) : [faults];

describe.each(rounds.map((round) => ({ round, of: round.map(([name]) => name) })))(
  'a call that fails once: $of',
  ({ round }) => {
    it('leaves a claim to be repeated: no batch is lost, none is at two workers', () =>
      strikeEachCall(round, async (struckStack) => {
        const { device, user } = newNames();
        const batch = await sound.create(user, { device_type: device });
        const claim = await struckStack()
          .claim(device, 'worker')
          .catch(() => undefined);
        if (claim === undefined) clock.now += 61_000;
        const again = claim ?? (await sound.claim(device, 'worker'));
        expect(again?.batch.id).toBe(batch.id);
        expect(await sound.claim(device, 'another')).toBeUndefined();
        for (const { id } of batch.jobs!) await sound.report(leaseFrom(again!), id);
        expect((await sound.batch(user, batch.id))!.status).toBe('DONE');
        await expectSound(user, device);
      }));

    it('leaves a report to be repeated, which answers what it would have answered', () =>
      strikeEachCall(round, async (struckStack) => {
        const { device, user, batch, lease } = await sound.held({ jobs: 2 });
        const [first, second] = batch.jobs!.map(({ id }) => id) as [string, string];
        const interrupted = await struckStack()
          .report(lease, first)
          .catch(() => undefined);
        const answer = await sound.report(lease, first);
        if (interrupted !== undefined) expect(interrupted).toEqual(answer);
        expect(answer.job?.id).toBe(second);
        await expectSound(user, device);
        await struckStack()
          .report(lease, second)
          .catch(() => undefined);
        expect(await sound.report(lease, second)).toEqual({ job: null, done: true, retry_after: null });
        expect((await sound.batch(user, batch.id))!.jobs_count_per_status.DONE).toBe(2);
        await expectSound(user, device);
      }));

    it('leaves heartbeats, questions for the next job and releases to be repeated', () =>
      strikeEachCall(round, async (struckStack) => {
        const { device, user, batch, claim, lease } = await sound.held({ open: true });
        await struckStack()
          .heartbeat(lease, claim.job.id)
          .catch(() => undefined);
        expect(await sound.heartbeat(lease, claim.job.id)).toMatchObject({ cancel: false });
        await sound.report(lease, claim.job.id);
        const { jobs } = await sound.add(user, batch.id, 1);
        await struckStack()
          .next(lease)
          .catch(() => undefined);
        expect((await sound.next(lease)).job?.id).toBe(jobs![1]!.id);
        await struckStack()
          .release(lease)
          .catch(() => undefined);
        await sound.release(lease);
        await expect(sound.report(lease, jobs![1]!.id)).rejects.toThrow(LeaseLost);
        expect((await sound.claim(device, 'another'))?.job.id).toBe(jobs![1]!.id);
        await expectSound(user, device);
      }));

    it('leaves the creation and the end of a batch in agreement with the queue', () =>
      strikeEachCall(round, async (struckStack) => {
        const { device, user } = newNames();
        await struckStack()
          .create(user, { device_type: device })
          .catch(() => undefined);
        // Nothing below touches what the creation left: the last check finds it, too.
        const batch = await sound.create(user, { device_type: device, open: true, jobs: 0 });
        await struckStack()
          .add(user, batch.id, 1)
          .catch(() => undefined);
        await expectSound(user, device);
        await struckStack()
          .cancel(user, batch.id)
          .catch(() => undefined);
        await expectSound(user, device);
        await sound.cancel(user, batch.id);
        await expectSound(user, device);
        // What the creation left in the queue is before the canceled batch.
        const left = (await keysInQueue(client, names, device)).length;
        expect((await clocksOf(client, names, { user, device })).get('MEDIUM')?.end ?? 0).toBe(left * tagSteps.MEDIUM);
      }));
  },
);

describe('what events change of a batch that a device has', () => {
  const events = writeApi(sound.db);

  it('holds: a job that an event has ended is passed over, and its report refused unless it says the same', async () => {
    const { device, user, batch, lease } = await sound.held({ jobs: 3 });
    const [first, second, third] = batch.jobs!.map(({ id }) => id) as [string, string, string];
    await events.recordJobStatus(user, first, { status: 'ERROR' });
    expect(await sound.heartbeat(lease, first)).toMatchObject({ cancel: true });
    await expect(sound.report(lease, first)).rejects.toThrow(IllegalTransition);
    await events.recordJobStatus(user, second, { status: 'DONE' });
    expect((await sound.next(lease)).job?.id).toBe(third);
    expect((await sound.report(lease, second)).job?.id).toBe(third);
    expect(await sound.report(lease, third)).toMatchObject({ done: true });
    await expectSound(user, device);
  });

  it('holds: a batch that an event has ended leaves the queue, and its jobs end', async () => {
    const { device, user, batch, claim, lease } = await sound.held({ jobs: 2 });
    await events.recordBatchStatus(user, batch.id, { status: 'ERROR' });
    expect(await sound.heartbeat(lease, claim.job.id)).toMatchObject({ cancel: true });
    await expect(sound.report(lease, claim.job.id)).rejects.toThrow(LeaseLost);
    expect(await sound.next(lease)).toMatchObject({ done: true });
    await expectSound(user, device);
  });

  it('holds: jobs that an event adds to an ended batch bring it back into the queue, under another key', async () => {
    const { device, user, batch, claim, lease } = await sound.held({ open: true });
    await sound.report(lease, claim.job.id);
    await sound.close(user, batch.id);
    expect((await sound.batch(user, batch.id))!.status).toBe('DONE');
    const job = { id: randomUUID(), runs: 5, origin: 'UNKNOWN' as const, parent_id: null, variables: null };
    const event = { id: randomUUID(), time: '2026-11-21T11:00:00.000000Z', digest: 'digest' };
    await events.addJobs(user, batch.id, [job], { event });
    await expectSound(user, device);
    const again = await sound.claim(device, 'another');
    expect(again?.job.id).toBe(job.id);
    expect(leaseFrom(again!).key).not.toBe(lease.key);
    await expect(sound.report(lease, job.id)).rejects.toThrow(LeaseLost);
    expect(await sound.report(leaseFrom(again!), job.id)).toMatchObject({ done: true });
    await expectSound(user, device);
  });
});

describe('an open batch with a job that is about to be canceled', () => {
  const events = writeApi(sound.db);

  it('is timed out only two minutes after the job has ended', async () => {
    const { device, user, batch, claim, lease } = await sound.held({ open: true });
    await events.recordJobStatus(user, claim.job.id, { status: 'CANCELING' });
    for (let asked = 0; asked < 3; asked++) {
      expect(await sound.next(lease)).toMatchObject({ job: null, done: false });
      clock.now += 121_000;
    }
    expect(await sound.next(lease)).toMatchObject({ job: null, done: false });
    expect((await sound.batch(user, batch.id))!.status).toBe('RUNNING');
    await events.recordJobStatus(user, claim.job.id, { status: 'CANCELED' });
    clock.now += 119_000;
    expect(await sound.next(lease)).toMatchObject({ job: null, done: false });
    clock.now += 2_000;
    expect(await sound.next(lease)).toMatchObject({ job: null, done: true });
    expect((await sound.batch(user, batch.id))!).toMatchObject({
      status: 'TIMED_OUT',
      jobs_count_per_status: { CANCELED: 1, CANCELING: 0 },
    });
    await expectSound(user, device);
  });
});

describe('a batch that cannot begin', () => {
  it('keeps its device from no other: a claim goes on, and fails only where nothing else begins', async () => {
    const { device, user } = newNames();
    const broken = await sound.create(user, { device_type: device, priority: 'HIGH' });
    const Item = { user_id: user, id: broken.id, v: new Uint8Array() };
    await client.send(new PutCommand({ TableName: names.Sequences, Item }));
    const batch = await sound.create(newNames().user, { device_type: device });
    expect((await sound.claim(device, 'worker'))?.batch.id).toBe(batch.id);
    await expect(sound.claim(device, 'another')).rejects.toThrow(CorruptData);
  });

  it('takes up no more time than a claim has: further ones are left to the next claim, and none is leased', async () => {
    const { device } = newNames();
    await sound.announce(device, {});
    for (let at = 0; at < 4; at++) await sound.create(newNames().user, { device_type: device });
    let begun = 0;
    const intercepted = interceptedClient(client, async (call: Call) => {
      if (call.name !== 'TransactWriteCommand') return call.send();
      begun += 1;
      clock.now += 5_000;
      throw Object.assign(new Error('Denied'), { name: 'AccessDeniedException', $fault: 'client' });
    });
    await expect(workerStack(intercepted, names, clock).claim(device, 'worker')).rejects.toThrow('Denied');
    expect(begun).toBe(2);
    for (let at = 0; at < 4; at++) expect(await sound.claim(device, 'worker')).toBeDefined();
  });
});

describe('a transaction that is at a batch', () => {
  /** A stack whose first `times` updates find a transaction at their item. */
  function conflicting(times: number) {
    let left = times;
    const intercepted = interceptedClient(client, async (call: Call) => {
      if (call.name !== 'UpdateCommand' || left === 0) return call.send();
      left -= 1;
      throw Object.assign(new Error('Conflict'), { name: 'TransactionConflictException', $fault: 'client' });
    });
    return workerStack(intercepted, names, clock);
  }

  it('sends a claim on to the next batch, and leaves this one to the next claim', async () => {
    const { device, user } = newNames();
    await sound.announce(device, {});
    const [first, second] = [
      await sound.create(user, { device_type: device }),
      await sound.create(user, { device_type: device }),
    ];
    expect((await conflicting(1).claim(device, 'worker'))?.batch.id).toBe(second.id);
    expect(await conflicting(1).claim(device, 'worker')).toBeUndefined();
    expect((await sound.claim(device, 'worker'))?.batch.id).toBe(first.id);
  });

  it('is waited for by heartbeats, questions for the next job and releases', async () => {
    const { device, claim, lease } = await sound.held();
    expect(await conflicting(2).heartbeat(lease, claim.job.id)).toMatchObject({ cancel: false });
    expect((await conflicting(2).next(lease)).job?.id).toBe(claim.job.id);
    await expect(conflicting(3).heartbeat(lease, claim.job.id)).rejects.toMatchObject({ status: 429 });
    await conflicting(2).release(lease);
    expect((await sound.claim(device, 'another'))?.job.id).toBe(claim.job.id);
  });
});

describe('calls that meet', () => {
  it.each(['QueryCommand', 'BatchGetCommand', 'TransactWriteCommand'])(
    'refuse a report whose lease is lost after it was found valid, just before a %s',
    async (name) => {
      const { device, user, batch, claim: lost, lease } = await sound.held({ jobs: 2 });
      const takeOver = async () => {
        clock.now += 61_000;
        expect(await sound.claim(device, 'another')).toBeDefined();
      };
      const late = overtakenClient(client, takeOver, name);
      const report = workerStack(late.client, names, clock).report(lease, lost.job.id);
      await expect(report).rejects.toThrow(LeaseLost);
      expect(late.isOvertaken).toBe(true);
      expect((await sound.batch(user, batch.id))!.jobs_count_per_status).toMatchObject({ RUNNING: 1, PENDING: 1 });
    },
  );

  it('start no job, and end no batch, under a lease that was lost just before', async () => {
    const { device, user } = newNames();
    const batch = await sound.create(user, { device_type: device, open: true });
    const key = async () => ({ device_type: device, key: (await keysInQueue(client, names, device))[0] });
    /** A stack that loses its lease just before its transaction. */
    const losing = () => {
      const overtaken = overtakenClient(client, async () => {
        const UpdateExpression = 'SET lease_until = :none ADD fence :one';
        const ExpressionAttributeValues = { ':one': 1, ':none': 0 };
        const input = { TableName: names.DeviceQueue, Key: await key(), UpdateExpression, ExpressionAttributeValues };
        await client.send(new UpdateCommand(input));
      });
      return workerStack(overtaken.client, names, clock);
    };
    expect(await losing().claim(device, 'worker')).toBeUndefined();
    expect((await sound.batch(user, batch.id))!.status).toBe('PENDING');
    const claim = await sound.claim(device, 'worker');
    const lease = leaseFrom(claim!);
    await sound.report(lease, claim!.job.id);
    clock.now += 121_000;
    await expect(losing().next(lease)).rejects.toThrow(LeaseLost);
    expect((await sound.batch(user, batch.id))!.status).toBe('RUNNING');
  });

  it('end one job once: reports, cancellations and a claim at the same time', async () => {
    for (let round = 0; round < (deep ? 8 : 4); round++) {
      const { device, user, batch, claim, lease } = await sound.held({ jobs: 2 });
      clock.now += 61_000;
      const outcomes = await Promise.allSettled([
        sound.report(lease, claim.job.id),
        sound.report(lease, claim.job.id),
        sound.claim(device, 'another'),
        round % 2 === 0 ? sound.cancelJob(user, claim.job.id) : sound.cancel(user, batch.id),
      ]);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ status: 409 });
      }
      await expectSound(user, device);
    }
  });

  it('lose no job that is added while its device finds none', async () => {
    for (let round = 0; round < (deep ? 8 : 3); round++) {
      const { device, user, batch, claim, lease } = await sound.held({ open: true });
      const [, added] = await Promise.all([sound.report(lease, claim.job.id), sound.add(user, batch.id, 1)]);
      expect((await sound.next(lease)).job?.id).toBe(added.jobs!.at(-1)!.id);
      await sound.report(lease, added.jobs!.at(-1)!.id);
      // It is timed out, or it gets the job: never both.
      clock.now += 121_000;
      const [next, adding] = await Promise.allSettled([sound.next(lease), sound.add(user, batch.id, 1)]);
      const { status } = (await sound.batch(user, batch.id))!;
      if (adding.status === 'fulfilled') {
        expect(status).toBe('RUNNING');
        expect((await sound.next(lease)).job?.id).toBe(adding.value.jobs!.at(-1)!.id);
      } else {
        expect(adding.reason).toMatchObject({ status: 409 });
        expect(next).toMatchObject({ value: { done: true } });
        expect(status).toBe('TIMED_OUT');
      }
      await expectSound(user, device);
    }
  });
});

describe('any calls in any order', () => {
  const step = fc.tuple(
    fc.constantFrom(
      'create',
      'open',
      'add',
      'cut',
      'finish',
      'close',
      'cancel',
      'cancelJob',
      'event',
      'claim',
      'claim',
      'report',
      'report',
      'next',
      'release',
      'time',
    ),
    fc.nat({ max: 5 }),
  );

  /** Any time that a machine with a wrong clock may report. */
  const timeOf = (number: number) => [null, '1999-01-01T00:00:00.000000Z', '2040-01-01T00:00:00.000000Z'][number % 3]!;
  const events = writeApi(sound.db);

  it('leave queue and rows in agreement, and no job ends twice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
        const { device, user } = newNames();
        const batches: string[] = [];
        const claims: { claim: ReturnType<typeof leaseFrom>; job: string }[] = [];
        const ends = new Map<string, number>();
        const cut: { readonly batch: string; readonly job_ids: readonly string[]; readonly id: string }[] = [];
        const given = new Set<string>();
        /** An addition that dies after its first transaction. */
        const addInPart = async (batch: string) => {
          const known = new Set((await batchesAndJobs(client, names, user)).jobs.map(({ id }) => id));
          await workerStack(dyingClient(client, 1).client, names, clock)
            .add(user, batch, 100)
            .catch(() => undefined);
          const { batches: rows, jobs } = await batchesAndJobs(client, names, user);
          const call = rows.find(({ id }) => id === batch)?.pending_calls?.at(-1);
          const job_ids = jobs.flatMap(({ id }) => (known.has(id) ? [] : [id]));
          if (job_ids.length > 0 && typeof call === 'object') cut.push({ batch, job_ids, id: call.id });
        };
        const finishAll = async (some: typeof cut) => {
          for (const { batch, ...call } of some) {
            await recoverBatch(sound.db, allResults, {
              user_id: user,
              batch_id: batch,
              call: { id: call.id, job_ids: [...call.job_ids], errors: ['Cut.'] },
            });
          }
        };
        const refused = (error: unknown): undefined => {
          expect(error).toMatchObject({ status: 409 });
        };
        for (const [name, number] of steps) {
          const batch = batches.at(-1 - (number % Math.max(1, batches.length)));
          const held = claims.at(-1 - (number % Math.max(1, claims.length)));
          if (name === 'create')
            batches.push((await sound.create(user, { device_type: device, jobs: 1 + (number % 3) })).id);
          if (name === 'open')
            batches.push((await sound.create(user, { device_type: device, open: true, jobs: number % 2 })).id);
          if (name === 'time') clock.now += number * 25_000;
          if (name === 'claim') {
            const claim = await sound.claim(device, 'worker');
            if (claim !== undefined) {
              claims.push({ claim: leaseFrom(claim), job: claim.job.id });
              given.add(claim.job.id);
            }
          }
          if (batch !== undefined && name === 'add') await sound.add(user, batch, 1).catch(refused);
          if (batch !== undefined && name === 'cut') await addInPart(batch);
          if (name === 'finish') await finishAll(cut.slice(number % 2));
          if (batch !== undefined && name === 'close') await sound.close(user, batch);
          if (batch !== undefined && name === 'cancel') await sound.cancel(user, batch).catch(refused);
          if (name === 'event' && batch !== undefined) {
            const update = { start_datetime: timeOf(number), end_datetime: timeOf(number >> 1) };
            const given = Object.fromEntries(Object.entries(update).filter(([, time]) => time !== null));
            await events.recordBatchStatus(user, batch, given).catch(refused);
          }
          if (held !== undefined && name === 'cancelJob') await sound.cancelJob(user, held.job).catch(refused);
          if (held === undefined) continue;
          if (name === 'report') {
            const before = await sound.job(user, held.job);
            const [start_timestamp, end_timestamp] = [timeOf(number), timeOf(number >> 1)];
            const content = { status: 'DONE', start_timestamp, end_timestamp };
            const next = await sound.report(held.claim, held.job, content).catch(refused);
            if (next && before!.status === 'RUNNING') ends.set(held.job, (ends.get(held.job) ?? 0) + 1);
            if (next?.job) held.job = next.job.id;
            given.add(held.job);
          }
          if (name === 'next') {
            const next = await sound.next(held.claim).catch(refused);
            if (next?.job) held.job = next.job.id;
            given.add(held.job);
          }
          if (name === 'release') await sound.release(held.claim);
        }
        await expectSound(user, device);
        for (const times of ends.values()) expect(times).toBe(1);
        const { jobs } = await batchesAndJobs(client, names, user);
        for (const job of jobs) if (ends.has(job.id)) expect(job.status).toBe('DONE');
        // Whatever happened: what was cut short is ended, and workers that live finish what is
        // closed.
        for (const id of batches) await sound.close(user, id);
        await finishAll(cut);
        for (let rounds = 0; rounds < 40; rounds++) {
          clock.now += 121_000;
          const claim = await sound.claim(device, 'last');
          if (claim === undefined) break;
          for (let job: { id: string } | null = claim.job; job !== null; ) {
            given.add(job.id);
            job = (await sound.report(leaseFrom(claim), job.id)).job;
          }
        }
        expect(cut.flatMap(({ job_ids }) => job_ids.filter((id) => given.has(id)))).toEqual([]);
        for (const id of batches)
          expect(['DONE', 'CANCELED', 'TIMED_OUT']).toContain((await sound.batch(user, id))!.status);
        expect(await keysInQueue(client, names, device)).toEqual([]);
        await expectSound(user, device);
      }),
      trials(4, 100),
    );
  });
});
