import { readFileSync } from 'node:fs';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { secretsManager } from '../../functions/data/aws/secrets-manager.ts';
import { testWebhook } from '../../functions/data/webhooks/call-webhook.ts';
import { countHostCall, countUnanswered, maxCallsPerMinute } from '../../functions/data/webhooks/host-limits.ts';
import { getLastAttempt } from '../../functions/data/webhooks/webhook-attempts.ts';
import type { RouteName } from '../../functions/routes.ts';
import { BatchUpdated, JobUpdated, WebhookTested } from '../../functions/schemas/webhook.ts';
import type { WebhookMessage } from '../../functions/schemas/webhook-message.ts';
import { fromMilliseconds, minuteOf } from '../../functions/values/timestamp.ts';
import { derivedUuid } from '../../functions/values/uuid.ts';
import { ask } from '../support/ask.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { lambdaContext } from '../support/gateway-event.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { loggedLines } from '../support/logged-lines.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { newBatch, uuid } from '../support/new-batch.ts';
import { queryFields } from '../support/query-fields.ts';
import { startResultsStore } from '../support/results-store.ts';
import { startSecrets } from '../support/secrets.ts';
import { sqsEvent } from '../support/sqs-event.ts';
import { testDb } from '../support/test-db.ts';
import { verify } from '../support/verify-webhook.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const db = testDb(client, names);
const writes = writeApi(db);
const [sink, results, secrets, receiver] = await Promise.all([
  startMessageSink(),
  startResultsStore(),
  startSecrets(client, names),
  startWebhookReceiver(),
]);
vi.stubEnv('WEBHOOK_REACH', 'loopback');
const { handler } = await import('../../functions/consumers/deliver-webhooks.ts');
afterAll(() => Promise.all([sink, results, secrets, receiver].map(({ stop }) => stop())));
beforeEach(() => {
  sink.messages.length = 0;
  sink.refusing = false;
  receiver.messages.length = 0;
  receiver.answer = (_, response) => response.writeHead(204).end();
});

const alice = 'auth0|alice';
let number = 0;

/** A message about a job of a batch that no other test uses. */
async function message(given: Partial<WebhookMessage> = {}): Promise<WebhookMessage> {
  const webhook = given.webhook ?? `${receiver.url}/hooks`;
  const own = ++number;
  await writes.createBatch(alice, newBatch(own, { webhook }));
  return {
    id: `msg_${own}`,
    webhook,
    user_id: alice,
    batch_id: uuid('b', own),
    job: { id: uuid('a', own), results_key: null },
    status: 'DONE',
    updated_at: '2026-11-21T16:45:20.180000Z',
    attempts: 0,
    wait_seconds: 0,
    ...given,
  };
}

const deliver = (...bodies: unknown[]) => handler(sqsEvent(bodies, { messageId: (at) => `m${at}` }), lambdaContext());

const askAbout = (route: RouteName, { batch_id }: Pick<WebhookMessage, 'batch_id'>, userId = alice) =>
  ask(route, { userId, path: { batch_id } });
const statusOf = async (message: WebhookMessage) => (await askAbout('getBatchStatus', message)).data.webhook_attempt;

async function publicKeys() {
  const { status, data } = await ask('getWebhookPublicKey');
  expect(status).toBe(200);
  const { public_key, previous_public_key } = data;
  return [public_key, ...(previous_public_key === null ? [] : [previous_public_key])] as [string, ...string[]];
}

/** Makes alice call a host as often as she may in this minute. */
async function useUpCalls(host: string) {
  const Item = { subject: `user:${alice}`, name: `${minuteOf(Date.now())} ${derivedUuid(host)}` };
  const calls = maxCallsPerMinute.ofUser - 1;
  await client.send(new PutCommand({ TableName: names.Counters, Item: { ...Item, calls } }));
  expect(await countHostCall(db, alice, host)).toEqual({ seconds: 0, isSilent: false });
}

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);

