import { describe, expect, it } from 'vitest';
import { PageOf } from '../../functions/schemas/envelope.ts';
import { ValidationErrorBody } from '../../functions/schemas/error-body.ts';
import { Quiz } from '../../functions/schemas/quiz.ts';
import { deep } from '../support/depth.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { commonHeaders, gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { itemsOfOwner } from '../support/items-of-owner.ts';

const { client, names } = await functionEnvironment();
const { handler } = await import('../../functions/endpoints/quizzes/submit-quizzes.ts');

let users = 0;
const newUser = () => `user-${users++}`;

async function submit(userId: string, body: unknown, isBase64Encoded?: boolean) {
  const event = gatewayEvent('submitQuizzes', {
    userId,
    body,
    ...(isBase64Encoded !== undefined && { isBase64Encoded }),
  });
  const { statusCode, headers, body: text } = await handler(event, lambdaContext());
  expect(headers).toMatchObject(commonHeaders(event));
  const answer = JSON.parse(text);
  if (statusCode === 200) PageOf(Quiz).parse(answer);
  return { statusCode, answer, text };
}

const stored = (userId: string) => itemsOfOwner(client, names.Quizzes, userId);

const later = () => new Promise((resolve) => setTimeout(resolve, 5));

describe('POST /api/v1/quizzes', () => {
  it('stores one record for each submission and answers in the order of the body', async () => {
    const userId = newUser();
    const { statusCode, answer } = await submit(userId, '{"data":{"2":{"a":1},"1":[{"b":2},{}],"x":[]}}');
    expect(statusCode).toBe(200);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    const record = { id: expect.any(String), created_at: time, updated_at: time, user_id: userId };
    expect(answer).toEqual({
      status: 'success',
      message: 'OK.',
      code: '200',
      data: [
        { ...record, cms_quiz_id: '2', data: { a: 1 } },
        { ...record, cms_quiz_id: '1', data: { b: 2 } },
        { ...record, cms_quiz_id: '1', data: {} },
      ],
      pagination: { total: 3, start: 0, end: 3 },
    });
    const [first] = answer.data;
    expect(first.updated_at).toBe(first.created_at);
    expect(await stored(userId)).toHaveLength(3);
    expect(await stored(userId)).toContainEqual({
      user_id: userId,
      id: first.id,
      cms_quiz_id: '2',
      position: 0,
      data: '{"a":1}',
      created_at: first.created_at,
      updated_at: first.updated_at,
    });
  });

  it('answers with the data exactly as it was sent', async () => {
    const data =
      '{"10":1,"2":1.50 ,"1":12345678901234567890,"e":1E5,"big":1e400,"__proto__":{"x":[]},"é":"\\u00e9\\ud800\\u0000","twice":1,"twice":2}';
    const { text } = await submit(newUser(), `{"data":{"q":${data}}}`);
    expect(text).toContain(`"data":${data}}`);
  });

  it('keeps id and created_at of what is sent again, and updates the rest', async () => {
    const userId = newUser();
    const before = (await submit(userId, { data: { q: [{ a: 1 }, { b: 1 }] } })).answer.data;
    await later();
    const after = (await submit(userId, { data: { r: {}, q: [{ a: 2 }] } })).answer.data;
    expect(after[1]).toEqual({ ...before[0], data: { a: 2 }, updated_at: expect.any(String) });
    expect(after[1].updated_at > before[0].updated_at).toBe(true);
    expect(await stored(userId)).toHaveLength(3);
    expect((await stored(userId)).find((item) => item.id === before[1].id)).toMatchObject({
      data: '{"b":1}',
      updated_at: before[1].updated_at,
    });
  });

  it('keeps the records of users, quizzes and positions apart', async () => {
    const users = [newUser(), newUser(), '["a",1'];
    const answers = await Promise.all(
      users.map((user) => submit(user, '{"data":{"q":[{},{}],"q1":{},"Q":{},"q,1":{}}}')),
    );
    const ids = answers.flatMap(({ answer }) => answer.data.map(({ id }: { id: string }) => id));
    expect(new Set(ids).size).toBe(15);
  });

  it('sets owner, id and times itself, whatever a submission says, and changes nothing of another user', async () => {
    const [owner, userId] = [newUser(), newUser()];
    await submit(owner, { data: { q: [{ a: 1 }] } });
    const [theirs] = await stored(owner);
    const id = String(theirs?.id);
    const time = '2000-01-01T00:00:00.000000Z';
    const data = {
      user_id: owner,
      userId: owner,
      id,
      created_at: time,
      updated_at: time,
      cms_quiz_id: 'x',
      position: 7,
    };
    const { answer } = await submit(userId, { ...data, data: { q: [data], [id]: data, user_id: data } });
    const quizzes = ['q', id, 'user_id'];
    expect(answer.data).toMatchObject(quizzes.map((cms_quiz_id) => ({ user_id: userId, cms_quiz_id, data })));
    const times = answer.data.flatMap((each: Record<string, string>) => [each.created_at, each.updated_at]);
    expect(times.filter((each: string) => each < '2026')).toEqual([]);
    expect(answer.data.filter((each: Record<string, string>) => each.id === id)).toEqual([]);
    expect(await stored(owner)).toEqual([theirs]);
  });

  it('stores each record once when the same call arrives many times at once', async () => {
    const userId = newUser();
    const body = { data: { a: [{ n: 1 }, { n: 2 }], b: { n: 3 } } };
    const times = deep ? 50 : 16;
    const all = await Promise.all(Array.from({ length: times }, () => submit(userId, body)));
    expect(all.map(({ statusCode }) => statusCode)).toEqual(Array(times).fill(200));
    const records = await stored(userId);
    expect(records).toHaveLength(3);
    for (const { answer } of all) {
      for (const { id, created_at, updated_at } of answer.data) {
        const record = records.find((item) => item.id === id);
        expect(created_at).toBe(record?.created_at);
        expect(updated_at >= created_at && updated_at <= record?.updated_at).toBe(true);
      }
    }
  });

  it('stores none of a call that has a fault', async () => {
    const userId = newUser();
    const { statusCode, answer } = await submit(userId, { data: { good: {}, bad: [{}, 1, {}, 'x'], worse: null } });
    expect(statusCode).toBe(422);
    const items = [
      { loc: ['body', 'data', 'bad', 1], msg: 'Input should be a valid dictionary', type: 'dict_type' },
      { loc: ['body', 'data', 'bad', 3], msg: 'Input should be a valid dictionary', type: 'dict_type' },
      { loc: ['body', 'data', 'worse'], msg: 'Input should be a valid dictionary', type: 'dict_type' },
    ];
    expect(ValidationErrorBody().parse(answer)).toEqual({
      status: 'fail',
      message: 'Unprocessable Entity',
      code: '422',
      data: { reason: 'invalid_input', description: items },
      detail: items,
    });
    expect(await stored(userId)).toEqual([]);
  });

  it('reads a body as JSON whatever its content type says, encoded or not', async () => {
    const userId = newUser();
    const text = '\uFEFF {"data":{"é":{"🙂":1}}}';
    const event = gatewayEvent('submitQuizzes', { userId, body: text, headers: { 'content-type': 'text/csv' } });
    expect((await handler(event, lambdaContext())).statusCode).toBe(200);
    expect((await submit(userId, text, false)).statusCode).toBe(200);
    expect(await stored(userId)).toMatchObject([{ cms_quiz_id: 'é', data: '{"🙂":1}' }]);
  });

  it.each([
    ['ff c3 28', Buffer.from('{"data":{"a":{"x":"\xff\xc3("}}}', 'latin1').toString('base64'), true],
    ['ed a0 80', Buffer.from('{"data":{"a":{"x":"\xed\xa0\x80"}}}', 'latin1').toString('base64'), true],
    ['c0 af', Buffer.from('{"data":{"a":{"x":"\xc0\xaf"}}}', 'latin1').toString('base64'), true],
    ['U+FFFD in their place', '{"data":{"a":{"x":"\ufffd"}}}', false],
  ])('refuses bytes that are not UTF-8, and stores nothing: %s', async (_, body, isBase64Encoded) => {
    const userId = newUser();
    const { statusCode, answer } = await submit(userId, body, isBase64Encoded);
    expect(statusCode).toBe(422);
    expect(answer.detail).toEqual([{ loc: ['body'], msg: 'The body should be JSON in UTF-8', type: 'json_invalid' }]);
    expect(await stored(userId)).toEqual([]);
  });

  it('answers 413 for a body over 3 MB', async () => {
    const userId = newUser();
    const records = Array.from({ length: 10 }, () => ({ a: 'x'.repeat(330_000) }));
    const { statusCode, answer } = await submit(userId, { data: { q: records } });
    expect(statusCode).toBe(413);
    expect(answer).toEqual({
      status: 'fail',
      message: 'Payload Too Large',
      code: '413',
      data: { reason: 'payload_too_large', description: 'A request body holds at most 3 MB.' },
    });
    expect(await stored(userId)).toEqual([]);
  });

  it('stores 100 records of 3 MB in all', async () => {
    const userId = newUser();
    const records = Array.from({ length: 100 }, () => ({ a: 'x'.repeat(31_000) }));
    const { statusCode, answer } = await submit(userId, { data: { q: records } });
    expect(statusCode).toBe(200);
    expect(answer.pagination).toEqual({ total: 100, start: 0, end: 100 });
    expect(answer.data).toHaveLength(100);
  });
});
