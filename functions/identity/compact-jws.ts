import { isUtf8 } from 'node:buffer';
import { hasDuplicateMembers, isJsonObject, parseJson } from '../values/json-text.ts';

/** A token that is refused. The message says why, for the log only: callers do not learn it. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
}

/** The parts of a signed token. Nothing in it is verified yet. */
export interface CompactJws {
  readonly header: { readonly alg: string; readonly kid: string | undefined };
  readonly payload: Buffer;
  /** The three parts as they were sent. */
  readonly encoded: readonly [header: string, payload: string, signature: string];
}

const maxTokenCharacters = 8192;

/**
 * The types of access tokens by RFC 7519 and RFC 9068. Other tokens of the same issuer
 * (`logout+jwt`) grant no access.
 */
const accessTokenType = /^(application\/)?(at\+)?jwt$/i;

/**
 * Takes a JWS in compact form apart. It is strict:
 * - base64url has one spelling, without padding or stray bits;
 * - the header names no member twice and no extension that must be understood (`crit`);
 * - keys that the header brings or points to (`jwk`, `jku`, `x5u`, `x5c`) are ignored.
 *
 * Throws TokenRefused.
 */
export function readCompactJws(token: string): CompactJws {
  if (token.length > maxTokenCharacters) throw new TokenRefused('longer than 8 KB');
  const [header = '', payload = '', signature = '', ...rest] = token.split('.');
  if (signature === '' || rest.length > 0) throw new TokenRefused('not a signed token of three parts');
  const { alg, kid, crit, typ } = readJsonObject(decodeBase64Url(header));
  decodeBase64Url(signature);
  if (crit !== undefined) throw new TokenRefused('asks for extensions');
  if (typ !== undefined && !(typeof typ === 'string' && accessTokenType.test(typ))) {
    throw new TokenRefused('another type of token');
  }
  if (typeof alg !== 'string') throw new TokenRefused('names no algorithm');
  if (kid !== undefined && (typeof kid !== 'string' || kid === '')) throw new TokenRefused('an unreadable kid');
  return { header: { alg, kid }, payload: decodeBase64Url(payload), encoded: [header, payload, signature] };
}

/**
 * The object that a part of a token holds. Throws TokenRefused, also for a member named twice:
 * another reader might take the other value.
 */
export function readJsonObject(bytes: Buffer): Record<string, unknown> {
  const text = bytes.toString('utf8');
  const value = isUtf8(bytes) ? parseJson(text) : undefined;
  if (value === undefined || !isJsonObject(text)) throw new TokenRefused('not JSON objects');
  if (hasDuplicateMembers(text)) throw new TokenRefused('a member given twice');
  return value as Record<string, unknown>;
}

/**
 * Buffer alone would also read padding, base64, stray characters and stray bits: several spellings
 * of one token.
 */
function decodeBase64Url(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.toString('base64url') !== text) throw new TokenRefused('not in base64url');
  return bytes;
}
