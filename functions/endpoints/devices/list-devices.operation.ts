import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { Device, DeviceListQuery } from '../../schemas/device.ts';

export const operation = {
  tag: 'Devices',
  summary: 'Get all devices',
  description: 'The devices that have announced themselves, whether they take work, and how much waits for them.',
  query: DeviceListQuery,
  success: { status: 200, data: () => z.array(Device) },
  errors: ['invalid_input'],
} satisfies Operation;
