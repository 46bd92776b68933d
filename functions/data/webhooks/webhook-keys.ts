/**
 * The keys that webhooks are signed with: versions of one secret, each a random text that a key
 * follows from. Their public keys are in an item of the table Devices: the function that shows them
 * may not read the secret.
 *
 * The item is at most one rotation behind the secret: a rotation begins with bringing it up to
 * date, and stops where that fails. Each message is signed by the current key and the one before,
 * so one of the published keys verifies it all the time.
 */

import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { DependencyFailed } from '../../errors.ts';
import { WebhookPublicKey } from '../../schemas/webhook.ts';
import type { TableNames } from '../../tables.ts';
import { generateSecretKey, readSecretKey, type SigningKey, signatureHeaders } from '../../webhooks/signing-key.ts';
import { type CallSecretsManager, SecretsManagerRefusal } from '../aws/secrets-manager.ts';
import { isConditionFailure, translateErrors } from '../dynamodb/aws-errors.ts';
import { getRow } from '../dynamodb/reads.ts';

/** How long keys are kept in memory: a rotation is noticed after this time. */
const cacheMilliseconds = 60_000;

interface StoredKey extends SigningKey {
  /** Milliseconds since 1970. */
  readonly madeAt: number;
}

type StoredKeys = readonly [StoredKey, ...StoredKey[]];

/**
 * The function that reads the signing keys: the current one and, after a rotation, the one before.
 * Keys that were read serve for a minute, and for longer where Secrets Manager fails. Throws
 * DependencyFailed when the secret holds no key: it was created with one.
 */
export function getWebhookKeys(
  call: CallSecretsManager,
  secretId: string,
  now = () => Date.now(),
): () => Promise<StoredKeys> {
  let held: { readonly keys: StoredKeys; readonly until: number } | undefined;
  return async () => {
    if (held !== undefined && now() < held.until) return held.keys;
    try {
      const keys = await readKeys(call, secretId);
      held = { keys, until: now() + cacheMilliseconds };
    } catch (error) {
      if (held === undefined) throw error;
    }
    return held.keys;
  };
}

async function readKeys(call: CallSecretsManager, SecretId: string): Promise<StoredKeys> {
  const [current, previous] = await Promise.all(
    ['AWSCURRENT', 'AWSPREVIOUS'].map((VersionStage) => readKey(call, { SecretId, VersionStage })),
  );
  if (current === undefined) throw new DependencyFailed('There is no key to sign webhooks with.');
  return previous === undefined ? [current] : [current, previous];
}

const publishedKey = { kind: 'webhooks', device_type: 'public keys' };

const PublishedKeys = z.object({
  ...WebhookPublicKey.shape,
  /** When they were read, and when the current one was made, in milliseconds since 1970. */
  published_at: z.number(),
  made_at: z.number(),
});

/**
 * The function that reads the public keys of the current key and of the one before. Throws
 * DependencyFailed until they are published: within a minute of the first deployment. 1 read unit.
 */
export function getPublicKeys(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Devices'>,
): () => Promise<z.infer<typeof WebhookPublicKey>> {
  return async () => {
    const row = await getRow(client, { table: tables.Devices, key: publishedKey, schema: PublishedKeys });
    if (row === undefined) throw new DependencyFailed('The public keys of webhooks are not published yet.');
    return { public_key: row.public_key, previous_public_key: row.previous_public_key };
  };
}

/** Keys that were published so long ago are read from the secret again. */
const refreshMilliseconds = 3_600_000;

/** A key is changed once a year: at this age its rotation has not run. */
export const maxKeyAgeDays = 380;

/**
 * The function that publishes the public keys, unless that was done within the last hour: 1 read
 * unit. Throws while the key is older than it may become.
 */
export function refreshPublicKeys(
  call: CallSecretsManager,
  client: DynamoDBDocumentClient,
  tables: TableNames<'Devices'>,
  now = () => Date.now(),
): (secretId: string) => Promise<void> {
  const publish = publishPublicKeys(call, client, tables, now);
  return async (SecretId) => {
    const row = await getRow(client, { table: tables.Devices, key: publishedKey, schema: PublishedKeys });
    if (row === undefined || now() - row.published_at >= refreshMilliseconds) await publish(SecretId);
    if (row !== undefined && now() - row.made_at > maxKeyAgeDays * 86_400_000) {
      throw new Error(`The key of webhooks is older than ${maxKeyAgeDays} days: its rotation does not run.`);
    }
  };
}

