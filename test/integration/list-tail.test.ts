/**
 * Lists are read while rows move from the tail of the head to blocks, and while recent rows change.
 */

import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { listBatches } from '../../functions/data/rows/batches.ts';
import { listJobIds, listJobs } from '../../functions/data/rows/jobs.ts';
import { BatchListQuery, batchOrderings } from '../../functions/schemas/batch-list-query.ts';
import { JobListQuery } from '../../functions/schemas/job-list-query.ts';
import { copiesOf } from '../support/copy-owner.ts';
import { cases } from '../support/depth.ts';
import { type Call, interceptedClient } from '../support/intercepted-client.ts';
import { answerOf, listOf } from '../support/list-oracle.ts';
import { newBatch, newJob } from '../support/new-batch.ts';
import { ownTables } from '../support/own-tables.ts';
import { batchesAndJobs } from '../support/owner-rows.ts';
import { seed } from '../support/seed.ts';
import { smallLists } from '../support/small-lists.ts';
import { testDb } from '../support/test-db.ts';
import { withoutRole } from '../support/without-role.ts';
import { writeApi } from '../support/write-api.ts';

/** Of blocks of 16 rows: then nine rows fill the tail. */
const rowsInTail = 9;
const { client, tables } = await ownTables();
const db = testDb(client, tables, { formats: smallLists(16) });
const writer = writeApi(db);
const dbThrough = (intercept: Parameters<typeof interceptedClient>[1]) => ({
  ...db,
  client: interceptedClient(client, intercept),
});

const start = (second: number) => `2026-03-01T00:00:${String(second).padStart(2, '0')}.000000Z`;

/** Makes a user of as many started batches as a tail holds. */
let newUser: Awaited<ReturnType<typeof copiesOf>>;

beforeAll(async () => {
  const userId = 'a full tail';
  for (let number = 0; number < rowsInTail; number++) {
    await writer.createBatch(userId, newBatch(number, { tags: ['a'], jobs: [newJob(number)] }));
    await writer.recordBatchStatus(userId, newBatch(number).id, {
      status: 'RUNNING',
      start_datetime: start(number),
    });
  }
  newUser = await copiesOf(client, tables, userId);
});

const rowsOf = async (userId: string) => (await batchesAndJobs(client, tables, userId)).batches;

const queries: Record<string, Record<string, string[]>> = {
  'a time': { start_date: ['2026-01-01'] },
  'two times': { start_date: ['2026-01-01'], end_date: ['2027-01-01'] },
  'the order of a time': { order_by: ['start_datetime'] },
  'a status': { status: ['RUNNING'] },
  'a number': { min_jobs: ['1'] },
  'a wide prefix': { id__starts_with: ['b'], status: ['RUNNING', 'PENDING'], order_by: ['id'] },
  'a tag': { tag: ['a'] },
  'creation order': {},
};
const isHeadRead = ({ name, input }: Call) =>
  name === 'QueryCommand' && Object.values(input.ExpressionAttributeValues as object).includes('b#head');

describe('a list read while the tail moves to the blocks', () => {
  it.each(Object.entries(queries))(
    'is right where the blocks are read before, and the head after: %s',
    async (name, parameters) => {
      const userId = await newUser(`head after ${name}`);
      const query = BatchListQuery.parse(parameters);
      const blocks: Promise<unknown>[] = [];
      let isMoved = false;
      const through = dbThrough(async (call) => {
        if (!isHeadRead(call)) {
          const answer = call.send();
          blocks.push(answer);
          return answer;
        }
        // Once the other reads of this step are on their way.
        await new Promise((wake) => setTimeout(wake, 20));
        if (!isMoved) {
          await Promise.all(blocks);
          isMoved = true;
          await writer.createBatch(userId, newBatch(50));
        }
        return call.send();
      });
      expect(answerOf(await listBatches(through, withoutRole(userId), query))).toEqual(
        listOf(await rowsOf(userId), query as never),
      );
      expect(isMoved).toBe(true);
    },
  );

  it.each(Object.entries(queries))(
    'is right where the head is read before, and the blocks after: %s',
    async (name, parameters) => {
      const userId = await newUser(`head before ${name}`);
      const before = await rowsOf(userId);
      const query = BatchListQuery.parse(parameters);
      let moved: Promise<void> | undefined;
      const through = dbThrough(async (call) => {
        if (!isHeadRead(call)) {
          await new Promise((wake) => setTimeout(wake, 20));
          await moved;
          return call.send();
        }
        const answer = await call.send();
        moved ??= writer.createBatch(userId, newBatch(50));
        await moved;
        return answer;
      });
      const answer = answerOf(await listBatches(through, withoutRole(userId), query));
      const after = await rowsOf(userId);
      expect([listOf(before, query as never), listOf(after, query as never)]).toContainEqual(answer);
      expect(after).toHaveLength(before.length + 1);
    },
  );

  it('finds all jobs of a batch whose newest ids are in the tail, and leaves out those that are newer than the head', async () => {
    const userId = 'job ids';
    const ids = Array.from({ length: rowsInTail + 3 }, (_, number) => newJob(number));
    await writer.createBatch(userId, newBatch(0, { open: true, jobs: ids }));
    const more = Array.from({ length: rowsInTail }, (_, number) => newJob(100 + number));
    const through = dbThrough(async (call) => {
      if (isHeadRead(call)) return call.send();
      // The set shows jobs that the head does not count.
      if (call.name === 'QueryCommand') await writer.addJobs(userId, newBatch(0).id, more);
      return call.send();
    });
    const found = await listJobIds(through, { userId, batchId: newBatch(0).id });
    expect([ids, [...ids, ...more]].map((jobs) => jobs.map(({ id }) => id))).toContainEqual(found);
    const all = await listJobIds(db, { userId, batchId: newBatch(0).id });
    expect(all).toEqual([...ids, ...more].map(({ id }) => id));
  });
});

