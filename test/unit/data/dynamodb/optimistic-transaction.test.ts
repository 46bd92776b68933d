import type { DynamoDBDocumentClient, TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Throttled } from '../../../../functions/data/dynamodb/aws-errors.ts';
import type { Db } from '../../../../functions/data/dynamodb/db.ts';
import { optimisticTransaction } from '../../../../functions/data/dynamodb/optimistic-transaction.ts';
import { StuckCondition } from '../../../../functions/data/dynamodb/stuck-condition.ts';
import { WritePace } from '../../../../functions/data/dynamodb/write-pace.ts';
import { CorruptData, DependencyFailed, NotFound, TimedOut, TooBusy } from '../../../../functions/errors.ts';
import type { Clock } from '../../../../functions/runtime/clock.ts';
import { withinRequest } from '../../../../functions/runtime/request-lifetime.ts';
import { interceptedClient } from '../../../support/intercepted-client.ts';
import { testClient } from '../../../support/test-client.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const awsError = (name: string, members: object = {}) => Object.assign(new Error('from AWS'), { name, ...members });
const lostRace = awsError('TransactionCanceledException', {
  CancellationReasons: [{ Code: 'ConditionalCheckFailed' }],
});
const throttled = awsError('ThrottlingException');
const throttledPart = awsError('TransactionCanceledException', {
  CancellationReasons: [{ Code: 'None' }, { Code: 'ThrottlingError' }],
});
const timeout = awsError('TimeoutError');
const internal = awsError('InternalServerError', { $fault: 'server' });

let clock: Clock;
const dbOf = (client: DynamoDBDocumentClient): Db<never> => ({ client, tables: { Jobs: 'J' }, clock });

/** Runs with a database that fails with these errors, one a call, and then succeeds. */
async function run(
  errors: readonly Error[],
  decideOf?: (decisions: number) => TransactWriteCommandInput | undefined,
  options: Parameters<typeof optimisticTransaction>[2] = {},
) {
  const tokens: unknown[] = [];
  const starts: number[] = [];
  let decisions = 0;
  const client = interceptedClient(testClient('http://127.0.0.1:1'), async ({ input }) => {
    tokens.push(input.ClientRequestToken);
    starts.push(clock.elapsed());
    const error = errors[tokens.length - 1];
    if (error !== undefined) throw error;
    return {};
  });
  const decide = async () => {
    decisions++;
    const transaction = decideOf
      ? decideOf(decisions)
      : { ClientRequestToken: `token ${decisions}`, TransactItems: [] };
    return { transaction, result: `decision ${decisions}` };
  };
  const outcome = await optimisticTransaction(dbOf(client), decide, options).catch((error: unknown) => error);
  const pauses = starts.slice(1).map((start, at) => start - starts[at]!);
  return { outcome, tokens, decisions, pauses };
}

