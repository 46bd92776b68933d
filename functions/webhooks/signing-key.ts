/**
 * Keys and signatures of the Standard Webhooks specification (1.0.0), asymmetric: ed25519, `v1a`.
 */

import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

/**
 * A key pair; `publicKey` is what receivers verify with, in the specification's form: `whpk_` and
 * base64.
 */
export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly publicKey: string;
}

const secretPrefix = 'whsk_';
const publicPrefix = 'whpk_';

/**
 * A new secret key as text: `whsk_` and the base64 of the 32 bytes of the seed and the 32 of the
 * public key.
 */
export function generateSecretKey(): string {
  const { d, x } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return secretPrefix + Buffer.concat([Buffer.from(d!, 'base64url'), Buffer.from(x!, 'base64url')]).toString('base64');
}

/** The key pair of a text that generateSecretKey made; undefined for any other text. */
export function readSecretKey(text: string): SigningKey | undefined {
  if (!text.startsWith(secretPrefix)) return undefined;
  const bytes = Buffer.from(text.slice(secretPrefix.length), 'base64');
  if (bytes.length !== 64) return undefined;
  const [seed, publicBytes] = [bytes.subarray(0, 32), bytes.subarray(32)];
  const jwk = { kty: 'OKP', crv: 'Ed25519', d: seed.toString('base64url'), x: publicBytes.toString('base64url') };
  return {
    privateKey: createPrivateKey({ key: jwk, format: 'jwk' }),
    publicKey: publicPrefix + publicBytes.toString('base64'),
  };
}

/** What is signed. `timestamp` is that of the attempt, in seconds since 1970. */
export interface SignedMessage {
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
