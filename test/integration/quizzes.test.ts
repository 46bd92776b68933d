import { describe, expect, it } from 'vitest';
import { quizRecordId, submitQuizzes } from '../../functions/data/rows/quizzes.ts';
import { CorruptData, TimedOut, TooBusy } from '../../functions/errors.ts';
import { fromMicroseconds } from '../../functions/values/timestamp.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { type Call, interceptedClient } from '../support/intercepted-client.ts';
import { testDb } from '../support/test-db.ts';

const { client, names } = await functionEnvironment();

let users = 0;
const submissions = [
  { cms_quiz_id: 'a', position: 0, data: '{"n":1}' },
  { cms_quiz_id: 'b', position: 0, data: '{"n":2}' },
];

/** A user's submissions with a stopped clock. Every call goes through `intercept`. */
function setUp(intercept: (call: Call) => Promise<Record<string, unknown>> = (call) => call.send()) {
  const calls: string[] = [];
  const clock = { now: 1_800_000_000_000 };
  const watched = interceptedClient(client, (call) => {
    calls.push(call.name);
    return intercept(call);
  });
  const userId = `repository-user-${users++}`;
  const db = testDb(watched, names, { now: () => clock.now });
  return { userId, calls, clock, submit: (data = submissions) => submitQuizzes(db, userId, data) };
}

function failing(name: string, times: number, error: Error, afterEffect = false) {
  let left = times;
  return async (call: Call) => {
    if (call.name !== name || left === 0) return call.send();
    left--;
    if (afterEffect) await call.send();
    throw error;
  };
}

const named = (name: string, members: object = {}) => Object.assign(new Error('from AWS'), { name, ...members });
const conflict = named('TransactionCanceledException', {
  CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
});

const throttledPart = named('TransactionCanceledException', {
  CancellationReasons: [{ Code: 'ThrottlingError' }, { Code: 'None' }],
});

