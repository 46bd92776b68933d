/**
 * The first call of a user that creates or cancels, with a fault at every call of DynamoDB: it
 * succeeds, or its repetition completes it.
 */

import { beforeAll, describe, expect, it } from 'vitest';
import { requestCreation } from '../../functions/data/lifecycle/request-creation.ts';
import { Claims } from '../../functions/schemas/claims.ts';
import { copiesOf } from '../support/copy-owner.ts';
import { oneOrAll, rotate } from '../support/depth.ts';
import { contention, type Fault, failures, partly } from '../support/faults.ts';
import { type Call, interceptedClient } from '../support/intercepted-client.ts';
import { modelOf, modelWriter } from '../support/lifecycle-model.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { ownTables } from '../support/own-tables.ts';
import { recountOf, soundRows } from '../support/owner-rows.ts';
import { seed } from '../support/seed.ts';
import { sideBySide } from '../support/side-by-side.ts';
import { smallLists } from '../support/small-lists.ts';

/** So few that 14 new jobs, or 26 that end, take several transactions. */
const rowsPerBlock = 1;
const { client, tables } = await ownTables();
const jobs = (from: number, count = 14) => Array.from({ length: count }, (_, at) => newJob(from + at));
const sequences = new Map([[uuid('a', 100), Buffer.from('a sequence')]]);
const request = { id: 'request#1', digest: 'digest' };
type Through = typeof client;
const create = (through: Through) => requestCreation(through, tables, { lists: smallLists(rowsPerBlock) });
const write = (through: Through) => modelWriter(through, tables, rowsPerBlock);

const calls: Readonly<Record<string, (through: Through, userId: string) => Promise<unknown>>> = {
  create: (through, user) => {
    const { jobs: _, ...content } = newBatch(2, { tags: ['a'] });
    return create(through)(user, { batchId: uuid('b', 2), create: content, jobs: jobs(100), sequences, request });
  },
  'add jobs': (through, user) => create(through)(user, { batchId: uuid('b', 0), jobs: jobs(100), sequences, request }),
  rebatch: (through, user) => {
    const query = { id: jobs(1).map(({ id }) => id) };
    return write(through).rebatch({ userId: user, idempotencyKey: 'k' }, uuid('b', 1), query, Claims.parse({}));
  },
  'cancel a batch': (through, user) => write(through).cancelBatch(user, uuid('b', 1)),
  'cancel jobs': (through, user) => write(through).cancelJobs(user, uuid('b', 1), { min_runs: 50 }),
  'cancel a job': (through, user) => write(through).cancelJob(user, uuid('a', 1)),
  'time a batch out': (through, user) => {
    const event = { id: 'timed out', time: '2026-03-03T00:01:00.000000Z' };
    return write(through).recordBatchStatus(user, uuid('b', 1), { status: 'TIMED_OUT' }, { event });
  },
};

/**
 * How many cases of one kind of call run at once. The more there are, the longer each waits for
 * DynamoDB Local, and calls try again for two seconds only.
 */
const atOnce = 2;

let users = 0;
/**
 * How many jobs the closed batch has: as many as the call needs to take several transactions, 3
 * otherwise.
 */
const jobsOfClosed: Readonly<Record<string, number>> = {
  rebatch: 14,
  'cancel a batch': 26,
  'cancel jobs': 26,
  'time a batch out': 20,
};

/** Makes users with an open batch and a closed one, one of whose jobs has ended. */
async function newUsers(name: string): Promise<() => Promise<string>> {
  const userId = `auth0|${name}`;
  const { createBatches, recordJobStatus } = write(client);
  await createBatches(userId, [
    newBatch(0, { open: true, jobs: [newJob(50)] }),
    newBatch(1, { jobs: jobs(1, jobsOfClosed[name] ?? 3) }),
  ]);
  await recordJobStatus(userId, uuid('a', 2), { status: 'DONE' });
  const copy = await copiesOf(client, tables, userId);
  return () => copy(`auth0|${users++}`);
}

