/**
 * Functions whose clocks are up to 2 s off, ahead or behind: each call is served by any of them.
 */

import { describe, expect, it } from 'vitest';
import { createBatch } from '../../functions/data/batches/new-batches.ts';
import { listBatches } from '../../functions/data/rows/batches.ts';
import { LeaseLost } from '../../functions/errors.ts';
import { type BatchListQuery, batchOrderings } from '../../functions/schemas/batch-list-query.ts';
import { Claims } from '../../functions/schemas/claims.ts';
import type { Claim } from '../../functions/schemas/lease.ts';
import { randomNumbers } from '../../infra/local/demo/seeded-random.ts';
import { answerOf, listOf } from '../support/list-oracle.ts';
import { newBatchRequest } from '../support/new-batch.ts';
import { ownTables } from '../support/own-tables.ts';
import { soundRows } from '../support/owner-rows.ts';
import { seed } from '../support/seed.ts';
import { withoutRole } from '../support/without-role.ts';
import { leaseFrom, newNames, workerStack } from '../support/worker-stack.ts';

const { client, tables } = await ownTables();

const mostOff = 2_000;
/** A worker that was heard of within this time keeps its lease. */
const sure = 60_000 - 2 * mostOff;
/** A worker that was not heard of for this time has lost it to the next claim. */
const over = 60_000 + 2 * mostOff;
const step = 5_000;

/** Functions at one time, `time.now`, each with its own error; a random one serves a call. */
function functionsApart() {
  const random = randomNumbers(seed);
  const time = { now: Date.parse('2026-11-21T12:00:00Z') };
  const at = (off: number) =>
    workerStack(client, tables, {
      get now() {
        return time.now + off;
      },
    });
  const [behind, ahead] = [at(-mostOff), at(mostOff)];
  const functions = [behind, at(-700), at(0), at(1_300), ahead];
  const any = () => functions[Math.floor(random() * functions.length)]!;
  return { random, time, any, ahead, behind };
}

/** What a worker knows: its lease, the job that it runs, and when its last call was answered. */
interface Worker {
  readonly claim: Claim;
  readonly batchId: string;
  job: string;
  heard: number;
}

