import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { lifecycle } from '../../functions/data/lifecycle/lifecycle.ts';
import type { TableNames } from '../../functions/tables.ts';
import { createTables } from '../support/create-tables.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { applied, emptyModel, type Model, modelOf, type Operation, operations } from '../support/lifecycle-model.ts';
import { newBatch, newJob } from '../support/new-batch.ts';
import { ownerRows, recountOf } from '../support/owner-rows.ts';
import { testClient } from '../support/test-client.ts';

const rowsPerBlock = 3;
const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31);
const client = testClient(inject('dynamodbEndpoint'));
let tables: TableNames;

beforeAll(async () => {
  tables = await createTables(client, `lifecycle-${seed}-`);
});

interface Real {
  readonly userId: string;
  readonly schedule: <Result>(call: () => Promise<Result>) => Promise<Result>;
  readonly waitFor: <Result>(work: Promise<Result>) => Promise<Result>;
}

/** Several operations at once, each by a writer of its own; the scheduler decides whose call comes next. */
class Together implements fc.AsyncCommand<{ state: Model }, Real> {
  readonly operations: readonly Operation[];

  constructor(operations: readonly Operation[]) {
    this.operations = operations;
  }

  check = () => true;

  async run(model: { state: Model }, { userId, schedule, waitFor }: Real) {
    const writers = this.operations.map(() =>
      lifecycle(
        interceptedClient(client, (call) => schedule(call.send)),
        tables,
        { rowsPerBlock },
      ),
    );
    const outcomes = await waitFor(
      Promise.all(this.operations.map((operation, at) => outcomeOf(operation.perform(writers[at]!, userId)))),
    );
    expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
    const state = modelOf(await ownerRows(client, tables, userId));
    const possible = permutations(this.operations.map((_, at) => at)).map((order) => {
      let next = model.state;
      const results: string[] = [];
      for (const at of order) {
        const result = applied(next, this.operations[at]!);
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

async function outcomeOf(work: Promise<void>): Promise<string> {
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
      { numRuns: 20, seed },
    );
  }, 300_000);

  it('creates one sequence without gaps when many writers create at once', async () => {
    const userId = `crowd ${seed}`;
    const writer = lifecycle(client, tables, { rowsPerBlock });
    await writer.createBatch(userId, newBatch(0, { open: true }));
    await Promise.all([
      ...Array.from({ length: 6 }, (_, at) =>
        writer.createBatch(userId, newBatch(1 + at, { jobs: [newJob(2 * at), newJob(2 * at + 1)] })),
      ),
      ...Array.from({ length: 4 }, (_, at) => writer.addJobs(userId, newBatch(0).id, [newJob(100 + at)])),
    ]);
    expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
    const { batches, jobs } = await ownerRows(client, tables, userId);
    expect(batches.map((batch) => batch.seq)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(jobs).toHaveLength(16);
    for (const rows of [batches, jobs]) {
      expect(rows.map((row) => row.created_at)).toEqual([...new Set(rows.map((row) => row.created_at))].sort());
    }
  });
});
