/**
 * The devices that have announced themselves. They belong to no user, and everybody may know them.
 */

import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type AnnounceRequest, DeviceRow, specificationName } from '../schemas/device.ts';
import type { TableNames } from '../tables.ts';
import { fromMilliseconds } from '../timestamp.ts';
import { translateErrors } from './dynamodb/aws-errors.ts';
import { getRow, queryAll } from './dynamodb/reads.ts';
import { storedRow } from './dynamodb/stored-row.ts';

/** The one partition that they share. */
const kind = 'device';

/**
 * The function that reads all devices, in the order of their types: half a read unit for each 4 KB
 * of all specifications.
 */
export function listDevices(client: DynamoDBDocumentClient, tables: TableNames<'Devices'>): () => Promise<DeviceRow[]> {
  return async () => {
    const items = await queryAll(client, {
      table: tables.Devices,
      partition: { kind },
      sortKey: 'device_type',
      range: 'all',
      consistent: false,
    });
    return items.map((item) => storedRow(DeviceRow, item));
  };
}

/**
 * The function that reads one device; undefined when there is none of this type. 1 read unit for
 * each 4 KB of its specification.
 */
export function getDevice(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Devices'>,
): (deviceType: string) => Promise<DeviceRow | undefined> {
  return (deviceType) =>
    getRow(client, { table: tables.Devices, key: { kind, device_type: deviceType }, schema: DeviceRow });
}

/**
 * The function that stores what a device announces, in place of what it announced before, and
 * returns it. What it does not say of who may read its specification stays. 1 write unit for each
 * KB.
 */
export function announceDevice(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Devices'>,
  { now = Date.now }: { readonly now?: () => number } = {},
): (deviceType: string, announced: AnnounceRequest) => Promise<DeviceRow> {
  return async (device_type, announced) => {
    const { status, specs } = announced;
    const isPublic = announced.public ?? device_type.startsWith('EMU_');
    const { Attributes } = await translateErrors(
      client.send(
        new UpdateCommand({
          TableName: tables.Devices,
          Key: { kind, device_type },
          UpdateExpression: [
            'SET #name = :name, #status = :status, availability = :availability, specs = :specs, announced_at = :now',
            `#public = ${announced.public === undefined ? 'if_not_exists(#public, :public)' : ':public'}`,
          ].join(', '),
          ExpressionAttributeNames: { '#name': 'name', '#status': 'status', '#public': 'public' },
          ExpressionAttributeValues: {
            ':name': specificationName(specs),
            ':status': status,
            ':availability': status === 'UP' ? 'ACTIVE' : 'INACTIVE',
            ':specs': specs,
            ':now': fromMilliseconds(now()),
            ':public': isPublic,
          },
          ReturnValues: 'ALL_NEW',
        }),
      ),
    );
    return storedRow(DeviceRow, Attributes ?? {});
  };
}
