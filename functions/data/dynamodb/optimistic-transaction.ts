import {
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { CorruptData, DependencyFailed, TimedOut } from '../../errors.ts';
import { isRequestOver } from '../../request-lifetime.ts';
import { Contention, Throttled, TransactionCanceled, translateErrors } from './aws-errors.ts';
import { retry } from './retry.ts';

/**
 * What was decided from reads: a result, and the transaction that makes it true (undefined: nothing
 * to change).
 */
export interface Decision<Result> {
  readonly transaction?: TransactWriteCommandInput | undefined;
  readonly result: Result;
}

/** Lets contending writers write one after the other. */
export interface WriterLock {
  /** How often a transaction is tried: some writers go without the lock. */
  readonly maxAttempts: number;
  /** Another writer was met: each of the next transactions acquires the lock. */
  contended(): void;
  /** Waits for the lock, if writers contended. */
  acquire(): Promise<void>;
  release(): Promise<void>;
}

const maxFailures = 3;

const maxAttempts = 12;

/**
 * Reads, decides and writes as if no other writer could come between. `decide` reads and decides;
 * its transaction is conditional on everything it has read. After a conflict it reads and decides
 * again. Returns the result of the decision that was written.
 *
 * After the last attempt TooBusy is thrown. 12 attempts pause for about 2 s in all, each further
 * one for 0.25 s on average, with full jitter. The third throttled attempt throws at once: the SDK
 * has repeated each, so there is no time for more.
 *
 * After a timeout or an internal error of DynamoDB nobody knows whether the transaction was made.
 * The very same transaction is then sent again: its token makes DynamoDB answer with success if it
 * was made the first time. The third such error is thrown.
 *
 * Once the request has its answer, nothing is sent: a caller that got a 504 may have repeated
 * the request.
 */
export function optimisticTransaction<Result>(
  client: DynamoDBDocumentClient,
  decide: () => Promise<Decision<Result>>,
  { lock }: { readonly lock?: WriterLock | undefined } = {},
): Promise<Result> {
  let decision: Decision<Result> | undefined;
  let failures = 0;
  const attempt = async () => {
    if (decision === undefined) await lock?.acquire();
    decision ??= await decide();
    const { transaction, result } = decision;
    if (isRequestOver()) throw new TimedOut('The request was answered before.');
    if (transaction !== undefined) await translateErrors(client.send(new TransactWriteCommand(transaction)));
    return result;
  };
  const result = retry(attempt, {
    attempts: lock?.maxAttempts ?? maxAttempts,
    firstMilliseconds: 20,
    maxDelayMilliseconds: 500,
    message: 'No consistent write through all attempts.',
    mayPass(error) {
      if (error instanceof TransactionCanceled) {
        decision = undefined;
        lock?.contended();
      }
      if (error instanceof Throttled || isUnclear(error)) return ++failures < maxFailures;
      return error instanceof Contention;
    },
  });
  return lock === undefined ? result : result.finally(() => lock.release());
}

/**
 * CorruptData too may pass: rows and heads that are read side by side can disagree for a moment.
 */
function isUnclear(error: unknown): boolean {
  return error instanceof TimedOut || error instanceof DependencyFailed || error instanceof CorruptData;
}
