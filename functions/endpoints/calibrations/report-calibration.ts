import { reportCalibration } from '../../data/rows/calibrations.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './report-calibration.operation.ts';

export const handler = endpoint(routes.reportCalibration, operation, async ({ db, path, body }) =>
  success(await reportCalibration(db, path.device_type, body)),
);
