import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { secretsManager } from '../../functions/data/secrets-manager.ts';
import { getWebhookKeys, rotateWebhookKey } from '../../functions/data/webhook-keys.ts';
import { DependencyFailed } from '../../functions/errors.ts';
import { startPassingServer } from '../support/passing-server.ts';
import { startSecrets, webhookKeyArn } from '../support/secrets.ts';

vi.stubEnv('AWS_REGION', 'eu-west-3');
vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDTEST');
vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a secret');
vi.stubEnv('AWS_SESSION_TOKEN', 'a session');
const secrets = await startSecrets();
afterAll(secrets.stop);
beforeEach(() => {
  secrets.calls.length = 0;
});

const keysNow = () => getWebhookKeys(secretsManager(), webhookKeyArn)();

describe('getWebhookKeys', () => {
  it('throws while the secret holds no key', async () => {
    const arn = `${webhookKeyArn}-new`;
    secrets.create(arn);
    await expect(getWebhookKeys(secretsManager(), arn)()).rejects.toThrow('There is no key to sign webhooks with yet.');
    await expect(getWebhookKeys(secretsManager(), 'arn:none')()).rejects.toBeInstanceOf(DependencyFailed);
  });

  it('reads the current key and, after a rotation, the one before', async () => {
    const [first, ...none] = await keysNow();
    expect(none).toEqual([]);
    await secrets.rotateKey();
    const [second, previous] = await keysNow();
    expect(previous!.publicKey).toBe(first.publicKey);
    await secrets.rotateKey();
    const [third, last, ...others] = await keysNow();
    expect(last!.publicKey).toBe(second.publicKey);
    expect(new Set([first, second, third].map(({ publicKey }) => publicKey)).size).toBe(3);
    expect(others).toEqual([]);
  });

  it('keeps keys for a minute, and for longer where Secrets Manager fails', async () => {
    let time = 0;
    let fails = false;
    const call = secretsManager();
    const keys = getWebhookKeys(
      (...args) => (fails ? Promise.reject(new DependencyFailed('down')) : call(...args)),
      webhookKeyArn,
      () => time,
    );
    const [before] = await keys();
    const reads = secrets.calls.length;
    time = 59_999;
    await keys();
    expect(secrets.calls).toHaveLength(reads);
    time = 60_001;
    fails = true;
    expect((await keys())[0].publicKey).toBe(before.publicKey);
    fails = false;
    await keys();
    expect(secrets.calls.length).toBeGreaterThan(reads);
  });
});

describe('rotateWebhookKey', () => {
  const rotate = rotateWebhookKey(secretsManager());
  const step = (Step: string, ClientRequestToken: string) =>
    rotate({ SecretId: webhookKeyArn, ClientRequestToken, Step });

  it('can repeat each step, and does not change the key before the last', async () => {
    const [before] = await keysNow();
    const token = crypto.randomUUID();
    for (const each of ['createSecret', 'createSecret', 'setSecret', 'testSecret', 'testSecret'])
      await step(each, token);
    expect((await keysNow())[0].publicKey).toBe(before.publicKey);
    await step('finishSecret', token);
    const [after] = await keysNow();
    expect(after.publicKey).not.toBe(before.publicKey);
    for (const each of ['createSecret', 'testSecret', 'finishSecret']) await step(each, token);
    expect((await keysNow()).map(({ publicKey }) => publicKey)).toEqual([after.publicKey, before.publicKey]);
  });

  it('refuses a version that holds no key, and a step that it does not know', async () => {
    const token = crypto.randomUUID();
    await expect(step('testSecret', token)).rejects.toThrow('not a signing key');
    await expect(step('somethingElse', token)).rejects.toThrow('somethingElse');
  });
});

describe('secretsManager', () => {
  it('calls the address of AWS_ENDPOINT_URL where its own variable is absent', async () => {
    const own = process.env.AWS_ENDPOINT_URL_SECRETS_MANAGER;
    const asked: string[] = [];
    const proxy = await startPassingServer(secrets.url, async ({ headers }, pass, answer) => {
      asked.push(String(headers['x-amz-target']));
      answer(await pass());
    });
    vi.stubEnv('AWS_ENDPOINT_URL', proxy.url);
    await getWebhookKeys(secretsManager(), webhookKeyArn)();
    expect(asked).toEqual([]);
    vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', undefined);
    await getWebhookKeys(secretsManager(), webhookKeyArn)();
    expect(asked).toContain('secretsmanager.GetSecretValue');
    vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', own);
    vi.stubEnv('AWS_ENDPOINT_URL', undefined);
    await proxy.stop();
  });

  it('signs what it sends, and repeats a call that fails', async () => {
    const failures = [500, 500];
    const seen: string[] = [];
    const proxy = await startPassingServer(secrets.url, async ({ headers }, pass, answer) => {
      seen.push(String(headers.authorization));
      const status = failures.shift();
      if (status === undefined) answer(await pass());
      else answer({ status, headers: {}, body: Buffer.from('{"__type":"InternalServiceError"}') } as never);
    });
    vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', proxy.url);
    await getWebhookKeys(secretsManager(), webhookKeyArn)();
    failures.push(500, 500, 500, 500, 500, 500);
    await expect(getWebhookKeys(secretsManager(), webhookKeyArn)()).rejects.toThrow('Secrets Manager failed.');
    for (const authorization of seen) {
      expect(authorization).toMatch(
        /^AWS4-HMAC-SHA256 Credential=AKIDTEST\/\d{8}\/eu-west-3\/secretsmanager\/aws4_request, SignedHeaders=\S*x-amz-target\S*, Signature=[0-9a-f]{64}$/,
      );
    }
    vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', secrets.url);
    await proxy.stop();
  });
});
