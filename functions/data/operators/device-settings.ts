/** What operators set for devices. */

import { needsReason } from '../../device-modes.ts';
import type { DeviceSettingsRequest } from '../../schemas/device.ts';
import type { DeviceRules } from '../../schemas/device-rules.ts';
import { isDeepStrictEqual } from '../../values/is-deep-strict-equal.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import { ifUnchanged } from '../dynamodb/conditions.ts';
import type { Db } from '../dynamodb/db.ts';
import { optimisticTransaction } from '../dynamodb/optimistic-transaction.ts';
import { deviceRules, deviceRulesKey } from '../queue/device-rules.ts';
import { getRulesItem, markLeases } from '../queue/queue.ts';
import { auditWrite } from '../rows/acts.ts';
import { setRules } from '../rows/devices.ts';

interface DeviceSetting {
  /** The operator's user id. */
  readonly operator: string;
  readonly operatorName?: string | undefined;
  readonly deviceType: string;
  readonly settings: DeviceSettingsRequest;
}

/**
 * Sets a device, and writes a row of the audit trail. Settings that are left out stay as they are;
 * null goes back to what the device announces. What changes nothing writes nothing. Once this has
 * returned, nothing is handed out that the rules forbid: see isCurrent in
 * lifecycle/queue-writes.ts. After an error, repeat it.
 *
 * Write units: 2 for each KB of the rules, counted twice, of the device's row with its
 * specification, and of the audit row; 1 for each batch that a worker has. Read units: 1 for 16
 * batches of the queue.
 */
export async function setDevice(
  db: Db<'Devices' | 'DeviceQueue' | 'Audit'>,
  { operator, operatorName, deviceType, settings }: DeviceSetting,
): Promise<DeviceRules> {
  const { reason = null, ...changed } = settings;
  const rules = await optimisticTransaction(db, async () => {
    const stored = await getRulesItem(db, deviceType);
    const before = deviceRules(stored);
    const now = db.clock.now();
    const after = changedRules(before, settings, now);
    if (isDeepStrictEqual({ ...after, rev: before.rev }, before)) return { result: before };
    const { calibrations } = stored ?? {};
    const Item = { device_type: deviceType, key: deviceRulesKey, ...after, ...(calibrations && { calibrations }) };
    const act = {
      at: fromMilliseconds(now),
      operator,
      operator_name: operatorName,
      action: 'device.set' as const,
      target: { device_type: deviceType },
      reason,
      before: pick(before, Object.keys(changed)),
      after: pick(after, Object.keys(changed)),
    };
    const isUnchanged = ifUnchanged(stored ?? {}, ['rev', 'calibrations']);
    const put = { Put: { TableName: db.tables.DeviceQueue, Item, ...isUnchanged } };
    const TransactItems = [put, setRules(db, deviceType, after), auditWrite(db, act)];
    return { transaction: { TransactItems }, result: after };
  });
  await markLeases(db, deviceType, rules.rev);
  return rules;
}

/**
 * The rules once the settings are set. The number grows even if the rules were lost: leases hold
 * the number of the rules before.
 */
export function changedRules(before: DeviceRules, settings: DeviceSettingsRequest, now: number): DeviceRules {
  const { mode = before.mode, reason = settings.mode === undefined ? before.reason : null } = settings;
  const { max_job_seconds, idle_seconds, max_batch_seconds } = { ...before, ...settings };
  const windows = (settings.windows ?? before.windows).filter(({ ends_at }) => ends_at > fromMilliseconds(now));
  return {
    rev: Math.max(now, before.rev + 1),
    mode,
    reason: needsReason(mode) ? reason : null,
    windows: windows.toSorted((a, b) => (a.starts_at < b.starts_at ? -1 : 1)),
    ...(typeof max_job_seconds === 'number' && { max_job_seconds }),
    ...(typeof idle_seconds === 'number' && { idle_seconds }),
    ...(typeof max_batch_seconds === 'number' && { max_batch_seconds }),
  };
}

function pick(rules: DeviceRules, names: readonly string[]): Record<string, unknown> {
  const values: Readonly<Record<string, unknown>> = { ...rules };
  return Object.fromEntries(names.map((name) => [name, values[name] ?? null]));
}
