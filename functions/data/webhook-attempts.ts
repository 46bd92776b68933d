/**
 * What became of the last attempt to deliver a webhook: an item for each batch that has one, kept
 * for 30 days.
 */

import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Batch } from '../schemas/batch.ts';
import { type WebhookAttempt, WebhookAttemptRow } from '../schemas/webhook.ts';
import type { TableNames } from '../tables.ts';
import { readWebhook, type WebhookReach } from '../webhooks/webhook-url.ts';
import { isConditionFailure, translateErrors } from './dynamodb/aws-errors.ts';
import { getRow } from './dynamodb/reads.ts';

const keptSeconds = 30 * 24 * 3600;

/**
 * The function that reads the last attempt of a user's batch; undefined when there was none. 1 read
 * unit.
 */
export function getLastAttempt(
  client: DynamoDBDocumentClient,
  tables: TableNames<'WebhookAttempts'>,
): (userId: string, batchId: string) => Promise<WebhookAttempt | undefined> {
  return async (userId, batchId) => {
    const key = { user_id: userId, batch_id: batchId };
    const row = await getRow(client, { table: tables.WebhookAttempts, key, schema: WebhookAttemptRow });
    if (row === undefined) return undefined;
    const { user_id, batch_id, expires_at, ...shown } = row;
    return shown;
  };
}

/**
 * The function that finds what users are shown of a batch's webhook: the last attempt to call it,
 * or why it is never called; null where there is none, or it was not called yet. 1 read unit where
 * the batch has a webhook.
 */
export function getWebhookAttempt(
  client: DynamoDBDocumentClient,
  tables: TableNames<'WebhookAttempts'>,
  reach: WebhookReach,
): (batch: Pick<Batch, 'user_id' | 'id' | 'webhook'>) => Promise<WebhookAttempt | null> {
  const lastOf = getLastAttempt(client, tables);
  return async ({ user_id, id, webhook }) => {
    if (webhook === null) return null;
    const target = readWebhook(webhook, reach);
    return (await lastOf(user_id, id)) ?? ('refusal' in target ? refused(target.refusal) : null);
  };
}

/** Nothing is sent to such a webhook. */
function refused(reason: string | null): WebhookAttempt {
  return {
    outcome: 'REFUSED',
    reason,
    type: null,
    job_id: null,
    attempts: 0,
    attempted_at: null,
    next_attempt_at: null,
  };
}

/**
 * The function that stores an attempt in place of the one before, unless that has stopped all.
 * Messages of a batch are delivered side by side: of attempts at the same time any other may stay.
 * 1 write unit.
 */
export function putWebhookAttempt(
  client: DynamoDBDocumentClient,
  tables: TableNames<'WebhookAttempts'>,
  now = Date.now,
): (userId: string, batchId: string, attempt: WebhookAttempt) => Promise<void> {
  return async (user_id, batch_id, attempt) => {
    const Item = { user_id, batch_id, ...attempt, expires_at: Math.floor(now() / 1000) + keptSeconds };
    const command = new PutCommand({
      TableName: tables.WebhookAttempts,
      Item,
      ConditionExpression: 'attribute_not_exists(outcome) OR outcome <> :stopped',
      ExpressionAttributeValues: { ':stopped': 'STOPPED' satisfies WebhookAttempt['outcome'] },
    });
    try {
      await translateErrors(client.send(command));
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
    }
  };
}

/**
 * Stops the messages about a batch that are under way or still to come, and forgets the attempts
 * before: no attempt takes the place of this one. 1 write unit.
 */
export async function stopAttempts(
  client: DynamoDBDocumentClient,
  { WebhookAttempts }: Partial<TableNames<'WebhookAttempts'>>,
  { user_id, batch_id, now }: { readonly user_id: string; readonly batch_id: string; readonly now: number },
): Promise<void> {
  const Item = {
    ...{ user_id, batch_id, ...refused(null), outcome: 'STOPPED' },
    expires_at: Math.floor(now / 1000) + keptSeconds,
  };
  await translateErrors(client.send(new PutCommand({ TableName: WebhookAttempts, Item })));
}
