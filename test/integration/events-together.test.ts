/** Events that come together, at a DynamoDB that refuses or fails: below their consumer. */

import { describe, expect, it } from 'vitest';
import { LifecycleEvent } from '../../functions/schemas/lifecycle-event.ts';
import { failures } from '../support/faults.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { newBatch, newJob } from '../support/new-batch.ts';
import { ownTables } from '../support/own-tables.ts';
import { batchesAndJobs, ownerRows, recountOf } from '../support/owner-rows.ts';
import { countingClient } from '../support/strike-each.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const { client, tables } = await ownTables();
const db = testDb(client, tables);
const start = '2026-03-01T00:00:00.000000Z';

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
    const errors = await writeApi({ ...db, client: refusing }).applyEvents(eventsOf('refused'));
    expect(errors.map((error) => error?.name)).toEqual([undefined, 'ValidationException', 'NotFound', undefined]);
    expect(await recountOf(client, tables, 'refused')).toEqual([]);
    expect(await ownerRows(client, tables, 'refused')).toMatchObject({ batches: [{ tags: ['x'], jobs_count: 1 }] });
  });

  it('reports a failing DynamoDB for each event, and lets none overtake another', async () => {
    const { strike } = failures['an internal error']!;
    const failing = interceptedClient(client, (call) =>
      call.name === 'TransactWriteCommand' ? strike(call) : call.send(),
    );
    const errors = await writeApi({ ...db, client: failing }).applyEvents(eventsOf('failing'));
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
    const errors = await writeApi({ ...db, client: failing }).applyEvents(events);
    expect(errors.map((error) => error?.name)).toEqual(['DependencyFailed', 'DependencyFailed']);
    expect((await batchesAndJobs(client, tables, 'overtaken')).batches).toEqual([]);
  });

  it('applies a whole delivery in one transaction', async () => {
    const { client: counting, made } = countingClient(client);
    await writeApi({ ...db, client: counting }).applyEvents(eventsOf('together'));
    expect(made.filter((name) => name === 'TransactWriteCommand')).toHaveLength(1);
    expect(await recountOf(client, tables, 'together')).toEqual([]);
  });
});
