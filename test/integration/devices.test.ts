import { GetCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  announceDevice,
  getDevice,
  keptDevices,
  listDevices,
  removeDevice,
} from '../../functions/data/rows/devices.ts';
import { fitsOneAnswer, success } from '../../functions/http/reply.ts';
import type { DeviceRow } from '../../functions/schemas/device.ts';
import { cases } from '../support/depth.ts';
import { putDevice } from '../support/load-devices.ts';
import { writeAll } from '../support/load-list.ts';
import { measuredClient } from '../support/measured-client.ts';
import { ownTables } from '../support/own-tables.ts';
import { seed } from '../support/seed.ts';
import { testDb } from '../support/test-db.ts';

const { client, tables } = await ownTables();
const db = testDb(client, tables);
const device = (device_type: string, content: Partial<DeviceRow> = {}): DeviceRow => ({
  device_type,
  name: device_type,
  status: 'UP',
  specs: `{"name": "${device_type}", "max_runs": 2000.0}`,
  public: true,
  announced_at: '2026-11-21T10:00:00.000000Z',
  ...content,
});

describe('the devices', () => {
  it('are none before one announces itself', async () => {
    expect(await listDevices(db)).toEqual([]);
    expect(await getDevice(db, 'FRESNEL')).toBeUndefined();
  });

  it('are what they last announced, in the order of their types', async () => {
    const put = putDevice(client, tables);
    await put(device('FRESNEL'));
    await put(device('EMU_MPS', { specs: `{"a":"${'x'.repeat(20_000)}"}` }));
    const later = device('FRESNEL', {
      status: 'DOWN',
      announced_at: '2026-11-21T11:00:00.000000Z',
    });
    await put(later);
    expect(await getDevice(db, 'FRESNEL')).toEqual(later);
    expect((await listDevices(db)).map(({ device_type }) => device_type)).toEqual(['EMU_MPS', 'FRESNEL']);
  });
});

describe('the devices that anyone may list', () => {
  it('are read once in 10 s by a process, however many ask', async () => {
    const own = await ownTables();
    let time = 0;
    const later = testDb(own.client, own.tables, { now: () => time });
    const measure = measuredClient(own.client);
    const put = (type: string) => putDevice(client, own.tables)(device(type));
    /** What each caller sees, and how often DynamoDB is asked. */
    const seen = async (callers: number) => {
      const { value, calls } = await measure(() =>
        Promise.all(Array.from({ length: callers }, () => keptDevices(later))),
      );
      return [new Set(value.map((list) => list.map(({ device_type }) => device_type).join())), calls.length];
    };
    await put('FRESNEL');
    expect(await seen(20)).toEqual([new Set(['FRESNEL']), 1]);
    await put('EMU_MPS');
    time = 9_999;
    expect(await seen(20)).toEqual([new Set(['FRESNEL']), 0]);
    time = 10_000;
    expect(await seen(20)).toEqual([new Set(['EMU_MPS,FRESNEL']), 1]);
  });

  it('are read again at once where reading has failed', async () => {
    const own = await ownTables();
    const db = testDb(own.client, { ...own.tables, Devices: 'missing' });
    await expect(keptDevices(db)).rejects.toThrow();
    await putDevice(client, own.tables)(device('FRESNEL'));
    const mended = Object.assign(db, { tables: own.tables });
    expect(await keptDevices(mended)).toHaveLength(1);
  });
});

