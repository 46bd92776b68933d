/**
 * The lock of an owner's writers. All creations of an owner change the same heads, so only one of
 * several at once succeeds, and the others have read and tried in vain. A writer that has met
 * another therefore acquires the lock before each further transaction. The lock is advisory: it
 * ends 2 s after its holder has died, and a transaction is correct without it.
 */

import { randomUUID } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { timeLimits } from '../../time-limits.ts';
import { isConditionFailure, translateErrors } from '../dynamodb/aws-errors.ts';
import { ifAbsent, ifUnchanged } from '../dynamodb/conditions.ts';
import type { Db } from '../dynamodb/db.ts';
import type { WriterLock } from '../dynamodb/optimistic-transaction.ts';
import { batchGet } from '../dynamodb/reads.ts';

/**
 * Longer than a transaction and its reads take. A throttled one may take longer: then another
 * writer may go first, and this one acquires the lock anew.
 */
const maxHeldMilliseconds = 1_000 * timeLimits.heldLock;

/**
 * The average sleep of a waiting writer between two polls: about as long as a transaction takes.
 */
const pauseMilliseconds = 40;

/** All of them pause for about 14 s. */
const maxAttempts = 60;

/** Transactions that acquire the lock after another writer was met. */
const transactionsWithLock = 8;

interface WriterLockOptions {
  readonly userId: string;
  readonly isOver?: () => boolean;
}

/** A call's part in the lock. */
interface Turn extends WriterLockOptions {
  readonly db: Db<'Columns'>;
  readonly holder: string;
  transactionsLeft: number;
  /** Until then this writer holds the lock; 0 where it does not. */
  heldUntil: number;
}

/**
 * The lock for one call. After 14 s, or once `isOver`, a transaction goes on without it. Acquiring
 * and releasing it costs a read unit for each poll, and two write units.
 */
export function writerLock(db: Db<'Columns'>, options: WriterLockOptions): WriterLock {
  const turn: Turn = { ...options, db, holder: randomUUID(), transactionsLeft: 0, heldUntil: 0 };
  return {
    maxAttempts,
    contended() {
      turn.transactionsLeft = transactionsWithLock;
    },
    acquire: () => acquire(turn),
    async release() {
      if (turn.heldUntil === 0) return;
      turn.heldUntil = 0;
      // What was written stays written, and the lock ends by itself.
      await put(turn, 0, turn.holder).catch(() => false);
    },
  };
}

async function acquire(turn: Turn): Promise<void> {
  const { clock } = turn.db;
  if (turn.transactionsLeft === 0 || clock.now() < turn.heldUntil) return;
  turn.transactionsLeft -= 1;
  const end = clock.elapsed() + 1_000 * timeLimits.writerLock;
  for (;;) {
    if ((await tryToAcquire(turn)) || clock.elapsed() > end || turn.isOver?.()) return;
    await clock.sleep(Math.random() * 2 * pauseMilliseconds);
  }
}

async function tryToAcquire(turn: Turn): Promise<boolean> {
  const { clock } = turn.db;
  const [held] = await batchGet(turn.db, { table: 'Columns', keys: [lockKey(turn)], consistent: true });
  if (held !== undefined && Number(held.until) > clock.now()) {
    turn.transactionsLeft = transactionsWithLock;
    return false;
  }
  const until = clock.now() + maxHeldMilliseconds;
  const isHolding = await put(turn, until, held?.holder);
  if (isHolding) turn.heldUntil = until;
  return isHolding;
}

/** Returns false if another writer has had the lock since it was read. */
async function put(turn: Turn, until: number, before: unknown): Promise<boolean> {
  const { client, tables } = turn.db;
  const condition = before === undefined ? ifAbsent('key') : ifUnchanged({ holder: before }, ['holder']);
  try {
    const Item = { ...lockKey(turn), holder: until === 0 ? randomUUID() : turn.holder, until };
    await translateErrors(client.send(new PutCommand({ TableName: tables.Columns, Item, ...condition })));
    return true;
  } catch (error) {
    if (isConditionFailure(error)) return false;
    throw error;
  }
}

function lockKey({ userId }: Turn) {
  return { user_id: userId, key: 'lock' };
}
