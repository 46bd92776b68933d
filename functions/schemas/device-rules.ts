/** What an operator has set for a device, as it is stored: see data/queue/device-rules.ts. */

import * as z from 'zod/mini';
import { deviceModeNames } from '../device-modes.ts';
import { Count, NullableText, OptionalCount, Timestamp } from './values.ts';

/** Whether an operator lets a device work. */
export const DeviceMode = z.enum(deviceModeNames).register(z.globalRegistry, { id: 'DeviceMode' });
export type DeviceMode = z.infer<typeof DeviceMode>;

export const windowFields = {
  starts_at: 'When it begins.',
  ends_at: 'When it is over.',
  reason: 'Why, for users to read.',
};

/** A time in which an operator pauses a device. */
export const MaintenanceWindow = z
  .strictObject({ starts_at: Timestamp, ends_at: Timestamp, reason: z.string() })
  .register(z.globalRegistry, { id: 'MaintenanceWindow', fields: windowFields });

export type MaintenanceWindow = z.infer<typeof MaintenanceWindow>;

export const DeviceRules = z.object({
  /** Higher with each change: about the milliseconds since 1970. 0: an operator has set nothing. */
  rev: Count,
  mode: DeviceMode,
  /** Null where the mode needs none. */
  reason: NullableText,
  /** By their time; they do not overlap. */
  windows: z.array(MaintenanceWindow),
  max_job_seconds: OptionalCount,
  idle_seconds: OptionalCount,
  max_batch_seconds: OptionalCount,
});
export type DeviceRules = z.infer<typeof DeviceRules>;
