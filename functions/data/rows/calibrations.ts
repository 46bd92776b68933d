/**
 * The calibrations of all devices. They belong to no user, and every caller may read them. Numbers
 * and documents are in partitions of their own, so that a page of numbers reads no document. Which
 * of them are in force: data/queue/calibrations-in-force.ts.
 */

import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { NotFound } from '../../errors.ts';
import { type CalibrationPath, type CalibrationRequest, CalibrationRow } from '../../schemas/calibration.ts';
import type { PageQuery } from '../../schemas/page-query.ts';
import { storedRow } from '../../schemas/stored-row.ts';
import { JsonText } from '../../schemas/stored-values.ts';
import { isDeepStrictEqual } from '../../values/is-deep-strict-equal.ts';
import type { Page } from '../../values/page.ts';
import { fromMilliseconds, toMicroseconds } from '../../values/timestamp.ts';
import { ifAbsent, ifUnchanged } from '../dynamodb/conditions.ts';
import type { Db } from '../dynamodb/db.ts';
import { optimisticTransaction } from '../dynamodb/optimistic-transaction.ts';
import { getItem, getRow, type Item, queryAll, queryLast } from '../dynamodb/reads.ts';
import type { Write } from '../dynamodb/write-units.ts';
import { calibrationsOf, withCalibration } from '../queue/calibrations-in-force.ts';
import { deviceRulesKey } from '../queue/device-rules.ts';
import { getRulesItem } from '../queue/queue.ts';
import { getDevice } from './devices.ts';

type Calibration = z.output<typeof CalibrationRow>;
type WithDocument = Calibration & { readonly document: Readonly<Record<string, unknown>> | null };

const numbersOf = (deviceType: string) => `numbers#${deviceType}`;
const documentsOf = (deviceType: string) => `documents#${deviceType}`;

/**
 * Stores a calibration under the device's next number, and returns it. What is handed out once this
 * has returned knows it. Concurrent calls get numbers of their own, without gaps. If it is sent
 * again with its `valid_from`, and no other came between, it is not stored again. Throws
 * LimitExceeded as withCalibration does.
 *
 * 2 strong reads; 2 write units for each KB of the numbers, of the document, and of the device's
 * rules unless it is in force at no time.
 */
export function reportCalibration(
  db: Db<'Calibrations' | 'DeviceQueue'>,
  deviceType: string,
  request: CalibrationRequest,
): Promise<WithDocument> {
  const { document = null } = request;
  const numbers = JSON.stringify(request.numbers);
  const text = document === null ? undefined : JSON.stringify(document);
  const content = JSON.stringify([numbers, text, request.valid_from]);
  const digest = createHash('sha256').update(content).digest('base64');
  return optimisticTransaction(db, async () => {
    const [newest, ofDevice] = await Promise.all([getNewest(db, deviceType), getRulesItem(db, deviceType)]);
    const isRepeated = request.valid_from !== undefined && newest?.digest === digest;
    if (isRepeated) return { result: { ...storedRow(CalibrationRow, newest), document } };
    const now = db.clock.now();
    const number = (newest?.number ?? 0) + 1;
    const created_at = fromMilliseconds(now);
    const { valid_from = created_at } = request;
    const row = { number, device_type: deviceType, numbers, valid_from, created_at };
    const before = calibrationsOf(ofDevice);
    const after = withCalibration(before, [number, toMicroseconds(valid_from), now], now);
    const TransactItems = [
      putNew(db, { kind: numbersOf(deviceType), ...row, digest }),
      ...(text === undefined ? [] : [putNew(db, { kind: documentsOf(deviceType), number, document: text })]),
      ...(isDeepStrictEqual(after, before) ? [] : [setKnown(db, deviceType, { ofDevice, after })]),
    ];
    return { transaction: { TransactItems }, result: { ...row, numbers: request.numbers, document } };
  });
}

function putNew({ tables }: Db<'Calibrations'>, item: Item): Write {
  return { Put: { TableName: tables.Calibrations, Item: item, ...ifAbsent('kind') } };
}

/** It leaves alone what the operator has set, and its `rev`: no lease is concerned. */
function setKnown(
  { tables }: Db<'DeviceQueue'>,
  device_type: string,
  { ofDevice = {}, after }: { readonly ofDevice: Item | undefined; readonly after: unknown },
): Write {
  const condition = ifUnchanged(ofDevice, ['calibrations']);
  return {
    Update: {
      TableName: tables.DeviceQueue,
      Key: { device_type, key: deviceRulesKey },
      UpdateExpression: 'SET #calibrations = :after',
      ...condition,
      ExpressionAttributeValues: { ...condition.ExpressionAttributeValues, ':after': after },
    },
  };
}

async function getNewest(db: Db<'Calibrations'>, deviceType: string): Promise<Item | undefined> {
  const partition = { kind: numbersOf(deviceType) };
  const read = { table: 'Calibrations', partition, sortKey: 'number', range: 'all', consistent: true } as const;
  return (await queryLast(db, read, 1))[0];
}

/**
 * Lists the calibrations of a device, the newest first, and their exact total; strongly consistent.
 * Throws NotFound for a device that is not announced and has none. 1 read unit for each 4 KB of the
 * numbers on the page, so 10 for 100 calibrations of a dozen numbers, and 1; at most 125.
 */
export async function listCalibrations(
  db: Db<'Calibrations' | 'Devices'>,
  deviceType: string,
  { limit, offset }: PageQuery,
): Promise<Page<Calibration>> {
  const total: number = (await getNewest(db, deviceType))?.number ?? 0;
  if (total === 0 && (await getDevice(db, deviceType)) === undefined) throw new NotFound('There is no such device.');
  const last = total - offset;
  if (last < 1) return { items: [], total };
  const items = await queryAll(db, {
    table: 'Calibrations',
    partition: { kind: numbersOf(deviceType) },
    sortKey: 'number',
    range: { between: [Math.max(1, last - limit + 1), last] },
    consistent: true,
  });
  return { items: items.map((item) => storedRow(CalibrationRow, item)).reverse(), total };
}

const DocumentRow = z.object({ document: JsonText });

/**
 * One calibration; `latest` is the one with the highest number. Strongly consistent. Throws
 * NotFound. 2 read units, and more for a document of more than 4 KB.
 */
export async function getCalibration(
  db: Db<'Calibrations'>,
  { device_type, number }: CalibrationPath,
): Promise<WithDocument> {
  const key = { kind: numbersOf(device_type), number };
  const found =
    number === 'latest'
      ? await getNewest(db, device_type)
      : await getItem(db, { table: 'Calibrations', key, consistent: true });
  if (found === undefined) throw new NotFound('There is no such calibration.');
  const row = storedRow(CalibrationRow, found);
  const ofDocument = { kind: documentsOf(device_type), number: row.number };
  const stored = await getRow(db, { table: 'Calibrations', key: ofDocument, schema: DocumentRow });
  return { ...row, document: stored?.document ?? null };
}
