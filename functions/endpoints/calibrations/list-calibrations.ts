import { listCalibrations } from '../../data/rows/calibrations.ts';
import { endpoint } from '../../http/endpoint.ts';
import { pageReply } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './list-calibrations.operation.ts';

export const handler = endpoint(routes.listCalibrations, operation, async ({ db, path, query }) =>
  pageReply(query, await listCalibrations(db, path.device_type, query)),
);
