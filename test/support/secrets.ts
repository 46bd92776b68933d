import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { vi } from 'vitest';
import { secretsManager } from '../../functions/data/aws/secrets-manager.ts';
import { refreshPublicKeys, rotateWebhookKey } from '../../functions/data/webhooks/webhook-keys.ts';
import { systemClock } from '../../functions/runtime/clock.ts';
import type { TableNames } from '../../functions/tables.ts';
import { type SecretStore, startSecretStore } from '../../infra/local/secrets/secret-store.ts';

export const webhookKeyArn = 'arn:aws:secretsmanager:eu-west-3:123456789012:secret:webhooks';

interface TestSecrets extends SecretStore {
  /**
   * Actions and secrets of the calls since it was emptied, `secretsmanager:GetSecretValue arn:…`.
   */
  readonly calls: string[];
  /** Makes a new key for webhooks, by the function that does so. */
  rotateKey(): Promise<void>;
}

/**
 * The local Secrets Manager with the secret of the webhooks, whose public key is published in these
 * tables. Import endpoints after this.
 */
export async function startSecrets(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Devices'>,
): Promise<TestSecrets> {
  const calls: string[] = [];
  const principal = {
    arn: 'arn:aws:sts::123456789012:assumed-role/role/function-under-test',
    credentials: { accessKeyId: 'AKIDTEST', secretAccessKey: 'a secret', sessionToken: 'a session' },
    mayDo({ action, resource }: { action: string; resource: string }) {
      calls.push(`${action} ${resource}`);
      return true;
    },
  };
  const store = await startSecretStore(new Map([['AKIDTEST', principal]]));
  vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', store.url);
  vi.stubEnv('WEBHOOK_KEY_ARN', webhookKeyArn);
  store.create(webhookKeyArn);
  const db = { client, tables, clock: systemClock };
  const call = secretsManager();
  const rotateKey = () => store.rotate(webhookKeyArn, (step) => rotateWebhookKey(db, call, step as never));
  await refreshPublicKeys(db, { id: webhookKeyArn, call });
  calls.length = 0;
  return { ...store, calls, rotateKey };
}
