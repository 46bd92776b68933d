/**
 * The one place that knows what DynamoDB and the AWS SDK call their errors. The rest of the service
 * meets only our own.
 */

import { DependencyFailed, TimedOut, TooBusy } from '../../errors.ts';

/** DynamoDB could not serve a call now because of other calls. The same call may succeed later. */
export class Contention extends TooBusy {}

/**
 * DynamoDB throttled a call, and again each time the SDK repeated it. Or it throttled a transaction
 * for the throughput of its keys alone, which the SDK does not repeat. The last attempt was not
 * made.
 */
export class Throttled extends Contention {}

/** A transaction alone was throttled, for the throughput of its keys. */
export class KeysThrottled extends Throttled {}

/**
 * Why a part of a transaction stopped it: a code of DynamoDB, and the stored item if the request
 * asked for it.
 */
interface CancellationReason {
  /** The place of the part in the transaction, from 0. */
  readonly place: number;
  readonly code: string;
  readonly item: Readonly<Record<string, unknown>> | undefined;
}

/**
 * A condition of a transaction failed, or other writers were at the same items: nothing was
 * written. The SDK does not repeat it.
 */
export class TransactionCanceled extends Contention {
  readonly reasons: readonly CancellationReason[];

  constructor(reasons: readonly CancellationReason[], cause: Error) {
    super(busy, { cause });
    this.reasons = reasons;
  }
}

/**
 * Waits for a call of the SDK. Throws Contention, TimedOut or DependencyFailed for errors that may
 * pass, with the SDK's error as the cause. Other errors are mistakes of ours (a wrong request, a
 * missing right): they are thrown unchanged.
 */
export async function translateErrors<Answer>(call: Promise<Answer>): Promise<Answer> {
  try {
    return await call;
  } catch (error) {
    throw error instanceof Error ? translate(error) : error;
  }
}

/** Whether DynamoDB could not serve a call, whatever it asked for. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof TooBusy || error instanceof TimedOut || error instanceof DependencyFailed;
}

/** Whether a call, or a part of a transaction, was throttled, whatever else stopped it. */
export function isThrottled(error: unknown): boolean {
  if (error instanceof TransactionCanceled) return error.reasons.some(({ code }) => throttling.has(code));
  return error instanceof Throttled;
}

/** Whether other writers were at the same items, rather than too many calls at once. */
export function isConflict(error: unknown): boolean {
  return error instanceof Contention && !(error instanceof Throttled);
}

/** Whether a single write was refused because its condition did not hold. */
export function isConditionFailure(error: unknown): boolean {
  return error instanceof Error && error.name === 'ConditionalCheckFailedException';
}

const busy = 'The database is busy, try again later.';

/** Names of throttled calls, and codes of throttled parts of transactions. */
const throttling = new Set([
  'ProvisionedThroughputExceeded',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'SlowDown',
  'Throttling',
  'ThrottlingError',
  'ThrottlingException',
]);
const otherTransactions = new Set(['TransactionConflictException', 'TransactionInProgressException']);
const networkFailures = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN']);

function translate(error: Error): Error {
  const { name } = error;
  const { $fault, code } = error as { $fault?: 'client' | 'server'; code?: unknown };
  if (name === 'TransactionCanceledException') return translateCancellation(error);
  if (throttling.has(name)) return new Throttled(busy, { cause: error });
  if (otherTransactions.has(name)) return new Contention(busy, { cause: error });
  if (name === 'TimeoutError') return new TimedOut('The request took too long.', { cause: error });
  if ($fault === 'server' || networkFailures.has(name) || networkFailures.has(String(code))) {
    return new DependencyFailed('The database failed.', { cause: error });
  }
  return error;
}

/** A cancellation for any other reason, such as a ValidationError, is a mistake in the request. */
function translateCancellation(error: Error): Error {
  const { CancellationReasons = [] } = error as {
    CancellationReasons?: readonly { Code?: string; Item?: Record<string, unknown> }[];
  };
  const reasons = CancellationReasons.map(({ Code = 'None', Item }, place) => ({
    place,
    code: Code,
    item: Item,
  })).filter(({ code }) => code !== 'None');
  const mayPass = reasons.every(
    ({ code }) => code === 'ConditionalCheckFailed' || code === 'TransactionConflict' || throttling.has(code),
  );
  if (reasons.length > 0 && reasons.every(({ code }) => throttling.has(code)))
    return new KeysThrottled(busy, { cause: error });
  return mayPass ? new TransactionCanceled(reasons, error) : error;
}
