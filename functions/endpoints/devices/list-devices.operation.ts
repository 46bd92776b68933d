import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { Device, DeviceListQuery } from '../../schemas/device.ts';

export const operation = {
  tag: 'Devices',
  summary: 'Get all devices',
  description: 'The devices that have announced themselves, and whether they take work.',
  query: DeviceListQuery,
  success: { status: 200, data: () => z.array(Device) },
  errors: [422],
} satisfies Operation;
