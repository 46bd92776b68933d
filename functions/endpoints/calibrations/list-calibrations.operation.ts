import type { Operation } from '../../http/operation.ts';
import { ListedCalibration } from '../../schemas/calibration.ts';
import { DevicePath } from '../../schemas/device.ts';
import { PageQuery } from '../../schemas/page-query.ts';

export const operation = {
  tag: 'Devices',
  summary: 'List the calibrations of a device',
  description: 'What the device has measured of itself, without the documents. The highest number comes first.',
  everyToken: true,
  path: DevicePath,
  query: PageQuery,
  success: { status: 200, list: () => ListedCalibration, headers: ['Content-Range'] },
  errors: ['not_found'],
} satisfies Operation;
