/** What operators set for devices. */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { needsReason } from '../../device-modes.ts';
import type { DeviceSettingsRequest } from '../../schemas/device.ts';
import type { DeviceRules } from '../../schemas/device-rules.ts';
import type { TableNames } from '../../tables.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import { optimisticTransaction } from '../dynamodb/optimistic-transaction.ts';
import { deviceRulesKey } from '../queue/device-rules.ts';
import { type QueueOptions, workQueue } from '../queue/queue.ts';
import { auditWrite } from '../rows/audit.ts';
import { setRules, unchangedSince } from '../rows/devices.ts';

export interface DeviceSetting {
  /** The operator's user id. */
  readonly operator: string;
  readonly deviceType: string;
  readonly settings: DeviceSettingsRequest;
}

/**
 * The function that sets a device, and writes a row of the audit trail. What is left out stays as
 * it is; null goes back to what the device announces. Once it has returned, nothing is handed out
 * that the rules forbid: see isCurrent in lifecycle/queue-writes.ts. After an error, repeat it.
 *
 * Costs 2 write units for each KB of the rules, twice, of the device's row with its specification,
 * and of the audit row; 1 for each batch that a worker has; and 1 read unit for 16 batches of the
 * queue.
 */
export function setDevice(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Devices' | 'DeviceQueue' | 'Audit'>,
  options: QueueOptions = {},
): (setting: DeviceSetting) => Promise<DeviceRules> {
  const { now = Date.now } = options;
  const queue = workQueue(client, tables, options);
  return async ({ operator, deviceType, settings }) => {
    const { reason = null, ...changed } = settings;
    const rules = await optimisticTransaction(client, async () => {
      const before = await queue.rules(deviceType);
      const after = changedRules(before, settings, now());
      const Item = { device_type: deviceType, key: deviceRulesKey, ...after };
      const act = {
        at: fromMilliseconds(now()),
        operator,
        action: 'device.set' as const,
        target: { device_type: deviceType },
        reason,
        before: pick(before, Object.keys(changed)),
        after: pick(after, Object.keys(changed)),
      };
      const unchanged = unchangedSince(before.rev === 0 ? undefined : before, ['rev']);
      const put = { Put: { TableName: tables.DeviceQueue, Item, ...unchanged } };
      const TransactItems = [put, setRules(tables, deviceType, after), auditWrite(tables, act)];
      return { transaction: { TransactItems }, result: after };
    });
    await queue.markLeases(deviceType, rules.rev);
    return rules;
  };
}

/** Numbers grow also where the rules were lost: leases hold those of the rules before. */
function changedRules(before: DeviceRules, settings: DeviceSettingsRequest, now: number): DeviceRules {
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
