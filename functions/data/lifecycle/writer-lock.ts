/**
 * WriterLock of an owner's writers. All creations of an owner change the same heads, so of several
 * at once only one succeeds, and what the others have read and sent was in vain. A writer who has
 * got into another's way therefore asks for a turn before each further transaction. WriterLock are
 * advice: whoever dies with one loses it after 2 s, and a transaction is right without one.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { TableNames } from '../../tables.ts';
import { isConditionFailure, translateErrors } from '../dynamodb/aws-errors.ts';
import type { WriterLock } from '../dynamodb/optimistic-transaction.ts';
import { batchGet } from '../dynamodb/reads.ts';

/** Longer than a transaction takes with what is read for it. */
const turnMilliseconds = 2_000;

/**
 * How long a writer sleeps on average before it looks again whether it is its turn: about as long
 * as a transaction takes.
 */
const pauseMilliseconds = 40;

/** So many transactions ask for a turn after another writer was met. */
const transactionsWithTurns = 8;

/**
 * The turns of one call. It has so much patience with each; then it goes on without. Taking one
 * costs a read unit for each look, and two write units.
 */
export function writerLock(
  client: DynamoDBDocumentClient,
  { Columns }: TableNames<'Columns'>,
  { userId, now, patienceMilliseconds }: { userId: string; now: () => number; patienceMilliseconds: number },
): WriterLock {
  const Key = { user_id: userId, key: 'turn' };
  const holder = randomUUID();
  let asking = 0;
  let isHolding = false;

  async function tryToTake(): Promise<boolean> {
    const [turn] = await batchGet(client, { table: Columns, keys: [Key], consistent: true });
    if (turn !== undefined && Number(turn.until) > now()) {
      asking = transactionsWithTurns;
      return false;
    }
    return put(now() + turnMilliseconds, turn?.holder);
  }

  /** Returns whether nobody else had the turn since it was read. */
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
    ask() {
      asking = transactionsWithTurns;
    },
    async take() {
      if (asking === 0 || isHolding) return;
      asking -= 1;
      const end = now() + patienceMilliseconds;
      for (;;) {
        isHolding = await tryToTake();
        if (isHolding || now() > end) return;
        await delay(Math.random() * 2 * pauseMilliseconds);
      }
    },
    async pass() {
      if (!isHolding) return;
      isHolding = false;
      // What was written stands, whatever becomes of the turn: it ends by itself.
      await put(0, holder).catch(() => false);
    },
  };
}
