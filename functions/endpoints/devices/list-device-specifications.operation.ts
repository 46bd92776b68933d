import type { Operation } from '../../http/operation.ts';
import { DeviceSpecifications } from '../../schemas/device.ts';

export const operation = {
  tag: 'Devices',
  summary: 'Get the specifications of all devices',
  description: 'Pulser’s abstract representation of each device, a JSON text, by device type.',
  success: { status: 200, data: DeviceSpecifications },
} satisfies Operation;
