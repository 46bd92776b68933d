import { secretsManager } from './data/secrets-manager.ts';
import { rotateWebhookKey } from './data/webhook-keys.ts';

/** Carries out a step of a rotation of the secret that webhooks are signed with. */
export const handler = rotateWebhookKey(secretsManager());
