import { listMinutes } from '../../data/operators/device-minutes.ts';
import { getDevice } from '../../data/rows/devices.ts';
import { NotFound } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './list-minutes.operation.ts';

export const handler = endpoint(routes.listMinutes, operation, async ({ db, path: { device_type }, query }) => {
  const measured = await listMinutes(db, device_type, query);
  // What was measured of a device that was removed is kept.
  const isKnown = measured.minutes.length > 0 || (await getDevice(db, device_type)) !== undefined;
  if (!isKnown) throw new NotFound('There is no such device.');
  return success(measured);
});
