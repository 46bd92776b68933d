import { documentClient } from '../../data/dynamodb/client.ts';
import { getPublicKeys } from '../../data/webhooks/webhook-keys.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './get-webhook-public-key.operation.ts';

const keys = getPublicKeys(documentClient(), tableNames('Devices'));

export const handler = endpoint(routes.getWebhookPublicKey, operation, async () => success(await keys()));
