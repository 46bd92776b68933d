import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { Device, DeviceListQuery } from '../../schemas/device.ts';

export const operation = {
  tag: 'Devices',
  summary: 'Get all devices',
  description:
    'The devices that have announced themselves, or those that are asked for: their status, whether they take work and why not, when they are to be paused, and how many batches wait. Retired ones are left out unless `availability` asks for them.',
  query: DeviceListQuery,
  success: { status: 200, data: () => z.array(Device) },
  errors: ['invalid_input'],
} satisfies Operation;
