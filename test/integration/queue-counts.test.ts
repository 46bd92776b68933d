import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { getQueuedBatch } from '../../functions/data/batches/queue-counts.ts';
import { queueKey } from '../../functions/data/queue/fair-order.ts';
import { newQueueItem } from '../../functions/data/queue/queue-item.ts';
import { deep } from '../support/depth.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { measuredClient } from '../support/measured-client.ts';
import { ownTables } from '../support/own-tables.ts';
import { testClient } from '../support/test-client.ts';
import { testDb } from '../support/test-db.ts';
import { newNames, workerStack } from '../support/worker-stack.ts';

const { client, tables } = await ownTables();
const stack = workerStack(client, tables, { now: Date.parse('2026-11-22T12:00:00Z') });

/** Puts items of other users into the queue: before the batches of `stack`, or behind them. */
async function fill(device_type: string, count: number, place: 'before' | 'behind') {
  const requests = Array.from({ length: count }, (_, at) => {
    const batchId = `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`;
    const created_at = `${place === 'before' ? '2026-11-21' : '2026-11-23'}T12:00:00.000000Z`;
    const key = queueKey({ tag: 0, priority: 'MEDIUM', created_at, batchId });
    return {
      PutRequest: { Item: newQueueItem({ device_type, key, user_id: `auth0|${'x'.repeat(40)}`, jobs_left: 1 }) },
    };
  });
  while (requests.length > 0) {
    await client.send(new BatchWriteCommand({ RequestItems: { [tables.DeviceQueue]: requests.splice(0, 25) } }));
  }
}

describe('queue_position', () => {
  it.each([
    [0, 0],
    [7, 7],
    [1_000, 1_000],
    [1_001, null],
    [1_400, null],
  ])('behind %i batches is %j, and as many are counted with it', async (before, position) => {
    const { device, user } = newNames();
    await stack.announce(device, {});
    const { id } = await stack.create(user, { device_type: device });
    await fill(device, before, 'before');
    await fill(device, 3, 'behind');
    expect(await stack.queued(user, id)).toMatchObject({ queue_position: position, queue_reason: null });
    const length = before + 4;
    const shown = await stack.show({ device_type: device, status: 'UP' });
    expect(shown.queue_length).toBe(length > 1_000 ? null : length);
  });

  it('takes one look at the queue in 10 s, however many ask', async () => {
    const { device, user } = newNames();
    await stack.announce(device, {});
    await fill(device, 1_200, 'before');
    const create = () => stack.create(user, { device_type: device });
    const batches = [await create(), await create(), await create()];
    let time = 0;
    // A client of its own: one that measures sends the items of a transaction one by one.
    const measuring = testClient(dynamodbEndpoint);
    const db = testDb(measuring, tables, { now: () => time });
    const measure = measuredClient(measuring);
    const many = deep ? 100 : 20;
    const unitsOfQueue = async (times: number) => {
      const ask = () =>
        Promise.all(Array.from({ length: times }, (_, at) => getQueuedBatch(db, user, batches[at % 3]!.id)));
      const { calls } = await measure(ask);
      return calls.filter(({ name }) => name === 'Query').reduce((sum, { readUnits }) => sum + readUnits, 0);
    };
    expect(await unitsOfQueue(many)).toBeLessThanOrEqual(31);
    time = 9_999;
    expect(await unitsOfQueue(many)).toBe(0);
    time = 10_000;
    const again = await unitsOfQueue(many);
    expect(again).toBeGreaterThan(10);
    expect(again).toBeLessThanOrEqual(31);
  });

  it('of a batch that came after the look counts those that were there', async () => {
    const { device, user } = newNames();
    await stack.announce(device, {});
    const queued = (id: string) => getQueuedBatch(stack.db, user, id);
    const [first, second] = [
      await stack.create(user, { device_type: device }),
      await stack.create(user, { device_type: device }),
    ];
    expect(await queued(second.id)).toMatchObject({ queue_position: 1 });
    const third = await stack.create(user, { device_type: device });
    await stack.cancel(user, first.id);
    expect(await queued(third.id)).toMatchObject({ queue_position: 2 });
    expect(await queued(first.id)).toMatchObject({ status: 'CANCELED', queue_position: null });
  });

  it('looks again after a look that failed', async () => {
    const { device, user } = newNames();
    await stack.announce(device, {});
    const { id } = await stack.create(user, { device_type: device });
    let fails = true;
    const failing = interceptedClient(client, async ({ name, send }) => {
      if (name === 'QueryCommand' && fails) throw new Error('fails');
      return send();
    });
    const db = { ...stack.db, client: failing };
    await expect(getQueuedBatch(db, user, id)).rejects.toThrow('fails');
    fails = false;
    expect(await getQueuedBatch(db, user, id)).toMatchObject({ queue_position: 0 });
  });
});
