import { secretsManager } from '../data/aws/secrets-manager.ts';
import { documentClient } from '../data/dynamodb/client.ts';
import { type RotationStep, refreshPublicKeys, rotateWebhookKey } from '../data/webhooks/webhook-keys.ts';
import { requiredEnv, tableNames } from '../runtime/env.ts';

const secretId = requiredEnv('WEBHOOK_KEY_ARN');
const call = secretsManager();
const client = documentClient();
const tables = tableNames('Devices');
const rotate = rotateWebhookKey(call, client, tables);
const refresh = refreshPublicKeys(call, client, tables);

/**
 * Performs a step of a rotation of the secret that webhooks are signed with, when Secrets Manager
 * asks for it. When the clock calls, publishes its public keys.
 */
export function handler(event: RotationStep | object): Promise<void> {
  return 'Step' in event ? rotate(event) : refresh(secretId);
}
