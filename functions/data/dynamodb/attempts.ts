import { setTimeout as delay } from 'node:timers/promises';
import { DynamoDBServiceException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { CorruptData, TooBusy } from '../../errors.ts';
import { cancellationCodes, isContention } from './contention.ts';

/** What an attempt decided from its reads: the result, and the transaction that brings it about (none: it stands already). */
export interface Attempt<Result> {
  readonly transaction?: TransactWriteCommandInput | undefined;
  readonly result: Result;
}

const mostAttempts = 12;
const mostFailures = 3;
const longestDelay = 500;

/**
 * Writes what was decided from reads, as if nothing could come between: `prepare` reads and decides, its transaction is
 * conditional on all it has read, and after a conflict everything is read again. 12 attempts with full jitter, about 1.5 s in all;
 * then TooBusy, also when DynamoDB throttled the last one.
 *
 * A timeout or internal error may hide a success. The very same transaction is then sent again, and its token makes DynamoDB
 * answer with success if it was carried out the first time; at the third such failure the failure is thrown.
 */
export async function optimistically<Result>(
  client: DynamoDBDocumentClient,
  prepare: () => Promise<Attempt<Result>>,
): Promise<Result> {
  let current: Attempt<Result> | undefined;
  let failures = 0;
  for (let attempt = 1; ; attempt++) {
    try {
      current ??= await prepare();
      if (current.transaction !== undefined) await client.send(new TransactWriteCommand(current.transaction));
      return current.result;
    } catch (error) {
      const kind = failureKind(error);
      if (kind === 'final' || (kind === 'unknown' && ++failures === mostFailures)) throw error;
      if (attempt === mostAttempts) throw new TooBusy('No consistent write through all attempts.', { cause: error });
      if (kind === 'canceled') current = undefined;
      await delay(Math.random() * Math.min(longestDelay, 10 * 2 ** attempt));
    }
  }
}

const networkFailures = new Set(['TimeoutError', 'ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN']);

/** Whether what was thrown can pass (`canceled`: the transaction was, on account of what it was conditional on). */
export function failureKind(error: unknown): 'canceled' | 'busy' | 'unknown' | 'final' {
  if (!(error instanceof Error)) return 'final';
  if (error instanceof TransactionCanceledException) {
    return cancellationCodes(error).includes('ValidationError') ? 'final' : 'canceled';
  }
  // Rows and heads that are read side by side may disagree for a moment.
  if (error instanceof CorruptData) return 'unknown';
  if (isContention(error)) return 'busy';
  if (error instanceof DynamoDBServiceException) return error.$fault === 'server' ? 'unknown' : 'final';
  const code = 'code' in error ? String(error.code) : '';
  return networkFailures.has(error.name) || networkFailures.has(code) ? 'unknown' : 'final';
}
