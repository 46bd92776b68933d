/**
 * The lock of an owner's writers. All creations of an owner change the same heads, so only one of
 * several at once succeeds, and the others have read and tried in vain. A writer that has met
 * another therefore acquires the lock before each further transaction. It is a ticket lock: a
 * writer draws a number, and has the lock once the number is called. So writers come in turn, and
 * each knows how many are before it. The lock is advisory: a transaction is correct without it. If
 * the number called stays the same for 2 s, the next writer that waits takes the lock.
 */

import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { timeLimits } from '../../time-limits.ts';
import { isConditionFailure, translateErrors } from '../dynamodb/aws-errors.ts';
import type { Db } from '../dynamodb/db.ts';
import { keptWith } from '../dynamodb/kept-with.ts';
import type { WriterLock } from '../dynamodb/optimistic-transaction.ts';
import { batchGet } from '../dynamodb/reads.ts';

/**
 * Longer than a transaction and its reads take. A throttled one may take longer: then another
 * writer may go first, and this one draws another number.
 */
const maxHeldMilliseconds = 1_000 * timeLimits.heldLock;

/** How long the next in turn sleeps between two looks, and each one behind it longer. */
const nextMilliseconds = 8;
const turnMilliseconds = 40;

/** All of them pause for about 14 s. */
const maxAttempts = 60;

/** Transactions that acquire the lock after another writer was met. */
const transactionsWithLock = 8;

/** So long after a writer has met another, this process acquires the lock at once for the owner. */
const rememberedMilliseconds = 2_000;
const maxRemembered = 1_000;

/** Until when the lock of an owner is acquired at once. */
const contendedUntil = keptWith(() => new Map<string, number>());

interface WriterLockOptions {
  readonly userId: string;
  readonly isOver?: () => boolean;
}

/** A call's part in the lock. */
interface Turn extends WriterLockOptions {
  readonly db: Db<'Columns'>;
  transactionsLeft: number;
  /** The number by which this writer holds the lock, and until when; 0 where it does not. */
  number: number;
  heldUntil: number;
}

/**
 * The lock for one call. After 14 s, or once `isOver`, a transaction goes on without it. Acquiring
 * and releasing it costs two write units, and a read unit for each look while others are before it.
 */
export function writerLock(db: Db<'Columns'>, options: WriterLockOptions): WriterLock {
  const turn: Turn = { ...options, db, transactionsLeft: 0, number: 0, heldUntil: 0 };
  if ((contendedUntil(db.client).get(options.userId) ?? 0) > db.clock.now()) turn.transactionsLeft = 1;
  return {
    maxAttempts,
    contended: () => expectOthers(turn),
    acquire: () => acquire(turn),
    release: () => release(turn),
  };
}

async function release(turn: Turn): Promise<void> {
  const { number } = turn;
  if (number === 0) return;
  Object.assign(turn, { number: 0, heldUntil: 0 });
  // If this fails, others pass the number over: what was written stays written.
  await call(turn, number + 1, number).catch(() => {});
}

/** Notes that other writers are there. */
function expectOthers(turn: Turn): void {
  const { db, userId } = turn;
  turn.transactionsLeft = transactionsWithLock;
  const remembered = contendedUntil(db.client);
  remembered.delete(userId);
  remembered.set(userId, db.clock.now() + rememberedMilliseconds);
  if (remembered.size > maxRemembered) remembered.delete(remembered.keys().next().value as string);
}

async function acquire(turn: Turn): Promise<void> {
  const { clock } = turn.db;
  if (turn.transactionsLeft === 0 || clock.now() < turn.heldUntil) return;
  turn.transactionsLeft -= 1;
  await release(turn);
  const end = clock.elapsed() + 1_000 * timeLimits.writerLock;
  let place = await draw(turn);
  let calledSince = clock.now();
  while (place.called !== place.number) {
    expectOthers(turn);
    if (clock.elapsed() > end || turn.isOver?.()) return;
    const patience = maxHeldMilliseconds + turnMilliseconds * (place.number - place.called - 1);
    if (clock.now() - calledSince >= patience) await call(turn, place.number, place.called);
    else await clock.sleep(sleepBefore(place));
    const called = await lastCalled(turn);
    if (called !== place.called) calledSince = clock.now();
    // Its own number was passed over.
    place = called > place.number ? await draw(turn) : { ...place, called };
  }
  Object.assign(turn, { number: place.number, heldUntil: clock.now() + maxHeldMilliseconds });
}

interface Place {
  readonly number: number;
  /** Whose turn it is. */
  readonly called: number;
}

function sleepBefore({ number, called }: Place): number {
  return nextMilliseconds * (0.5 + Math.random()) + turnMilliseconds * (number - called - 1);
}

/** Numbers are drawn from 1 on, and 1 is called from the beginning. */
async function draw(turn: Turn): Promise<Place> {
  const { client } = turn.db;
  const command = new UpdateCommand({
    ...lockItem(turn),
    UpdateExpression: 'ADD drawn :one SET turn = if_not_exists(turn, :one)',
    ExpressionAttributeValues: { ':one': 1 },
    ReturnValues: 'ALL_NEW',
  });
  const { Attributes = {} } = await translateErrors(client.send(command));
  return { number: Number(Attributes.drawn), called: Number(Attributes.turn) };
}

async function lastCalled(turn: Turn): Promise<number> {
  const [item] = await batchGet(turn.db, { table: 'Columns', keys: [lockItem(turn).Key], consistent: true });
  return Number(item?.turn ?? 1);
}

/** Calls a number, unless another than `before` was called meanwhile. */
async function call(turn: Turn, number: number, before: number): Promise<void> {
  const command = new UpdateCommand({
    ...lockItem(turn),
    UpdateExpression: 'SET turn = :number',
    ConditionExpression: 'turn = :before',
    ExpressionAttributeValues: { ':number': number, ':before': before },
  });
  try {
    await translateErrors(turn.db.client.send(command));
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
  }
}

function lockItem({ db, userId }: Turn) {
  return { TableName: db.tables.Columns, Key: { user_id: userId, key: 'turns' } };
}
