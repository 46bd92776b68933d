import { describe, expect, it } from 'vitest';
import {
  Contention,
  isUnavailable,
  KeysThrottled,
  Throttled,
  TransactionCanceled,
  translateErrors,
} from '../../../../functions/data/dynamodb/aws-errors.ts';
import { CorruptData, DependencyFailed, TimedOut, TooBusy } from '../../../../functions/errors.ts';

const awsError = (name: string, members: object = {}) => Object.assign(new Error('from AWS'), { name, ...members });
const canceled = (...codes: string[]) =>
  awsError('TransactionCanceledException', { $fault: 'client', CancellationReasons: codes.map((Code) => ({ Code })) });
const thrownFor = (error: unknown) =>
  translateErrors(Promise.reject(error)).then(
    () => expect.unreachable(),
    (thrown: unknown) => thrown,
  );

describe('translateErrors', () => {
  it('passes an answer on', async () => {
    expect(await translateErrors(Promise.resolve(5))).toBe(5);
  });

  it.each([
    'ProvisionedThroughputExceeded',
    'ProvisionedThroughputExceededException',
    'RequestLimitExceeded',
    'SlowDown',
    'Throttling',
    'ThrottlingError',
    'ThrottlingException',
  ])('makes %s Throttled, which leaves as 429', async (name) => {
    const error = awsError(name, { $fault: 'client' });
    const thrown = await thrownFor(error);
    expect(thrown).toBeInstanceOf(Throttled);
    expect(thrown).toBeInstanceOf(TooBusy);
    expect(thrown).not.toBeInstanceOf(KeysThrottled);
    expect(thrown).toMatchObject({ name: 'TooBusy', status: 429, cause: error });
  });

  it.each(['TransactionConflictException', 'TransactionInProgressException'])('makes %s Contention', async (name) => {
    const thrown = await thrownFor(awsError(name, { $fault: 'client' }));
    expect(thrown).toBeInstanceOf(Contention);
    expect(thrown).not.toBeInstanceOf(Throttled);
    expect(thrown).toMatchObject({ status: 429 });
  });

  it.each([
    [['None', 'TransactionConflict']],
    [['ConditionalCheckFailed', 'None']],
    [['ThrottlingError', 'ProvisionedThroughputExceeded', 'ConditionalCheckFailed']],
    [['ThrottlingError', 'TransactionConflict']],
    [[]],
  ])('makes a transaction canceled for %j TransactionCanceled', async (codes) => {
    const thrown = await thrownFor(canceled(...codes));
    expect(thrown).toBeInstanceOf(TransactionCanceled);
    expect(thrown).not.toBeInstanceOf(Throttled);
    expect((thrown as TransactionCanceled).reasons.map(({ code }) => code)).toEqual(codes.filter((c) => c !== 'None'));
  });

  it.each([[['None', 'ThrottlingError']], [['ProvisionedThroughputExceeded', 'None', 'ThrottlingError']]])(
    'makes a transaction canceled for %j alone Throttled',
    async (codes) => {
      const error = canceled(...codes);
      const thrown = await thrownFor(error);
      expect(thrown).toBeInstanceOf(KeysThrottled);
      expect(thrown).toBeInstanceOf(Throttled);
      expect(thrown).toMatchObject({ status: 429, cause: error });
    },
  );

  it('keeps the items that stopped a transaction', async () => {
    const CancellationReasons = [{}, { Code: 'ConditionalCheckFailed', Item: { id: 'a' } }];
    const thrown = await thrownFor(awsError('TransactionCanceledException', { CancellationReasons }));
    expect(thrown).toMatchObject({ reasons: [{ code: 'ConditionalCheckFailed', item: { id: 'a' } }] });
  });

  it('makes a timeout TimedOut, which leaves as 504', async () => {
    const error = awsError('TimeoutError');
    const thrown = await thrownFor(error);
    expect(thrown).toBeInstanceOf(TimedOut);
    expect(thrown).toMatchObject({ status: 504, cause: error });
  });

  it.each([
    awsError('InternalServerError', { $fault: 'server' }),
    awsError('Error', { code: 'ECONNRESET' }),
    awsError('ECONNREFUSED'),
    awsError('Error', { code: 'EAI_AGAIN' }),
  ])('makes %o DependencyFailed, which leaves as 500', async (error) => {
    const thrown = await thrownFor(error);
    expect(thrown).toBeInstanceOf(DependencyFailed);
    expect(thrown).toMatchObject({ status: 500, cause: error });
  });

  it.each([
    awsError('ValidationException', { $fault: 'client' }),
    awsError('AccessDeniedException', { $fault: 'client' }),
    awsError('ConditionalCheckFailedException', { $fault: 'client' }),
    canceled('TransactionConflict', 'ValidationError'),
    canceled('ItemCollectionSizeLimitExceeded'),
    awsError('Error', { code: 'ENOENT' }),
    'no error at all',
  ])('throws %o, a mistake of ours, as it came', async (error) => {
    expect(await thrownFor(error)).toBe(error);
  });
});

describe('isUnavailable', () => {
  it.each([
    [new TooBusy('x'), true],
    [new Throttled('x'), true],
    [new TimedOut('x'), true],
    [new DependencyFailed('x'), true],
    [new CorruptData('x'), false],
    [awsError('ValidationException'), false],
    ['text', false],
  ])('of %o is %s', (error, expected) => {
    expect(isUnavailable(error)).toBe(expected);
  });
});
