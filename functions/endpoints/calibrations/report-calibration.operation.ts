import type { Operation } from '../../http/operation.ts';
import { Calibration, CalibrationRequest } from '../../schemas/calibration.ts';
import { DevicePath, deviceOfPath } from '../../schemas/device.ts';
import { jsonBody } from '../../schemas/json-body.ts';

export const operation = {
  tag: 'For devices',
  summary: 'Report a calibration',
  description:
    'Stores what a device has measured of itself, under its next number. From then on, jobs that are handed out carry the number of the calibration in force. A calibration never changes, and stays. Without `valid_from`, a report that is sent again makes another one; with it, the one that was made last is answered. At most 10 may be to come, and 20 come into force within a minute.',
  path: DevicePath,
  device: deviceOfPath,
  body: jsonBody(CalibrationRequest),
  success: { status: 200, data: () => Calibration },
  errors: ['limit_exceeded'],
} satisfies Operation;
