/**
 * The devices that have announced themselves. They belong to no user, and every caller may read
 * them.
 */

import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { DeviceInUse, LimitExceeded, NotFound } from '../../errors.ts';
import { type AnnounceRequest, DeviceRow, specificationName } from '../../schemas/device.ts';
import type { DeviceRules } from '../../schemas/device-rules.ts';
import { storedRow } from '../../schemas/stored-row.ts';
import { escapedBytes } from '../../values/json-text.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import { assign } from '../dynamodb/assign.ts';
import { isConditionFailure, translateErrors } from '../dynamodb/aws-errors.ts';
import { ifUnchanged } from '../dynamodb/conditions.ts';
import type { Db } from '../dynamodb/db.ts';
import { keptRead } from '../dynamodb/kept-reads.ts';
import { optimisticTransaction } from '../dynamodb/optimistic-transaction.ts';
import { getItem, type Item, queryAll } from '../dynamodb/reads.ts';
import type { Write } from '../dynamodb/write-units.ts';
import { announceQueue, readFront } from '../queue/queue.ts';
import { DeviceSettings, deviceClockKey } from '../queue/queue-item.ts';

/** The one partition that they share. */
const kind = 'device';

/**
 * All devices, in the order of their types: half a read unit for each 4 KB of all specifications.
 */
export async function listDevices(db: Db<'Devices'>): Promise<DeviceRow[]> {
  const items = await queryAll(db, {
    table: 'Devices',
    partition: { kind },
    sortKey: 'device_type',
    range: 'all',
    consistent: false,
  });
  // An operator may have set a device that has not announced itself yet.
  const announced = items.filter(({ announced_at }) => announced_at !== undefined);
  return announced.map((item) => storedRow(DeviceRow, item));
}

/** As listDevices, up to 10 s old: anyone may ask for it, with no token. */
export const keptDevices: (db: Db<'Devices'>) => Promise<DeviceRow[]> = (db) => readKept(db, kind);
const readKept = keptRead(listDevices);

/**
 * One device; undefined when there is none of this type. 1 read unit for each 4 KB of its
 * specification.
 */
export async function getDevice(db: Db<'Devices'>, device_type: string): Promise<DeviceRow | undefined> {
  const found = await getItem(db, { table: 'Devices', key: { kind, device_type }, consistent: true });
  return found?.announced_at === undefined ? undefined : storedRow(DeviceRow, found);
}

/** One answer holds this number of devices, with this number of bytes of specifications. */
const maxDevices = 200;
const maxBytesOfSpecifications = 6_100_000;

/** What all devices take, in an item of its own: `devices`, and `bytes` by roomFor. */
const totalsKey = { kind: 'totals', device_type: 'devices' };

/**
 * The bytes that are counted for a specification: whole blocks, so that most new versions take the
 * same.
 */
function roomFor(specs: string | undefined): number {
  const block = 4_096;
  return specs === undefined ? 0 : Math.ceil(escapedBytes(specs) / block) * block;
}

/**
 * Stores what a device announces, in place of what it announced before, and returns it. The
 * specification, and who may read it, stay if they are left out. Throws LimitExceeded beyond 200
 * devices, or 6 MB of all specifications together.
 *
 * 1 write unit for each KB. The first announcement, and one whose specification takes another
 * number of 4 KB blocks, is a transaction: 2 for each KB and 2 more, and 2 strong reads.
 */
export async function announceDevice(
  db: Db<'Devices'>,
  device_type: string,
  { status, specs, public: isPublic }: AnnounceRequest,
): Promise<DeviceRow> {
  const announced: Item = {
    ...announcedStatus(status, db.clock.now()),
    ...(specs !== undefined && { specs, name: specificationName(specs), room: roomFor(specs) }),
    ...(isPublic !== undefined && { public: isPublic }),
  };
  const stored =
    (await updateCounted(db, device_type, announced)) ??
    (await changeDevice(db, device_type, (before) => ({ ...withDefaults(device_type, before), ...announced })));
  return storedRow(DeviceRow, stored);
}