/** The function that publishes the public keys of the secret. 1 write unit. */
function publishPublicKeys(
  call: CallSecretsManager,
  client: DynamoDBDocumentClient,
  { Devices }: TableNames<'Devices'>,
  now: () => number,
) {
  return async (SecretId: string): Promise<void> => {
    const published_at = now();
    const [current, previous] = await readKeys(call, SecretId);
    const keys = { public_key: current.publicKey, previous_public_key: previous?.publicKey ?? null };
    const command = new PutCommand({
      TableName: Devices,
      Item: { ...publishedKey, ...keys, published_at, made_at: current.madeAt },
      // What was read from the secret later stays.
      ConditionExpression: 'attribute_not_exists(published_at) OR published_at <= :read',
      ExpressionAttributeValues: { ':read': published_at },
    });
    await translateErrors(client.send(command)).catch((error: unknown) => {
      if (!isConditionFailure(error)) throw error;
    });
  };
}

/** A step of a rotation, as Secrets Manager asks for it. */
export interface RotationStep {
  readonly SecretId: string;
  /** Id of the new version. */
  readonly ClientRequestToken: string;
  readonly Step: string;
}

/**
 * The function that performs the steps of a rotation: it makes a new key, checks that it signs,
 * makes it the current one and publishes it. The key before stays, as AWSPREVIOUS, until the next
 * rotation. Each step can be repeated.
 */
export function rotateWebhookKey(
  call: CallSecretsManager,
  client: DynamoDBDocumentClient,
  tables: TableNames<'Devices'>,
  now = () => Date.now(),
): (step: RotationStep) => Promise<void> {
  const publish = publishPublicKeys(call, client, tables, now);
  return async ({ SecretId, ClientRequestToken, Step }) => {
    switch (Step) {
      case 'createSecret':
        // A secret that somebody gave another text than a key gets one by a rotation.
        if ((await readKey(call, { SecretId, VersionStage: 'AWSCURRENT' })) !== undefined) await publish(SecretId);
        return createKey(SecretId, ClientRequestToken);
      case 'setSecret':
        // Nobody needs a notice: receivers ask for the public key.
        return;
      case 'testSecret':
        return testKey(SecretId, ClientRequestToken);
      case 'finishSecret':
        await finishRotation(SecretId, ClientRequestToken);
        return publish(SecretId);
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

  /**
   * When its schedule changes, Secrets Manager asks for this step alone, with a version of its own.
   * That holds the current text, or none: then there is nothing to test.
   */
  async function testKey(SecretId: string, VersionId: string): Promise<void> {
    if ((await readVersion(call, { SecretId, VersionId })) !== undefined) await requireKey(SecretId, VersionId);
  }

  async function requireKey(SecretId: string, VersionId: string): Promise<void> {
    const key = await readKey(call, { SecretId, VersionId });
    if (key === undefined) throw new Error('The new version of the secret is not a signing key.');
    signatureHeaders({ id: 'msg_test', timestamp: 0, body: '{}' }, [key]);
  }

  async function finishRotation(SecretId: string, token: string): Promise<void> {
    await requireKey(SecretId, token);
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

async function readKey(
  call: CallSecretsManager,
  version: Readonly<Record<string, string>>,
): Promise<StoredKey | undefined> {
  const stored = await readVersion(call, version);
  const key = readSecretKey(stored?.text ?? '');
  return stored && key && { ...key, madeAt: stored.madeAt };
}

/** The text of a version, and when it was made; undefined when there is none. */
async function readVersion(
  call: CallSecretsManager,
  version: Readonly<Record<string, string>>,
): Promise<{ readonly text: string; readonly madeAt: number } | undefined> {
  try {
    const { SecretString: text, CreatedDate } = await call('GetSecretValue', version);
    return typeof text === 'string' ? { text, madeAt: Number(CreatedDate) * 1000 } : undefined;
  } catch (error) {
    if (error instanceof SecretsManagerRefusal && error.code === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}
