/**
 * What became of the last attempt to deliver a webhook, and the last ten deliveries: an item for
 * each batch that has one, kept for 30 days after the last write.
 */

import { type DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Batch } from '../../schemas/batch.ts';
import { type BatchWebhook, type WebhookAttempt, WebhookAttemptRow, WebhookDelivery } from '../../schemas/webhook.ts';
import type { TableNames } from '../../tables.ts';
import { readWebhook, type WebhookReach } from '../../webhooks/webhook-url.ts';
import { isConditionFailure, translateErrors } from '../dynamodb/aws-errors.ts';
import { getItem, type Item } from '../dynamodb/reads.ts';
import { storedRow } from '../dynamodb/stored-row.ts';

const keptSeconds = 30 * 24 * 3600;

/** The attributes with the deliveries of a batch, the newest first. */
const deliveryNames = Array.from({ length: 10 }, (_, place) => `delivery_${place}`);

/**
 * The function that reads the last attempt of a user's batch; undefined when there was none. 1 read
 * unit.
 */
export function getLastAttempt(
  client: DynamoDBDocumentClient,
  tables: TableNames<'WebhookAttempts'>,
): (userId: string, batchId: string) => Promise<WebhookAttempt | undefined> {
  const itemOf = attemptItem(client, tables);
  return async (userId, batchId) => {
    const item = await itemOf(userId, batchId);
    // A test came before any attempt.
    if (item?.outcome === undefined) return undefined;
    const { user_id, batch_id, expires_at, ...shown } = storedRow(WebhookAttemptRow, item);
    return shown;
  };
}

/** Strongly consistent: 1 read unit. Ten deliveries take about 2 KB. */
function attemptItem(client: DynamoDBDocumentClient, tables: TableNames<'WebhookAttempts'>) {
  return (user_id: string, batch_id: string): Promise<Item | undefined> =>
    getItem(client, { table: tables.WebhookAttempts, key: { user_id, batch_id }, consistent: true });
}

/**
 * The function that shows a batch's webhook with its last ten deliveries, newest first. 1 read unit
 * where the batch has a webhook.
 */
export function getBatchWebhook(
  client: DynamoDBDocumentClient,
  tables: TableNames<'WebhookAttempts'>,
  reach: WebhookReach,
): (batch: Pick<Batch, 'user_id' | 'id' | 'webhook'>) => Promise<BatchWebhook> {
  const itemOf = attemptItem(client, tables);
  return async ({ user_id, id, webhook }) => {
    if (webhook === null) return { webhook, refusal: null, deliveries: [] };
    const target = readWebhook(webhook, reach);
    const item = (await itemOf(user_id, id)) ?? {};
    const deliveries = deliveryNames.flatMap((name) => (item[name] ? [storedRow(WebhookDelivery, item[name])] : []));
    return { webhook, refusal: 'refusal' in target ? target.refusal : null, deliveries };
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
 * The function that stores an attempt in place of the one before, and its delivery before the
 * others, unless an attempt before has stopped all. Messages of a batch are delivered side by side:
 * of attempts at the same time any other may stay; of deliveries none is lost but the eleventh. 1
 * write unit, 2 or 3 with more than three deliveries: 1 for each KB.
 */
export function putWebhookAttempt(
  client: DynamoDBDocumentClient,
  tables: TableNames<'WebhookAttempts'>,
  now = Date.now,
): (userId: string, batchId: string, attempt: WebhookAttempt, delivery?: WebhookDelivery) => Promise<void> {
  const update = updateItem(client, tables, now);
  return async (user_id, batch_id, attempt, delivery) => {
    await update(
      { user_id, batch_id },
      {
        attributes: { ...attempt },
        delivery,
        condition: 'attribute_not_exists(outcome) OR outcome <> :word',
        word: 'STOPPED',
      },
    );
  };
}

/**
 * The function that stores a delivery that was no attempt at a message, before the others, unless
 * the batch was erased meanwhile. Write units: see putWebhookAttempt.
 */
export function putDelivery(
  client: DynamoDBDocumentClient,
  tables: TableNames<'WebhookAttempts'>,
  now = Date.now,
): (userId: string, batchId: string, delivery: WebhookDelivery) => Promise<void> {
  const update = updateItem(client, tables, now);
  return async (user_id, batch_id, delivery) => {
    // An erasure leaves an outcome without a time (stopAttempts).
    const condition = 'attribute_not_exists(outcome) OR attribute_type(attempted_at, :word)';
    await update({ user_id, batch_id }, { attributes: {}, delivery, condition, word: 'S' });
  };
}

interface Changes {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly delivery: WebhookDelivery | undefined;
  readonly condition: string;
  readonly word: string;
}

/**
 * One update moves each delivery to the next place: what it assigns is taken from the item as it
 * was before. So deliveries that are stored side by side do not lose each other.
 */
function updateItem(client: DynamoDBDocumentClient, tables: TableNames<'WebhookAttempts'>, now: () => number) {
  return async (key: Item, { attributes, delivery, condition, word }: Changes): Promise<void> => {
    const set = Object.entries({ ...attributes, expires_at: Math.floor(now() / 1000) + keptSeconds });
    const assignments = set.map((_, at) => `#${at} = :${at}`);
    const moves = deliveryNames.slice(1).map((name, at) => `${name} = if_not_exists(${deliveryNames[at]}, :none)`);
    const values = {
      ...Object.fromEntries(set.map(([, value], at) => [`:${at}`, value])),
      ':word': word,
      ...(delivery && { ':none': null, ':delivery': delivery }),
    };
    const added = delivery === undefined ? [] : [`${deliveryNames[0]} = :delivery`, ...moves];
    const command = new UpdateCommand({
      TableName: tables.WebhookAttempts,
      Key: key,
      UpdateExpression: `SET ${[...assignments, ...added].join(', ')}`,
      ConditionExpression: condition,
      ExpressionAttributeNames: Object.fromEntries(set.map(([name], at) => [`#${at}`, name])),
      ExpressionAttributeValues: values,
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
