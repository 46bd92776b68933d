import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { exampleSequence } from '../../functions/schemas/example-sequence.ts';
import { call, expectAnswer } from '../smoke/api-client.ts';
import { eventually } from '../smoke/eventually.ts';
import { type Acceptance, type Caller, devicePrefix } from './acceptance.ts';

/** Sends a body as JSON, and returns the `data` of the answer, which must be 200. */
export async function send(caller: Caller, method: string, path: string, body?: unknown) {
  const request = body === undefined ? {} : { headers: { 'Content-Type': 'application/json' } };
  const answer = await call(caller, path, {
    method,
    ...request,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expectAnswer(answer, 200);
  return answer.body.data;
}

/** A type of device that nothing else uses, so that a claim finds the batch of this run. */
export function newDeviceType(): string {
  return `${devicePrefix}${crypto.randomUUID().slice(0, 8)}`;
}

/**
 * A batch of a user, created, claimed by a machine, reported with its results, and read by the
 * user. Returns its id.
 */
export async function runBatch(user: Caller, machine: Caller, webhook: string): Promise<string> {
  const device_type = newDeviceType();
  const batch = await send(user, 'POST', '/api/v1/batches', {
    ...{ project_id: crypto.randomUUID(), device_type, sequence_builder: exampleSequence, webhook },
    jobs: [{ runs: 3, variables: { omega: 1 } }],
  });
  const jobId = await runJob(machine, device_type, batch.id);
  const results = await send(user, 'GET', `/api/v1/batches/${batch.id}/full_results`);
  deepEqual(results[jobId].counter, resultsDocument.counter);
  return batch.id;
}

/** What a machine does with the first job of a batch that waits for it. */
async function runJob(machine: Caller, deviceType: string, batchId: string): Promise<string> {
  const claimed = await send(machine, 'POST', `/api/v1/devices/${deviceType}/claim`, { worker: 'acceptance' });
  equal(claimed.batch.id, batchId);
  const { lease, job } = claimed;
  equal((await send(machine, 'POST', `/api/v1/leases/${lease}/heartbeat`, { job_id: job.id })).cancel, false);
  const report = { status: 'DONE', results_document: resultsDocument };
  const done = await send(machine, 'POST', `/api/v1/leases/${lease}/jobs/${job.id}`, report);
  equal(done.done, true);
  return job.id;
}

const resultsDocument = { counter: { '0110': 2, '1001': 1 } };
const documentText = JSON.stringify(resultsDocument);

/** What a machine says of its results when it asks for a link. */
export const documentFacts = {
  bytes: documentText.length,
  sha256: createHash('sha256').update(documentText).digest('hex'),
};

/** Uploads the results by such a link. */
export async function upload({ url, headers }: { url: string; headers: Record<string, string> }) {
  const stored = await fetch(url, { method: 'PUT', headers, body: documentText });
  ok(stored.ok, `The results are refused: ${await stored.text()}`);
}

/** Its second attempt shows that deliverWebhooks may send to its own queue. */
export async function checkBatch({ callers }: Pick<Acceptance, 'callers'>) {
  const { user, machine } = await callers();
  // The API refuses the message: 401.
  const id = await runBatch(user, machine, `${user.apiUrl}/api/v1/quizzes`);
  const attempt = await eventually(180, async () => {
    const { body } = await call(user, `/api/v1/batches/${id}/status`);
    const { webhook_attempt } = body.data;
    return webhook_attempt?.attempts >= 2 && webhook_attempt;
  });
  equal(attempt.outcome, 'RETRYING');
  match(attempt.reason, /401/);
}
