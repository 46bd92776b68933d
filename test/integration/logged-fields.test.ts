/**
 * Saved queries and metric filters read the fields that the functions log: every field must be one
 * of theirs.
 */

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { APIGatewayTokenAuthorizerEvent, ScheduledEvent } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { functionEnvironment } from '../support/function-environment.ts';
import { gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { loadDevices } from '../support/load-devices.ts';
import { loggedLines } from '../support/logged-lines.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { queryFields } from '../support/query-fields.ts';
import { sqsEvent } from '../support/sqs-event.ts';
import { synthesize } from '../support/synthesize.ts';
import { audience, issuer, issuerKey, signedToken } from '../support/token-issuer.ts';
import { workerStack } from '../support/worker-stack.ts';

const { ofType, readable } = await synthesize();

/**
 * Fields of Lambda's own lines, in its JSON format; and one that the list reader logs when writers
 * interfere.
 */
const others = ['type', 'record.status', 'errorType', 'errorMessage', 'stale_reads'];

/** Nothing listens there. */
const nobody = 'http://127.0.0.1:9/';

const fields: Record<string, Set<string>> = {
  functions: new Set(),
  authorizer: new Set(),
  consumers: new Set(),
  recoverBatches: new Set(),
  schedules: new Set(),
};

beforeAll(async () => {
  const { client, names } = await functionEnvironment();
  const sink = await startMessageSink();
  afterAll(() => sink.stop());
  const key = await issuerKey('ES256', 'a');
  const keys = createServer((_, response) => response.end(JSON.stringify({ keys: [key.jwk] }))).listen(0, '127.0.0.1');
  await once(keys, 'listening');
  afterAll(() => keys.close());
  vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'a function');
  vi.stubEnv('ISSUER', issuer);
  vi.stubEnv('AUDIENCE', audience);
  vi.stubEnv('JWKS_URI', `http://127.0.0.1:${(keys.address() as AddressInfo).port}/`);
  const lists = await import('../../functions/endpoints/batches/list-batches.ts');
  const quizzes = await import('../../functions/endpoints/quizzes/submit-quizzes.ts');
  const authorizer = await import('../../functions/identity/authorizer.ts');
  const consumer = await import('../../functions/consumers/apply-events.ts');
  const userId = `auth0|${randomUUID()}`;

  await collect('schedules', async () => {
    await loadDevices(client, names);
    const { handler } = await import('../../functions/schedules/measure-queues.ts');
    await handler({} as ScheduledEvent, lambdaContext());
    vi.stubEnv('DEVICE_QUEUE_TABLE', 'none');
    vi.resetModules();
    const failing = await import('../../functions/schedules/measure-queues.ts');
    await expect(failing.handler({} as ScheduledEvent, lambdaContext())).rejects.toThrow();
    vi.stubEnv('DEVICE_QUEUE_TABLE', names.DeviceQueue);
    vi.resetModules();
  });
  await collect('functions', async () => {
    const workers = workerStack(client, names, { now: Date.now() - 120_000 });
    await workers.create(userId, { device_type: 'FRESNEL' });
    await workers.claim('FRESNEL', 'a worker that dies');
    const claims = await import('../../functions/endpoints/leases/claim-batch.ts');
    const claim = { scope: 'device:*', path: { device_type: 'FRESNEL' }, body: { worker: 'another' } };
    await claims.handler(gatewayEvent('claimBatch', { userId: 'device', ...claim }), lambdaContext());
    await lists.handler(gatewayEvent('listBatches', { userId, query: 'status=DONE' }), lambdaContext());
    await quizzes.handler(gatewayEvent('submitQuizzes', { userId, body: { data: { a: {} } } }), lambdaContext());
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', nobody);
    vi.resetModules();
    const failing = await import('../../functions/endpoints/batches/list-batches.ts');
    await failing.handler(gatewayEvent('listBatches', { userId }), lambdaContext());
  });
  await collect('authorizer', async () => {
    const event = { authorizationToken: `Bearer ${signedToken(key)}`, methodArn: 'arn:a:b:c:d:e/f/GET/g' };
    await authorizer.handler(event as APIGatewayTokenAuthorizerEvent, lambdaContext());
    vi.stubEnv('JWKS_URI', nobody);
    vi.resetModules();
    const failing = await import('../../functions/identity/authorizer.ts');
    await expect(failing.handler(event as APIGatewayTokenAuthorizerEvent, lambdaContext())).rejects.toThrow();
  });
  await collect('consumers', async () => {
    const early = {
      id: 'e-1',
      type: 'job.updated',
      time: new Date().toISOString(),
      user_id: userId,
      data: { job_id: randomUUID() },
    };
    for (const body of ['{}', early]) await consumer.handler(sqsEvent([body]), lambdaContext());
  });
  await collect('recoverBatches', async () => {
    const { handler } = await import('../../functions/consumers/recover-batches.ts');
    const bodies = [userId, ''].map((user_id) => ({ user_id, batch_id: randomUUID() }));
    await handler(sqsEvent(bodies, { sentAt: Date.now() - 60_000 }), lambdaContext());
  });
});

/**
 * The names of all fields that are logged meanwhile. Names in objects and lists have the form that
 * Logs Insights gives them: `faults.0.error.name`.
 */
async function collect(kind: string, work: () => Promise<void>) {
  for (const line of await loggedLines(work)) addNames(fields[kind]!, '', line);
}

function addNames(names: Set<string>, prefix: string, value: object) {
  for (const [name, each] of Object.entries(value)) {
    names.add(prefix + name);
    if (typeof each === 'object' && each !== null) addNames(names, `${prefix}${name}.`, each);
  }
}

describe.each(['functions', 'authorizer', 'consumers', 'schedules'])(
  'the saved queries on the logs of the %s',
  (kind) => {
    const queries = ofType('AWS::Logs::QueryDefinition').filter(({ properties }) =>
      readable(properties.Name).endsWith(`/${kind}`),
    );

    it.each(queries)('read fields that are logged: $path', ({ properties }) => {
      const used = queryFields(properties.QueryString);
      expect(used.length).toBeGreaterThan(0);
      for (const field of used) expect([...fields[kind]!, ...others]).toContain(field);
    });
  },
);

describe('recoverBatches', () => {
  it('logs its faults as the other consumers do, so that the same queries find them', () => {
    for (const name of ['message_id', 'user_id', 'disposition', 'error.name', 'error.message']) {
      expect([...fields.recoverBatches!]).toContain(`faults.0.${name}`);
    }
  });
});

describe('the metric filters on the logs of functions', () => {
  const filters = ofType('AWS::Logs::MetricFilter').filter(({ path }) => !path.startsWith('Api/AccessLog/'));

  it.each(filters)('read a field that is logged: $path', ({ properties, path }) => {
    const pattern = readable(properties.FilterPattern);
    const used = Array.from(pattern.matchAll(/\$\.(\w+)/g), ([, field]) => field);
    const [kind] = [
      pattern.includes('Consumers/RecoverBatches') && 'recoverBatches',
      path.startsWith('Consumers/') && 'consumers',
      path.startsWith('Schedules/') && 'schedules',
      path.includes('Authorizer') && 'authorizer',
      'functions',
    ].filter((each) => each !== false);
    expect(filters.length).toBeGreaterThan(3);
    expect(used.length).toBeGreaterThan(0);
    for (const field of used) expect([...fields[kind!]!]).toContain(field);
  });
});