describe('lists while rows are created and change', () => {
  const statuses = ['PENDING', 'RUNNING', 'PAUSED', 'DONE', 'CANCELED'] as const;
  const batchQueries = fc.record(
    {
      status: fc.subarray([...statuses], { minLength: 1 }),
      tag: fc.subarray(['a', 'b'], { minLength: 1 }),
      start_date: fc.constantFrom(start(0), start(10), start(30)),
      end_date: fc.constantFrom(start(20), start(40)),
      min_jobs: fc.nat(2),
      id__starts_with: fc.constantFrom('b', 'bb', 'c'),
      order_by: fc.constantFrom(...batchOrderings),
      order_by_direction: fc.constantFrom('ASC', 'DESC'),
    },
    { requiredKeys: ['order_by', 'order_by_direction'] },
  );
  const jobQueries = fc.record(
    {
      status: fc.subarray(['PENDING', 'RUNNING', 'DONE'], { minLength: 1 }),
      batch_id: fc.nat(20).map((number) => [newBatch(number).id]),
      min_runs: fc.constantFrom(0, 500),
      order_by: fc.constantFrom('created_at', 'status', 'updated_at', 'id', 'creation_order'),
    },
    { requiredKeys: ['order_by'] },
  );
  const asParameters = (query: object) =>
    Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value].flat().map(String)]));
  const writes = fc.oneof(
    { arbitrary: fc.record({ kind: fc.constant('create' as const), jobs: fc.nat(3) }), weight: 8 },
    { arbitrary: fc.record({ kind: fc.constant('status' as const), back: fc.nat(4) }), weight: 3 },
    { arbitrary: fc.record({ kind: fc.constant('status' as const), back: fc.nat(40) }), weight: 2 },
    { arbitrary: fc.record({ kind: fc.constant('tags' as const), back: fc.nat(15) }), weight: 1 },
    { arbitrary: fc.record({ kind: fc.constant('job' as const), back: fc.nat(20) }), weight: 2 },
  );

  it('always answer as before or after the one write beside them', async () => {
    const userId = 'writers';
    const count = cases(45, 100);
    const batches: string[] = [];
    const jobs: string[] = [];
    const steps = fc.sample(writes, { numRuns: count, seed });
    const asked = fc.sample(fc.tuple(batchQueries, batchQueries, jobQueries), { numRuns: count, seed });
    const perform = async (number: number, write: (typeof steps)[number]) => {
      const second = start(number % 60);
      if (write.kind === 'create' || batches.length === 0) {
        const newJobs = Array.from({ length: 'jobs' in write ? write.jobs : 1 }, (_, at) => newJob(number * 10 + at));
        const batch = newBatch(number, { open: true, tags: number % 2 ? ['a'] : [], jobs: newJobs });
        await writer.createBatch(userId, batch);
        batches.push(batch.id);
        jobs.push(...newJobs.map(({ id }) => id));
        return;
      }
      const batch = batches.at(-1 - (write.back % batches.length)) ?? '';
      if (write.kind === 'tags') return writer.setTags(userId, batch, ['b', `${number}`]);
      if (write.kind === 'job') {
        const job = jobs.at(-1 - (write.back % jobs.length));
        if (job === undefined) return;
        return writer.recordJobStatus(userId, job, { status: 'RUNNING', start_timestamp: second });
      }
      const status = number % 2 ? ('RUNNING' as const) : ('PAUSED' as const);
      return writer.recordBatchStatus(userId, batch, { status, start_datetime: second });
    };
    let before = await batchesAndJobs(client, tables, userId);
    for (const [number, write] of steps.entries()) {
      const [first, second, ofJobs] = asked[number]!;
      const lists = [first, second].map((query) => BatchListQuery.parse(asParameters(query)));
      const jobQuery = JobListQuery.parse(asParameters(ofJobs));
      const [answers, jobAnswer] = await Promise.all([
        Promise.all(lists.map((query) => listBatches(db, withoutRole(userId), query))),
        listJobs(db, withoutRole(userId), jobQuery),
        perform(number, write),
      ]);
      const after = await batchesAndJobs(client, tables, userId);
      for (const [at, answer] of answers.entries()) {
        const states = [before, after].map(({ batches: rows }) => listOf(rows, lists[at] as never));
        expect(states, `seed ${seed}, write ${number}: ${JSON.stringify(lists[at])}`).toContainEqual(answerOf(answer));
      }
      const states = [before, after].map(({ jobs: rows }) => listOf(rows, jobQuery as never));
      expect(states, `seed ${seed}, write ${number}: ${JSON.stringify(jobQuery)}`).toContainEqual(answerOf(jobAnswer));
      before = after;
    }
    expect(before.batches.length).toBeGreaterThan(rowsInTail);
  });
});
