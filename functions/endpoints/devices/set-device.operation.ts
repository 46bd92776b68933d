import type { Operation } from '../../http/operation.ts';
import { DevicePath, DeviceSettingsRequest, OperatedDevice } from '../../schemas/device.ts';
import { jsonBody } from '../../schemas/json-body.ts';

export const operation = {
  tag: 'For operators',
  summary: 'Set a device',
  description: `Sets the mode of a device, its windows, and how long jobs and batches may keep it. What is left out stays as it is, and
what the device announces never changes it. Windows need no further call: within one, the device starts nothing, whatever its mode. Once
a call that pauses the device has its answer, no claim brings a batch, and no report the next job. A job that runs goes on and may be
reported; then its batch goes back to its place in the queue. After an error, repeat the call: workers may still get work. A device may be set before it announces itself, and is listed once it has.`,
  operator: true,
  path: DevicePath,
  body: jsonBody(DeviceSettingsRequest),
  success: { status: 200, data: () => OperatedDevice },
} satisfies Operation;
