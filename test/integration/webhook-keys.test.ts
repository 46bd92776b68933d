import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { secretsManager } from '../../functions/data/aws/secrets-manager.ts';
import {
  getPublicKeys,
  getWebhookKeys,
  maxKeyAgeDays,
  refreshPublicKeys,
  rotateWebhookKey,
  type WebhookSecret,
} from '../../functions/data/webhooks/webhook-keys.ts';
import { DependencyFailed } from '../../functions/errors.ts';
import { systemClock } from '../../functions/runtime/clock.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { startPassingServer } from '../support/passing-server.ts';
import { startSecrets, webhookKeyArn } from '../support/secrets.ts';
import { patientClock, testDb } from '../support/test-db.ts';

const { client, names } = await functionEnvironment();
const secrets = await startSecrets(client, names);
afterAll(secrets.stop);
beforeEach(() => {
  secrets.calls.length = 0;
});

const db = testDb(client, names);
/** Read anew: keys are kept with the secret. */
const keysNow = (id = webhookKeyArn) => getWebhookKeys(systemClock, { id, call: secretsManager() });

describe('getWebhookKeys', () => {
  it('reads a key of a secret that has just been created, and throws where there is none', async () => {
    const arn = `${webhookKeyArn}-new`;
    secrets.create(arn);
    expect(await keysNow(arn)).toHaveLength(1);
    const short = { SecretId: arn, ClientRequestToken: 'short', SecretString: 'short', VersionStages: ['AWSCURRENT'] };
    await secretsManager()('PutSecretValue', short);
    await expect(keysNow(arn)).rejects.toThrow('There is no key to sign webhooks with.');
    await expect(keysNow('arn:none')).rejects.toBeInstanceOf(DependencyFailed);
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
    const secret: WebhookSecret = {
      id: webhookKeyArn,
      call: (...args) => (fails ? Promise.reject(new DependencyFailed('down')) : call(...args)),
    };
    const clock = patientClock(() => time);
    const keys = () => getWebhookKeys(clock, secret);
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

const publicKeysOf = async () => {
  const { public_key, previous_public_key } = await getPublicKeys(db);
  return [public_key, ...(previous_public_key === null ? [] : [previous_public_key])];
};
const signingKeys = async () => (await keysNow()).map(({ publicKey }) => publicKey);

/** A client whose writes fail while `fails` says so. */
const faults = { fails: false };
const failing = interceptedClient(client, async ({ name, send }) => {
  if (name === 'PutCommand' && faults.fails) throw new Error('DynamoDB fails.');
  return send();
});

describe('rotateWebhookKey', () => {
  const step = (Step: string, ClientRequestToken: string) =>
    rotateWebhookKey(testDb(failing, names), secretsManager(), { SecretId: webhookKeyArn, ClientRequestToken, Step });
  const steps = ['createSecret', 'setSecret', 'testSecret', 'finishSecret'];

  it('can repeat each step, does not change the key before the last, and publishes it', async () => {
    const [before] = await signingKeys();
    const token = crypto.randomUUID();
    for (const each of ['createSecret', 'createSecret', 'setSecret', 'testSecret', 'testSecret'])
      await step(each, token);
    expect((await signingKeys())[0]).toBe(before);
    expect((await publicKeysOf())[0]).toBe(before);
    await step('finishSecret', token);
    const [after] = await signingKeys();
    expect(after).not.toBe(before);
    for (const each of ['createSecret', 'testSecret', 'finishSecret']) await step(each, token);
    expect(await signingKeys()).toEqual([after, before]);
    expect(await publicKeysOf()).toEqual([after, before]);
  });

  it('leaves a published key that verifies, wherever it stops and however often', async () => {
    for (let rotation = 0; rotation < 3; rotation++) {
      for (const stopsAt of [...steps, 'never']) {
        const token = crypto.randomUUID();
        for (const each of steps) {
          faults.fails = each === stopsAt;
          const isDone = await step(each, token).then(
            () => true,
            () => false,
          );
          faults.fails = false;
          expect(new Set(await publicKeysOf()).intersection(new Set(await signingKeys())).size).toBeGreaterThan(0);
          if (!isDone) break;
        }
      }
      expect(await publicKeysOf()).toEqual(await signingKeys());
    }
    // While nothing can be published, no key changes.
    const before = await signingKeys();
    faults.fails = true;
    await expect(step('createSecret', crypto.randomUUID())).rejects.toThrow('DynamoDB fails.');
    faults.fails = false;
    expect(await signingKeys()).toEqual(before);
  });

  it('makes a key for a secret that holds none', async () => {
    const SecretId = `${webhookKeyArn}-without`;
    secrets.create(SecretId);
    const wrong = { SecretId, ClientRequestToken: 'wrong', SecretString: 'wrong', VersionStages: ['AWSCURRENT'] };
    await secretsManager()('PutSecretValue', wrong);
    const other = await functionEnvironment();
    const ofOther = testDb(client, other.names);
    await secrets.rotate(SecretId, (each) => rotateWebhookKey(ofOther, secretsManager(), each as never));
    const [key, ...none] = await keysNow(SecretId);
    expect(none).toEqual([]);
    expect(await getPublicKeys(ofOther)).toEqual({
      public_key: key.publicKey,
      previous_public_key: null,
    });
  });

  it('refuses a version that holds no key, and a step that it does not know', async () => {
    const token = crypto.randomUUID();
    // The test of a schedule, for which Secrets Manager makes an empty version.
    await step('testSecret', token);
    await expect(step('finishSecret', token)).rejects.toThrow('not a signing key');
    const short = { SecretId: webhookKeyArn, ClientRequestToken: token, SecretString: 'short', VersionStages: [] };
    await secretsManager()('PutSecretValue', short);
    for (const each of ['testSecret', 'finishSecret']) {
      await expect(step(each, token)).rejects.toThrow('not a signing key');
    }
    await expect(step('somethingElse', token)).rejects.toThrow('somethingElse');
  });
});

describe('refreshPublicKeys', () => {
  const day = 86_400_000;
  const clock = { now: Date.now() };
  const secret: WebhookSecret = { id: webhookKeyArn, call: secretsManager() };
  const refresh = (by = failing) => refreshPublicKeys(testDb(by, names, { now: () => clock.now }), secret);

  it('publishes keys that were never published, and again after an hour', async () => {
    const other = await functionEnvironment();
    const ofOther = testDb(client, other.names);
    await expect(getPublicKeys(ofOther)).rejects.toThrow('not published yet');
    await refreshPublicKeys(ofOther, secret);
    expect((await getPublicKeys(ofOther)).public_key).toBe((await signingKeys())[0]);

    clock.now = Date.now() + 3_500_000;
    secrets.calls.length = 0;
    await refresh();
    expect(secrets.calls).toEqual([]);
    clock.now = Date.now() + 3_700_000;
    await refresh();
    expect(secrets.calls).not.toEqual([]);
  });

  it('does not put back keys that were read before a rotation', async () => {
    const read = Promise.withResolvers<void>();
    const rotated = Promise.withResolvers<void>();
    const slow = interceptedClient(client, async ({ name, send }) => {
      if (name !== 'PutCommand') return send();
      read.resolve();
      await rotated.promise;
      return send();
    });
    clock.now += 3_700_000;
    const late = refresh(slow);
    await read.promise;
    await secrets.rotate(webhookKeyArn, (each) =>
      rotateWebhookKey(testDb(client, names, { now: () => clock.now + 1 }), secret.call, each as never),
    );
    rotated.resolve();
    await late;
    expect(await publicKeysOf()).toEqual(await signingKeys());
  });

  it('fails each time while nothing can be published, or the key is too old', async () => {
    clock.now += 3_700_000;
    faults.fails = true;
    await expect(refresh()).rejects.toThrow('DynamoDB fails.');
    faults.fails = false;
    clock.now = Date.now() + (maxKeyAgeDays - 1) * day;
    await refresh();
    clock.now = Date.now() + (maxKeyAgeDays + 1) * day;
    for (let minute = 0; minute < 3; minute++) {
      await expect(refresh()).rejects.toThrow('its rotation does not run');
      clock.now += 60_000;
    }
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
    await keysNow();
    expect(asked).toEqual([]);
    vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', undefined);
    await keysNow();
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
    await keysNow();
    failures.push(500, 500, 500, 500, 500, 500);
    await expect(keysNow()).rejects.toThrow('Secrets Manager failed.');
    for (const authorization of seen) {
      expect(authorization).toMatch(
        /^AWS4-HMAC-SHA256 Credential=AKIDTEST\/\d{8}\/eu-west-3\/secretsmanager\/aws4_request, SignedHeaders=\S*x-amz-target\S*, Signature=[0-9a-f]{64}$/,
      );
    }
    vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', secrets.url);
    await proxy.stop();
  });
});