beforeEach(() => {
  clock = virtualClock();
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => vi.restoreAllMocks());

describe('optimisticTransaction', () => {
  it('writes what was decided', async () => {
    expect(await run([])).toMatchObject({ outcome: 'decision 1', tokens: ['token 1'], decisions: 1 });
  });

  it('sends nothing when there is nothing to change', async () => {
    expect(await run([], () => undefined)).toMatchObject({ outcome: 'decision 1', tokens: [], decisions: 1 });
  });

  it('sends nothing more once the request has its answer', async () => {
    const { promise: frozen, resolve: thaw } = Promise.withResolvers<void>();
    const tokens: unknown[] = [];
    const client = interceptedClient(testClient('http://127.0.0.1:1'), async ({ input }) => {
      tokens.push(input.ClientRequestToken);
      return {};
    });
    const write = (token: string) =>
      optimisticTransaction(dbOf(client), async () => {
        if (token === 'late') await frozen;
        return { transaction: { ClientRequestToken: token, TransactItems: [] }, result: token };
      });
    let late: Promise<unknown> = Promise.resolve();
    await withinRequest(async () => {
      late = write('late').catch((error: unknown) => error);
      await write('in time');
    });
    thaw();
    expect(await late).toBeInstanceOf(TimedOut);
    expect(tokens).toEqual(['in time']);
  });

  it('decides again after a lost race', async () => {
    const expected = { outcome: 'decision 3', tokens: ['token 1', 'token 2', 'token 3'], decisions: 3 };
    expect(await run([lostRace, lostRace])).toMatchObject(expected);
  });

  it.each([throttled, throttledPart, timeout, internal])(
    'sends the very same transaction again after %o',
    async (error) => {
      const expected = { outcome: 'decision 1', tokens: ['token 1', 'token 1', 'token 1'], decisions: 1 };
      expect(await run([error, error])).toMatchObject(expected);
    },
  );

  it('gives each decision a token of its own, and repeats it with that', async () => {
    const { tokens } = await run([timeout, lostRace], () => ({ TransactItems: [] }));
    expect(tokens).toEqual([expect.any(String), tokens[0], expect.any(String)]);
    expect(tokens[2]).not.toBe(tokens[0]);
  });

  it('waits after a throttle for 150 ms and more, for twice as long each time, without asking for the lock', async () => {
    const lock = { maxAttempts: 60, contended: vi.fn(), acquire: vi.fn(), release: vi.fn() };
    const errors = Array(4).fill(throttledPart);
    const { outcome, pauses, decisions } = await run(errors, undefined, { lock });
    expect({ outcome, decisions }).toEqual({ outcome: 'decision 1', decisions: 1 });
    expect(pauses).toEqual([150, 300, 600, 1_200]);
    expect(lock.acquire).toHaveBeenCalledTimes(1);
    expect(lock.contended).not.toHaveBeenCalled();
    vi.spyOn(Math, 'random').mockReturnValue(1);
    expect((await run(errors)).pauses).toEqual([300, 600, 1_200, 2_400]);
  });

  it('decides again where a throttled transaction is refused for a lost race then', async () => {
    const tokens = ['token 1', 'token 1', 'token 2'];
    expect(await run([throttledPart, lostRace])).toMatchObject({ outcome: 'decision 2', tokens });
  });

  it('slows the pace where throttles and lost races stop a transaction together', async () => {
    const both = awsError('TransactionCanceledException', {
      CancellationReasons: [{ Code: 'ThrottlingError' }, { Code: 'TransactionConflict' }],
    });
    const pace = new WritePace(clock);
    const slow = vi.spyOn(pace, 'throttled');
    expect(await run([both], undefined, { pace })).toMatchObject({ tokens: ['token 1', 'token 2'] });
    expect(slow).toHaveBeenCalledTimes(1);
  });

  it.each([throttled, throttledPart])('throws the fifth %o', async (error) => {
    const { outcome, tokens } = await run(Array(9).fill(error));
    expect(outcome).toBeInstanceOf(Throttled);
    expect(tokens).toHaveLength(5);
  });

  it('throws the third throttled read', async () => {
    const reads = vi.fn(() => {
      throw new Throttled('The database is busy.');
    });
    expect((await run([], reads)).outcome).toBeInstanceOf(Throttled);
    expect(reads).toHaveBeenCalledTimes(3);
  });

  it('repeats what is throttled until the time of the pace is over, once that has made a transaction', async () => {
    const pace = new WritePace(clock, { most: 60 });
    expect((await run(Array(9).fill(throttled), undefined, { pace })).tokens).toHaveLength(5);
    expect((await run([], undefined, { pace })).outcome).toBe('decision 1');
    const { outcome, pauses } = await run(Array(999).fill(throttledPart), undefined, { pace });
    expect(outcome).toBeInstanceOf(Throttled);
    expect(pauses.length).toBeGreaterThan(20);
    expect(clock.elapsed()).toBeLessThan(60_000);
    expect((await run([lostRace], undefined, { pace: new WritePace(clock, { most: -1 }) })).tokens).toHaveLength(1);
  });

  it.each([
    [timeout, TimedOut],
    [internal, DependencyFailed],
  ])('throws the third %o', async (error, type) => {
    const { outcome, tokens } = await run(Array(9).fill(error));
    expect(outcome).toBeInstanceOf(type);
    expect(tokens).toHaveLength(3);
  });

  it('throws TooBusy after 12 lost races', async () => {
    const { outcome, tokens } = await run(Array(20).fill(lostRace));
    expect(outcome).toEqual(new TooBusy('No consistent write through all attempts.'));
    expect(tokens).toHaveLength(12);
  });

  it('throws the fifth failure in a row of one condition, and names the item', async () => {
    const Key = { user_id: 'ada', id: 'a' };
    const Delete = { TableName: 'J', Key, ConditionExpression: 'attribute_not_exists(id)' };
    const { outcome, tokens, decisions } = await run(Array(9).fill(lostRace), () => ({ TransactItems: [{ Delete }] }));
    const message = 'A condition failed 5 times, and nothing that it rests on changed: Jobs ada a.';
    expect(outcome).toEqual(new StuckCondition(message));
    expect([tokens.length, decisions]).toEqual([5, 5]);
  });

  it('tries as often as its lock says, and acquires and releases it', async () => {
    const lock = { maxAttempts: 4, contended: vi.fn(), acquire: vi.fn(), release: vi.fn() };
    const client = interceptedClient(testClient('http://127.0.0.1:1'), () => Promise.reject(lostRace));
    const decide = vi.fn(async () => ({ transaction: { TransactItems: [] }, result: undefined }));
    await expect(optimisticTransaction(dbOf(client), decide, { lock })).rejects.toThrow(TooBusy);
    for (const each of [decide, lock.contended, lock.acquire]) expect(each).toHaveBeenCalledTimes(4);
    expect(lock.release).toHaveBeenCalledTimes(1);
  });

  it('decides again when what it read contradicts itself, and throws the third time', async () => {
    const corrupt = (times: number) => (decisions: number) => {
      if (decisions <= times) throw new CorruptData('The head lags.');
      return undefined;
    };
    expect(await run([], corrupt(2))).toMatchObject({ outcome: 'decision 3', decisions: 3 });
    expect(await run([], corrupt(3))).toMatchObject({ outcome: new CorruptData('The head lags.'), decisions: 3 });
  });

  it('throws other errors at once', async () => {
    const refuse = () => {
      throw new NotFound('There is no batch.');
    };
    expect(await run([], refuse)).toMatchObject({ outcome: new NotFound('There is no batch.'), decisions: 1 });
    const mistake = awsError('ValidationException');
    expect(await run([mistake])).toMatchObject({ outcome: mistake, tokens: ['token 1'] });
  });
});
