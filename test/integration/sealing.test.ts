/**
 * A summary is never wrong, whichever writers run side by side, and wherever a call fails or a
 * function dies.
 */

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sealSegment } from '../../functions/data/lists/seal-segments.ts';
import { deep, trials } from '../support/depth.ts';
import { contention, type Fault, failures } from '../support/faults.ts';
import { foldAtOnce } from '../support/fold-at-once.ts';
import { type Call, interceptedClient } from '../support/intercepted-client.ts';
import { itemsOfOwner } from '../support/items-of-owner.ts';
import { newBatch, newJob } from '../support/new-batch.ts';
import { overtakenClient } from '../support/overtaken-client.ts';
import { ownTables } from '../support/own-tables.ts';
import { recountOf } from '../support/owner-rows.ts';
import { seed } from '../support/seed.ts';
import { smallLists } from '../support/small-lists.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';
import { wrongSummaries } from '../support/wrong-summaries.ts';

/** Segments have four rows. The first segment may be sealed from the seventh row on. */
const rowsPerBlock = 2;
const lists = smallLists(rowsPerBlock);
const { client, tables } = await ownTables();
const db = testDb(client, tables, { formats: lists });
type Through = typeof client;
const writer = (through: Through = client) => writeApi({ ...db, client: through });
const seal = (name: 'batch' | 'job', userId: string, { segment = 0, through = client } = {}) =>
  sealSegment({ ...db, client: through }, { userId, list: lists[name], segment });
const fold = (name: 'batch' | 'job', userId: string, through: Through) =>
  foldAtOnce({ ...db, client: through }, { userId, list: lists[name] });
const jobs = (from: number, count: number) => Array.from({ length: count }, (_, at) => newJob(from + at));
async function columnsOf(userId: string) {
  const items = await itemsOfOwner(client, tables.Columns, userId);
  return Object.fromEntries(items.map((item) => [String(item.key), item]));
}
const summariesIn = (columns: object) => Object.keys(columns).filter((key) => /^[bj]#.#s#/.test(key));

/**
 * A user of 9 batches, the first of them open and with 9 jobs: a segment of both lists is old, and
 * not sealed yet.
 */
async function newUser(userId: string): Promise<string> {
  const others = Array.from({ length: 8 }, (_, at) => newBatch(at + 1));
  await writer().createBatches(userId, [newBatch(0, { open: true, jobs: jobs(0, 9) }), ...others]);
  return userId;
}

interface Work {
  perform(through: Through, userId: string): Promise<unknown>;
  toString(): string;
}

const work = (text: string, perform: Work['perform']): Work => ({ perform, toString: () => text });
/** Mostly of the segments that are old from the start. */
const rows = fc.nat(5);
const times = fc.constantFrom('2026-03-01T00:00:00.000000Z', '2026-03-02T00:00:00.500000Z');
let created = 1_000;

const sealing = (name: 'batch' | 'job', segment: number) =>
  work(`seal(${name}, ${segment})`, (through, userId) => seal(name, userId, { segment, through }));
const changeOfJob = (number: number, status: 'RUNNING' | 'DONE', start_timestamp: string) =>
  work(`recordJob(${number}, ${status})`, async (through, userId) => {
    await writer(through).recordJobStatus(userId, newJob(number).id, { status, start_timestamp });
    await fold('job', userId, through);
  });

const someWork: fc.Arbitrary<Work> = fc.oneof(
  fc
    .tuple(fc.constantFrom('batch' as const, 'job' as const), fc.constantFrom(0, 0, 1))
    .map((parts) => sealing(...parts)),
  fc.tuple(rows, fc.constantFrom('RUNNING' as const, 'DONE' as const), times).map((parts) => changeOfJob(...parts)),
  fc
    .tuple(rows, fc.constantFrom('RUNNING' as const, 'PAUSED' as const), times)
    .map(([number, status, start_datetime]) =>
      work(`recordBatch(${number}, ${status})`, async (through, userId) => {
        await writer(through).recordBatchStatus(userId, newBatch(number).id, { status, start_datetime });
        await fold('batch', userId, through);
      }),
    ),
  fc.integer({ min: 1, max: 3 }).map((count) =>
    work(`add(${count})`, (through, userId) => {
      created += count;
      return writer(through).addJobs(userId, newBatch(0).id, jobs(created - count, count));
    }),
  ),
);

const faults: Readonly<Record<string, Fault>> = { ...contention, ...failures };

/**
 * Pieces of work at once, and what becomes of some of their calls: the names of faults, or that the
 * function dies.
 */
const together = fc.record({
  works: fc.array(someWork, { minLength: 1, maxLength: 3 }),
  disturbances: fc.array(
    fc.record({ of: fc.nat(2), call: fc.nat(9), what: fc.constantFrom('dies', ...Object.keys(faults)) }),
    { maxLength: 2 },
  ),
});

/** The first run begins so: some summaries are sealed and opened, whatever the seed. */
const certain = [[sealing('batch', 0), sealing('job', 0)], [changeOfJob(1, 'RUNNING', '2026-03-01T00:00:00.000000Z')]];

describe('a summary', () => {
  it('says what its blocks say after every call, and these what the rows say, whatever is done at once and fails', async () => {
    let sealed = 0;
    let opened = 0;
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(together, { minLength: 4, maxLength: deep ? 10 : 6 }),
        fc.scheduler(),
        async (steps, scheduler) => {
          const userId = await newUser(`model ${seed} ${runs++}`);
          let before = new Set(summariesIn(await columnsOf(userId)));
          const wrong: string[] = [];
          let last: Promise<unknown> = Promise.resolve();
          /**
           * One call after the other, in the scheduler's order. After each that writes, all
           * summaries are looked at.
           */
          const inOrder = async (call: Call, send: () => ReturnType<Call['send']>) => {
            await scheduler.schedule(Promise.resolve());
            const made = last.then(send);
            last = made.catch(() => {}).then(() => (call.name === 'TransactWriteCommand' ? look() : undefined));
            await last;
            return made;
          };
          const look = async () => {
            const columns = await columnsOf(userId);
            wrong.push(...wrongSummaries(lists, columns));
            const after = new Set(summariesIn(columns));
            sealed += after.difference(before).size;
            opened += before.difference(after).size;
            before = after;
          };
          const begun = runs === 1 ? certain.map((works) => ({ works, disturbances: [] })) : [];
          for (const { works, disturbances } of [...begun, ...steps]) {
            const performed = works.map(({ perform }, at) => {
              let count = 0;
              let isDead = false;
              const through = interceptedClient(client, (call) => {
                const disturbance = disturbances.find(({ of, call: number }) => of === at && number === count);
                count += 1;
                isDead ||= disturbance?.what === 'dies';
                if (isDead) throw new Error('killed');
                const fault = faults[disturbance?.what ?? ''];
                return inOrder(call, () => (fault?.commands.includes(call.name) ? fault.strike(call) : call.send()));
              });
              return perform(through, userId).catch((error: Error) => error);
            });
            await scheduler.waitFor(Promise.all(performed));
            expect(wrong).toEqual([]);
            if (deep) expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
          }
          // What is wrong after a step is wrong at the end, too.
          expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
        },
      ),
      trials(3, 60),
    );
    expect(sealed).toBeGreaterThan(2 * runs);
    expect(opened).toBeGreaterThan(runs / 3);
  });
});