/** Updates a device for which as much room is counted already; undefined for any other. */
async function updateCounted(db: Db<'Devices'>, device_type: string, announced: Item): Promise<Item | undefined> {
  const names = Object.keys(announced).filter((name) => name !== 'room');
  const command = new UpdateCommand({
    TableName: db.tables.Devices,
    Key: { kind, device_type },
    UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`,
    ConditionExpression: 'room' in announced ? 'room = :room' : 'attribute_exists(room)',
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: assign(announced).values,
    ReturnValues: 'ALL_NEW',
  });
  try {
    return (await translateErrors(db.client.send(command))).Attributes;
  } catch (error) {
    if (isConditionFailure(error)) return undefined;
    throw error;
  }
}

function announcedStatus(status: string, now: number) {
  return { status, announced_at: fromMilliseconds(now) };
}

function withDefaults(device_type: string, before: Item | undefined): Item {
  return { room: roomFor(before?.specs), public: device_type.startsWith('EMU_'), ...before, device_type };
}

/**
 * Announces a device as `UP` that takes work unannounced. One that is there stays as it is. Throws
 * LimitExceeded beyond 200 devices. 5 write units, 2 strong reads.
 */
export async function announceByClaim(db: Db<'Devices' | 'DeviceQueue'>, deviceType: string): Promise<void> {
  await changeDevice(db, deviceType, (before) => ({
    ...announcedStatus('UP', db.clock.now()),
    ...withDefaults(deviceType, before),
  }));
  await announceQueue(db, deviceType, {});
}

/**
 * Removes a device, with its specification and what it has set for its queue; what an operator has
 * set stays. Throws NotFound, and DeviceInUse while batches wait for it or are at it. 2 write units
 * for each KB, and 4.
 */
export async function removeDevice(db: Db<'Devices' | 'DeviceQueue'>, deviceType: string): Promise<void> {
  const change = async (before: Item | undefined) => {
    if (before?.announced_at === undefined) throw new NotFound('There is no such device.');
    if ((await readFront(db, deviceType)).batches.length > 0) throw new DeviceInUse(deviceType);
    const { rules, rules_rev } = before;
    return rules === undefined ? undefined : { device_type: deviceType, rules, rules_rev };
  };
  // The clock's tag stays: users are charged from there on.
  const Key = { device_type: deviceType, key: deviceClockKey };
  const UpdateExpression = `REMOVE announced, ${Object.keys(DeviceSettings.shape).join(', ')}`;
  const forget = { Update: { TableName: db.tables.DeviceQueue, Key, UpdateExpression } };
  await changeDevice(db, deviceType, change, [forget]);
}

/**
 * Changes or removes a device and counts its room, in one transaction with these writes. Returns
 * what it is now.
 */
function changeDevice<After extends Item | undefined>(
  db: Db<'Devices'>,
  device_type: string,
  change: (before: Item | undefined) => After | Promise<After>,
  writes: readonly Write[] = [],
): Promise<After> {
  const key = { kind, device_type };
  const TableName = db.tables.Devices;
  return optimisticTransaction(db, async () => {
    const [before, counted] = await Promise.all(
      [key, totalsKey].map((each) => getItem(db, { table: 'Devices', key: each, consistent: true })),
    );
    const after = await change(before);
    const devices =
      (counted?.devices ?? 0) + (after?.room === undefined ? 0 : 1) - (before?.room === undefined ? 0 : 1);
    const bytes = (counted?.bytes ?? 0) + (after?.room ?? 0) - (before?.room ?? 0);
    if (after !== undefined) requireRoom({ devices, bytes }, counted);
    const unchanged = ifUnchanged(before ?? {}, ['announced_at', 'room', 'rules_rev']);
    const device =
      after === undefined
        ? { Delete: { TableName, Key: key, ...unchanged } }
        : { Put: { TableName, Item: { ...after, ...key }, ...unchanged } };
    const Item = { ...totalsKey, devices, bytes };
    const totals = { Put: { TableName, Item, ...ifUnchanged(counted ?? {}, ['devices', 'bytes']) } };
    return { transaction: { TransactItems: [device, totals, ...writes] }, result: after };
  });
}

/**
 * The write that lets a device's row say what an operator has set. It makes the row of a device
 * that has not announced itself, which no list shows and no total counts.
 */
export function setRules({ tables }: Db<'Devices'>, device_type: string, rules: DeviceRules): Write {
  return {
    Update: {
      TableName: tables.Devices,
      Key: { kind, device_type },
      UpdateExpression: 'SET #rules = :rules, rules_rev = :rev',
      ExpressionAttributeNames: { '#rules': 'rules' },
      ExpressionAttributeValues: { ':rules': rules, ':rev': rules.rev },
    },
  };
}

interface Totals {
  readonly devices: number;
  readonly bytes: number;
}

function requireRoom({ devices, bytes }: Totals, before: Item | undefined): void {
  if (devices > maxDevices && devices > (before?.devices ?? 0)) {
    throw new LimitExceeded(`There are ${maxDevices} devices, and may be no more: remove one.`);
  }
  if (bytes > maxBytesOfSpecifications && bytes > (before?.bytes ?? 0)) {
    const left = Math.max(0, maxBytesOfSpecifications - (before?.bytes ?? 0));
    throw new LimitExceeded(`The specifications of all devices leave room for ${left} bytes of escaped JSON.`);
  }
}
