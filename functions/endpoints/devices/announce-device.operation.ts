import type { Operation } from '../../http/operation.ts';
import { AnnounceRequest, Device, DevicePath, deviceOfPath } from '../../schemas/device.ts';
import { jsonBody } from '../../schemas/json-body.ts';

export const operation = {
  tag: 'For devices',
  summary: 'Announce a device',
  description:
    'Stores the status and the specification of a device, replacing the earlier ones; without `specs` the specification stays. There may be 200 devices, with 6 MB of specifications in all. The status is for users: a worker that claims gets work whatever it is. Operators’ settings stay. A batch without a device type is for the device whose specification has the name of the sequence’s device.',
  path: DevicePath,
  device: deviceOfPath,
  body: jsonBody(AnnounceRequest),
  success: { status: 200, data: Device },
  errors: ['limit_exceeded'],
} satisfies Operation;
