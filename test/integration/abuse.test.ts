/**
 * No request causes a 5xx; every answer has the envelope and is what openapi.json describes, as
 * judged by another validator.
 */

import { PutCommand } from '@aws-sdk/lib-dynamodb';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { announceDevice } from '../../functions/data/rows/devices.ts';
import { parameterSchemas } from '../../functions/http/deprecation.ts';
import { loadOperation } from '../../infra/openapi/load-operation.ts';
import { ask } from '../support/ask.ts';
import { cpuTime } from '../support/cpu-time.ts';
import { trials } from '../support/depth.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { hostileText } from '../support/hostile-text.ts';
import { loadDevices } from '../support/load-devices.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { startResultsStore } from '../support/results-store.ts';
import { routeCases, routesWithToken } from '../support/route-cases.ts';
import { testDb } from '../support/test-db.ts';
import { storeWorld, world } from '../support/world.ts';

const { client, names } = await functionEnvironment();
const sink = await startMessageSink();
const results = await startResultsStore();
afterAll(async () => {
  await sink.stop();
  await results.stop();
});

const userId = 'auth0|alice';
const own = world(userId, { leased: true });

beforeAll(async () => {
  await storeWorld({ client, names, results }, own);
  await loadDevices(client, names);
  // Requests of any route find this one, until it is removed.
  await announceDevice(testDb(client, names), 'RETIRED', { status: 'DOWN' });
  // These wait for a device.
  for (const row of own.batches.filter(({ status }, at) => at > 1 && String(status) === 'PENDING')) {
    await client.send(new PutCommand({ TableName: names.Batches, Item: { ...row, queue_key: null } }));
  }
});

// What is erased cannot be run again, so that comes last.
const inOrder = [...routesWithToken].sort((a, b) => Number(a === 'eraseBatch') - Number(b === 'eraseBatch'));

describe.each(inOrder)('%s', (route) => {
  it('answers any request with success or with its faults', async () => {
    const parameters = Object.keys(parameterSchemas((await loadOperation(route)).query));
    let successes = 0;
    await fc.assert(
      fc.asyncProperty(routeCases[route].anything(own), async (request) => {
        const { status, detail } = await ask(route, { userId, ...request });
        expect(status).toBeLessThan(500);
        // No row that is loaded has a receiver.
        if (status < 300 || (route === 'testWebhook' && status === 409)) successes++;
        for (const { loc } of (detail ?? []) as { loc: string[] }[]) {
          expect(['path', 'query', 'body']).toContain(loc[0]);
          if (loc[0] === 'query') expect(parameters).toContain(loc[1]);
        }
      }),
      { ...trials(25, 1_000), examples: Object.values(routeCases[route].ways(own)).map((way) => [way]) },
    );
    expect(successes).toBeGreaterThan(0);
  });
});

describe.each(['listBatches', 'listJobs'] as const)('%s', (route) => {
  it('reads nothing but the query', async () => {
    const plain = await ask(route, { userId });
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string({ minLength: 1, maxLength: 20 }), hostileText, { maxKeys: 4 }),
        fc.oneof(hostileText, fc.json()),
        async (headers, body) => {
          expect(await ask(route, { userId, headers, body })).toEqual(plain);
        },
      ),
      trials(10, 100),
    );
  });
});

