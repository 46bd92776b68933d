import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { ScheduledEvent } from 'aws-lambda';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { queueKey } from '../../functions/data/queue/fair-order.ts';
import { deviceClockKey, newQueueItem } from '../../functions/data/queue/queue-item.ts';
import { fromMicroseconds } from '../../functions/values/timestamp.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { lambdaContext } from '../support/gateway-event.ts';
import { loadDevices } from '../support/load-devices.ts';
import { loggedLines } from '../support/logged-lines.ts';
import { uuid } from '../support/new-batch.ts';
import { newNames, workerStack } from '../support/worker-stack.ts';

const { client, names } = await functionEnvironment();
/** The clock is stopped: real leases last for a minute, and a test may take longer. */
vi.useFakeTimers({ toFake: ['Date'] });
const { handler } = await import('../../functions/schedules/measure-queues.ts');

beforeAll(() => loadDevices(client, names));

let batches = 0;
const secondsAgo = (seconds: number) => Date.now() - seconds * 1_000;

/** Puts a batch into the queue that was created `createdAgo` seconds ago. */
async function putBatch(
  device_type: string,
  createdAgo: number,
  lease: { lease_until?: number; idle_since?: number } = {},
) {
  const created_at = fromMicroseconds(secondsAgo(createdAgo) * 1_000);
  const key = queueKey({ tag: 8 * batches, priority: 'MEDIUM', created_at, batchId: uuid('b', batches++) });
  const Item = { ...newQueueItem({ device_type, key, user_id: 'auth0|alice', jobs_left: 1 }), ...lease };
  await client.send(new PutCommand({ TableName: names.DeviceQueue, Item }));
}

const callFunction = () => handler({} as ScheduledEvent, lambdaContext());

/** The lines that it logs, by device type: the queues are read side by side. */
async function linesOf(call: () => Promise<unknown>) {
  const name = ({ device_type }: Record<string, unknown>) => String(device_type ?? '~');
  return (await loggedLines(call)).sort((one, other) => (name(one) < name(other) ? -1 : 1));
}

async function measure() {
  return (await linesOf(callFunction)).map(
    ({ device_type, QueueLength, OldestBatch, Unclaimed, UnclaimedDevices }) => ({
      device_type,
      QueueLength,
      OldestBatch,
      Unclaimed,
      UnclaimedDevices,
    }),
  );
}

/** Whole seconds: a few may pass before they are measured. */
const about = (seconds: number) => expect.closeTo(seconds, -1);

const empty = { QueueLength: 0, OldestBatch: 0, Unclaimed: 0 };

describe('measureQueues', () => {
  it('writes a line for each device that announced itself, and one for all', async () => {
    await putBatch('NOBODY', 100);
    const Item = { device_type: 'FRESNEL', key: deviceClockKey, tag: 8 };
    await client.send(new PutCommand({ TableName: names.DeviceQueue, Item }));
    expect(await measure()).toEqual([
      { device_type: 'EMU_MPS', ...empty },
      { device_type: 'FRESNEL', ...empty },
      { UnclaimedDevices: 0 },
    ]);
  });

  it('finds that work waits and no worker works, but not if a worker has a batch, however far behind', async () => {
    await putBatch('FRESNEL', 50, { lease_until: secondsAgo(1) });
    await putBatch('FRESNEL', 600);
    await putBatch('EMU_MPS', 300);
    await putBatch('EMU_MPS', 4_000, { lease_until: Date.now() + 60_000, idle_since: secondsAgo(10) });
    expect(await measure()).toEqual([
      { device_type: 'EMU_MPS', QueueLength: 2, OldestBatch: about(300), Unclaimed: 0 },
      { device_type: 'FRESNEL', QueueLength: 2, OldestBatch: about(600), Unclaimed: 1 },
      { UnclaimedDevices: 1 },
    ]);
  });

  it('measures the other queues where one cannot be, and fails', async () => {
    const Item = { device_type: 'EMU_MPS', key: '1', user_id: 'auth0|alice' };
    await client.send(new PutCommand({ TableName: names.DeviceQueue, Item }));
    const failing = () => expect(callFunction()).rejects.toThrow('corrupt');
    expect(await linesOf(failing)).toMatchObject([
      { level: 'ERROR', device_type: 'EMU_MPS', error: { name: 'CorruptData' } },
      { device_type: 'FRESNEL', QueueLength: 2 },
      { UnclaimedDevices: 1 },
    ]);
  });

  it('puts back what was lost by a worker whose device was never announced', async () => {
    const worker = workerStack(client, names, { now: secondsAgo(61) });
    const { device, user } = newNames();
    const { id } = await worker.create(user, { device_type: device });
    await worker.claim(device, 'lost');
    expect(await worker.batch(user, id)).toMatchObject({ status: 'RUNNING' });
    await expect(measure()).rejects.toThrow('corrupt');
    expect(await worker.batch(user, id)).toMatchObject({ status: 'PENDING' });
  });
});
