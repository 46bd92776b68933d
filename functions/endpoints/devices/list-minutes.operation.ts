import type { Operation } from '../../http/operation.ts';
import { DevicePath } from '../../schemas/device.ts';
import { DeviceMinutes, MinutesQuery } from '../../schemas/device-minutes.ts';

export const operation = {
  tag: 'Devices',
  summary: 'Get what was measured of a device',
  description:
    'Queue, waits, busy time and workers of a device over time. The service measures each announced device every minute, and keeps the values for 8 days. Steps begin at multiples of `step`; the first may begin before `from`.',
  everyToken: true,
  path: DevicePath,
  query: MinutesQuery,
  success: { status: 200, data: () => DeviceMinutes },
  errors: ['not_found'],
} satisfies Operation;
