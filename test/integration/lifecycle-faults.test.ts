import { beforeAll, describe, expect, it } from 'vitest';
import { LifecycleEvent } from '../../functions/schemas/lifecycle-event.ts';
import { copiesOf } from '../support/copy-owner.ts';
import { rotate } from '../support/depth.ts';
import { contention, type Fault, failures, partly } from '../support/faults.ts';
import { type Call, interceptedClient } from '../support/intercepted-client.ts';
import { modelOf } from '../support/lifecycle-model.ts';
import { newBatch, newJob } from '../support/new-batch.ts';
import { ownTables } from '../support/own-tables.ts';
import { batchesAndJobs, ownerRows, recountOf, soundRows } from '../support/owner-rows.ts';
import { seed } from '../support/seed.ts';
import { sideBySide } from '../support/side-by-side.ts';
import { smallLists } from '../support/small-lists.ts';
import { writeApi } from '../support/write-api.ts';

const rowsPerBlock = 3;
const { client, tables } = await ownTables();

type Writer = ReturnType<typeof writeApi>;
const start = '2026-03-01T00:00:00.000000Z';

const operations: Readonly<Record<string, (writer: Writer, userId: string) => Promise<void>>> = {
  createBatch: (writer, user) => writer.createBatch(user, newBatch(7, { jobs: [newJob(70), newJob(71)], tags: ['a'] })),
  addJobs: (writer, user) => writer.addJobs(user, newBatch(0).id, [newJob(50), newJob(51)]),
  recordBatchStatus: (writer, user) =>
    writer.recordBatchStatus(user, newBatch(1).id, { status: 'RUNNING', start_datetime: start }),
  recordJobStatus: (writer, user) =>
    writer.recordJobStatus(user, newJob(1).id, { status: 'ERROR', end_timestamp: start, errors: ['lost'] }),
  setTags: (writer, user) => writer.setTags(user, newBatch(1).id, ['b']),
  closeBatch: (writer, user) => writer.closeBatch(user, newBatch(0).id),
};

let newOwner: Awaited<ReturnType<typeof copiesOf>>;
let before: ReturnType<typeof modelOf>;

beforeAll(async () => {
  const writer = writeApi(client, tables, { lists: smallLists(rowsPerBlock) });
  await writer.createBatches('template', [
    newBatch(0, { open: true, jobs: [newJob(0)] }),
    newBatch(1, { jobs: [newJob(1), newJob(2)], tags: ['a'] }),
  ]);
  before = modelOf(await batchesAndJobs(client, tables, 'template'));
  newOwner = await copiesOf(client, tables, 'template');
});

/** Runs the operation for a new owner with some rows. `intercept` handles its calls. */
async function tryOperation(owner: string, operation: string, intercept: (call: Call) => ReturnType<Call['send']>) {
  const userId = await newOwner(owner);
  const faulty = writeApi(interceptedClient(client, intercept), tables, { lists: smallLists(rowsPerBlock) });
  const error = await operations[operation]!(faulty, userId).then(
    () => undefined,
    (thrown: Error) => thrown,
  );
  return { error, after: modelOf(await soundRows(client, tables, userId, rowsPerBlock)) };
}

/** Their waits for what does not pass run side by side: each has owners of its own. */
describe.each(Object.keys(operations))('%s', { concurrent: true }, (operation) => {
  const at = Object.keys(operations).indexOf(operation);

  it('succeeds despite one fault at any of its calls', async () => {
    const calls: string[] = [];
    const { after: expected } = await tryOperation(`${operation} well`, operation, (call) => {
      calls.push(call.name);
      return call.send();
    });
    expect(calls).toContain('TransactWriteCommand');
    const faults = Object.entries({ ...contention, ...failures, ...partly });
    const possible = (place: number) => faults.filter(([, { commands }]) => commands.includes(calls[place]!));
    await sideBySide(rotate([...calls.keys()], possible, at), 8, async ({ place, fault: [name, fault] }) => {
      let made = 0;
      const { error, after } = await tryOperation(`${operation} ${name} ${place}`, operation, (call) =>
        made++ === place ? fault.strike(call) : call.send(),
      );
      const where = { name, place, seed };
      expect({ ...where, error, after }).toEqual({ ...where, error: undefined, after: expected });
    });
  });

  /**
   * Runs the operation with a lasting fault of each command. `struck` counts the calls that it hit.
   */
  const lasting = (faults: Readonly<Record<string, Fault>>) =>
    Promise.all(
      rotate(
        ['BatchGetCommand', 'TransactWriteCommand'],
        (command) => Object.entries(faults).filter(([, { commands }]) => commands.includes(command)),
        at,
      ).map(async ({ place: command, fault: [name, fault] }) => {
        let struck = 0;
        const outcome = await tryOperation(`${operation} ${name} ${command}`, operation, (call) => {
          if (call.name !== command) return call.send();
          struck += 1;
          return fault.strike(call);
        });
        return { name, command, struck, ...outcome };
      }),
    );

  it('throws TooBusy and changes nothing while contention lasts', async () => {
    for (const { name, command, struck, error, after } of await lasting(contention)) {
      if (struck === 0) continue;
      expect({ name, command, error: error?.name, after }).toEqual({ name, command, error: 'TooBusy', after: before });
    }
  });

  it('throws a lasting failure, with its change made in full or not at all', async () => {
    const { after: expected } = await tryOperation(`${operation} whole`, operation, (call) => call.send());
    for (const { name, command, struck, error, after } of await lasting(failures)) {
      if (struck === 0) continue;
      expect(error?.cause).toHaveProperty('message', 'injected');
      expect(struck).toBeLessThanOrEqual(9);
      const happened = command === 'TransactWriteCommand' && name.includes('after the effect');
      expect({ name, command, after }).toEqual({ name, command, after: happened ? expected : before });
    }
  });
});

