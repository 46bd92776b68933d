import { randomUUID } from 'node:crypto';
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { CorruptData, DependencyFailed, TimedOut } from '../../errors.ts';
import { isRequestOver } from '../../runtime/request-lifetime.ts';
import { Contention, isThrottled, Throttled, TransactionCanceled, translateErrors } from './aws-errors.ts';
import type { Db } from './db.ts';
import { retry } from './retry.ts';
import { countFailure, type FailedCondition, StuckCondition } from './stuck-condition.ts';
import type { WritePace } from './write-pace.ts';
import { unitsOnHottestKey } from './write-units.ts';

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

/** Attempts at a transaction that DynamoDB throttles: they take 2 to 5 s. */
const maxThrottledAttempts = 5;
/**
 * The shortest pause before the second attempt. Each further pause is twice as long, up to a bound.
 */
const minPauseMilliseconds = 150;
const maxPauseMilliseconds = 1_200;

/**
 * Reads, decides and writes as if no other writer could come between. `decide` reads and decides;
 * its transaction is conditional on everything it has read. After a conflict it reads and decides
 * again. Returns the result of the decision that was written.
 *
 * A condition can never hold if it fails five times in a row although each new read found the same.
 * Then StuckCondition is thrown, which names the item.
 *
 * After the last attempt TooBusy is thrown. 12 attempts pause for about 2 s in all, each further
 * one for 0.25 s on average, with full jitter. A throttled transaction is repeated as it is (see
 * sendTransaction). Throttled reads are repeated twice, on top of the SDK's own repetitions.
 *
 * After a timeout or an internal error of DynamoDB, the transaction may or may not have been made.
 * The very same transaction is then sent again: its token makes DynamoDB answer with success if it
 * was made the first time. The third such error is thrown.
 *
 * With a pace, transactions keep the distance that it demands. Once its time is over, nothing is
 * tried again.
 *
 * Once the request has its answer, nothing is sent: a caller that got a 504 may have repeated the
 * request.
 */
export function optimisticTransaction<Result>(
  db: Db<never>,
  decide: () => Promise<Decision<Result>>,
  { lock, pace }: { readonly lock?: WriterLock | undefined; readonly pace?: WritePace | undefined } = {},
): Promise<Result> {
  let decision: Decision<Result> | undefined;
  let failures = 0;
  let failed: FailedCondition | undefined;
  const attempt = async () => {
    if (decision === undefined) {
      await pace?.wait();
      await lock?.acquire();
      pace?.begin();
    }
    decision ??= withToken(await decide());
    const { transaction, result } = decision;
    requireRequest();
    if (transaction === undefined) return result;
    try {
      await sendTransaction(db, transaction, pace);
    } catch (error) {
      const writes = transaction.TransactItems ?? [];
      if (error instanceof TransactionCanceled) failed = countFailure(db, error, { writes, before: failed });
      throw error;
    }
    return result;
  };
  const result = retry(db.clock, attempt, {
    attempts: lock?.maxAttempts ?? maxAttempts,
    firstMilliseconds: 20,
    maxDelayMilliseconds: 500,
    message: 'No consistent write through all attempts.',
    mayPass(error) {
      if (error instanceof TransactionCanceled) {
        decision = undefined;
        lock?.contended();
      }
      const isRepeated = error instanceof Throttled && decision !== undefined;
      if (isRepeated || error instanceof StuckCondition || pace?.isOver()) return false;
      if (error instanceof Throttled || isUnclear(error)) return ++failures < maxFailures;
      return error instanceof Contention;
    },
  });
  return lock === undefined ? result : result.finally(() => lock.release());
}

/** Each decision has a token of its own: DynamoDB makes it once, however often it is sent. */
function withToken<Result>({ transaction, result }: Decision<Result>): Decision<Result> {
  return { result, transaction: transaction && { ClientRequestToken: randomUUID(), ...transaction } };
}

/**
 * Sends a transaction until DynamoDB does not throttle it: five times, or until the pace is over if
 * it has made a transaction before. Pauses for 150 to 300 ms, then for twice as long each time, at
 * most for 2.4 s. Other errors are thrown as translateErrors throws them.
 *
 * A throttled transaction was not made, so the very same one is sent again, with the same token. If
 * an earlier attempt whose answer was lost had been made after all, this one changes nothing.
 * DynamoDB remembers the token of a successful call for 10 minutes after it has ended
 * (docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html, "Idempotency"),
 * far longer than a function runs.
 */
export async function sendTransaction(
  { client, clock }: Db<never>,
  transaction: TransactWriteCommandInput,
  pace?: WritePace,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    requireRequest();
    try {
      await translateErrors(client.send(new TransactWriteCommand(transaction)));
      pace?.made(unitsOnHottestKey(transaction.TransactItems ?? []));
      return;
    } catch (error) {
      if (isThrottled(error)) pace?.throttled();
      if (!(error instanceof Throttled)) throw error;
      const shortest = Math.min(maxPauseMilliseconds, minPauseMilliseconds * 2 ** (attempt - 1));
      const pause = shortest * (1 + Math.random());
      const isLast = attempt >= maxThrottledAttempts && !pace?.hasBegun;
      if (isLast || pace?.isOver(pause)) throw error;
      await clock.sleep(pause);
    }
  }
}

function requireRequest(): void {
  if (isRequestOver()) throw new TimedOut('The request was answered before.');
}

/**
 * CorruptData too may pass: rows and heads that are read side by side can disagree for a moment.
 */
function isUnclear(error: unknown): boolean {
  return error instanceof TimedOut || error instanceof DependencyFailed || error instanceof CorruptData;
}
