/** Whatever arrives: no 5xx, the envelope always, every answer as openapi.json describes it, by a validator that is not ours. */

import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { batchList, jobList } from '../../functions/data/columns/lists.ts';
import type { Handler } from '../../functions/http/endpoint.ts';
import { BatchListQuery } from '../../functions/schemas/batch-list-query.ts';
import { JobListQuery } from '../../functions/schemas/job-list-query.ts';
import { expectDocumented } from '../support/documented-answers.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { type GatewayRequest, gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { loadList } from '../support/load-list.ts';
import { batchRows, jobRows } from '../support/random-rows.ts';

const { client, names } = await functionEnvironment();
const handlers = {
  listBatches: (await import('../../functions/endpoints/batches/list-batches.ts')).handler,
  listJobs: (await import('../../functions/endpoints/jobs/list-jobs.ts')).handler,
  getResultsLink: (await import('../../functions/endpoints/jobs/get-results-link.ts')).handler,
  submitQuizzes: (await import('../../functions/endpoints/quizzes/submit-quizzes.ts')).handler,
} satisfies Record<string, Handler>;

const userId = 'auth0|alice';
const sample = <Value>(rows: fc.Arbitrary<Value>) => fc.sample(rows, { numRuns: 1, seed: 3 })[0] as Value;
const batches = sample(batchRows(userId, 30));
const jobs = sample(jobRows(userId, [batches[0]!.id, batches[1]!.id], 40));

beforeAll(async () => {
  await loadList(client, names, batchList, userId, batches);
  await loadList(client, names, jobList, userId, jobs);
});

async function ask(route: keyof typeof handlers, request: GatewayRequest) {
  const answer = await handlers[route](gatewayEvent(route, { userId, ...request }), lambdaContext());
  return { statusCode: answer.statusCode, body: expectDocumented(route, answer) as Record<string, unknown> };
}

