/**
 * What became of the last attempt to deliver a webhook, and the last ten deliveries: an item for
 * each batch that has one, kept for 30 days after the last write.
 */

import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Batch } from '../../schemas/batch.ts';
import { storedRow } from '../../schemas/stored-row.ts';
import { type BatchWebhook, type WebhookAttempt, WebhookAttemptRow, WebhookDelivery } from '../../schemas/webhook.ts';
import { readWebhook, type WebhookReach } from '../../webhooks/webhook-url.ts';
import { isConditionFailure, translateErrors } from '../dynamodb/aws-errors.ts';
import type { Db } from '../dynamodb/db.ts';
import { getItem, type Item } from '../dynamodb/reads.ts';
import type { BatchKey } from '../rows/webhooks-of-batches.ts';

const keptSeconds = 30 * 24 * 3600;

/** The attributes with the deliveries of a batch, the newest first. */
const deliveryNames = Array.from({ length: 10 }, (_, place) => `delivery_${place}`);

/** The last attempt of a user's batch; undefined when there was none. 1 read unit. */
export async function getLastAttempt(db: Db<'WebhookAttempts'>, batch: BatchKey): Promise<WebhookAttempt | undefined> {
  const item = await attemptItem(db, batch);
  // A test came before any attempt.
  if (item?.outcome === undefined) return undefined;
  const { user_id, batch_id, expires_at, ...shown } = storedRow(WebhookAttemptRow(), item);
  return shown;
}

/** Strongly consistent: 1 read unit. Ten deliveries take about 2 KB. */
function attemptItem(db: Db<'WebhookAttempts'>, { user_id, batch_id }: BatchKey): Promise<Item | undefined> {
  return getItem(db, { table: 'WebhookAttempts', key: { user_id, batch_id }, consistent: true });
}

/**
 * Shows a batch's webhook with its last ten deliveries, newest first. 1 read unit where the batch
 * has a webhook.
 */
export async function getBatchWebhook(
  db: Db<'WebhookAttempts'>,
  { user_id, id: batch_id, webhook }: Pick<Batch, 'user_id' | 'id' | 'webhook'>,
  reach: WebhookReach,
): Promise<BatchWebhook> {
  if (webhook === null) return { webhook, refusal: null, deliveries: [] };
  const target = readWebhook(webhook, reach);
  const item = (await attemptItem(db, { user_id, batch_id })) ?? {};
  const deliveries = deliveryNames.flatMap((name) => (item[name] ? [storedRow(WebhookDelivery(), item[name])] : []));
  return { webhook, refusal: 'refusal' in target ? target.refusal : null, deliveries };
}

/**
 * What users are shown of a batch's webhook: the last attempt to call it, or why it is never
 * called. Null if there is no webhook, or it was not called yet. 1 read unit if the batch has a
 * webhook.
 */
export async function getWebhookAttempt(
  db: Db<'WebhookAttempts'>,
  { user_id, id: batch_id, webhook }: Pick<Batch, 'user_id' | 'id' | 'webhook'>,
  reach: WebhookReach,
): Promise<WebhookAttempt | null> {
  if (webhook === null) return null;
  const target = readWebhook(webhook, reach);
  const last = await getLastAttempt(db, { user_id, batch_id });
  return last ?? ('refusal' in target ? refused(target.refusal) : null);
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
 * Stores an attempt in place of the one before, and its delivery before the others, unless an
 * earlier attempt has stopped all. Messages of a batch are delivered side by side: of attempts at
 * the same time, any one may stay; deliveries are all kept, up to the tenth. 1 write unit, 2 or 3
 * with more than three deliveries: 1 for each KB.
 */
export function putWebhookAttempt(
  db: Db<'WebhookAttempts'>,
  batch: BatchKey,
  attempt: WebhookAttempt,
  delivery?: WebhookDelivery,
): Promise<void> {
  const condition = 'attribute_not_exists(outcome) OR outcome <> :word';
  return updateItem(db, batch, { attributes: { ...attempt }, delivery, condition, word: 'STOPPED' });
}

/**
 * Stores a delivery that was no attempt at a message, before the others, unless the batch was
 * erased meanwhile. Write units: see putWebhookAttempt.
 */
export function putDelivery(db: Db<'WebhookAttempts'>, batch: BatchKey, delivery: WebhookDelivery): Promise<void> {
  // An erasure leaves an outcome without a time (stopAttempts).
  const condition = 'attribute_not_exists(outcome) OR attribute_type(attempted_at, :word)';
  return updateItem(db, batch, { attributes: {}, delivery, condition, word: 'S' });
}

interface Changes {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly delivery: WebhookDelivery | undefined;
  readonly condition: string;
  readonly word: string;
}

/**
 * One update moves each delivery to the next place: it assigns values of the item as it was before.
 * So deliveries that are stored side by side do not lose each other.
 */
async function updateItem(
  { client, tables, clock }: Db<'WebhookAttempts'>,
  { user_id, batch_id }: BatchKey,
  { attributes, delivery, condition, word }: Changes,
): Promise<void> {
  const set = Object.entries({ ...attributes, expires_at: expiryAfter(clock.now()) });
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
    Key: { user_id, batch_id },
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
}

/**
 * Stops the messages about a batch that are under way or still to come, and forgets earlier
 * attempts: no later attempt replaces this one. 1 write unit.
 */
export async function stopAttempts(
  { client, tables, clock }: Db<'WebhookAttempts'>,
  { user_id, batch_id }: BatchKey,
): Promise<void> {
  const stopped = { ...refused(null), outcome: 'STOPPED', expires_at: expiryAfter(clock.now()) };
  const Item = { user_id, batch_id, ...stopped };
  await translateErrors(client.send(new PutCommand({ TableName: tables.WebhookAttempts, Item })));
}

function expiryAfter(now: number): number {
  return Math.floor(now / 1000) + keptSeconds;
}
