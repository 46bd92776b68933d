import type { Operation } from '../../http/operation.ts';
import { DevicePath } from '../../schemas/device.ts';
import { WatchedDevice } from '../../schemas/watched-device.ts';

export const operation = {
  tag: 'For operators',
  summary: 'Get a device',
  description:
    'A device with what operators have set for it, and its workers: which are busy with whose job, which wait, and when each was last heard of. A worker that waits is noted every 30 s, and known for 24 hours. The length of the queue may be 10 s old.',
  operator: true,
  path: DevicePath,
  success: { status: 200, data: () => WatchedDevice },
  errors: ['not_found'],
} satisfies Operation;
