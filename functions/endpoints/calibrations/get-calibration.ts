import { getCalibration } from '../../data/rows/calibrations.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './get-calibration.operation.ts';

export const handler = endpoint(routes.getCalibration, operation, async ({ db, path }) =>
  success(await getCalibration(db, path)),
);