describe('functions whose clocks are apart', () => {
  it('take over no lease of a worker that was heard of within 56 s, and any after 64 s', async () => {
    const { random, time, any } = functionsApart();
    const { device, user } = newNames();
    for (const jobs of [1, 2, 3, 1, 2, 3]) await any().create(user, { device_type: device, jobs });
    const workers: (Worker | undefined)[] = Array.from({ length: 4 });
    /** The last worker of each batch, dead or not. */
    const holders = new Map<string, Worker>();
    const dead: Worker[] = [];
    const deaths = new Map<string, number>();
    const accepted: string[] = [];
    let late = 0;

    const claim = async (name: string): Promise<Worker | undefined> => {
      const claim = await any().claim(device, name);
      if (claim === undefined) {
        expect([...holders.values()].filter(({ heard }) => time.now - heard >= over)).toEqual([]);
        return undefined;
      }
      const worker = { claim, batchId: claim.batch.id, job: claim.job.id, heard: time.now };
      const before = holders.get(worker.batchId);
      if (before !== undefined) expect(time.now - before.heard, 'since its worker was heard of').toBeGreaterThan(sure);
      holders.set(worker.batchId, worker);
      return worker;
    };
    const report = async (worker: Worker): Promise<Worker | undefined> => {
      const { job } = await any().report(leaseFrom(worker.claim), worker.job);
      accepted.push(worker.job);
      worker.heard = time.now;
      if (job === null) holders.delete(worker.batchId);
      else worker.job = job.id;
      return job === null ? undefined : worker;
    };
    const die = (worker: Worker) => {
      dead.push(worker);
      deaths.set(worker.job, (deaths.get(worker.job) ?? 0) + 1);
    };
    /** One of the things that a worker may do now; returns it, if it goes on with its batch. */
    const act = async (worker: Worker): Promise<Worker | undefined> => {
      // The third loss would end the job.
      if (random() < 0.1 && (deaths.get(worker.job) ?? 0) < 2) return die(worker) as undefined;
      if (random() < 0.15) return report(worker);
      // As late as it may be.
      if (time.now + step - worker.heard > sure) {
        expect(await any().heartbeat(leaseFrom(worker.claim), worker.job)).toMatchObject({ cancel: false });
        worker.heard = time.now;
      }
      return worker;
    };

    for (let rounds = 0; rounds === 0 || holders.size > 0; rounds++) {
      expect(rounds, 'rounds').toBeLessThan(1_000);
      for (const [at, worker] of workers.entries()) {
        workers[at] = await (worker === undefined ? claim(`worker ${at}`) : act(worker));
      }
      const { lapsed } = await any().measure(device);
      for (const item of lapsed) await any().putBack(item);
      for (const worker of dead.filter((each) => holders.get(each.batchId) !== each)) {
        await expect(report(worker)).rejects.toThrow(LeaseLost);
        late += dead.splice(dead.indexOf(worker), 1).length;
      }
      time.now += step;
    }
    expect(late).toBe([...deaths.values()].reduce((sum, of) => sum + of, 0));
    const { batches, jobs } = await soundRows(client, tables, user);
    expect(batches.map(({ status }) => status)).toEqual(batches.map(() => 'DONE'));
    expect(jobs.map(({ id }) => id).sort()).toEqual(accepted.sort());
  });

  it('keep a user’s times in their order, and lists by them', async () => {
    const { random, time, any, ahead, behind } = functionsApart();
    const { device, user } = newNames();
    const created = await ahead.create(user, { device_type: device, jobs: 2 });
    const lease = leaseFrom(await behind.claimed(device));
    await behind.report(lease, created.jobs![0]!.id);
    await ahead.report(lease, created.jobs![1]!.id);
    const canceled = await ahead.create(user, { device_type: device, open: true });
    await ahead.close(user, canceled.id);
    await behind.cancel(user, canceled.id);
    for (let creations = 0; creations < 12; creations++) {
      const device_type = `${device} ${creations % 2}`;
      const { id } = (await Promise.all([any(), any()].map((each) => each.create(user, { device_type }))))[0]!;
      if (random() < 0.3) await any().cancel(user, id);
      time.now += 300;
    }
    const { batches, jobs } = await soundRows(client, tables, user);
    for (const { created_at, start_datetime, end_datetime, updated_at } of batches) {
      expectInOrder([created_at, start_datetime, end_datetime, updated_at]);
    }
    for (const { created_at, start_timestamp, end_timestamp, updated_at } of jobs) {
      expectInOrder([created_at, start_timestamp, end_timestamp, updated_at]);
    }
    for (const order_by of batchOrderings) {
      const query = { order_by, order_by_direction: 'ASC', limit: 7, offset: 5 } as const;
      const page = answerOf(await listBatches(any().db, withoutRole(user), query as BatchListQuery));
      expect(page, order_by).toEqual(listOf(batches as never, query));
    }
    const middle = batches[14]!.created_at;
    for (const bound of ['created_after', 'created_before'] as const) {
      const query = {
        order_by: 'created_at',
        order_by_direction: 'DESC',
        limit: 30,
        offset: 0,
        [bound]: middle,
      } as const;
      const page = answerOf(await listBatches(any().db, withoutRole(user), query as BatchListQuery));
      expect(page, bound).toEqual(listOf(batches as never, query));
    }
  });

  it('carry out a repeated call once', async () => {
    const { ahead, behind } = functionsApart();
    const { user } = newNames();
    const call = { userId: user, idempotencyKey: 'key', claims: Claims.parse({}) };
    const functions = [ahead, behind, ahead];
    const created = await Promise.all(functions.map(({ db }) => createBatch(db, call, newBatchRequest(2))));
    const again = await createBatch(behind.db, call, newBatchRequest(2));
    expect(new Set([...created, again].map(({ id }) => id)).size).toBe(1);
    expect(await soundRows(client, tables, user)).toMatchObject({ batches: [{ jobs_count: 2 }], jobs: [{}, {}] });
  });
});

function expectInOrder(times: readonly (string | null)[]) {
  const present = times.filter((time) => time !== null);
  expect(present).toEqual(present.toSorted());
}
