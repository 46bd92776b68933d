import { JwtVerifierBase } from 'aws-jwt-verify/jwt-verifier';
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
const leastRsaBits = 2048;

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
  const verifier = new KeyVerifier(publicPart(jwk));
  return {
    kid,
    algorithms,
    verify(jws) {
      if (!algorithms.includes(jws.header.alg)) throw new TokenRefused('not an algorithm of its key');
      verifier.verifySignature(jws);
    },
  };
}

function algorithmsOf({ kty, alg, crv, n, e, x, y }: JsonWebKey): string[] {
  if (kty === 'RSA' && typeof n === 'string' && typeof e === 'string') {
    if (Buffer.from(n, 'base64url').length * 8 < leastRsaBits) return [];
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

function publicPart({ kty, n, e, crv, x, y }: JsonWebKey): JsonWebKey {
  return kty === 'RSA' ? { kty, n, e } : { kty, crv, x, y };
}

/** The names under which the verifier finds its only key, whatever the issuer calls it. */
const onlyKey = 'memory:';
const onlyKid = 'only';

/** Issuer and audience are read from the claims, once the signature holds. */
const signatureOnly = { issuer: null, audience: null, jwksUri: onlyKey };

/** The verifier of aws-jwt-verify with one key, for tokens that were taken apart before. */
class KeyVerifier extends JwtVerifierBase<typeof signatureOnly, typeof signatureOnly, false> {
  constructor(jwk: JsonWebKey) {
    super(signatureOnly);
    this.cacheJwks({ keys: [{ ...jwk, kid: onlyKid } as never] });
  }

  verifySignature({ header, encoded: [headerB64, payloadB64, signatureB64] }: CompactJws): void {
    const claimsAside = { iss: onlyKey }; // what the verifier keeps the decoded key under
    try {
      this.verifyDecomposedJwtSync(
        { header: { ...header, kid: onlyKid }, headerB64, payload: claimsAside, payloadB64, signatureB64 } as never,
        onlyKey,
        signatureOnly,
      );
    } catch (error) {
      throw new TokenRefused('a wrong signature', { cause: error });
    }
  }
}
