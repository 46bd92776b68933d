import { secretsManager } from '../data/aws/secrets-manager.ts';
import { database } from '../data/dynamodb/db.ts';
import {
  type RotationStep,
  refreshPublicKeys,
  rotateWebhookKey,
  type WebhookSecret,
} from '../data/webhooks/webhook-keys.ts';
import { otherFunctions } from '../other-functions.ts';
import { requiredEnv } from '../runtime/env.ts';

const db = database(otherFunctions.rotateWebhookKey);
const secret: WebhookSecret = { id: requiredEnv('WEBHOOK_KEY_ARN'), call: secretsManager() };

/**
 * Performs a step of a rotation of the secret that webhooks are signed with, when Secrets Manager
 * asks for it. When the clock calls, publishes its public keys.
 */
export function handler(event: RotationStep | object): Promise<void> {
  return 'Step' in event ? rotateWebhookKey(db, secret.call, event) : refreshPublicKeys(db, secret);
}
