/**
 * A user's clocks, and the batches that wait: the time of each clock, and the batches that
 * contradict it.
 */

import { type DynamoDBDocumentClient, QueryCommand, type QueryCommandOutput } from '@aws-sdk/lib-dynamodb';
import { type PriorityClock, placeOfKey, tagSteps } from '../../functions/data/queue/fair-order.ts';
import type { TableNames } from '../../functions/tables.ts';
import { itemsOfOwner } from './items-of-owner.ts';

/** All items of a device's queue, in their order: its batches, and what is stored beside them. */
export async function itemsOfQueue(
  client: DynamoDBDocumentClient,
  { DeviceQueue }: TableNames<'DeviceQueue'>,
  device: string,
): Promise<NonNullable<QueryCommandOutput['Items']>> {
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName: DeviceQueue,
      KeyConditionExpression: 'device_type = :type',
      ExpressionAttributeValues: { ':type': device },
      ConsistentRead: true,
    }),
  );
  return Items;
}

/** The keys of a device's batches, in their order. */
export async function keysInQueue(
  client: DynamoDBDocumentClient,
  names: TableNames<'DeviceQueue'>,
  device: string,
  user?: string,
): Promise<string[]> {
  const items = await itemsOfQueue(client, names, device);
  return items.flatMap(({ key, fence, user_id }) =>
    fence === undefined || (user !== undefined && user_id !== user) ? [] : [String(key)],
  );
}

/** The user's clocks for a device, by priority. */
export async function clocksOf(
  client: DynamoDBDocumentClient,
  { Columns }: TableNames<'Columns'>,
  { user, device }: { readonly user: string; readonly device: string },
): Promise<Map<string, PriorityClock>> {
  const items = await itemsOfOwner(client, Columns, user);
  const clock = items.find(({ key }) => key === `clock#${device}`);
  return new Map(Object.entries((clock?.clocks ?? {}) as Record<string, PriorityClock>));
}

/**
 * Batches of the user that are behind the clock, at a place that was given back, or less than a
 * step behind another one.
 */
export async function misplacedBatches(
  client: DynamoDBDocumentClient,
  names: TableNames<'DeviceQueue' | 'Columns'>,
  whose: { readonly user: string; readonly device: string },
): Promise<string[]> {
  const clocks = await clocksOf(client, names, whose);
  const keys = await keysInQueue(client, names, whose.device, whose.user);
  const ends = new Map<string, number>();
  return keys.filter((key) => {
    const { tag, priority } = placeOfKey(key);
    const end = tag + tagSteps[priority];
    const clock = clocks.get(priority);
    const isApart = tag >= (ends.get(priority) ?? 0);
    ends.set(priority, end);
    const isGivenBack = clock?.withdrawn.some(([from, to]) => tag < to && end > from);
    return !isApart || clock === undefined || end > clock.end || isGivenBack;
  });
}
