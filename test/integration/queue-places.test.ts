/**
 * The places that a user's batches get in a queue. A batch may leave before a device takes it: what
 * becomes of its place then.
 */

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cancelBatches, cancelJobs } from '../../functions/data/batches/cancellations.ts';
import { tagOfKey, tagSteps } from '../../functions/data/queue/fair-order.ts';
import { CancelJobsQuery } from '../../functions/schemas/job-selection.ts';
import { deep, trials } from '../support/depth.ts';
import { overtakenClient } from '../support/overtaken-client.ts';
import { ownTables } from '../support/own-tables.ts';
import { recountOf } from '../support/owner-rows.ts';
import { clocksOf, keysInQueue, misplacedBatches } from '../support/user-clocks.ts';
import { leaseFrom, newNames, workerStack } from '../support/worker-stack.ts';
import { writeApi } from '../support/write-api.ts';

const { client, tables: names } = await ownTables();
const clock = { now: Date.parse('2026-11-21T12:00:00Z') };
const stack = workerStack(client, names, clock);

type Whose = ReturnType<typeof newNames>;

async function tagsOf({ device, user }: Whose): Promise<number[]> {
  return (await keysInQueue(client, names, device, user)).map((key) => tagOfKey(key) / tagSteps.MEDIUM);
}

async function createMany({ device, user }: Whose, count: number) {
  const batches = [];
  for (let at = 0; at < count; at++) batches.push(await stack.create(user, { device_type: device }));
  return batches;
}

describe('a batch that leaves the queue before a device took it', () => {
  const { db } = stack;
  const events = writeApi(db);
  const ways: Record<string, (user: string, batch: Awaited<ReturnType<typeof stack.create>>) => Promise<unknown>> = {
    'a cancellation': (user, { id }) => stack.cancel(user, id),
    'one of several': (user, { id }) => cancelBatches(db, { userId: user, claims: {}, batchIds: [id] }),
    'the cancellation of its only job': (user, { jobs }) => stack.cancelJob(user, jobs![0]!.id),
    'the cancellation of its jobs': (user, { id }) =>
      cancelJobs(db, { userId: user, batchId: id }, CancelJobsQuery.parse({})),
    'an event': (user, { id }) => events.recordBatchStatus(user, id, { status: 'ERROR' }),
  };

  it('gives its place back, whatever makes it leave, the last one first', async () => {
    const whose = newNames();
    const first = await createMany(whose, 4);
    let [third, fourth] = first.slice(2);
    for (const [at, [name, leave]] of Object.entries(ways).entries()) {
      const tag = 2 + 2 * at;
      expect(await tagsOf(whose), name).toEqual([0, 1, tag, tag + 1]);
      // There is one behind it still.
      await leave(whose.user, third!);
      const [next] = await createMany(whose, 1);
      expect(await tagsOf(whose), name).toEqual([0, 1, tag + 1, tag + 2]);
      await stack.cancel(whose.user, (await stack.create(whose.user, { device_type: whose.device })).id);
      await leave(whose.user, fourth!);
      [third, fourth] = [next, ...(await createMany(whose, 1))];
      expect(await tagsOf(whose), name).toEqual([0, 1, tag + 2, tag + 3]);
      expect(await misplacedBatches(client, names, whose), name).toEqual([]);
    }
  });

  it('gives all places back with all batches, in whatever order they leave', async () => {
    const whose = newNames();
    const batches = await createMany(whose, 6);
    for (const at of [1, 3, 2, 0, 5, 4]) await stack.cancel(whose.user, batches[at]!.id);
    expect(await clocksOf(client, names, whose)).toEqual(new Map([['MEDIUM', { end: 0, withdrawn: [] }]]));
    await createMany(whose, 2);
    expect(await tagsOf(whose)).toEqual([0, 1]);
  });

  it('gives its place back again where jobs bring it back, and it leaves once more', async () => {
    const { device, user } = newNames();
    const batch = await stack.create(user, { device_type: device, open: true });
    for (let times = 0; times < 3; times++) {
      const { jobs } = times === 0 ? batch : await stack.add(user, batch.id, 1);
      expect(await tagsOf({ device, user })).toEqual([0]);
      await stack.cancelJob(user, jobs!.at(-1)!.id);
    }
  });
});