describe('announcements', () => {
  const specsOf = (bytes: number) => `{"name":"X","a":"${'x'.repeat(bytes)}"}`;
  const largest = specsOf(199_940);

  async function emptyTables() {
    const own = await ownTables();
    const db = testDb(own.client, own.tables);
    const put = (type: string, specs?: string) =>
      announceDevice(db, type, { status: 'UP', ...(specs !== undefined && { specs }) }).then(
        () => 'stored',
        (error: Error) => error.name,
      );
    /** What is counted, and what should be. */
    const counts = async () => {
      const { Items = [] } = await own.client.send(new ScanCommand({ TableName: own.tables.Devices }));
      const rooms = Items.filter(({ kind }) => kind === 'device').map(({ room }) => room);
      const Key = { kind: 'totals', device_type: 'devices' };
      const { Item } = await own.client.send(new GetCommand({ TableName: own.tables.Devices, Key }));
      return [Item, { ...Key, devices: rooms.length, bytes: rooms.reduce((sum, room) => sum + room, 0) }] as const;
    };
    /** Copies the first device under each type: what announcements of the others would leave. */
    const repeatFirst = async (types: readonly string[]) => {
      const { Items = [] } = await own.client.send(new ScanCommand({ TableName: own.tables.Devices }));
      const row = Items.find(({ kind }) => kind === 'device')!;
      const totals = { kind: 'totals', device_type: 'devices', devices: types.length, bytes: types.length * row.room };
      const rows = types.map((device_type) => ({ ...row, device_type }));
      await writeAll(
        own.client,
        [...rows, totals].map((item) => [own.tables.Devices, item]),
      );
      expect((await counts())[0]).toEqual((await counts())[1]);
    };
    return { put, counts, repeatFirst, remove: (type: string) => removeDevice(db, type) };
  }

  it('are of 200 devices at most, also where many come at once', async () => {
    const { put, counts, repeatFirst, remove } = await emptyTables();
    await put('D100');
    await repeatFirst(Array.from({ length: 195 }, (_, at) => `D${100 + at}`));
    let left = Array.from({ length: 12 }, (_, at) => `E${at}`);
    while (left.length > 7) {
      const results = await Promise.all(left.map((type) => put(type)));
      expect(new Set(results).difference(new Set(['stored', 'LimitExceeded', 'TooBusy']))).toEqual(new Set());
      left = left.filter((_, at) => results[at] !== 'stored');
    }
    expect([left.length, await put('more'), await put('D107')]).toEqual([7, 'LimitExceeded', 'stored']);
    await remove('D107');
    expect([await put('more'), await put('D107')]).toEqual(['stored', 'LimitExceeded']);
    const [counted, recounted] = await counts();
    expect(counted).toEqual(recounted);
    expect(counted?.devices).toBe(200);
  });

  it('are of specifications that one answer holds', async () => {
    const { put, remove } = await emptyTables();
    for (let at = 0; at < 30; at++) expect(await put(`D${at}`, largest)).toBe('stored');
    expect([await put('E', largest), await put('E')]).toEqual(['LimitExceeded', 'stored']);
    expect([await put('E', largest), await put('E', specsOf(70_000))]).toEqual(['LimitExceeded', 'stored']);
    expect([await put('D3', largest), await put('D3', specsOf(1))]).toEqual(['stored', 'stored']);
    expect(await put('E', largest)).toBe('stored');
    await remove('D4');
    expect(await put('D3', largest)).toBe('stored');
  });

  it('fit into the answers that list them', () => {
    const types = Array.from({ length: 200 }, (_, at) => '€'.repeat(127) + String.fromCharCode(0x3000 + at));
    const specs = types.map((_, at) => (at < 30 ? largest : specsOf(at === 30 ? 78_000 : 1)));
    expect(specs.reduce((sum, { length }) => sum + length, 0)).toBeGreaterThan(6_070_000);
    const status = '€'.repeat(256);
    const shown = types.map((device_type, at) => ({ device_type, specs: specs[at] }));
    const devices = types.map((device_type) => ({
      device_type,
      status,
      availability: 'INACTIVE',
      queue_length: 1_000,
    }));
    const byType = Object.fromEntries(shown.map((each) => [each.device_type, each.specs]));
    for (const answer of [shown, devices, byType]) expect(fitsOneAnswer(success(answer))).toBe(true);
  });

  it(`count what is there, whatever comes at once (seed ${seed})`, async () => {
    const { put, counts, remove } = await emptyTables();
    const change = fc.record({ type: fc.nat(2), isRemoved: fc.boolean(), bytes: fc.option(fc.nat(40_000)) });
    const changes = fc.sample(fc.tuple(change, change, change), { seed, numRuns: cases(16, 40) });
    for (const together of changes) {
      await Promise.all(
        together.map(({ type, isRemoved, bytes }) =>
          isRemoved
            ? remove(`D${type}`).catch(() => undefined)
            : put(`D${type}`, bytes === null ? undefined : specsOf(bytes)),
        ),
      );
    }
    const [counted, recounted] = await counts();
    expect(counted).toEqual(recounted);
  });
});
