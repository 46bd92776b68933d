/**
 * The keys that webhooks are signed with: versions of one secret, each a random text that a key
 * follows from. Their public keys are in an item of the table Devices: the function that shows them
 * may not read the secret.
 *
 * The item is at most one rotation behind the secret: a rotation begins with bringing it up to
 * date, and stops where that fails. Each message is signed by the current key and the one before,
 * so one of the published keys verifies it all the time.
 */

import { PutCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { DependencyFailed } from '../../errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import { WebhookPublicKey } from '../../schemas/webhook.ts';
import { generateSecretKey, readSecretKey, type SigningKey, signatureHeaders } from '../../webhooks/signing-key.ts';
import { type CallSecretsManager, SecretsManagerRefusal } from '../aws/secrets-manager.ts';
import { isConditionFailure, translateErrors } from '../dynamodb/aws-errors.ts';
import type { Db } from '../dynamodb/db.ts';
import { keptWith } from '../dynamodb/kept-with.ts';
import { getRow } from '../dynamodb/reads.ts';

/** How long keys are kept in memory: a rotation is noticed after this time. */
const cacheMilliseconds = 60_000;

interface StoredKey extends SigningKey {
  /** Milliseconds since 1970. */
  readonly madeAt: number;
}

type StoredKeys = readonly [StoredKey, ...StoredKey[]];

/** The secret of the keys, and what calls Secrets Manager about it. */
export interface WebhookSecret {
  readonly id: string;
  readonly call: CallSecretsManager;
}

/** The keys of a secret as they were read, and how long they serve. */
interface KeptKeys {
  keys?: StoredKeys;
  until: number;
}

const keysOf = keptWith((): KeptKeys => ({ until: Number.NEGATIVE_INFINITY }));

/**
 * The signing keys: the current one and, after a rotation, the one before. Keys that were read are
 * used for a minute, and for longer if Secrets Manager fails. Throws DependencyFailed when the
 * secret holds no key: it was created with one.
 */
export async function getWebhookKeys(clock: Clock, secret: WebhookSecret): Promise<StoredKeys> {
  const kept = keysOf(secret);
  if (kept.keys !== undefined && clock.now() < kept.until) return kept.keys;
  try {
    kept.keys = await readKeys(secret);
    kept.until = clock.now() + cacheMilliseconds;
  } catch (error) {
    if (kept.keys === undefined) throw error;
  }
  return kept.keys;
}

async function readKeys(secret: WebhookSecret): Promise<StoredKeys> {
  const [current, previous] = await Promise.all(
    ['AWSCURRENT', 'AWSPREVIOUS'].map((VersionStage) => readKey(secret, { VersionStage })),
  );
  if (current === undefined) throw new DependencyFailed('There is no key to sign webhooks with.');
  return previous === undefined ? [current] : [current, previous];
}

const publishedKey = { kind: 'webhooks', device_type: 'public keys' };

const PublishedKeys = z.object({
  ...WebhookPublicKey().shape,
  /** When they were read, and when the current one was made, in milliseconds since 1970. */
  published_at: z.number(),
  made_at: z.number(),
});

/**
 * The public keys of the current key and of the one before. Throws DependencyFailed until they are
 * published: within a minute of the first deployment. 1 read unit.
 */
export async function getPublicKeys(db: Db<'Devices'>): Promise<z.infer<ReturnType<typeof WebhookPublicKey>>> {
  const row = await publishedRow(db);
  if (row === undefined) throw new DependencyFailed('The public keys of webhooks are not published yet.');
  return { public_key: row.public_key, previous_public_key: row.previous_public_key };
}

function publishedRow(db: Db<'Devices'>) {
  return getRow(db, { table: 'Devices', key: publishedKey, schema: PublishedKeys });
}

/** The age at which published keys are read from the secret again. */
const refreshMilliseconds = 3_600_000;

/** A key is changed once a year: at this age its rotation has not run. */
export const maxKeyAgeDays = 380;

/**
 * Publishes the public keys, unless that was done within the last hour: 1 read unit. Throws while
 * the key is older than it may become.
 */
export async function refreshPublicKeys(db: Db<'Devices'>, secret: WebhookSecret): Promise<void> {
  const { clock } = db;
  const row = await publishedRow(db);
  if (row === undefined || clock.now() - row.published_at >= refreshMilliseconds) await publishKeys(db, secret);
  if (row !== undefined && clock.now() - row.made_at > maxKeyAgeDays * 86_400_000) {
    throw new Error(`The key of webhooks is older than ${maxKeyAgeDays} days: its rotation does not run.`);
  }
}

/** Publishes the public keys of the secret. 1 write unit. */
async function publishKeys({ client, tables, clock }: Db<'Devices'>, secret: WebhookSecret): Promise<void> {
  const published_at = clock.now();
  const [current, previous] = await readKeys(secret);
  const keys = { public_key: current.publicKey, previous_public_key: previous?.publicKey ?? null };
  const command = new PutCommand({
    TableName: tables.Devices,
    Item: { ...publishedKey, ...keys, published_at, made_at: current.madeAt },
    // What was read from the secret later stays.
    ConditionExpression: 'attribute_not_exists(published_at) OR published_at <= :read',
    ExpressionAttributeValues: { ':read': published_at },
  });
  await translateErrors(client.send(command)).catch((error: unknown) => {
    if (!isConditionFailure(error)) throw error;
  });
}

/** A step of a rotation, as Secrets Manager asks for it. */
export interface RotationStep {
  readonly SecretId: string;
  /** Id of the new version. */
  readonly ClientRequestToken: string;
  readonly Step: string;
}

/**
 * Performs a step of a rotation. The steps make a new key, check that it signs, make it the current
 * one and publish it. The key before stays, as AWSPREVIOUS, until the next rotation. Each step can
 * be repeated.
 */
export async function rotateWebhookKey(
  db: Db<'Devices'>,
  call: CallSecretsManager,
  { SecretId, ClientRequestToken: token, Step }: RotationStep,
): Promise<void> {
  const secret: WebhookSecret = { id: SecretId, call };
  switch (Step) {
    case 'createSecret':
      // A secret that was given another text by hand gets a key by a rotation.
      if ((await readKey(secret, { VersionStage: 'AWSCURRENT' })) !== undefined) await publishKeys(db, secret);
      return createKey(secret, token);
    case 'setSecret':
      // There is nothing to set: receivers ask for the public key.
      return;
    case 'testSecret':
      return testKey(secret, token);
    case 'finishSecret':
      await finishRotation(secret, token);
      return publishKeys(db, secret);
    default:
      throw new Error(`Secrets Manager has no rotation step ${Step}.`);
  }
}

async function createKey(secret: WebhookSecret, token: string): Promise<void> {
  if ((await readVersion(secret, { VersionId: token })) !== undefined) return;
  const SecretString = generateSecretKey();
  await secret.call('PutSecretValue', {
    SecretId: secret.id,
    ClientRequestToken: token,
    SecretString,
    VersionStages: ['AWSPENDING'],
  });
}

/**
 * When its schedule changes, Secrets Manager asks for this step alone, with a version of its own.
 * That version holds the current text, which is tested, or none, and then there is nothing to test.
 */
async function testKey(secret: WebhookSecret, VersionId: string): Promise<void> {
  if ((await readVersion(secret, { VersionId })) !== undefined) await requireKey(secret, VersionId);
}

async function requireKey(secret: WebhookSecret, VersionId: string): Promise<void> {
  const key = await readKey(secret, { VersionId });
  if (key === undefined) throw new Error('The new version of the secret is not a signing key.');
  signatureHeaders({ id: 'msg_test', timestamp: 0, body: '{}' }, [key]);
}

async function finishRotation(secret: WebhookSecret, token: string): Promise<void> {
  await requireKey(secret, token);
  const { id: SecretId, call } = secret;
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

/** Which version of a secret: by its stage or its id. */
type Version = { readonly VersionStage: string } | { readonly VersionId: string };

async function readKey(secret: WebhookSecret, version: Version): Promise<StoredKey | undefined> {
  const stored = await readVersion(secret, version);
  const key = readSecretKey(stored?.text ?? '');
  return stored && key && { ...key, madeAt: stored.madeAt };
}

/** The text of a version, and when it was made; undefined when there is none. */
async function readVersion(
  { id: SecretId, call }: WebhookSecret,
  version: Version,
): Promise<{ readonly text: string; readonly madeAt: number } | undefined> {
  try {
    const { SecretString: text, CreatedDate } = await call('GetSecretValue', { SecretId, ...version });
    return typeof text === 'string' ? { text, madeAt: Number(CreatedDate) * 1000 } : undefined;
  } catch (error) {
    if (error instanceof SecretsManagerRefusal && error.code === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}
