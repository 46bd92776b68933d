import { listAudit } from '../../data/audit.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { pageReply } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './list-audit.operation.ts';

const list = listAudit(documentClient(), tableNames('Audit'));

export const handler = endpoint(routes.listAudit, operation, async ({ query }) => pageReply(query, await list(query)));
