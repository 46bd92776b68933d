import type { Operation } from '../../http/operation.ts';
import { Calibration, CalibrationPath } from '../../schemas/calibration.ts';

export const operation = {
  tag: 'Devices',
  summary: 'Get a calibration',
  description:
    'A calibration of a device, with its document: the one of a number, which a job carries as `calibration`, or the `latest`. It never changes.',
  everyToken: true,
  path: CalibrationPath,
  success: { status: 200, data: () => Calibration },
  errors: ['not_found'],
} satisfies Operation;
