import type { Operation } from '../../http/operation.ts';
import { AnnounceRequest, Device, DevicePath, deviceOfPath } from '../../schemas/device.ts';
import { jsonBody } from '../../schemas/json-body.ts';

export const operation = {
  tag: 'For devices',
  summary: 'Announce a device',
  description:
    'Stores the status and the specification of a device, in place of the earlier ones; a status alone leaves the specification as it is. There may be 200 devices, with 6 MB of specifications in all. The status is for users to read: a worker that claims gets work whatever it is. What an operator has set stays. A batch without a device type is for the device whose specification has the name that the sequence’s device has.',
  path: DevicePath,
  device: deviceOfPath,
  body: jsonBody(AnnounceRequest),
  success: { status: 200, data: () => Device },
  errors: ['limit_exceeded'],
} satisfies Operation;
