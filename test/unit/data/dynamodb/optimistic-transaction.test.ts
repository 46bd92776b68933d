import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { optimisticTransaction } from '../../../../functions/data/dynamodb/optimistic-transaction.ts';
import { CorruptData, DependencyFailed, NotFound, TimedOut, TooBusy } from '../../../../functions/errors.ts';
import { withinRequest } from '../../../../functions/request-lifetime.ts';
import { interceptedClient } from '../../../support/intercepted-client.ts';
import { testClient } from '../../../support/test-client.ts';

const awsError = (name: string, members: object = {}) => Object.assign(new Error('from AWS'), { name, ...members });
const lostRace = awsError('TransactionCanceledException', {
  CancellationReasons: [{ Code: 'ConditionalCheckFailed' }],
});
const throttled = awsError('ThrottlingException');
const timeout = awsError('TimeoutError');
const internal = awsError('InternalServerError', { $fault: 'server' });

/** Runs with a database that fails with these errors, one a call, and then succeeds. */
async function run(errors: readonly Error[], decideOf?: (decisions: number) => TransactWriteCommandInput | undefined) {
  const tokens: unknown[] = [];
  let decisions = 0;
  const client = interceptedClient(testClient('http://127.0.0.1:1'), async ({ input }) => {
    tokens.push(input.ClientRequestToken);
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
  const outcome = await optimisticTransaction(client, decide).catch((error: unknown) => error);
  return { outcome, tokens, decisions };
}

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe('optimisticTransaction', () => {
  it('writes what was decided', async () => {
    expect(await run([])).toEqual({ outcome: 'decision 1', tokens: ['token 1'], decisions: 1 });
  });

  it('sends nothing when there is nothing to change', async () => {
    expect(await run([], () => undefined)).toEqual({ outcome: 'decision 1', tokens: [], decisions: 1 });
  });

  it('sends nothing more once the request has its answer', async () => {
    const { promise: frozen, resolve: thaw } = Promise.withResolvers<void>();
    const tokens: unknown[] = [];
    const client = interceptedClient(testClient('http://127.0.0.1:1'), async ({ input }) => {
      tokens.push(input.ClientRequestToken);
      return {};
    });
    const write = (token: string) =>
      optimisticTransaction(client, async () => {
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
    expect(await run([lostRace, lostRace])).toEqual(expected);
  });

  it.each([throttled, timeout, internal])('sends the very same transaction again after $name', async (error) => {
    const expected = { outcome: 'decision 1', tokens: ['token 1', 'token 1', 'token 1'], decisions: 1 };
    expect(await run([error, error])).toEqual(expected);
  });

  it.each([
    [timeout, TimedOut],
    [internal, DependencyFailed],
    [throttled, TooBusy],
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

  it('tries as often as its lock says, and acquires and releases it', async () => {
    const lock = { maxAttempts: 4, contended: vi.fn(), acquire: vi.fn(), release: vi.fn() };
    const client = interceptedClient(testClient('http://127.0.0.1:1'), () => Promise.reject(lostRace));
    const decide = vi.fn(async () => ({ transaction: { TransactItems: [] }, result: undefined }));
    await expect(optimisticTransaction(client, decide, { lock })).rejects.toThrow(TooBusy);
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