describe('submitQuizzes', { concurrent: true }, () => {
  it('stores and answers with two calls', async () => {
    const { calls, submit } = setUp();
    await submit();
    expect(calls).toEqual(['TransactWriteCommand', 'BatchGetCommand']);
  });

  it('sends nothing when there are no submissions', async () => {
    const { calls, submit } = setUp();
    expect(await submit([])).toEqual([]);
    expect(calls).toEqual([]);
  });

  it('moves updated_at forward even when the clock goes back or stops', async () => {
    const { clock, submit } = setUp();
    const start = clock.now * 1000;
    const updates: string[] = [];
    for (const now of [clock.now, clock.now, clock.now - 60_000, clock.now + 1]) {
      clock.now = now;
      const records = await submit();
      expect(records.map(({ created_at }) => created_at)).toEqual(Array(2).fill(fromMicroseconds(start)));
      expect(records[0]?.updated_at).toBe(records[1]?.updated_at);
      updates.push(records[0]?.updated_at ?? '');
    }
    expect(updates).toEqual([start, start + 1, start + 2, start + 1000].map(fromMicroseconds));
  });

  it.each([
    ['a conflict', conflict],
    ['a transaction in progress', named('TransactionInProgressException')],
  ])('tries again after %s', async (_, error) => {
    const { calls, submit } = setUp(failing('TransactWriteCommand', 3, error));
    expect(await submit()).toHaveLength(2);
    expect(calls).toEqual([...Array(4).fill('TransactWriteCommand'), 'BatchGetCommand']);
  });

  it('sends again what is throttled, and asks at last for fewer submissions in a call', async () => {
    for (const error of [throttledPart, named('ThrottlingException')]) {
      const { calls, submit } = setUp(failing('TransactWriteCommand', 1, error));
      expect(await submit()).toHaveLength(2);
      expect(calls).toEqual([...Array(2).fill('TransactWriteCommand'), 'BatchGetCommand']);
    }
    const always = failing('TransactWriteCommand', 99, throttledPart);
    const withText = (bytes: number) => [{ cms_quiz_id: 'q', position: 0, data: JSON.stringify('x'.repeat(bytes)) }];
    const parts = Array.from({ length: 2 }, (_, position) => ({ ...withText(3_000)[0]!, position }));
    const thrown = (error: unknown) => error;
    const [small, large] = await Promise.all([
      setUp(always).submit(withText(3_000)).catch(thrown),
      setUp(failing('TransactWriteCommand', 99, throttledPart))
        .submit(parts)
        .catch(thrown),
    ]);
    expect(small).toMatchObject({ status: 429, reason: 'busy' });
    expect(large).toMatchObject({ status: 413, message: expect.stringContaining('fewer submissions') });
  });

  it('stores a record once when it sends it again because the answer was lost', async () => {
    const { clock, submit } = setUp(failing('TransactWriteCommand', 1, conflict, true));
    const [record] = await submit();
    expect(record?.created_at).toBe(fromMicroseconds(clock.now * 1000));
    expect((await submit())[0]?.id).toBe(record?.id);
  });

  it('gives up as TooBusy when conflicts do not end', async () => {
    const { calls, submit } = setUp(failing('TransactWriteCommand', Number.POSITIVE_INFINITY, conflict));
    await expect(submit()).rejects.toThrow(TooBusy);
    expect(calls.length).toBeLessThanOrEqual(20);
  });

  it.each([
    ['ValidationException', Error, 'from AWS'],
    ['TimeoutError', TimedOut, 'The request took too long.'],
  ])('gives up at once after %s', async (name, type, message) => {
    const { calls, submit } = setUp(failing('TransactWriteCommand', 1, named(name)));
    const error = await submit().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(type);
    expect(error).toHaveProperty('message', message);
    expect(calls).toEqual(['TransactWriteCommand']);
  });

  it('asks again for keys that DynamoDB leaves unprocessed', async () => {
    let reads = 0;
    const { userId, calls, submit } = setUp(async (call) => {
      const answer = await call.send();
      if (call.name !== 'BatchGetCommand' || reads++ > 0) return answer;
      const { Responses, UnprocessedKeys } = answer as {
        Responses: Record<string, { id: string }[]>;
        UnprocessedKeys: object;
      };
      const [first, ...rest] = Responses[names.Quizzes] ?? [];
      const Keys = rest.map(({ id }) => ({ user_id: userId, id }));
      return {
        Responses: { [names.Quizzes]: [first] },
        UnprocessedKeys: { ...UnprocessedKeys, [names.Quizzes]: { Keys } },
      };
    });
    expect(await submit()).toHaveLength(2);
    expect(calls).toEqual(['TransactWriteCommand', 'BatchGetCommand', 'BatchGetCommand']);
  });

  it('gives up as TooBusy when keys stay unprocessed', async () => {
    const { submit } = setUp(async (call) => {
      if (call.name !== 'BatchGetCommand') return call.send();
      const { RequestItems } = call.input;
      return { Responses: {}, UnprocessedKeys: RequestItems };
    });
    await expect(submit()).rejects.toThrow(TooBusy);
  });

  it('reads what it stored with strong consistency', async () => {
    const inputs: unknown[] = [];
    const { submit } = setUp((call) => {
      if (call.name === 'BatchGetCommand') inputs.push(call.input.RequestItems);
      return call.send();
    });
    await submit();
    expect(inputs).toMatchObject([{ [names.Quizzes]: { ConsistentRead: true } }]);
  });
});

describe('a stored record', () => {
  it('is CorruptData when it breaks its schema', async () => {
    const { submit } = setUp(async (call) => {
      const output = await call.send();
      const rows = (output as { Responses?: Record<string, Record<string, unknown>[]> }).Responses?.[names.Quizzes];
      for (const row of rows ?? []) row.created_at = 'yesterday';
      return output;
    });
    await expect(submit()).rejects.toThrow(CorruptData);
  });
});

describe('quizRecordId', () => {
  it('is the same in every release, because stored records are found by it', () => {
    const id = quizRecordId('u', { cms_quiz_id: 'q', position: 0 });
    expect(id).toBe('1e61c1cc-895a-8459-95b0-d645786e4eed');
  });
});
