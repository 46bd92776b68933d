import { randomUUID } from 'node:crypto';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { newQueueItem } from '../../functions/data/queue/queue-item.ts';
import { repairQueues } from '../../infra/repair/repair-queues.ts';
import { changeItem } from '../support/change-item.ts';
import { createTables } from '../support/create-tables.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { overtakenClient } from '../support/overtaken-client.ts';
import { recountOf } from '../support/owner-rows.ts';
import { testClient } from '../support/test-client.ts';
import { leaseFrom, workerStack } from '../support/worker-stack.ts';

const client = testClient(dynamodbEndpoint);
const clock = { now: Date.parse('2026-11-21T12:00:00Z') };

async function freshStack() {
  const tables = await createTables(client, `${randomUUID()}-`);
  const stack = workerStack(client, tables, clock);
  const user = 'auth0|ada';
  const [waiting, running, ended] = [await stack.create(user), await stack.create(user), await stack.create(user)];
  await stack.cancel(user, ended!.id);
  const setKey = (id: string, queue_key: string | null) =>
    changeItem(client, tables.Batches, { Key: { user_id: user, id }, attributes: { queue_key } });
  const claim = async () => (await stack.claim('FRESNEL', 'worker'))!;
  const repair = (fix: boolean, userId?: string) => repairQueues({ db: stack.db, fix, userId });
  return { tables, stack, user, waiting, running, ended, setKey, claim, repair };
}

describe('repairQueues', () => {
  it('finds nothing to mend if nothing was changed by hand', async () => {
    const { claim, repair, stack, user } = await freshStack();
    await claim();
    await stack.create(user, { open: true, jobs: 0 });
    expect(await repair(true)).toEqual([]);
  });

  it('puts batches that lost their item, or their place, into the queue again', async () => {
    const { tables, stack, user, waiting, running, setKey, claim, repair } = await freshStack();
    const first = leaseFrom(await claim());
    await client.send(
      new DeleteCommand({ TableName: tables.DeviceQueue, Key: { device_type: 'FRESNEL', key: first.key } }),
    );
    await setKey(running.id, null);
    const differences = [
      { userId: user, batchId: waiting.id, reason: 'is missing in the queue of its device' },
      { userId: user, batchId: running.id, reason: 'should be in the queue of its device' },
      { userId: user, batchId: running.id, reason: 'is in the queue, but does not say so' },
    ];
    const byText = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
    expect((await repair(false)).sort(byText)).toEqual([...differences].sort(byText));
    expect(await repair(false, 'auth0|bob')).toEqual([]);
    // An item that the batch gets anew is no longer the one that it does not name.
    expect((await repair(true)).length).toBeGreaterThanOrEqual(2);
    expect(await repair(false)).toEqual([]);
    const claims = [await claim(), await claim()];
    expect(claims.map(({ batch }) => batch.id).sort()).toEqual([waiting.id, running.id].sort());
    expect(await stack.claim('FRESNEL', 'worker')).toBeUndefined();
    expect(await recountOf(client, tables, user)).toEqual([]);
  });

  it('leaves a batch the place that it got while the difference was looked at', async () => {
    const { tables, stack, claim, repair } = await freshStack();
    const { key } = leaseFrom(await claim());
    await client.send(new DeleteCommand({ TableName: tables.DeviceQueue, Key: { device_type: 'FRESNEL', key } }));
    const late = overtakenClient(client, () => repair(true));
    expect(await repairQueues({ db: { ...stack.db, client: late.client }, fix: true })).toHaveLength(1);
    expect(late.isOvertaken).toBe(true);
    expect(await repair(false)).toEqual([]);
  });

  it('takes batches that have ended, and items of no batch, out of the queue', async () => {
    const { tables, user, ended, setKey, claim, repair } = await freshStack();
    const { key } = leaseFrom(await claim());
    const dead = key.replace(/[0-9a-f-]{36}$/, ended.id);
    const unknown = key.replace(/[0-9a-f-]{36}$/, randomUUID());
    for (const each of [dead, unknown]) {
      const Item = newQueueItem({ device_type: 'FRESNEL', key: each, user_id: user, jobs_left: 1 });
      await client.send(new PutCommand({ TableName: tables.DeviceQueue, Item }));
    }
    await setKey(ended.id, dead);
    expect((await repair(false)).map(({ reason }) => reason).sort()).toEqual([
      'is in the queue, but does not say so',
      'should not be in the queue of its device',
    ]);
    await repair(true);
    expect(await repair(false)).toEqual([]);
    expect(await recountOf(client, tables, user)).toEqual([]);
  });
});
