import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import { assumeRole, type Principal } from '../../../../infra/local/iam/principals.ts';
import { type SecretStore, startSecretStore } from '../../../../infra/local/secrets/secret-store.ts';

const arn = 'arn:aws:secretsmanager:us-east-1:1:secret:key';
const actions = ['DescribeSecret', 'GetSecretValue', 'PutSecretValue', 'UpdateSecretVersionStage'];
const allowing = (...allowed: string[]): Principal =>
  assumeRole('arn:aws:iam::1:role/r', 'f', [
    { Effect: 'Allow', Action: allowed.map((action) => `secretsmanager:${action}`), Resource: arn },
  ]);
const principal = allowing(...actions);
const directory = mkdtempSync(join(tmpdir(), 'secrets-'));
const stores: SecretStore[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.stop();
});
afterAll(() => rmSync(directory, { recursive: true }));

async function start(caller = principal, file?: string) {
  const store = await startSecretStore(new Map([[caller.credentials.accessKeyId, caller]]), file);
  stores.push(store);
  const call = async (operation: string, input: object) => {
    const response = await fetch(store.url, {
      method: 'POST',
      headers: {
        'X-Amz-Target': `secretsmanager.${operation}`,
        Authorization: `AWS4-HMAC-SHA256 Credential=${caller.credentials.accessKeyId}/20260101/x/y/z`,
      },
      body: JSON.stringify({ SecretId: arn, ...input }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: the test says what it expects of it.
    return (await response.json()) as any;
  };
  return { store, call };
}

it('moves the stages of versions as Secrets Manager does', async () => {
  const { store, call } = await start();
  store.create(arn);
  const { SecretString: first, CreatedDate } = await call('GetSecretValue', {});
  store.create(arn);
  expect((await call('GetSecretValue', {})).SecretString).toBe(first);
  expect(first).toMatch(/^[!-~]{64}$/);
  expect(Math.abs(Date.now() / 1000 - CreatedDate)).toBeLessThan(3_600);
  const rotate = (value: string) =>
    store.rotate(arn, async (step) => {
      const { ClientRequestToken, Step } = step as { ClientRequestToken: string; Step: string };
      if (Step === 'createSecret') {
        await call('PutSecretValue', { ClientRequestToken, SecretString: value, VersionStages: ['AWSPENDING'] });
      }
      if (Step === 'finishSecret') {
        const { VersionId } = await call('GetSecretValue', {});
        const move = { VersionStage: 'AWSCURRENT', MoveToVersionId: ClientRequestToken };
        expect(await call('UpdateSecretVersionStage', { ...move, RemoveFromVersionId: 'another' })).toMatchObject({
          __type: 'InvalidParameterException',
        });
        await call('UpdateSecretVersionStage', { ...move, RemoveFromVersionId: VersionId });
      }
    });
  await rotate('one');
  await rotate('two');
  const values = await Promise.all(
    ['AWSCURRENT', 'AWSPREVIOUS'].map(
      async (VersionStage) => (await call('GetSecretValue', { VersionStage })).SecretString,
    ),
  );
  expect(values).toEqual(['two', 'one']);
  expect(await call('GetSecretValue', { VersionStage: 'NONE' })).toMatchObject({ __type: 'ResourceNotFoundException' });
});

it('keeps secrets in a file that its owner alone may read', async () => {
  const file = join(directory, 'secrets.json');
  const first = await start(principal, file);
  first.store.create(arn);
  const { SecretString } = await first.call('GetSecretValue', {});
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const second = await start(principal, file);
  second.store.create(arn);
  expect((await second.call('GetSecretValue', {})).SecretString).toBe(SecretString);
});

it('refuses what the role does not allow', async () => {
  const { store, call } = await start(allowing('GetSecretValue'));
  store.create(arn);
  for (const action of actions) {
    const answer = await call(action, {});
    expect([action, answer.__type]).toEqual([
      action,
      action === 'GetSecretValue' ? undefined : 'AccessDeniedException',
    ]);
  }
  expect(await call('GetSecretValue', { SecretId: 'arn:another' })).toMatchObject({ __type: 'AccessDeniedException' });
});
