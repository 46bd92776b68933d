/**
 * Every call that writes, with a fault at every one of its calls of DynamoDB: it succeeds, or its
 * repetition completes it.
 */

import { beforeAll, describe, expect, it } from 'vitest';
import { cancelBatch, cancelJob, cancelJobs } from '../../functions/data/batches/cancellations.ts';
import { rebatch } from '../../functions/data/batches/rebatches.ts';
import { type RequestedCreation, requestCreation } from '../../functions/data/lifecycle/request-creation.ts';
import { Claims } from '../../functions/schemas/claims.ts';
import { copiesOf } from '../support/copy-owner.ts';
import { oneOrAll } from '../support/depth.ts';
import { contention, failures, killed, partly } from '../support/faults.ts';
import { modelOf, modelWriter } from '../support/lifecycle-model.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { ownTables } from '../support/own-tables.ts';
import { recountOf, soundRows } from '../support/owner-rows.ts';
import { seed } from '../support/seed.ts';
import { smallLists } from '../support/small-lists.ts';
import { countingClient, type Faults, strikeEach, struckClient } from '../support/strike-each.ts';
import { testDb } from '../support/test-db.ts';

/** So few that 14 new jobs take several transactions. 92 that end take several in any case. */
const rowsPerBlock = 1;
const { client, tables } = await ownTables();
type Through = typeof client;
const jobs = (from: number, count = 14) => Array.from({ length: count }, (_, at) => newJob(from + at));
const sequences = new Map([[uuid('a', 100), Buffer.from('a sequence')]]);
const request = { id: 'request#1', digest: 'digest' };
const claims = Claims.parse({});
const write = (through: Through) => modelWriter(through, tables, rowsPerBlock);
const event = { id: 'an event', time: '2026-03-03T00:01:00.000000Z' };
const start = '2026-03-01T00:00:00.000000Z';

/**
 * A creation at a time of its user's own. The key of a batch in the queue is its time and its id,
 * and here all users give theirs the same id.
 */
function create(through: Through, user: string, requested: RequestedCreation) {
  const now = () => Date.parse('2026-03-04') + 1_000 * Number(user.split('|')[1]);
  return requestCreation(testDb(through, tables, { formats: smallLists(rowsPerBlock), now }), user, requested);
}

interface StruckCall {
  readonly perform: (through: Through, userId: string) => Promise<unknown>;
  /** Jobs of the closed batch. More than the default of 3 make a call take several transactions. */
  readonly jobsOfClosed?: number;
  readonly isOneTransaction?: true;
}

const calls: Readonly<Record<string, StruckCall>> = {
  create: {
    perform(through, user) {
      const { jobs: _, ...content } = newBatch(2, { tags: ['a'] });
      const creation = { batchId: uuid('b', 2), create: content, jobs: jobs(100), sequences, request };
      return create(through, user, creation);
    },
  },
  'add jobs': {
    perform: (through, user) => create(through, user, { batchId: uuid('b', 0), jobs: jobs(100), sequences, request }),
  },
  rebatch: {
    jobsOfClosed: 14,
    perform(through, user) {
      const query = { id: jobs(1).map(({ id }) => id) };
      const call = { userId: user, idempotencyKey: 'k', claims };
      return rebatch(write(through).db, call, { batchId: uuid('b', 1), query });
    },
  },
  'cancel a batch': {
    jobsOfClosed: 92,
    perform: (through, user) => cancelBatch(write(through).db, { userId: user, batchId: uuid('b', 1) }),
  },
  'cancel jobs': {
    jobsOfClosed: 92,
    perform: (through, user) =>
      cancelJobs(write(through).db, { userId: user, batchId: uuid('b', 1) }, { min_runs: 50 }),
  },
  'cancel a job': {
    isOneTransaction: true,
    perform: (through, user) => cancelJob(write(through).db, user, uuid('a', 1)),
  },
  'time a batch out': {
    jobsOfClosed: 92,
    perform: (through, user) =>
      write(through).recordBatchStatus(user, uuid('b', 1), { status: 'TIMED_OUT' }, { event }),
  },
  'event: a new batch': {
    isOneTransaction: true,
    perform: (through, user) =>
      write(through).createBatch(user, newBatch(7, { jobs: jobs(70, 2), tags: ['a'] }), { event }),
  },
  'event: new jobs': {
    isOneTransaction: true,
    perform: (through, user) => write(through).addJobs(user, uuid('b', 0), jobs(60, 2), { event }),
  },
  'event: a batch runs': {
    isOneTransaction: true,
    perform: (through, user) =>
      write(through).recordBatchStatus(user, uuid('b', 1), { status: 'RUNNING', start_datetime: start }, { event }),
  },
  'event: a job fails': {
    isOneTransaction: true,
    perform(through, user) {
      const update = { status: 'ERROR' as const, end_timestamp: start, errors: ['lost'] };
      return write(through).recordJobStatus(user, uuid('a', 1), update, { event });
    },
  },
  'event: tags': {
    isOneTransaction: true,
    perform: (through, user) => write(through).setTags(user, uuid('b', 1), ['b'], { event }),
  },
  'event: a closed batch': {
    isOneTransaction: true,
    perform: (through, user) => write(through).closeBatch(user, uuid('b', 0), { event }),
  },
};

