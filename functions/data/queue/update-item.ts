import { UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { isConditionFailure, isConflict, translateErrors } from '../dynamodb/aws-errors.ts';
import type { Db } from '../dynamodb/db.ts';
import type { Item } from '../dynamodb/reads.ts';
import { retry } from '../dynamodb/retry.ts';
import type { QueueItem } from './queue-item.ts';

/** The item as it is now; or, where the condition failed, what is there instead. */
export type Updated =
  | { readonly updated: Item | undefined }
  | { readonly foundInstead: 'none' | { readonly claimId: unknown } };

/**
 * Updates an item on a condition. Where that fails, returns what is there instead: `none`, or the
 * claim that the item's lease was taken by.
 */
export async function updateItem(
  { client, tables }: Db<'DeviceQueue'>,
  { device_type, key }: Pick<QueueItem, 'device_type' | 'key'>,
  input: Omit<UpdateCommandInput, 'TableName' | 'Key'>,
): Promise<Updated> {
  const command = new UpdateCommand({
    TableName: tables.DeviceQueue,
    Key: { device_type, key },
    ...input,
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  try {
    return { updated: (await translateErrors(client.send(command))).Attributes };
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    const { Item: found } = error as { Item?: Readonly<Record<string, { readonly S?: string }>> };
    return { foundInstead: found === undefined ? 'none' : { claimId: found.claim_id?.S } };
  }
}

/** A transaction at the item passes soon: repeats the call, 12 times by default. */
export function retryConflicts<Result>(
  { clock }: Db<never>,
  call: () => Promise<Result>,
  attempts = 12,
): Promise<Result> {
  return retry(clock, call, {
    attempts,
    firstMilliseconds: 50,
    maxDelayMilliseconds: 200,
    mayPass: isConflict,
    message: 'The batch is being changed, try again later.',
  });
}
