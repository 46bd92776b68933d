import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { oneOrAll, trials } from '../support/depth.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { type Change, emptyModel, type Model, modelOf, modelWriter, operations } from '../support/lifecycle-model.ts';
import { newBatch, newJob } from '../support/new-batch.ts';
import { overtakenClient } from '../support/overtaken-client.ts';
import { ownTables } from '../support/own-tables.ts';
import { batchesAndJobs, soundRows } from '../support/owner-rows.ts';
import { seed } from '../support/seed.ts';
import { smallLists } from '../support/small-lists.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const rowsPerBlock = 3;
const { client, tables } = await ownTables();

interface Real {
  readonly userId: string;
  readonly schedule: <Result>(call: () => Promise<Result>) => Promise<Result>;
  readonly waitFor: <Result>(work: Promise<Result>) => Promise<Result>;
}

/**
 * Runs several operations at once, each with its own writer. The scheduler decides whose call comes
 * next.
 */
class Together implements fc.AsyncCommand<{ state: Model }, Real> {
  readonly operations: readonly Change[];

  constructor(operations: readonly Change[]) {
    this.operations = operations;
  }

  check = () => true;

  async run(model: { state: Model }, { userId, schedule, waitFor }: Real) {
    const writers = this.operations.map(() =>
      modelWriter(
        interceptedClient(client, (call) => schedule(call.send)),
        tables,
        rowsPerBlock,
      ),
    );
    const outcomes = await waitFor(
      Promise.all(this.operations.map((operation, at) => outcomeOf(operation.perform(writers[at]!, userId)))),
    );
    const state = modelOf(await soundRows(client, tables, userId, rowsPerBlock));
    const possible = permutations(this.operations.map((_, at) => at)).map((order) => {
      let next = model.state;
      const results: string[] = [];
      for (const at of order) {
        const result = this.operations[at]!.apply(next);
        next = result.state;
        results[at] = result.outcome;
      }
      return { state: next, outcomes: results };
    });
    const actual = { state, outcomes };
    if (!possible.some((each) => isDeepStrictEqual(each, actual))) expect(actual).toEqual(possible[0]);
    model.state = state;
  }

  toString = () => `together(${this.operations.map(String).join(', ')})`;
}

async function outcomeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'done',
    (error: Error) => error.name,
  );
}

function permutations<Value>(values: readonly Value[]): Value[][] {
  if (values.length < 2) return [[...values]];
  return values.flatMap((value, at) => permutations(values.toSpliced(at, 1)).map((rest) => [value, ...rest]));
}

describe('lifecycle', () => {
  it('keeps rows, sequences, counts and columns as if its writers came one after the other', async () => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.commands([fc.array(operations, { minLength: 1, maxLength: 3 }).map((several) => new Together(several))], {
          maxCommands: 20,
          size: 'max',
        }),
        fc.scheduler(),
        async (commands, scheduler) => {
          const userId = `user ${seed} ${runs++}`;
          const schedule = async <Result>(call: () => Promise<Result>) => {
            await scheduler.schedule(Promise.resolve());
            return call();
          };
          const waitFor = <Result>(work: Promise<Result>) => scheduler.waitFor(work);
          await fc.asyncModelRun(
            () => ({ model: { state: emptyModel }, real: { userId, schedule, waitFor } }),
            commands,
          );
        },
      ),
      trials(4, 80),
    );
  });
});

type Writer = ReturnType<typeof writeApi>;

/**
 * Changes of one batch and its jobs. With one row a block, few pairs of them share a block of
 * columns.
 */
const changes: Readonly<Record<string, (writer: Writer, userId: string) => Promise<void>>> = {
  setTags: (writer, userId) => writer.setTags(userId, newBatch(0).id, ['b']),
  closeBatch: (writer, userId) => writer.closeBatch(userId, newBatch(0).id),
  recordBatchStatus: (writer, userId) => writer.recordBatchStatus(userId, newBatch(0).id, { device_status: 'UP' }),
  addJobs: (writer, userId) => writer.addJobs(userId, newBatch(0).id, [newJob(3)]),
  'recordJobStatus of a job': (writer, userId) => writer.recordJobStatus(userId, newJob(1).id, { status: 'RUNNING' }),
  'recordJobStatus of another': (writer, userId) => writer.recordJobStatus(userId, newJob(2).id, { status: 'ERROR' }),
};
const names = Object.keys(changes);
/** Each two of them in one order, in the other one with the next seed. In a deep run: in both. */
const pairs = names.flatMap((one, at) =>
  names.slice(at + 1).flatMap((other, distance) =>
    oneOrAll(
      [
        [one, other],
        [other, one],
      ] as const,
      at + distance,
    ),
  ),
);

describe('two writers that have both read before either writes', () => {
  /**
   * A time before the rows were created, so that `updated_at` stays: its column would make both
   * changes conflict.
   */
  const early = testDb(client, tables, { formats: smallLists(1), now: () => Date.parse('2026-02-01T00:00:00Z') });

  async function newOwner(userId: string) {
    const open = newBatch(0, { open: true, tags: ['a'], jobs: [newJob(1), newJob(2)] });
    await writeApi(testDb(client, tables, { formats: smallLists(1) })).createBatch(userId, open);
  }

  it.each(pairs)('give the same rows as one after the other: %s, then %s', async (first, second) => {
    const [apart, together] = [`${first} then ${second} ${seed}`, `${first} beside ${second} ${seed}`];
    await Promise.all([newOwner(apart), newOwner(together)]);
    const writer = writeApi(early);
    await changes[first]!(writer, apart);
    const expected = await outcomeOf(changes[second]!(writer, apart));

    const late = overtakenClient(client, () => changes[first]!(writer, together));
    expect(await outcomeOf(changes[second]!(writeApi({ ...early, client: late.client }), together))).toBe(expected);
    const [one, other] = await Promise.all([
      batchesAndJobs(client, tables, apart),
      soundRows(client, tables, together, 1),
    ]);
    expect(modelOf(other)).toEqual(modelOf(one));
    expect(other.batches.map((row) => [row.device_status, row.jobs_count_per_status])).toEqual(
      one.batches.map((row) => [row.device_status, row.jobs_count_per_status]),
    );
  });
});
