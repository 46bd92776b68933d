import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { requestCreation } from '../../functions/data/lifecycle/request-creation.ts';
import { writerLock } from '../../functions/data/lifecycle/writer-lock.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { ownTables } from '../support/own-tables.ts';
import { soundRows } from '../support/owner-rows.ts';
import { countingClient } from '../support/strike-each.ts';
import { testDb } from '../support/test-db.ts';
import { keysInQueue } from '../support/user-clocks.ts';

const { client, tables } = await ownTables();
let userId: string;
let time: number;
beforeEach(() => {
  userId = `auth0|${randomUUID()}`;
  time = Date.parse('2026-03-01T00:00:00Z');
});

/**
 * A writer whose clock goes on by 100 ms (`perLook`) with every look, in the time of the call only
 * by `elapsedPerLook`. `callsOf` counts its calls of DynamoDB; `another` is the lock of another
 * call of the same process.
 */
function writer({ elapsedPerLook = 0, perLook = 100, isOver = (): boolean => false } = {}) {
  const count = { calls: 0 };
  const counting = interceptedClient(client, (call) => {
    count.calls += 1;
    time += perLook;
    return call.send();
  });
  const db = testDb(counting, tables, { now: () => time });
  const elapsed = () => count.calls * elapsedPerLook;
  const another = () => writerLock({ ...db, clock: { ...db.clock, elapsed } }, { userId, isOver });
  return Object.assign(another(), { another, callsOf: () => count.calls });
}

