import { describe, expect, it } from 'vitest';
import { getDevice, listDevices } from '../../functions/data/devices.ts';
import type { DeviceRow } from '../../functions/schemas/device.ts';
import { putDevice } from '../support/load-devices.ts';
import { ownTables } from '../support/own-tables.ts';

const { client, tables } = await ownTables();
const device = (device_type: string, content: Partial<DeviceRow> = {}): DeviceRow => ({
  device_type,
  name: device_type,
  status: 'UP',
  availability: 'ACTIVE',
  specs: `{"name": "${device_type}", "max_runs": 2000.0}`,
  public: true,
  announced_at: '2026-11-21T10:00:00.000000Z',
  ...content,
});

describe('the devices', () => {
  it('are none before one announces itself', async () => {
    expect(await listDevices(client, tables)()).toEqual([]);
    expect(await getDevice(client, tables)('FRESNEL')).toBeUndefined();
  });

  it('are what they last announced, in the order of their types', async () => {
    const put = putDevice(client, tables);
    await put(device('FRESNEL'));
    await put(device('EMU_MPS', { specs: `{"a":"${'x'.repeat(20_000)}"}` }));
    const later = device('FRESNEL', {
      status: 'DOWN',
      availability: 'INACTIVE',
      announced_at: '2026-11-21T11:00:00.000000Z',
    });
    await put(later);
    expect(await getDevice(client, tables)('FRESNEL')).toEqual(later);
    expect((await listDevices(client, tables)()).map(({ device_type }) => device_type)).toEqual(['EMU_MPS', 'FRESNEL']);
  });

  it('are never stored in part', async () => {
    const { specs: _, ...rest } = device('EMU_SV');
    await expect(putDevice(client, tables)(rest as DeviceRow)).rejects.toThrow();
    expect(await getDevice(client, tables)('EMU_SV')).toBeUndefined();
  });
});