let users = 0;

/** Makes users with an open batch and a closed one, one of whose jobs has ended. */
async function newUsers(name: string): Promise<() => Promise<string>> {
  const userId = `template|${name}`;
  const { createBatches, recordJobStatus } = write(client);
  await createBatches(userId, [
    newBatch(0, { open: true, jobs: [newJob(500)] }),
    newBatch(1, { jobs: jobs(1, calls[name]!.jobsOfClosed ?? 3) }),
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

describe.each(Object.entries(calls))('%s', { concurrent: true }, (name, { perform, isOneTransaction = false }) => {
  const at = Object.keys(calls).indexOf(name);
  const attempt = (through: Through, userId: string) =>
    perform(through, userId).then(
      () => undefined,
      (error: Error) => error,
    );
  let newUser: () => Promise<string>;
  let before: unknown;
  /** What the call leaves when nothing goes wrong. */
  let right: unknown;
  let made: readonly string[] = [];
  const isWrite = (place: number) => made[place] === 'TransactWriteCommand';

  beforeAll(async () => {
    newUser = await newUsers(name);
    const userId = await newUser();
    before = await rowsOf(userId);
    const counting = countingClient(client);
    expect(await attempt(counting.client, userId)).toBeUndefined();
    right = await rowsOf(userId);
    expect(right).not.toEqual(before);
    made = counting.made;
    const transactions = [...made.keys()].filter(isWrite).length;
    if (isOneTransaction) expect(transactions).toBe(1);
    else expect(transactions).toBeGreaterThan(1);
  });

  /**
   * A call of several transactions has its reads struck only by what our own code has to bear, and
   * those before one transaction, which leave the same behind, by one strike: the SDK repeats them.
   */
  function strikesBy(faults: Faults, forReads: Faults) {
    const faultsAt = (place: number) => {
      const some = isOneTransaction || isWrite(place) ? faults : forReads;
      return Object.fromEntries(Object.entries(some).filter(([, { commands }]) => commands.includes(made[place]!)));
    };
    const places = [...made.keys()].filter((place) => Object.keys(faultsAt(place)).length > 0);
    const reads = Map.groupBy(
      places.filter((place) => !isWrite(place)),
      (place) => made.slice(0, place).filter((_, before) => isWrite(before)).length,
    );
    const chosen = [...reads.values()].flatMap((group) => (isOneTransaction ? group : oneOrAll(group, at)));
    return { places: [...places.filter(isWrite), ...chosen], faultsAt, at };
  }

  /** What happened comes first: the rows alone would not say why they are others. */
  async function expectRight(error: Error | undefined, userId: string, where: object) {
    expect({ ...where, error }, `seed ${seed}`).toEqual({ ...where, error: undefined });
    expect({ ...where, rows: await rowsOf(userId) }, `seed ${seed}`).toEqual({ ...where, rows: right });
  }

  it('succeeds despite one fault at any of its calls', async () => {
    await strikeEach(strikesBy({ ...contention, ...failures, ...partly }, partly), async (strike) => {
      const userId = await newUser();
      const error = await attempt(struckClient(client, strike).client, userId);
      await expectRight(error, userId, { fault: strike.name, place: strike.place });
    });
  });

  it('fails honestly where a fault lasts, and is completed by its repetition', async () => {
    const some = ['an internal error', 'a timeout after the effect', 'an exceeded throughput'];
    const all = { ...contention, ...failures };
    const death = { 'a killed function': killed };
    const faults = {
      ...(isOneTransaction ? all : Object.fromEntries(some.map((name) => [name, all[name]!]))),
      ...death,
    };
    await strikeEach(strikesBy(faults, death), async (strike) => {
      const userId = await newUser();
      const struck = struckClient(client, strike, { lasts: true });
      const error = await attempt(struck.client, userId);
      const where = { fault: strike.name, place: strike.place };
      const isContention = strike.name in contention;
      expect({ ...where, error }).toEqual({ ...where, error: expect.any(Error) });
      // What is lost again and again while nothing changes is no race.
      const expected = strike.name === 'a lost race' ? 'StuckCondition' : 'TooBusy';
      if (isOneTransaction && isContention)
        expect({ ...where, name: error?.name }).toEqual({ ...where, name: expected });
      if (strike.name in failures) {
        expect(error?.cause).toHaveProperty('message', 'injected');
        expect(struck.struck).toBeLessThanOrEqual(9);
      }
      expect({ ...where, wrong: await recountOf(client, tables, userId, rowsPerBlock) }).toEqual({
        ...where,
        wrong: [],
      });
      if (isOneTransaction) {
        const happened = isWrite(strike.place) && strike.name.includes('after the effect');
        expect({ ...where, rows: await rowsOf(userId) }).toEqual({ ...where, rows: happened ? right : before });
      }
      await expectRight(await attempt(client, userId), userId, where);
    });
  });
});