describe('turns', () => {
  it('cost nothing while no other writer is in the way', async () => {
    const one = writer();
    await one.acquire();
    await one.release();
    expect(one.callsOf()).toBe(0);
  });

  it('are for one writer at a time, and for the next once it passes', async () => {
    const [one, other] = [writer(), writer()];
    one.contended();
    other.contended();
    await one.acquire();
    let isTaken = false;
    const waiting = other.acquire().then(() => {
      isTaken = true;
    });
    while (other.callsOf() < 5) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(isTaken).toBe(false);
    await one.release();
    await waiting;
    await other.release();
    await one.acquire();
    await one.release();
  });

  it('end after 2 s where nobody passes them, and without them after the patience of a call', async () => {
    const [dead, next, impatient] = [writer(), writer(), writer({ elapsedPerLook: 3_000 })];
    for (const each of [dead, next, impatient]) each.contended();
    await dead.acquire();
    await impatient.acquire();
    expect(impatient.callsOf()).toBeLessThan(10);
    await next.acquire();
    expect(next.callsOf()).toBeGreaterThan(impatient.callsOf());
    // 2 s are twenty looks, and a few more for the one that drew its number before.
    expect(next.callsOf()).toBeLessThanOrEqual(25);
    // The dead one's does not end the turn of the next.
    await dead.release();
    const last = writer({ elapsedPerLook: 5_000 });
    last.contended();
    await last.acquire();
    expect(last.callsOf()).toBeGreaterThan(2);
  });

  it('are acquired anew where they have ended', async () => {
    const one = writer();
    one.contended();
    await one.acquire();
    const calls = one.callsOf();
    await one.acquire();
    expect(one.callsOf()).toBe(calls);
    time += 2_000;
    await one.acquire();
    expect(one.callsOf()).toBe(calls + 2);
    await one.release();
  });

  it('are not waited for once the time of the call is over', async () => {
    const [one, hurried] = [writer(), writer({ isOver: () => true })];
    for (const each of [one, hurried]) each.contended();
    await one.acquire();
    await hurried.acquire();
    expect(hurried.callsOf()).toBe(1);
    await one.release();
  });

  it('end quietly where they cannot be passed', async () => {
    const failing = interceptedClient(client, (call) =>
      call.name === 'UpdateCommand' && JSON.stringify(call.input).includes('SET turn = :number')
        ? Promise.reject(new Error('gone'))
        : call.send(),
    );
    const one = writerLock(testDb(failing, tables, { now: () => time }), { userId });
    one.contended();
    await one.acquire();
    await expect(one.release()).resolves.toBeUndefined();
  });

  it('come in the order in which they were asked for', async () => {
    // As no time passes, no writer takes the lock over.
    const all = Array.from({ length: 5 }, () => writer({ perLook: 0 }));
    const order: number[] = [];
    for (const each of all) each.contended();
    await all[0]!.acquire();
    const waiting: Promise<void>[] = [];
    for (const [at, each] of all.slice(1).entries()) {
      const acquired = each.acquire().then(() => {
        order.push(at);
        return each.release();
      });
      waiting.push(acquired);
      // Its first look comes after its number was drawn.
      while (each.callsOf() < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await all[0]!.release();
    await Promise.all(waiting);
    expect(order).toEqual([0, 1, 2, 3]);
  });

  it('are asked for at once by a process that has just met another writer', async () => {
    const one = writer();
    one.contended();
    const other = one.another();
    await other.acquire();
    expect(one.callsOf()).toBe(1);
    await other.release();
    time += 3_000;
    await one.another().acquire();
    expect(one.callsOf()).toBe(2);
  });

  it('are no longer asked for eight transactions after the last writer in the way', async () => {
    const one = writer();
    one.contended();
    for (let transaction = 0; transaction < 8; transaction++) {
      await one.acquire();
      await one.release();
    }
    const calls = one.callsOf();
    await one.acquire();
    await one.release();
    expect(one.callsOf()).toBe(calls);
  });
});

describe('creations of one user by many senders at once', () => {
  it.each([
    [16, 1],
    [8, 50],
    [3, 400],
  ])('by %i, of %i jobs each, hardly ever send a transaction in vain', async (senders, jobsEach) => {
    let [sent, made] = [0, 0];
    const counting = interceptedClient(client, async (call) => {
      if (call.name !== 'TransactWriteCommand') return call.send();
      sent += 1;
      const output = await call.send();
      made += 1;
      return output;
    });
    const db = testDb(counting, tables);
    const { jobs: _, ...content } = newBatch(1);
    await Promise.all(
      Array.from({ length: senders }, (_, sender) =>
        requestCreation(db, userId, {
          batchId: uuid('b', sender),
          create: { ...content, id: uuid('b', sender) },
          jobs: Array.from({ length: jobsEach }, (_, at) => newJob(sender * 1_000 + at)),
        }),
      ),
    );
    const { batches, jobs } = await soundRows(client, tables, userId);
    expect(batches.map(({ seq }) => seq)).toEqual(batches.map((_, at) => at));
    expect(jobs.map(({ seq }) => seq)).toEqual(jobs.map((_, at) => at));
    expect(batches.map(({ jobs_count }) => jobs_count)).toEqual(Array(senders).fill(jobsEach));
    // All begin at once, one asks for no turn until it met another, and on a busy machine a turn
    // may end too early.
    expect(sent - made).toBeLessThan(2 * senders + made / 2);
  });
});

describe('a creation whose place in the queue is taken for good', () => {
  it('ends after five attempts, and names the item that is there', async () => {
    const { jobs: _, ...create } = newBatch(1, { device_type: `DEVICE ${userId}` });
    // Several changes: what fits one transaction stays one, also when it fails.
    const jobs = Array.from({ length: 30 }, (_, number) => newJob(number));
    const requested = { batchId: create.id, create, jobs };
    const db = testDb(client, tables, { now: () => time });
    // As of a batch that is lost: nothing of this user takes its item away.
    await requestCreation(db, `lost|${userId}`, requested);
    const [key] = await keysInQueue(client, tables, create.device_type);
    const { client: counting, made } = countingClient(client);
    const message = `A condition failed 5 times, and nothing that it rests on changed: DeviceQueue ${create.device_type} ${key}.`;
    const creation = requestCreation({ ...db, client: counting }, userId, requested);
    await expect(creation).rejects.toMatchObject({ name: 'StuckCondition', message });
    expect(made.filter((name) => name === 'TransactWriteCommand')).toHaveLength(5);
    expect(await soundRows(client, tables, userId)).toEqual({ batches: [], jobs: [] });
  });
});
