import type { Operation } from '../../http/operation.ts';
import { DevicePath, DeviceSpecification } from '../../schemas/device.ts';

export const operation = {
  tag: 'Devices',
  summary: 'Get the specification of a device',
  description: 'Pulser’s abstract representation of the device: a JSON text.',
  path: DevicePath,
  success: { status: 200, data: DeviceSpecification },
  errors: ['not_found'],
} satisfies Operation;
