import { documentClient } from '../../data/dynamodb/client.ts';
import { listProjects } from '../../data/rows/projects.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { Claims } from '../../schemas/claims.ts';
import { operation } from './list-projects.operation.ts';

const list = listProjects(documentClient(), tableNames('Columns'));

export const handler = endpoint(routes.listProjects, operation, async ({ userId, event }) =>
  success(await list(userId, Claims.parse(event.requestContext.authorizer))),
);
