/** What the table Counters holds of a device: its idle workers, and what is measured of it. */

import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { translateErrors } from '../dynamodb/aws-errors.ts';
import type { Db } from '../dynamodb/db.ts';

/** The partition of a device. */
export function deviceSubject(deviceType: string): string {
  return `device:${deviceType}`;
}

/** Updates an item of a device, which is there until a time in seconds since 1970. 1 write unit. */
export async function updateCounter(
  { client, tables }: Db<'Counters'>,
  { deviceType, name }: { readonly deviceType: string; readonly name: string },
  { assignment, value, expires_at }: { assignment: string; value: unknown; expires_at: number },
): Promise<void> {
  const command = new UpdateCommand({
    TableName: tables.Counters,
    Key: { subject: deviceSubject(deviceType), name },
    UpdateExpression: `SET ${assignment}, expires_at = :expiry`,
    ExpressionAttributeValues: { ':value': value, ':expiry': expires_at },
  });
  await translateErrors(client.send(command));
}
