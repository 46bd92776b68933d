import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { DeviceRow } from '../../functions/schemas/device.ts';
import type { TableNames } from '../../functions/tables.ts';

/** Announces FRESNEL, whose specification is public, with a calibration, and EMU_MPS. */
export async function loadDevices(client: DynamoDBDocumentClient, tables: TableNames): Promise<void> {
  const put = putDevice(client, tables);
  for (const device_type of ['FRESNEL', 'EMU_MPS']) {
    await put({
      device_type,
      name: device_type,
      status: 'UP',
      specs: `{"name": "${device_type}",  "n": 1.0}`,
      public: device_type === 'FRESNEL',
      announced_at: '2026-11-21T10:00:00.000000Z',
    });
  }
  const [number, device_type, valid_from] = [1, 'FRESNEL', '2026-11-21T10:00:00.000000Z'];
  const Item = { kind: `numbers#${device_type}`, number, device_type, numbers: '{"p_false_pos":0.01}', valid_from };
  await client.send(new PutCommand({ TableName: tables.Calibrations, Item: { ...Item, created_at: valid_from } }));
}

/** The function that stores a whole device. It throws where a part is missing. */
export function putDevice(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Devices'>,
): (device: DeviceRow) => Promise<void> {
  return async (device) => {
    const Item = { kind: 'device', ...DeviceRow.parse(device) };
    await client.send(new PutCommand({ TableName: tables.Devices, Item }));
  };
}