/** Text of every kind: each block of Unicode, lone surrogates, controls, and what means something to one of the readers. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 10 }),
  fc.string({ unit: fc.constantFrom('\ud800', '\udfff', '\u0000', '\ufeff', '\u202e', '\u0130', 'ß', '٣', '−') }),
  fc.constantFrom(
    '',
    ' ',
    '0',
    '-0',
    '+1',
    '1e3',
    '0x10',
    '1.0',
    '٣',
    '9007199254740991',
    '9007199254740993',
    '9'.repeat(256),
    'NaN',
    'Infinity',
    'true',
    'null',
    'undefined',
    '__proto__',
    'constructor',
    'toString',
    "' OR 1=1 --",
    '{{7*7}}',
    '../../etc/passwd',
    '%00',
    '%',
    '1970-01-01',
    '0001-01-01T00:00:00+23:59',
    '9999-12-31T23:59:59.999999-23:59',
    '2026-02-30',
    '2026-01-01T00:00:00.1234567Z',
    '-271821-04-20T00:00:00Z',
    'a'.repeat(256),
    'a'.repeat(10_000),
    '𝕏'.repeat(256),
  ),
);
const known = fc.constantFrom(
  'DONE',
  'RUNNING',
  'ASC',
  'DESC',
  'id',
  'runs',
  'LOW',
  'CLIENT',
  'EMU_MPS',
  batches[0]!.id,
);

const lists = [
  { route: 'listBatches', parameters: Object.keys(BatchListQuery.def.in.shape) },
  { route: 'listJobs', parameters: Object.keys(JobListQuery.def.in.shape) },
] as const;

describe.each(lists)('$route', ({ route, parameters }) => {
  const name = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...parameters) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', 'limit[]', 'id[0]'),
    },
    { weight: 1, arbitrary: text },
  );
  const values = fc.oneof(
    { weight: 8, arbitrary: fc.array(fc.oneof(text, known), { minLength: 1, maxLength: 4 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(100, 101, 2_000).map((length) => Array<string>(length).fill(batches[0]!.id)),
    },
  );

  it('answers any query with a page or with its faults', async () => {
    let pages = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(name, values), { maxLength: 4 }), async (pairs) => {
        const query = Object.fromEntries(pairs);
        const { statusCode, body } = await ask(route, { query });
        expect([200, 422]).toContain(statusCode);
        if (statusCode === 200) pages++;
        else for (const { loc } of body.detail as { loc: string[] }[]) expect(parameters).toContain(loc[1]);
      }),
      { numRuns: 300 },
    );
    expect(pages).toBeGreaterThan(10);
  });

  it('reads nothing but the query', async () => {
    const plain = await ask(route, {});
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string({ minLength: 1, maxLength: 20 }), text, { maxKeys: 4 }),
        fc.oneof(text, fc.json()),
        async (headers, body) => {
          expect(await ask(route, { headers, body })).toEqual(plain);
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe('getResultsLink', () => {
  it('answers any id with a link, with 404 or with its fault', async () => {
    const id = fc.oneof(text, fc.uuid(), fc.constantFrom(...jobs.map((job) => job.id)));
    await fc.assert(
      fc.asyncProperty(id, async (job_id) => {
        expect([200, 404, 422]).toContain((await ask('getResultsLink', { path: { job_id } })).statusCode);
      }),
      { numRuns: 150 },
    );
  });
});

describe('submitQuizzes', () => {
  const key = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'data', 'user_id', 'id', '0', '-1'));
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
      text,
      fc.array(tie('value'), { maxLength: 4 }),
      tie('object'),
    ),
  }));
  const submission = fc.dictionary(key, value, { maxKeys: 4 });
  const body = fc.dictionary(key, fc.oneof(submission, fc.array(submission, { maxLength: 4 })), { maxKeys: 4 });

  it('keeps any submission as it is', async () => {
    let kept = 0;
    await fc.assert(
      fc.asyncProperty(body, async (data) => {
        const sent = JSON.stringify({ data });
        const { statusCode, body: answer } = await ask('submitQuizzes', { body: sent });
        const ids = Object.keys(JSON.parse(sent).data);
        if (ids.some((id) => id === '' || [...id].length > 256 || !id.isWellFormed()))
          return void expect(statusCode).toBe(422);
        expect(statusCode).toBe(200);
        kept++;
        const wanted = Object.values(JSON.parse(sent).data).flat();
        expect((answer.data as { data: unknown }[]).map((record) => JSON.stringify(record.data))).toEqual(
          wanted.map((each) => JSON.stringify(each)),
        );
      }),
      { numRuns: 100 },
    );
    expect(kept).toBeGreaterThan(20);
  });

  it('answers any text with records or with its faults', async () => {
    const spliced = fc.tuple(body, fc.nat(), fc.nat({ max: 5 }), text).map(([data, at, length, put]) => {
      const whole = JSON.stringify({ data });
      const start = at % whole.length;
      return whole.slice(0, start) + put + whole.slice(start + length);
    });
    await fc.assert(
      fc.asyncProperty(fc.oneof(text, fc.json(), spliced), async (sent) => {
        const { statusCode } = await ask('submitQuizzes', { body: sent });
        expect([200, 422]).toContain(statusCode);
      }),
      { numRuns: 200 },
    );
  });

  it('answers any bytes, whatever their content type says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), text, async (bytes, type) => {
        const sent = { body: Buffer.from(bytes).toString('base64'), isBase64Encoded: true };
        const { statusCode } = await ask('submitQuizzes', { ...sent, headers: { 'content-type': type } });
        expect(statusCode).toBe(422);
      }),
      { numRuns: 50 },
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
    ['a value that is none in JSON', '{"data":{"q":{"a":NaN}}}', 422],
    ['a comment', '{"data":{}} // so', 422],
  ])('answers %s in good time', async (_, sent, status) => {
    const start = performance.now();
    expect((await ask('submitQuizzes', { body: sent })).statusCode).toBe(status);
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  it.each<[string, Buffer]>([
    ['UTF-16', Buffer.from('{"data":{}}', 'utf16le')],
    ['Latin-1', Buffer.from('{"data":{"é":{}}}', 'latin1')],
    ['overlong forms', Buffer.from([0x7b, 0xc0, 0x80, 0x7d])],
    ['encoded surrogates', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['a character cut short', Buffer.from([0x22, 0xe2, 0x82])],
  ])('refuses %s', async (_, bytes) => {
    const { statusCode } = await ask('submitQuizzes', { body: bytes.toString('base64'), isBase64Encoded: true });
    expect(statusCode).toBe(422);
  });
});
