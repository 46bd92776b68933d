/**
 * Keys and signatures of the Standard Webhooks specification (1.0.0), asymmetric: ed25519, `v1a`.
 */

import { createHash, createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto';

/**
 * A key pair; `publicKey` is what receivers verify with, in the specification's form: `whpk_` and
 * base64.
 */
export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly publicKey: string;
}

/** The random text of a new key. */
export function generateSecretKey(): string {
  return randomBytes(48).toString('base64url');
}

/** What of a PKCS #8 document precedes the 32 bytes of an ed25519 key's seed (RFC 8410). */
const documentStart = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * The key pair of a random text of 64 characters or more, generateSecretKey's or Secrets Manager's:
 * its seed is the text's SHA-256. Undefined for any other text.
 */
export function readSecretKey(text: string): SigningKey | undefined {
  if (!/^[!-~]{64,}$/.test(text)) return undefined;
  return keyOfSeed(createHash('sha256').update(text).digest());
}

/** The ed25519 key pair of a seed of 32 bytes. */
export function keyOfSeed(seed: Buffer): SigningKey {
  const privateKey = createPrivateKey({ key: Buffer.concat([documentStart, seed]), format: 'der', type: 'pkcs8' });
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { privateKey, publicKey: `whpk_${Buffer.from(x!, 'base64url').toString('base64')}` };
}

/** What is signed. `timestamp` is that of the attempt, in seconds since 1970. */
interface SignedMessage {
  readonly id: string;
  readonly timestamp: number;
  readonly body: string;
}

/**
 * The three headers of the specification: a signature by each key, so that a receiver may know
 * either.
 */
export function signatureHeaders({ id, timestamp, body }: SignedMessage, keys: readonly SigningKey[]) {
  const content = Buffer.from(`${id}.${timestamp}.${body}`);
  const signatures = keys.map(({ privateKey }) => `v1a,${sign(null, content, privateKey).toString('base64')}`);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