describe('submitQuizzes', () => {
  const key = fc.oneof(hostileText, fc.constantFrom('__proto__', 'constructor', 'data', 'user_id', 'id', '0', '-1'));
  const number = fc.oneof(
    fc.double(),
    fc.constantFrom(0, -0, Number.MAX_VALUE, Number.MIN_VALUE, 2 ** 53, -(2 ** 53), 1e21, 1e-7, 5e-324),
  );
  const { value } = fc.letrec((tie) => ({
    object: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      number,
      fc.boolean(),
      fc.constant(null),
      hostileText,
      fc.array(tie('value'), { maxLength: 4 }),
      tie('object'),
    ),
  }));
  const submission = fc.dictionary(key, value, { maxKeys: 4 });
  const body = fc.dictionary(key, fc.oneof(submission, fc.array(submission, { maxLength: 4 })), { maxKeys: 4 });

  it('keeps any submission as it is', async () => {
    let kept = 0;
    await fc.assert(
      fc.asyncProperty(body, async (quizzes) => {
        const sent = JSON.stringify({ data: quizzes });
        const { status, data } = await ask('submitQuizzes', { userId, body: sent });
        const ids = Object.keys(JSON.parse(sent).data);
        if (ids.some((id) => id === '' || [...id].length > 256 || !id.isWellFormed()))
          return void expect(status).toBe(422);
        expect(status).toBe(200);
        kept++;
        const wanted = Object.values(JSON.parse(sent).data).flat();
        expect((data as { data: unknown }[]).map((record) => JSON.stringify(record.data))).toEqual(
          wanted.map((each) => JSON.stringify(each)),
        );
      }),
      trials(60, 500),
    );
    expect(kept).toBeGreaterThan(20);
  });

  it('answers any text with records or with its faults', async () => {
    const spliced = fc.tuple(body, fc.nat(), fc.nat({ max: 5 }), hostileText).map(([data, at, length, put]) => {
      const whole = JSON.stringify({ data });
      const start = at % whole.length;
      return whole.slice(0, start) + put + whole.slice(start + length);
    });
    await fc.assert(
      fc.asyncProperty(fc.oneof(hostileText, fc.json(), spliced), async (sent) => {
        const { status } = await ask('submitQuizzes', { userId, body: sent });
        expect([200, 422]).toContain(status);
      }),
      trials(30, 1_000),
    );
  });

  it('answers any bytes, whatever their content type says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), hostileText, async (bytes, type) => {
        const sent = { body: Buffer.from(bytes).toString('base64'), isBase64Encoded: true };
        const { status } = await ask('submitQuizzes', { userId, ...sent, headers: { 'content-type': type } });
        expect(status).toBe(422);
      }),
      trials(30, 300),
    );
  });

  const mebibyte = 2 ** 20;
  it.each<[string, string, number]>([
    ['a million brackets', '['.repeat(1_000_000), 422],
    ['a million levels', `{"data":{"q":${'{"a":'.repeat(400_000)}1${'}'.repeat(400_000)}}}`, 422],
    ['arrays of a hundred thousand levels', `{"data":{"q":{"a":${'['.repeat(1e5)}${']'.repeat(1e5)}}}}`, 422],
    ['a million faults', `{"data":{"q":[${'1,'.repeat(1_000_000)}1]}}`, 422],
    ['a million quizzes', `{"data":{${'"a":{},'.repeat(100_000)}"b":{}}}`, 200],
    ['a hundred thousand ids', `{"data":{${Array.from({ length: 1e5 }, (_, at) => `"${at}":{}`).join()}}}`, 422],
    ['an id of a megabyte', `{"data":{"${'a'.repeat(mebibyte)}":{}}}`, 422],
    ['a long number', `{"data":{"q":{"n":${'9'.repeat(300_000)}}}}`, 200],
    ['an exponent beyond all', '{"data":{"q":{"n":1e999999,"m":-1e-999999}}}', 200],
    ['a key a hundred thousand times', `{"data":{"q":{${'"a":1,'.repeat(50_000)}"a":2}}}`, 200],
    ['escapes that grow', `{"data":{"q":{"a":"${'\\u0001'.repeat(50_000)}"}}}`, 200],
    ['controls that grow when they are escaped', '\u0001'.repeat(3 * mebibyte), 413],
    ['lone surrogates, escaped', '{"data":{"q":{"\\ud800":"\\udfff"}}}', 200],
    ['a byte order mark', '\ufeff{"data":{}}', 200],
    ['two byte order marks', '\ufeff\ufeff{"data":{}}', 422],
    ['space alone', ' '.repeat(mebibyte), 422],
    ['space around', `${' '.repeat(mebibyte)}{"data":{}}${'\n'.repeat(mebibyte)}`, 200],
    ['more than 3 MB', `{"data":{"q":"${'a'.repeat(3 * mebibyte)}"}}`, 413],
    ['a value that JSON does not have', '{"data":{"q":{"a":NaN}}}', 422],
    ['a comment', '{"data":{}} // so', 422],
  ])('answers %s in good time', async (_, sent, status) => {
    const milliseconds = await cpuTime(async () =>
      expect((await ask('submitQuizzes', { userId, body: sent })).status).toBe(status),
    );
    expect(milliseconds).toBeLessThan(5_000);
  });
});
