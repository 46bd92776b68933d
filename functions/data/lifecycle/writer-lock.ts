/**
 * The lock of an owner's writers. All creations of an owner change the same heads, so of several at
 * once only one succeeds, and the reads and transactions of the others were in vain. A writer that
 * has met another therefore acquires the lock before each further transaction. The lock is
 * advisory: it ends 2 s after its holder has died, and a transaction is correct without it.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { TableNames } from '../../tables.ts';
import { isConditionFailure, translateErrors } from '../dynamodb/aws-errors.ts';
import type { WriterLock } from '../dynamodb/optimistic-transaction.ts';
import { batchGet } from '../dynamodb/reads.ts';

/**
 * Longer than a transaction takes with what is read for it. One that is throttled may take longer:
 * then another writer may go first, and this one acquires the lock anew.
 */
const maxHeldMilliseconds = 2_000;

/**
 * The average sleep of a waiting writer between two looks: about as long as a transaction takes.
 */
const pauseMilliseconds = 40;

/** All of them pause for about 14 s. */
const maxAttempts = 60;

/** So many transactions acquire the lock after another writer was met. */
const transactionsWithLock = 8;

interface WriterLockOptions {
  readonly userId: string;
  readonly now: () => number;
  readonly maxWaitMilliseconds: number;
  readonly isOver?: () => boolean;
}

/**
 * The lock for one call. After `maxWaitMilliseconds`, or once `isOver`, a transaction goes on
 * without it. Acquiring and releasing it costs a read unit for each look, and two write units.
 */
export function writerLock(
  client: DynamoDBDocumentClient,
  { Columns }: TableNames<'Columns'>,
  { userId, now, maxWaitMilliseconds, isOver }: WriterLockOptions,
): WriterLock {
  const Key = { user_id: userId, key: 'turn' };
  const holder = randomUUID();
  let transactionsLeft = 0;
  /** Until then this writer holds the lock; 0 where it does not. */
  let heldUntil = 0;

  async function tryToAcquire(): Promise<boolean> {
    const [held] = await batchGet(client, { table: Columns, keys: [Key], consistent: true });
    if (held !== undefined && Number(held.until) > now()) {
      transactionsLeft = transactionsWithLock;
      return false;
    }
    const until = now() + maxHeldMilliseconds;
    const isHolding = await put(until, held?.holder);
    if (isHolding) heldUntil = until;
    return isHolding;
  }

  /** Returns whether nobody else has had the lock since it was read. */
  async function put(until: number, before: unknown): Promise<boolean> {
    const condition =
      before === undefined
        ? { ConditionExpression: 'attribute_not_exists(#key)', ExpressionAttributeNames: { '#key': 'key' } }
        : { ConditionExpression: 'holder = :before', ExpressionAttributeValues: { ':before': before } };
    try {
      const Item = { ...Key, holder: until === 0 ? randomUUID() : holder, until };
      await translateErrors(client.send(new PutCommand({ TableName: Columns, Item, ...condition })));
      return true;
    } catch (error) {
      if (isConditionFailure(error)) return false;
      throw error;
    }
  }

  return {
    maxAttempts,
    contended() {
      transactionsLeft = transactionsWithLock;
    },
    async acquire() {
      if (transactionsLeft === 0 || now() < heldUntil) return;
      transactionsLeft -= 1;
      const end = now() + maxWaitMilliseconds;
      for (;;) {
        if ((await tryToAcquire()) || now() > end || isOver?.()) return;
        await delay(Math.random() * 2 * pauseMilliseconds);
      }
    },
    async release() {
      if (heldUntil === 0) return;
      heldUntil = 0;
      // What was written stays written, and the lock ends by itself.
      await put(0, holder).catch(() => false);
    },
  };
}
