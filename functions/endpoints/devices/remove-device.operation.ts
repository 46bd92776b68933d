import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { anyDevice } from '../../identity/device-scope.ts';
import { DevicePath, deviceOfPath } from '../../schemas/device.ts';

export const operation = {
  tag: 'For devices',
  summary: 'Remove a device',
  description: 'Removes a device and its specification. A device that announces itself again is listed again.',
  scope: anyDevice,
  path: DevicePath,
  device: deviceOfPath,
  success: { status: 200, data: () => z.null() },
  errors: ['not_found', 'device_in_use'],
} satisfies Operation;