describe('applyEvents', () => {
  const eventsOf = (user_id: string) => {
    const event = (id: string, data: unknown, type = 'batch.created') =>
      LifecycleEvent.parse({ id, type, time: start, user_id, data });
    return [
      event('1', newBatch(7, { jobs: [newJob(70)] })),
      event('2', newBatch(8, { device_type: 'POISON' })),
      event('3', { batch_id: newBatch(99).id, status: 'DONE' }, 'batch.updated'),
      event('4', { batch_id: newBatch(7).id, tags: ['x'] }, 'batch.updated'),
    ];
  };

  it('applies the other events when DynamoDB refuses one', async () => {
    const refusing = interceptedClient(client, async (call) => {
      if (call.name === 'TransactWriteCommand' && JSON.stringify(call.input).includes('POISON')) {
        throw Object.assign(new Error('Item size has exceeded'), { name: 'ValidationException' });
      }
      return call.send();
    });
    const errors = await writeApi(refusing, tables, { lists: smallLists(rowsPerBlock) }).applyEvents(
      eventsOf('refused'),
    );
    expect(errors.map((error) => error?.name)).toEqual([undefined, 'ValidationException', 'NotFound', undefined]);
    expect(await recountOf(client, tables, 'refused', rowsPerBlock)).toEqual([]);
    expect(await ownerRows(client, tables, 'refused')).toMatchObject({ batches: [{ tags: ['x'], jobs_count: 1 }] });
  });

  it('reports a failing DynamoDB for each event, and lets none overtake another', async () => {
    const { strike } = failures['an internal error']!;
    const failing = interceptedClient(client, (call) =>
      call.name === 'TransactWriteCommand' ? strike(call) : call.send(),
    );
    const errors = await writeApi(failing, tables, { lists: smallLists(rowsPerBlock) }).applyEvents(
      eventsOf('failing'),
    );
    expect(errors.map((error) => error?.name)).toEqual(Array(4).fill('DependencyFailed'));
    expect((await batchesAndJobs(client, tables, 'failing')).batches).toEqual([]);
  });

  it('stops at a failing event, even when the next one has a transaction of its own', async () => {
    const { strike } = failures['an internal error']!;
    const failing = interceptedClient(client, (call) =>
      call.name === 'TransactWriteCommand' && JSON.stringify(call.input).includes(newJob(0).id)
        ? strike(call)
        : call.send(),
    );
    const jobs = (first: number) => Array.from({ length: 50 }, (_, number) => newJob(first + number));
    const events = [newBatch(1, { jobs: jobs(0) }), newBatch(2, { jobs: jobs(50) })].map((data) =>
      LifecycleEvent.parse({ id: data.id, type: 'batch.created', time: start, user_id: 'overtaken', data }),
    );
    const errors = await writeApi(failing, tables, { lists: smallLists(rowsPerBlock) }).applyEvents(events);
    expect(errors.map((error) => error?.name)).toEqual(['DependencyFailed', 'DependencyFailed']);
    expect((await batchesAndJobs(client, tables, 'overtaken')).batches).toEqual([]);
  });

  it('applies a whole delivery in one transaction', async () => {
    let transactions = 0;
    const counting = interceptedClient(client, async (call) => {
      if (call.name === 'TransactWriteCommand') transactions += 1;
      return call.send();
    });
    await writeApi(counting, tables, { lists: smallLists(rowsPerBlock) }).applyEvents(eventsOf('together'));
    expect(transactions).toBe(1);
    expect(await recountOf(client, tables, 'together', rowsPerBlock)).toEqual([]);
  });
});
