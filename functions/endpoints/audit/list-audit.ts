import { documentClient } from '../../data/dynamodb/client.ts';
import { listAudit } from '../../data/rows/audit.ts';
import { endpoint } from '../../http/endpoint.ts';
import { pageReply } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './list-audit.operation.ts';

const list = listAudit(documentClient(), tableNames('Audit'));

export const handler = endpoint(routes.listAudit, operation, async ({ query }) => pageReply(query, await list(query)));
