import { createPublicKey, type KeyObject, type JsonWebKey as NodeJsonWebKey, verify } from 'node:crypto';
import type { CompactJws } from './compact-jws.ts';
import { TokenRefused } from './compact-jws.ts';

type JsonWebKey = Readonly<Record<string, unknown>>;

/** A public key of the issuer, and the algorithms whose signatures it verifies. */
export interface VerificationKey {
  readonly kid: string | undefined;
  readonly algorithms: readonly string[];
  /** Throws TokenRefused unless this key signed the token, by one of its algorithms. */
  verify(jws: CompactJws): void;
}

const rsaAlgorithms = ['RS256', 'RS384', 'RS512'];
const curveAlgorithms: Readonly<Record<string, string>> = { 'P-256': 'ES256', 'P-384': 'ES384', 'P-521': 'ES512' };
const minRsaBits = 2048;

/**
 * The key of a JWK; undefined when it is not for verifying signatures of the RS256 or ES256 family,
 * or too weak.
 */
export function verificationKey(jwk: JsonWebKey): VerificationKey | undefined {
  const { kid, use, key_ops: operations } = jwk;
  if (kid !== undefined && (typeof kid !== 'string' || kid === '')) return undefined;
  if (use !== undefined && use !== 'sig') return undefined;
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) return undefined;
  const algorithms = algorithmsOf(jwk);
  if (algorithms.length === 0) return undefined;
  const key = publicKey(jwk);
  if (key === undefined) return undefined;
  return {
    kid,
    algorithms,
    verify(jws) {
      if (!algorithms.includes(jws.header.alg)) throw new TokenRefused('not an algorithm of its key');
      const [header, payload, signature] = jws.encoded;
      const hash = `sha${jws.header.alg.slice(2)}`;
      const signed = Buffer.from(`${header}.${payload}`);
      // An ECDSA signature of a JWS is its two numbers in a row (RFC 7518, section 3.4).
      const isValid = verify(hash, signed, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'));
      if (!isValid) throw new TokenRefused('a wrong signature');
    },
  };
}

function algorithmsOf({ kty, alg, crv, n, e, x, y }: JsonWebKey): string[] {
  if (kty === 'RSA' && typeof n === 'string' && typeof e === 'string') {
    if (Buffer.from(n, 'base64url').length * 8 < minRsaBits) return [];
    return rsaAlgorithms.filter((name) => alg === undefined || alg === name);
  }
  if (kty === 'EC' && typeof crv === 'string' && typeof x === 'string' && typeof y === 'string') {
    // A curve has one algorithm. Some issuers name that of P-521 after the curve.
    const algorithm = curveAlgorithms[crv];
    const named = alg === 'ES521' ? 'ES512' : alg;
    return algorithm !== undefined && (named === undefined || named === algorithm) ? [algorithm] : [];
  }
  return [];
}

/** Reads only the public members. Undefined when they are no key, such as a point off its curve. */
function publicKey({ kty, n, e, crv, x, y }: JsonWebKey): KeyObject | undefined {
  const key = (kty === 'RSA' ? { kty, n, e } : { kty, crv, x, y }) as NodeJsonWebKey;
  try {
    return createPublicKey({ key, format: 'jwk' });
  } catch {
    return undefined;
  }
}
