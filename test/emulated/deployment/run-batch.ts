import { deepEqual, equal, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { call, expectAnswer } from '../../../infra/smoke/api-client.ts';
import { eventually } from '../../../infra/smoke/eventually.ts';
import { sequenceText } from '../../support/sequence-text.ts';
import { verify } from '../../support/verify-webhook.ts';
import { startWebhookReceiver } from '../../support/webhook-receiver.ts';

interface Client {
  readonly apiUrl: string;
  readonly token: string;
}

/** Sends a body as JSON, and returns the `data` of the answer. */
async function send(client: Client, method: string, path: string, body: object) {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await call(client, path, { method, headers, body: JSON.stringify(body) });
  expectAnswer(answer, 200);
  return answer.body.data;
}

/**
 * A batch of a user, created, claimed by a machine, its results uploaded and reported, its webhook
 * called with signatures that verify.
 */
export async function runBatch(user: Client, machine: Client) {
  const receiver = await startWebhookReceiver();
  try {
    const batch = await send(user, 'POST', '/api/v1/batches', {
      project_id: crypto.randomUUID(),
      device_type: 'EMU_MPS',
      sequence_builder: sequenceText(),
      webhook: `${receiver.url}/hooks`,
      jobs: [{ runs: 3 }],
    });
    const jobId = await runJob(machine, batch.id);
    const { body } = await call(user, `/api/v1/batches/${batch.id}/full_results`);
    deepEqual(body.data[jobId].counter, results.counter);
    await eventually(60, async () => receiver.messages.length >= 2);
    const { data } = (await call(user, '/api/v1/webhooks/public-key')).body;
    // After a rotation the key before signs as well, and for a minute alone.
    const keys = [data.public_key, data.previous_public_key].filter((key) => key !== null);
    for (const message of receiver.messages) {
      const { data: ended } = verify(message.headers as Record<string, string>, message.body, keys) as {
        data: { batch_id: string; status: string };
      };
      deepEqual([ended.batch_id, ended.status], [batch.id, 'DONE']);
    }
  } finally {
    await receiver.stop();
  }
}

const results = { counter: { '0110': 2, '1001': 1 } };

/** What a machine does with the first job of a batch that waits for it. */
async function runJob(machine: Client, batchId: string): Promise<string> {
  const claimed = await send(machine, 'POST', '/api/v1/devices/EMU_MPS/claim', { worker: 'emulated' });
  equal(claimed.batch.id, batchId);
  const { lease, job } = claimed;
  equal((await send(machine, 'POST', `/api/v1/leases/${lease}/heartbeat`, { job_id: job.id })).cancel, false);
  const document = JSON.stringify(results);
  const sha256 = createHash('sha256').update(document).digest('hex');
  const upload = { bytes: document.length, sha256 };
  const { url, headers } = await send(machine, 'POST', `/api/v1/leases/${lease}/jobs/${job.id}/results`, upload);
  const stored = await fetch(url, { method: 'PUT', headers, body: document });
  ok(stored.ok, `The results are refused: ${await stored.text()}`);
  const done = await send(machine, 'POST', `/api/v1/leases/${lease}/jobs/${job.id}`, { status: 'DONE', results: true });
  equal(done.done, true);
  return job.id;
}
