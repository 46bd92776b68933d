import { listProjects } from '../../data/rows/projects.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './list-projects.operation.ts';

export const handler = endpoint(routes.listProjects, operation, async ({ db, userId, claims }) =>
  success(await listProjects(db, userId, claims)),
);
