import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { DevicePath, DeviceSettingsRequest, OperatedDevice } from '../../schemas/device.ts';
import { jsonBody } from '../../schemas/json-body.ts';
import { Preview, PreviewQuery } from '../../schemas/preview.ts';

export const operation = {
  tag: 'For operators',
  summary: 'Set a device',
  description: `Sets the mode of a device, its windows, and how long jobs and batches may keep it. Omitted members stay as they
are, and announcements never change these settings. Windows need no further call: within one, the device starts
nothing, whatever its mode. From the answer of a pausing call on, no claim brings a batch, and no report brings the next job. A
running job goes on and may be reported; then its batch returns to its place in the queue. After an error, repeat the call:
workers may still get work. You can set a device before it announces itself; it is listed once it has.`,
  operator: true,
  path: DevicePath,
  query: PreviewQuery,
  body: jsonBody(DeviceSettingsRequest),
  success: { status: 200, data: () => z.union([OperatedDevice(), Preview]) },
} satisfies Operation;
