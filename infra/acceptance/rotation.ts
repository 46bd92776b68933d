import { equal, ok } from 'node:assert/strict';
import { outputReader } from '../commands/aws-cli.ts';
import { call } from '../smoke/api-client.ts';
import { eventually } from '../smoke/eventually.ts';
import type { Acceptance } from './acceptance.ts';

/** Rotates the webhook key. The clock publishes the new one within a minute. */
export async function checkRotation(acceptance: Pick<Acceptance, 'aws' | 'stack'>) {
  const output = await outputReader(acceptance.stack, acceptance.aws);
  const api = { apiUrl: output('ApiUrl'), token: '' };
  const keys = async () =>
    (await call(api, '/api/v1/webhooks/public-key', { authorization: null })).body.data as {
      public_key: string;
      previous_public_key: string | null;
    };
  const { public_key: former } = await keys();
  await acceptance.aws('secretsmanager', 'rotate-secret', '--secret-id', output('WebhookKeyArn'));
  const now = await eventually(180, async () => {
    const found = await keys();
    return found.public_key !== former && found;
  });
  ok(now.public_key.startsWith('whpk_'));
  equal(now.previous_public_key, former);
}
