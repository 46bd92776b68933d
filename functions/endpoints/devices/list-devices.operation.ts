import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { Device, DeviceListQuery } from '../../schemas/device.ts';

export const operation = {
  tag: 'Devices',
  summary: 'Get all devices',
  description:
    'The announced devices, or the ones in the query: their status, whether they take work or why not, planned pauses, and how many batches wait. Retired devices are listed only with `availability=RETIRED`. The list may be 10 s old.',
  query: DeviceListQuery,
  success: { status: 200, data: () => z.array(Device()) },
  errors: ['invalid_input'],
} satisfies Operation;
