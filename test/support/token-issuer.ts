import { createHmac, createSign, KeyObject, sign as signBytes } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWK } from 'jose';

/** A key pair of an issuer: `jwk` is its public part, as a key set has it. */
export interface IssuerKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: KeyObject;
  readonly jwk: JWK;
}

export const issuer = 'https://issuer.example/tenant';
export const audience = 'https://api.example';

/**
 * A new key pair for `alg`; `members` overrides members of the public JWK, undefined removes one.
 */
export async function issuerKey(alg: string, kid: string, members: Record<string, unknown> = {}): Promise<IssuerKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig', ...members } as JWK;
  return { kid, alg, privateKey: KeyObject.from(privateKey), jwk };
}

/** Claims of a token that is valid at `now` (epoch seconds). */
export function validClaims(now = Math.floor(Date.now() / 1000)): Record<string, unknown> {
  return { iss: issuer, aud: audience, sub: 'auth0|alice', iat: now - 60, nbf: now - 60, exp: now + 3600 };
}

/**
 * A compact JWS signed by hand, of whatever is given: texts are taken as they are, objects as JSON.
 */
export function signedToken(
  key: IssuerKey,
  claims: unknown = validClaims(),
  header: unknown = { alg: key.alg, kid: key.kid, typ: 'JWT' },
): string {
  const input = `${encoded(header)}.${encoded(claims)}`;
  return `${input}.${signature(key, input)}`;
}

export function encoded(part: unknown): string {
  const bytes = part instanceof Uint8Array ? part : typeof part === 'string' ? part : JSON.stringify(part);
  return Buffer.from(bytes as string).toString('base64url');
}

export function signature({ alg, privateKey }: Pick<IssuerKey, 'alg' | 'privateKey'>, input: string): string {
  const hash = `sha${alg.slice(2)}`;
  if (alg === 'EdDSA' || alg === 'Ed25519')
    return signBytes(null, Buffer.from(input), privateKey).toString('base64url');
  if (alg.startsWith('HS')) return createHmac(hash, privateKey).update(input).digest('base64url');
  const pss = alg.startsWith('PS') ? { padding: 6, saltLength: -1 } : {};
  const bytes = createSign(hash)
    .update(input)
    .sign({ key: privateKey, dsaEncoding: 'ieee-p1363', ...pss });
  return bytes.toString('base64url');
}
