import { isUtf8 } from 'node:buffer';
import { hasDuplicateMembers, isJsonObject } from '../json-text.ts';

/** A token that is not accepted, and why: for the log only, callers are told nothing. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
}

/** A signed token taken apart; nothing of it is verified yet. */
export interface CompactJws {
  readonly header: { readonly alg: string; readonly kid: string };
  readonly payload: Buffer;
  /** The three parts as they were sent. */
  readonly encoded: readonly [header: string, payload: string, signature: string];
}

const longestToken = 8192;

/** Access tokens by RFC 7519 and RFC 9068; other kinds of token from the same issuer (`logout+jwt`) are none. */
const accessTokenType = /^(application\/)?(at\+)?jwt$/i;

/**
 * Takes a JWS in compact form apart, and strictly: the only spelling of each part in base64url, a header without members
 * given twice or extensions that must be understood (`crit`). Keys that a header brings or points to (`jwk`, `jku`, `x5u`,
 * `x5c`) are not looked at. Throws TokenRefused.
 */
export function readCompactJws(token: string): CompactJws {
  if (token.length > longestToken) throw new TokenRefused('longer than 8 KB');
  const [header = '', payload = '', signature = '', ...rest] = token.split('.');
  if (signature === '' || rest.length > 0) throw new TokenRefused('not a signed token of three parts');
  const { alg, kid, crit, typ } = readJsonObject(decodeBase64Url(header));
  decodeBase64Url(signature);
  if (crit !== undefined) throw new TokenRefused('asks for extensions');
  if (typ !== undefined && !(typeof typ === 'string' && accessTokenType.test(typ))) {
    throw new TokenRefused('another type of token');
  }
  if (typeof alg !== 'string') throw new TokenRefused('names no algorithm');
  if (typeof kid !== 'string' || kid === '') throw new TokenRefused('names no key');
  return { header: { alg, kid }, payload: decodeBase64Url(payload), encoded: [header, payload, signature] };
}

/** The object that a part of a token holds. Throws TokenRefused, also when a member is given twice: others might read the other one. */
export function readJsonObject(bytes: Buffer): Record<string, unknown> {
  const text = bytes.toString('utf8');
  const value = isUtf8(bytes) ? parsed(text) : undefined;
  if (value === undefined || !isJsonObject(text)) throw new TokenRefused('not JSON objects');
  if (hasDuplicateMembers(text)) throw new TokenRefused('a member given twice');
  return value as Record<string, unknown>;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Buffer also reads padding, the other alphabet, stray characters and bits beyond the end: several tokens of one signature. */
function decodeBase64Url(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.toString('base64url') !== text) throw new TokenRefused('not in base64url');
  return bytes;
}