describe('a batch that a device took', () => {
  it('keeps its place, however it ends', async () => {
    const whose = newNames();
    const [first, second] = await createMany(whose, 2);
    const claim = await stack.claim(whose.device, 'worker');
    expect(claim?.batch.id).toBe(first!.id);
    await stack.release(leaseFrom(claim!));
    await stack.cancel(whose.user, first!.id);
    await stack.cancel(whose.user, second!.id);
    await createMany(whose, 1);
    expect(await tagsOf(whose)).toEqual([1]);
  });

  it('keeps its place where the claim meets the cancellation, and gives it back where that came first', async () => {
    for (const name of ['UpdateCommand', 'TransactWriteCommand']) {
      for (const who of ['claim', 'cancellation']) {
        const whose = newNames();
        const [batch] = await createMany(whose, 1);
        const claim = () => stack.claim(whose.device, 'worker');
        const cancel = () => stack.cancel(whose.user, batch!.id);
        const overtaken = overtakenClient(client, who === 'cancellation' ? claim : cancel, name);
        const met = workerStack(overtaken.client, names, clock);
        if (who === 'claim') expect(await met.claim(whose.device, 'worker')).toBeUndefined();
        else await met.cancel(whose.user, batch!.id);
        await createMany(whose, 1);
        expect(await tagsOf(whose)).toEqual([who === 'cancellation' && overtaken.isOvertaken ? 1 : 0]);
      }
    }
  });
});

describe('jobs that are added to a batch in the queue', () => {
  it('move it behind what was charged since, until a device has taken it', async () => {
    const { device, user } = newNames();
    const open = await stack.create(user, { device_type: device, open: true, jobs: 2 });
    const next = await stack.create(user, { device_type: device });
    expect(await tagsOf({ device, user })).toEqual([1, 2]);
    await stack.add(user, open.id, 3);
    expect(await tagsOf({ device, user })).toEqual([2, 5]);
    expect((await stack.claim(device, 'worker'))?.batch.id).toBe(next.id);
    expect((await stack.claim(device, 'worker'))?.batch.id).toBe(open.id);
    await stack.add(user, open.id, 4);
    await createMany({ device, user }, 1);
    expect(await tagsOf({ device, user })).toEqual([2, 5, 10]);
  });

  it('are given back with it, each where no later batch waits', async () => {
    const whose = newNames();
    const open = await stack.create(whose.user, { device_type: whose.device, open: true });
    const [next] = await createMany(whose, 1);
    await stack.add(whose.user, open.id, 2);
    await stack.cancel(whose.user, open.id);
    expect((await clocksOf(client, names, whose)).get('MEDIUM')).toEqual({
      end: 2 * tagSteps.MEDIUM,
      withdrawn: [[0, tagSteps.MEDIUM]],
    });
    await stack.cancel(whose.user, next!.id);
    expect((await clocksOf(client, names, whose)).get('MEDIUM')).toEqual({ end: 0, withdrawn: [] });
  });
});

describe('creations, cancellations and claims at the same time', () => {
  it('leave the places of a user’s batches a step apart, and the clock behind the last', async () => {
    const step = fc.constantFrom('create', 'create', 'cancel', 'cancel', 'claim');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 2, maxLength: 4 }), { maxLength: deep ? 5 : 3 }),
        async (rounds) => {
          const whose = newNames();
          const { device, user } = whose;
          const other = await stack.create('auth0|another', { device_type: device, priority: 'LOW' });
          const batches = new Set((await createMany(whose, 3)).map(({ id }) => id));
          const taken = new Set<string>();
          for (const round of rounds) {
            const next = [...batches];
            await Promise.all(
              round.map(async (each, at) => {
                if (each === 'create') batches.add((await stack.create(user, { device_type: device })).id);
                else if (each === 'claim') taken.add((await stack.claim(device, 'worker'))?.batch.id ?? other.id);
                else {
                  const [id] = next.splice(at % Math.max(1, next.length), 1);
                  if (id === undefined) return;
                  await stack.cancel(user, id);
                  batches.delete(id);
                }
              }),
            );
            expect(await misplacedBatches(client, names, whose)).toEqual([]);
          }
          for (const id of batches) await stack.cancel(user, id);
          // If a device took none, the user's clock is back where it began. A claim that met a
          // cancellation may have taken a batch that it did not get.
          taken.delete(other.id);
          const haveMet = rounds.some((round) => round.includes('claim') && round.includes('cancel'));
          if (taken.size === 0 && !haveMet) expect((await clocksOf(client, names, whose)).get('MEDIUM')?.end).toBe(0);
          expect(await recountOf(client, names, user)).toEqual([]);
        },
      ),
      {
        ...trials(4, 40),
        examples: [
          [
            [
              ['create', 'cancel', 'cancel'],
              ['cancel', 'create'],
            ],
          ],
        ],
      },
    );
  });
});