describe('sealing and a change of one of its rows', () => {
  const change = async (through: Through, userId: string) => {
    const start_timestamp = '2026-03-01T00:00:00.000000Z';
    await writer().recordJobStatus(userId, newJob(1).id, { status: 'RUNNING', start_timestamp });
    await fold('job', userId, through);
  };

  it('leave a column open whose blocks are changed between being read and being sealed', async () => {
    const userId = await newUser('changed while it is sealed');
    const late = overtakenClient(client, () => change(client, userId));
    expect(await seal('job', userId, { through: late.client })).toBe(5);
    const columns = await columnsOf(userId);
    expect(summariesIn(columns)).not.toContain('j#f#s#0000000');
    expect(wrongSummaries(lists, columns)).toEqual([]);
    expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
  });

  it('delete the summaries of blocks that are sealed between being read and being changed', async () => {
    const userId = await newUser('sealed while it is changed');
    const late = overtakenClient(client, () => seal('job', userId));
    await change(late.client, userId);
    const columns = await columnsOf(userId);
    expect(summariesIn(columns)).toEqual(['e', 'o', 'r'].map((column) => `j#${column}#s#0000000`));
    expect(wrongSummaries(lists, columns)).toEqual([]);
    expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
  });
});

describe('sealing that fails', () => {
  it.each(Object.entries({ ...contention, ...failures }))('at %s is done by the next', async (name, fault) => {
    const userId = await newUser(`sealing meets ${name}`);
    let struck = 0;
    const faulty = interceptedClient(client, (call) => {
      if (!fault.commands.includes(call.name)) return call.send();
      struck += 1;
      return fault.strike(call);
    });
    const first = await seal('job', userId, { through: faulty }).catch((error: Error) => error);
    expect(struck).toBeGreaterThan(0);
    // Another writer was met: nothing is wrong.
    if (conflicts.includes(name)) expect(first).toBe(0);
    else expect(first).toBeInstanceOf(Error);
    expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
    await seal('job', userId);
    const columns = await columnsOf(userId);
    expect(summariesIn(columns)).toEqual(['e', 'f', 'o', 'r', 's', 'u'].map((column) => `j#${column}#s#0000000`));
    expect(wrongSummaries(lists, columns)).toEqual([]);
  });
});

const conflicts = ['a lost race', 'a conflicting transaction'];
