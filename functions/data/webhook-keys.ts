/**
 * The keys that webhooks are signed with: versions of one secret, each a secret key of the Standard
 * Webhooks specification.
 */

import { DependencyFailed } from '../errors.ts';
import { generateSecretKey, readSecretKey, type SigningKey, signatureHeaders } from '../webhooks/signing-key.ts';
import { type CallSecretsManager, SecretsManagerRefusal } from './secrets-manager.ts';

/** How long keys are kept in memory: a rotation is noticed after this time. */
const cacheMilliseconds = 60_000;

/**
 * The function that reads the signing keys: the current one and, after a rotation, the one before.
 * Keys that were read serve for a minute, and for longer where Secrets Manager fails. Throws
 * DependencyFailed while there is no key: within seconds of the first deployment, the secret is
 * rotated for the first time and holds one.
 */
export function getWebhookKeys(
  call: CallSecretsManager,
  secretId: string,
  now = () => Date.now(),
): () => Promise<readonly [SigningKey, ...SigningKey[]]> {
  let held: { readonly keys: readonly [SigningKey, ...SigningKey[]]; readonly until: number } | undefined;
  return async () => {
    if (held !== undefined && now() < held.until) return held.keys;
    try {
      const keys = await readKeys();
      held = { keys, until: now() + cacheMilliseconds };
    } catch (error) {
      if (held === undefined) throw error;
    }
    return held.keys;
  };

  async function readKeys(): Promise<readonly [SigningKey, ...SigningKey[]]> {
    const [current, previous] = await Promise.all(['AWSCURRENT', 'AWSPREVIOUS'].map((stage) => readStage(stage)));
    if (current === undefined) throw new DependencyFailed('There is no key to sign webhooks with yet.');
    return previous === undefined ? [current] : [current, previous];
  }

  async function readStage(stage: string): Promise<SigningKey | undefined> {
    return readSecretKey((await readVersion(call, { SecretId: secretId, VersionStage: stage })) ?? '');
  }
}

/** A step of a rotation, as Secrets Manager asks for it. */
export interface RotationStep {
  readonly SecretId: string;
  /** Id of the new version. */
  readonly ClientRequestToken: string;
  readonly Step: string;
}

/**
 * The function that carries out the steps of a rotation: it makes a new key, checks that it signs,
 * and makes it the current one. The key before stays, as AWSPREVIOUS, until the next rotation. Each
 * step can be repeated.
 */
export function rotateWebhookKey(call: CallSecretsManager): (step: RotationStep) => Promise<void> {
  return async ({ SecretId, ClientRequestToken, Step }) => {
    switch (Step) {
      case 'createSecret':
        return createKey(SecretId, ClientRequestToken);
      case 'setSecret':
        // Nobody needs a notice: receivers ask for the public key.
        return;
      case 'testSecret':
        return testKey(SecretId, ClientRequestToken);
      case 'finishSecret':
        return finishRotation(SecretId, ClientRequestToken);
      default:
        throw new Error(`Secrets Manager has no rotation step ${Step}.`);
    }
  };

  async function createKey(SecretId: string, token: string): Promise<void> {
    if ((await readVersion(call, { SecretId, VersionId: token })) !== undefined) return;
    const SecretString = generateSecretKey();
    await call('PutSecretValue', {
      SecretId,
      ClientRequestToken: token,
      SecretString,
      VersionStages: ['AWSPENDING'],
    });
  }

  async function testKey(SecretId: string, token: string): Promise<void> {
    const key = readSecretKey((await readVersion(call, { SecretId, VersionId: token })) ?? '');
    if (key === undefined) throw new Error('The new version of the secret is not a signing key.');
    signatureHeaders({ id: 'msg_test', timestamp: 0, body: '{}' }, [key]);
  }

  async function finishRotation(SecretId: string, token: string): Promise<void> {
    const { VersionIdsToStages = {} } = (await call('DescribeSecret', { SecretId })) as {
      VersionIdsToStages?: Readonly<Record<string, readonly string[]>>;
    };
    const current = Object.keys(VersionIdsToStages).find((id) => VersionIdsToStages[id]?.includes('AWSCURRENT'));
    if (current === token) return;
    await call('UpdateSecretVersionStage', {
      SecretId,
      VersionStage: 'AWSCURRENT',
      MoveToVersionId: token,
      ...(current !== undefined && { RemoveFromVersionId: current }),
    });
  }
}

/** The text of a version; undefined when there is none. */
async function readVersion(
  call: CallSecretsManager,
  version: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  try {
    const { SecretString } = await call('GetSecretValue', version);
    return typeof SecretString === 'string' ? SecretString : undefined;
  } catch (error) {
    if (error instanceof SecretsManagerRefusal && error.code === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}