describe('deliverWebhooks', () => {
  it('calls the receiver with a message that the public key verifies', async () => {
    const sent = await message();
    expect(await deliver(sent)).toEqual({ batchItemFailures: [] });
    const [{ url, headers, body } = {}] = receiver.messages as never as [(typeof receiver.messages)[0]];
    JobUpdated().parse(JSON.parse(body!.toString()));
    expect(url).toBe('/hooks');
    expect(headers).toMatchObject({ 'webhook-id': sent.id, 'content-type': 'application/json' });
    expect(verify(headers as Record<string, string>, body!, await publicKeys())).toEqual({
      type: 'job.updated',
      timestamp: sent.updated_at,
      data: { batch_id: sent.batch_id, job_id: sent.job!.id, status: 'DONE' },
    });
    expect(() => verify(headers as Record<string, string>, Buffer.from('{}'), [])).toThrow('no valid signature');
    expect(await statusOf(sent)).toEqual({
      outcome: 'DELIVERED',
      reason: null,
      type: 'job.updated',
      job_id: sent.job!.id,
      attempts: 1,
      attempted_at: time,
      next_attempt_at: null,
    });
    expect(sink.messages).toEqual([]);
  });

  it('reports the end of a batch without a job', async () => {
    const sent = await message({ job: null, status: 'TIMED_OUT' });
    await deliver(sent);
    BatchUpdated().parse(JSON.parse(receiver.messages[0]!.body.toString()));
    expect(receiver.messages[0]!.body.toString()).toBe(
      `{"type":"batch.updated","timestamp":"${sent.updated_at}","data":{"batch_id":"${sent.batch_id}","status":"TIMED_OUT"}}`,
    );
    expect(await statusOf(sent)).toMatchObject({ type: 'batch.updated', job_id: null });
  });

  describe('results', () => {
    const withResults = async (content: unknown, key = `results/${alice}/${number + 1}.json`) => {
      await results.put(key, content);
      await deliver(await message({ job: { id: uuid('a', number + 1), results_key: key } }));
      return receiver.messages[0]!.body.toString();
    };

    it('are in the message as they were uploaded', async () => {
      const document = '{"counter":{"000":8},"x":1.50,"big":12345678901234567890}';
      expect(await withResults(document)).toContain(`"status":"DONE","results":${document}}}`);
      JobUpdated().parse(JSON.parse(receiver.messages[0]!.body.toString()));
    });

    it('are in the message up to 20 kB', async () => {
      const document = (bytes: number) => `{"raw":"${'x'.repeat(bytes - 10)}"}`;
      expect(document(50)).toHaveLength(50);
      expect(await withResults(document(20 * 1024))).toContain('"results":{"raw"');
      receiver.messages.length = 0;
      expect(await withResults(document(20 * 1024 + 1))).not.toContain('results');
    });

    it.each([
      ['no JSON', 'counter'],
      ['no object', '[1]'],
    ])('that are %s are left out', async (_, content) => {
      expect(await withResults(content)).not.toContain('results');
    });

    it('that were never uploaded, or are not the owner’s, are left out', async () => {
      for (const results_key of [`results/${alice}/none.json`, 'results/auth0|bob/1.json']) {
        await deliver(await message({ job: { id: uuid('a', 1), results_key } }));
        expect(receiver.messages.at(-1)!.body.toString()).not.toContain('results');
      }
    });
  });

  it('sends a message that failed anew, with the delay before its next attempt', async () => {
    receiver.answer = (_, response) => response.writeHead(500).end();
    const sent = await message();
    expect(await deliver(sent)).toEqual({ batchItemFailures: [] });
    expect(sink.messages).toMatchObject([{ queue: 'Webhooks', delaySeconds: 5 }]);
    expect(JSON.parse(sink.messages[0]!.body)).toEqual({ ...sent, attempts: 1, waiting_since: time });
    const attempt = await statusOf(sent);
    expect(attempt).toMatchObject({ outcome: 'RETRYING', reason: 'The receiver answered 500.', attempts: 1 });
    expect(Date.parse(attempt.next_attempt_at) - Date.parse(attempt.attempted_at)).toBeGreaterThan(4_000);
  });

  it('makes seven attempts over 17 hours, under one id; then its user sees why, and nothing is kept', async () => {
    receiver.answer = (_, response) => response.writeHead(302, { Location: '/' }).end();
    const sent = await message();
    let waited = 0;
    const waits: number[] = [];
    for (let next: unknown = sent, deliveries = 0; next !== undefined && deliveries < 200; deliveries += 1) {
      const attempts = receiver.messages.length;
      await deliver(next);
      if (receiver.messages.length > attempts) {
        waits.push(waited);
        waited = 0;
      }
      const [queued] = sink.messages.splice(0);
      waited += queued?.delaySeconds ?? 0;
      if (queued !== undefined) expect(queued.queue).toBe('Webhooks');
      next = queued && JSON.parse(queued.body);
      expect(queued?.delaySeconds ?? 0).toBeLessThanOrEqual(900);
    }
    expect(waits).toEqual([0, 5, 300, 1_800, 7_200, 18_000, 36_000]);
    expect(new Set(receiver.messages.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([sent.id]));
    expect(new Set(receiver.messages.map(({ body }) => body.toString())).size).toBe(1);
    expect(await statusOf(sent)).toMatchObject({
      outcome: 'GIVEN_UP',
      reason: 'The receiver answered 302: redirects are not followed.',
      attempts: 7,
      next_attempt_at: null,
    });
  });

  it('logs who fails, in the fields that the query for operators reads', async () => {
    receiver.answer = (_, response) => response.writeHead(500).end();
    const [failing, refused] = [await message(), await message({ webhook: 'anything' })];
    const [{ failing_receivers }] = await loggedLines(() => deliver(failing, refused));
    const { user_id, batch_id } = failing;
    expect(failing_receivers).toEqual([
      {
        host: new URL(receiver.url).host,
        user_id,
        batch_id,
        outcome: 'RETRYING',
        reason: 'The receiver answered 500.',
      },
    ]);
    const [, query = ''] = /```\n(filter ispresent\(failing[^`]*)```/.exec(
      readFileSync('docs/guides/operating.md', 'utf8'),
    )!;
    const read = new Set(queryFields(query).map((name) => name.replace('failing_receivers.0.', '')));
    expect([...read].sort()).toEqual(['host', 'outcome', 'reason', 'user_id']);
  });

  it('waits for as long as the receiver asks', async () => {
    receiver.answer = (_, response) => response.writeHead(429, { 'Retry-After': '1000' }).end();
    await deliver(await message());
    expect(sink.messages).toMatchObject([{ delaySeconds: 900 }]);
    expect(JSON.parse(sink.messages[0]!.body).wait_seconds).toBe(100);
  });

  it('lets a message wait whose host was called often enough, and counts no attempt', async () => {
    const now = Date.now();
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now - 3_600_000);
    try {
      const [sent, other] = [await message(), await message({ webhook: 'http://127.0.0.1:9/' })];
      await useUpCalls(new URL(receiver.url).host);
      expect(await deliver(sent, other)).toEqual({ batchItemFailures: [] });
      expect(receiver.messages).toEqual([]);
      const [queued, ofOther] = sink.messages
        .map(({ body, delaySeconds }) => ({ delaySeconds, ...JSON.parse(body) }))
        .sort((one, another) => one.attempts - another.attempts);
      expect(queued).toEqual({ ...sent, delaySeconds: expect.any(Number), waiting_since: time });
      expect(queued.delaySeconds).toBeGreaterThan(0);
      expect(queued.delaySeconds).toBeLessThanOrEqual(61);
      expect(ofOther).toMatchObject({ attempts: 1, delaySeconds: 5 });
      expect(await statusOf(sent)).toBeNull();
      clock.mockReturnValue(now - 3_540_000);
      await deliver(sent);
      expect(receiver.messages).toHaveLength(1);
    } finally {
      clock.mockRestore();
    }
  });

  it('sends nothing more of a batch after 410', async () => {
    receiver.answer = (_, response) => response.writeHead(410).end();
    const sent = await message();
    await deliver(sent);
    await deliver({ ...sent, id: 'msg_other' }, { ...sent, id: 'msg_third', attempts: 3 });
    expect(receiver.messages).toHaveLength(1);
    expect(sink.messages).toEqual([]);
    expect(await statusOf(sent)).toMatchObject({ outcome: 'STOPPED', attempts: 1 });
  });

  it('stays stopped although another message of the batch was under way', async () => {
    const stopping = await message();
    const answered = Promise.withResolvers<void>();
    receiver.answer = async ({ headers }, response) => {
      if (headers['webhook-id'] === stopping.id) response.writeHead(410).end();
      else void answered.promise.then(() => response.writeHead(200).end());
    };
    const underWay = deliver({ ...stopping, id: 'msg_other' });
    await vi.waitUntil(() => receiver.messages.length === 1);
    await deliver(stopping);
    answered.resolve();
    expect(await underWay).toEqual({ batchItemFailures: [] });
    expect(await statusOf(stopping)).toMatchObject({ outcome: 'STOPPED' });
  });

  it('is done with a message only when what follows from it is stored', async () => {
    sink.refusing = true;
    receiver.answer = (_, response) => response.writeHead(500).end();
    const failing = await message();
    expect(await deliver(failing)).toEqual({ batchItemFailures: [{ itemIdentifier: 'm0' }] });
    expect(await deliver({ ...failing, wait_seconds: 9 })).toEqual({ batchItemFailures: [{ itemIdentifier: 'm0' }] });
    expect(await deliver('no JSON')).toEqual({ batchItemFailures: [{ itemIdentifier: 'm0' }] });
  });

  it('serves the other messages of a call while a receiver hangs', async () => {
    const served = Promise.withResolvers<void>();
    receiver.answer = ({ url }, response) => {
      if (url !== '/hang') served.resolve();
      void served.promise.then(() => response.writeHead(204).end());
    };
    const [hanging, other] = [await message({ webhook: `${receiver.url}/hang` }), await message()];
    expect(await deliver(hanging, other)).toEqual({ batchItemFailures: [] });
    for (const each of [hanging, other]) expect(await statusOf(each)).toMatchObject({ outcome: 'DELIVERED' });
  });

  it('waits for no receiver longer than it has time itself', async () => {
    receiver.answer = () => {};
    const hanging = await message();
    const delivery = handler(sqsEvent([hanging]), lambdaContext(4_000));
    expect(await delivery).toEqual({ batchItemFailures: [] });
    expect(await statusOf(hanging)).toMatchObject({ outcome: 'RETRYING', reason: 'No answer within 1 s.' });
  });

  describe('a receiver that does not answer', () => {
    // Calls are counted by the minute.
    beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
    afterEach(() => void vi.useRealTimers());
    /** Time for a call of 5 s. */
    const briefly = (...bodies: unknown[]) => handler(sqsEvent(bodies), lambdaContext(8_000));
    const messages = (count: number, given: Partial<WebhookMessage>) =>
      Promise.all(Array.from({ length: count }, () => message(given)));
    const counts = (userId: string) => countHostCall(db, userId, new URL(receiver.url).host);

    it('of four calls gets no more than four a minute, but for tests; other users’ calls go on', async () => {
      const user_id = `silent ${number}`;
      receiver.answer = () => {};
      expect(await briefly(...(await messages(5, { user_id })))).toEqual({ batchItemFailures: [] });
      sink.messages.length = 0;
      expect(await briefly(...(await messages(10, { user_id })))).toEqual({ batchItemFailures: [] });
      expect(sink.messages.map(({ body }) => JSON.parse(body).attempts)).toEqual(Array(10).fill(0));
      expect(receiver.messages).toHaveLength(5);
      receiver.answer = (_, response) => response.writeHead(204).end();
      expect(await counts(`${user_id}, another`)).toEqual({ seconds: 0, isSilent: false });
      const { batch_id } = await message();
      await writes.createBatch(user_id, newBatch(number, { webhook: `${receiver.url}/hooks` }));
      expect(await askAbout('testWebhook', { batch_id }, user_id)).toMatchObject({ status: 200 });
    });

    it('to one of several calls has no fewer of them', async () => {
      const user_id = `busy ${number}`;
      const [answered, ...others] = await messages(9, { user_id });
      const served = Promise.withResolvers<void>();
      receiver.answer = async ({ headers }, response) => {
        if (headers['webhook-id'] === answered!.id) response.writeHead(204).end(() => served.resolve());
        await served.promise;
        // Not before they count as calls that kept others waiting.
        setTimeout(() => response.destroy(), 1_500);
      };
      await handler(sqsEvent([answered, ...others]), lambdaContext());
      for (let calls = 0; calls < 10; calls++) expect((await counts(user_id)).seconds).toBe(0);
    });

    it('has no message wait for longer than a day', async () => {
      const user_id = `silent ${number}`;
      const host = new URL(receiver.url).host;
      for (let unanswered = 0; unanswered < 4; unanswered++) await countUnanswered(db, user_id, host);
      for (let calls = 0; calls < 30; calls++) await counts(user_id);
      const [old, recent] = await messages(2, { user_id, attempts: 2 });
      await writes.createBatch(user_id, newBatch(number - 1, {}));
      await writes.createBatch(user_id, newBatch(number, {}));
      const since = (hours: number) => ({ waiting_since: fromMilliseconds(Date.now() - hours * 3_600_000) });
      await deliver({ ...old, ...since(25) }, { ...recent, ...since(23) });
      expect(receiver.messages).toEqual([]);
      expect(sink.messages.map(({ body }) => JSON.parse(body).id)).toEqual([recent!.id]);
      const shown = await getLastAttempt(db, old!);
      expect(shown).toMatchObject({ outcome: 'GIVEN_UP', attempts: 2, reason: expect.stringMatching(/^For a day/) });
    });
  });

  it('drops a message that has waited and whose batch is gone, and does not call its receiver', async () => {
    const waiting_since = fromMilliseconds(Date.now());
    const sent = { ...(await message()), waiting_since };
    const gone = { ...(await message()), waiting_since, batch_id: uuid('b', 999_999) };
    await deliver(sent, gone, { ...gone, wait_seconds: 9 });
    expect(receiver.messages.map(({ headers }) => headers['webhook-id'])).toEqual([sent.id]);
    expect(sink.messages).toEqual([]);
    expect(await getLastAttempt(db, gone)).toBeUndefined();
  });

  it.each(['https://receiver.example.org/', 'http://localhost/', 'http://10.0.0.1/', 'anything'])(
    'calls nobody for %s, and users see why',
    async (webhook) => {
      const sent = await message({ webhook });
      expect(await deliver(sent)).toEqual({ batchItemFailures: [] });
      expect(receiver.messages).toEqual([]);
      expect(await statusOf(sent)).toEqual({
        outcome: 'REFUSED',
        reason: expect.any(String),
        type: null,
        job_id: null,
        attempts: 0,
        attempted_at: null,
        next_attempt_at: null,
      });
    },
  );

  it.each(['', 'no JSON', '{}', 'null'])('makes a dead letter of a message that cannot be read: "%s"', async (body) => {
    expect(await deliver(body === '' ? '[]' : body)).toEqual({ batchItemFailures: [] });
    expect(sink.messages).toMatchObject([
      { queue: 'Webhooks-dead-letters', attributes: { reason: 'The message cannot be read.', message_id: 'm0' } },
    ]);
  });

  it('shows no attempt of a batch that has no webhook, or was not reported yet', async () => {
    expect(await statusOf(await message())).toBeNull();
    await writes.createBatch(alice, newBatch(++number, { webhook: null }));
    expect(await statusOf({ ...(await message()), batch_id: uuid('b', number - 1) })).toBeNull();
  });

  it('shows an attempt to its owner alone', async () => {
    const sent = await message();
    await deliver(sent);
    expect((await askAbout('getBatchStatus', sent, 'auth0|bob')).status).toBe(404);
  });

  it('signs with the new key and the one before after a rotation', async () => {
    const [before] = await publicKeys();
    await secrets.rotateKey();
    // Signing keys are kept for a minute.
    const later = Date.now() + 61_000;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => later);
    try {
      const [current, previous] = await publicKeys();
      expect(current).not.toBe(before);
      expect(previous).toBe(before);
      await deliver(await message());
      const [{ headers, body } = {}] = receiver.messages as never as [(typeof receiver.messages)[0]];
      expect(headers!['webhook-signature']!.toString().split(' ')).toHaveLength(2);
      for (const key of [current, previous!]) {
        expect(() => verify(headers as Record<string, string>, body!, [key])).not.toThrow();
      }
    } finally {
      clock.mockRestore();
    }
  });
});

describe('the deliveries of a batch', () => {
  const deliveriesOf = async (sent: Pick<WebhookMessage, 'batch_id'>): Promise<Record<string, unknown>[]> =>
    (await askAbout('getBatchWebhook', sent)).data.deliveries;
  const common = { sent_at: time, duration_ms: expect.any(Number) };

  it('are what receivers answered, the newest first, also of messages that were sent again', async () => {
    const sent = await message();
    expect((await askAbout('getBatchWebhook', sent)).data).toEqual({
      webhook: sent.webhook,
      refusal: null,
      deliveries: [],
    });
    receiver.answer = (_, response) => response.writeHead(500).end('a secret');
    await deliver(sent);
    receiver.answer = (_, response) => void response.destroy();
    await deliver({ ...sent, attempts: 1 });
    receiver.answer = (_, response) => response.writeHead(204).end();
    await deliver({ ...sent, job: null });
    const job = { ...common, type: 'job.updated', job_id: sent.job!.id };
    expect(await deliveriesOf(sent)).toEqual([
      { ...common, type: 'batch.updated', job_id: null, attempt: 1, status: 204, reason: null },
      { ...job, attempt: 2, status: null, reason: expect.stringMatching(/^The host .*\.$/) },
      { ...job, attempt: 1, status: 500, reason: 'The receiver answered 500.' },
    ]);
  });

  it('are the last ten, and none is lost where many come at once', async () => {
    const sent = await message();
    const job = (attempt: number) => ({ ...sent, attempts: attempt - 1, id: `msg_${sent.batch_id}_${attempt}` });
    await Promise.all([1, 2, 3, 4, 5, 6, 7].map((attempt) => deliver(job(attempt))));
    const attempts = async () => (await deliveriesOf(sent)).map(({ attempt }) => attempt as number);
    expect((await attempts()).sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
    for (const attempt of [3, 4, 5, 6, 7]) await deliver(job(attempt));
    const last = await attempts();
    expect(last.slice(0, 5)).toEqual([7, 6, 5, 4, 3]);
    expect(last).toHaveLength(10);
  });

  it('have a test that a user asks for, signed, also after the end of the batch and after 410', async () => {
    const sent = await message();
    await writes.recordBatchStatus(alice, sent.batch_id, { status: 'DONE' });
    receiver.answer = (_, response) => response.writeHead(410).end('a secret');
    await deliver(sent);
    receiver.answer = (_, response) => response.writeHead(202).end('a secret');
    const { status, data } = await askAbout('testWebhook', sent);
    const tested = { ...common, type: 'webhook.test', job_id: null, attempt: 1, status: 202, reason: null };
    expect({ status, data }).toEqual({ status: 200, data: tested });
    const { headers, body } = receiver.messages.at(-1)!;
    const verified = verify(headers as Record<string, string>, body, await publicKeys());
    expect(WebhookTested().parse(verified).data).toEqual({ batch_id: sent.batch_id });
    expect(await deliveriesOf(sent)).toMatchObject([tested, { status: 410, type: 'job.updated' }]);
    expect(await statusOf(sent)).toMatchObject({ outcome: 'STOPPED', type: 'job.updated' });
    receiver.answer = (_, response) => response.writeHead(302, { Location: '/' }).end();
    expect((await askAbout('testWebhook', sent)).data).toMatchObject({
      status: 302,
      reason: 'The receiver answered 302: redirects are not followed.',
    });
    expect(receiver.messages).toHaveLength(3);
  });

  it('have a test that is answered, once it was sent, also where it cannot be stored', async () => {
    const { batch_id, webhook } = await message();
    const failing = interceptedClient(client, ({ name, input, send }) => {
      const isStored = name === 'UpdateCommand' && input.TableName === names.WebhookAttempts;
      return isStored ? Promise.reject(new Error('not today')) : send();
    });
    const secret = { id: process.env.WEBHOOK_KEY_ARN!, call: secretsManager() };
    const options = { secret, reach: 'loopback', timeoutMilliseconds: 5_000 } as const;
    const tested = await testWebhook(testDb(failing, names), { user_id: alice, id: batch_id, webhook }, options);
    expect(tested).toMatchObject({ type: 'webhook.test', status: 204 });
    expect(receiver.messages).toHaveLength(1);
    expect(await deliveriesOf({ batch_id })).toEqual([]);
  });

  it('of a batch that has had nothing but a test leave its status without an attempt', async () => {
    const sent = await message();
    await askAbout('testWebhook', sent);
    expect(await statusOf(sent)).toBeNull();
    await deliver(sent);
    expect(await statusOf(sent)).toMatchObject({ outcome: 'DELIVERED', attempts: 1 });
    expect(await deliveriesOf(sent)).toHaveLength(2);
  });

  it.each([null, 'https://receiver.example.org/', 'http://10.0.0.1/', 'anything'])(
    'has no test where the webhook is %s',
    async (webhook) => {
      await writes.createBatch(alice, newBatch(++number, { webhook }));
      const batch = { batch_id: uuid('b', number) };
      expect(await askAbout('testWebhook', batch)).toMatchObject({ status: 409, data: { reason: 'no_webhook' } });
      const refusal = webhook === null ? null : expect.any(String);
      expect((await askAbout('getBatchWebhook', batch)).data).toEqual({ webhook, refusal, deliveries: [] });
      expect(receiver.messages).toEqual([]);
    },
  );

  it('have no test beyond the calls that a host takes in a minute', async () => {
    const now = Date.now();
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now - 7_200_000);
    try {
      const sent = await message();
      await useUpCalls(new URL(receiver.url).host);
      const { status, headers, data } = await askAbout('testWebhook', sent);
      expect({ status, data }).toMatchObject({ status: 429, data: { reason: 'throttled' } });
      expect(Number(headers['Retry-After'])).toBeGreaterThan(0);
      expect(receiver.messages).toEqual([]);
    } finally {
      clock.mockRestore();
    }
  });
});
