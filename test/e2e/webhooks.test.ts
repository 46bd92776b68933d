import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { batchCreated, call, jobUpdated, newUser, sendEvents } from '../support/local-stack.ts';
import { hang } from '../support/patience.ts';
import { sequenceText } from '../support/sequence-text.ts';
import { verify } from '../support/verify-webhook.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const receiver = await startWebhookReceiver();
afterAll(receiver.stop);
beforeEach(() => {
  receiver.messages.length = 0;
  receiver.answer = (_, response) => response.writeHead(204).end();
});

/** A new user's new batch, with this number of jobs and this webhook. */
async function createBatch(jobs: number, webhook = `${receiver.url}/hooks`) {
  const { token } = await newUser();
  const body = {
    project_id: crypto.randomUUID(),
    device_type: 'EMU_MPS',
    sequence_builder: sequenceText(),
    webhook,
    jobs: Array.from({ length: jobs }, () => ({ runs: 1 })),
  };
  const headers = { 'Content-Type': 'application/json' };
  const answer = await call('/api/v1/batches', { method: 'POST', token, headers, body: JSON.stringify(body) });
  const { id } = answer.body.data as { id: string };
  return {
    id,
    cancel: () => call(`/api/v2/batches/${id}/cancel`, { method: 'PATCH', token }),
    status: async () => (await call(`/api/v1/batches/${id}/status`, { token })).body.data.webhook_attempt,
  };
}

/** Waits until it is so. */
async function until(isSo: () => boolean | Promise<boolean>) {
  await expect.poll(isSo, hang).toBe(true);
}

/** Other tests may change the key meanwhile: for a minute, the one before verifies. */
async function publicKeys(): Promise<string[]> {
  const { public_key, previous_public_key } = (await call('/api/v1/webhooks/public-key')).body.data;
  return previous_public_key === null ? [public_key] : [public_key, previous_public_key];
}

describe('webhooks', () => {
  it('report the ends of all jobs and of the batch, in messages that the public key verifies', async () => {
    const batch = await createBatch(3);
    await batch.cancel();
    await until(() => receiver.messages.length >= 4);
    const keys = await publicKeys();
    const messages = receiver.messages.map(({ headers, body }) =>
      verify(headers as Record<string, string>, body, keys),
    ) as { type: string; data: Record<string, string> }[];
    expect(messages.map(({ type }) => type).sort()).toEqual(['batch.updated', ...Array(3).fill('job.updated')]);
    for (const { data } of messages) expect(data).toMatchObject({ batch_id: batch.id, status: 'CANCELED' });
    await until(async () => (await batch.status()) !== null);
    expect(await batch.status()).toMatchObject({ outcome: 'DELIVERED', attempts: 1 });
  });

  it('report jobs that ended in the transaction that created them', async () => {
    const { userId } = await newUser();
    const created = batchCreated(userId, 1, { webhook: receiver.url });
    const [{ id: jobId } = { id: '' }] = created.data.jobs;
    await sendEvents(created, jobUpdated(userId, jobId, { status: 'DONE' }));
    await until(() => receiver.messages.length >= 2);
    const types = receiver.messages.map(({ body }) => JSON.parse(body.toString()).type).sort();
    expect(types).toEqual(['batch.updated', 'job.updated']);
  });

  it('come again under the same id until the receiver takes them', async () => {
    const ids = () => receiver.messages.map(({ headers }) => String(headers['webhook-id']));
    receiver.answer = ({ headers }, response) => {
      const isFirst = ids().filter((id) => id === headers['webhook-id']).length === 1;
      response.writeHead(isFirst ? 503 : 200).end();
    };
    const batch = await createBatch(1);
    await batch.cancel();
    await until(async () => (await batch.status())?.outcome === 'RETRYING' || ids().length === 4);
    await until(() => ids().length >= 4);
    expect(new Set(ids()).size).toBe(2);
    await until(async () => (await batch.status()).outcome === 'DELIVERED');
    expect(await batch.status()).toMatchObject({ attempts: 2 });
  });

  it('are not sent to other hosts than this machine', async () => {
    const batch = await createBatch(1, 'https://receiver.example.org/');
    await batch.cancel();
    expect(await batch.status()).toMatchObject({
      outcome: 'REFUSED',
      reason: 'This stack delivers webhooks to http://127.0.0.1 only.',
    });
  });
});