/** What the user has, sound; ids that follow from the user's by their order. */
async function rowsOf(userId: string) {
  const rows = await soundRows(client, tables, userId, rowsPerBlock);
  for (const { creating, canceling, pending_calls } of rows.batches) {
    expect([creating, canceling, pending_calls]).toEqual([undefined, undefined, undefined]);
  }
  const ids = new Map<string, string>();
  const derived = /[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
  return JSON.parse(
    JSON.stringify(modelOf(rows)).replaceAll(derived, (id) => {
      ids.set(id, ids.get(id) ?? `derived ${ids.size}`);
      return ids.get(id) as string;
    }),
  );
}

async function attempt(name: string, userId: string, intercept: (call: Call) => ReturnType<Call['send']>) {
  return calls[name]!(interceptedClient(client, intercept), userId).then(
    () => undefined,
    (error: Error) => error,
  );
}

describe.each(Object.keys(calls))('%s', { concurrent: true }, (name) => {
  let newUser: () => Promise<string>;
  /** What the call leaves when nothing goes wrong, and the calls of DynamoDB that it makes. */
  let right: unknown;
  const made: string[] = [];

  beforeAll(async () => {
    newUser = await newUsers(name);
    const userId = await newUser();
    const error = await attempt(name, userId, (call) => {
      made.push(call.name);
      return call.send();
    });
    expect(error).toBeUndefined();
    right = await rowsOf(userId);
    if (name !== 'cancel a job') expect(made.filter(isWrite).length).toBeGreaterThan(1);
  });

  const isWrite = (command: string | undefined) => command === 'TransactWriteCommand';
  const at = Object.keys(calls).indexOf(name);

  /**
   * Transactions are struck by any fault, reads by those that our own code has to bear: the SDK
   * repeats the others. The reads before one transaction leave the same behind, so one of them is
   * enough.
   */
  function strikes(faults: Readonly<Record<string, Fault>>) {
    const possible = (place: number) =>
      Object.keys(faults).filter(
        (fault) => faults[fault]!.commands.includes(made[place]!) && (isWrite(made[place]) || forReads.includes(fault)),
      );
    const places = [...made.keys()].filter((place) => possible(place).length > 0);
    const reads = Map.groupBy(
      places.filter((place) => !isWrite(made[place])),
      (place) => made.slice(0, place).filter(isWrite).length,
    );
    const chosen = [...reads.values()].flatMap((before) => oneOrAll(before, at));
    return rotate([...places.filter((place) => isWrite(made[place])), ...chosen], possible, at);
  }
  const forReads = ['some unprocessed keys', 'a killed function'];

  it('succeeds despite one fault at any of its transactions', async () => {
    const faults = { ...contention, ...failures, ...partly };
    const check = async ({ place, fault }: { place: number; fault: string }) => {
      const userId = await newUser();
      let at = 0;
      const error = await attempt(name, userId, (call) => (at++ === place ? faults[fault]!.strike(call) : call.send()));
      const rows = await rowsOf(userId);
      expect({ fault, place, error, rows }, `seed ${seed}`).toEqual({ fault, place, error: undefined, rows: right });
    };
    await sideBySide(strikes(faults), atOnce, check);
  });

  it('is completed by its repetition wherever it failed', async () => {
    const lasting: Readonly<Record<string, Fault>> = {
      'an internal error': failures['an internal error']!,
      'a timeout after the effect': failures['a timeout after the effect']!,
      'an exceeded throughput': contention['an exceeded throughput']!,
      'a killed function': {
        commands: ['BatchGetCommand', 'TransactWriteCommand', 'QueryCommand', 'GetCommand'],
        strike: async () => {
          throw new Error('killed');
        },
      },
    };
    const check = async ({ place, fault }: { place: number; fault: string }) => {
      const { commands, strike } = lasting[fault]!;
      const userId = await newUser();
      let at = 0;
      await attempt(name, userId, (call) =>
        at++ >= place && commands.includes(call.name) ? strike(call) : call.send(),
      );
      expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
      const error = await attempt(name, userId, (call) => call.send());
      const rows = await rowsOf(userId);
      expect({ fault, place, error, rows }, `seed ${seed}`).toEqual({ fault, place, error: undefined, rows: right });
    };
    await sideBySide(strikes(lasting), atOnce, check);
  });
});
