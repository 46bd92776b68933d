import { addToRequestLog, describeError } from '../runtime/request-log.ts';
import { TokenRefused } from './compact-jws.ts';
import { type VerificationKey, verificationKey } from './verification-key.ts';

/**
 * The issuer's keys are not known, so no token can be verified. That is never the caller's fault.
 */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
}

const second = 1000;
const minute = 60 * second;

/**
 * The shortest time between two requests to the issuer, whatever they were for and however they
 * ended.
 */
const pause = 10 * second;
/** After this time the issuer is asked again before a key is used: it may have withdrawn one. */
const freshFor = 10 * minute;
/** For this time keys stay in use while the issuer does not answer. */
const usableFor = 6 * 60 * minute;
const fetchTimeout = 2 * second;
const maxKeySetBytes = 1024 * 1024;

/**
 * The keys of an issuer, kept between requests. They are fetched when they are first needed, when a
 * token names an unknown one (rotation), and when they are older than 10 minutes; never more than
 * once in 10 s, however many tokens come. `fetchText` gets the text of the key set (JWKS), or
 * throws.
 */
export function keySource(fetchText: () => Promise<string>, now = Date.now) {
  let keys: readonly VerificationKey[] = [];
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;
  let isAnswering = false;

  const age = () => now() - fetchedAt;
  const keysNamed = (kid: string | undefined) => keys.filter((key) => kid === undefined || key.kid === kid);

  async function ask() {
    askedAt = now();
    const start = askedAt;
    try {
      keys = readKeySet(await fetchText());
      fetchedAt = start;
      isAnswering = true;
    } catch (error) {
      isAnswering = false;
      addToRequestLog({ jwks_error: describeError(error) });
    } finally {
      asking = undefined;
    }
  }

  return {
    /**
     * The keys that may have signed a token: all keys with its `kid`. A token without a `kid` gets
     * the only key of the set (OpenID Connect Core 10.1). Throws TokenRefused when the issuer has
     * no such key, KeysUnavailable when it cannot be asked for the key, or its keys are older than
     * 6 hours.
     */
    async find(kid: string | undefined): Promise<readonly VerificationKey[]> {
      if (age() >= freshFor || keysNamed(kid).length === 0) {
        if (asking === undefined && now() - askedAt >= pause) asking = ask();
        await asking;
      }
      if (age() >= usableFor) throw new KeysUnavailable('The issuer’s keys cannot be fetched.');
      const named = keysNamed(kid);
      if (named.length === 0 && !isAnswering) throw new KeysUnavailable('The issuer cannot be asked for a key.');
      if (named.length === 0) throw new TokenRefused('a key that the issuer does not have');
      if (kid === undefined && named.length > 1) throw new TokenRefused('names none of several keys');
      return named;
    },
    /** Seconds since the issuer last answered; undefined before it first did. */
    ageInSeconds(): number | undefined {
      return Number.isFinite(fetchedAt) ? Math.round(age() / second) : undefined;
    },
  };
}

export type KeySource = ReturnType<typeof keySource>;

/** Gets a key set of at most 1 MB over HTTPS, within 2 s; over HTTP only from this machine. */
export function httpKeySet(uri: string): () => Promise<string> {
  const { protocol, hostname } = new URL(uri);
  if (protocol !== 'https:' && !(protocol === 'http:' && ['127.0.0.1', 'localhost'].includes(hostname))) {
    throw new Error(`JWKS_URI is ${uri}: keys are fetched over HTTPS.`);
  }
  return async () => {
    const response = await fetch(uri, { redirect: 'error', signal: AbortSignal.timeout(fetchTimeout) });
    if (!response.ok) throw new Error(`The issuer answered ${response.status} when asked for its keys.`);
    return readText(response);
  };
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxKeySetBytes) throw new Error(`The issuer's key set is larger than ${maxKeySetBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The usable keys of a key set. Others (for encryption, of other families) are skipped. */
export function readKeySet(text: string): VerificationKey[] {
  const { keys } = JSON.parse(text) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('A key set has a member `keys`.');
  return keys
    .filter((jwk) => typeof jwk === 'object' && jwk !== null)
    .map(verificationKey)
    .filter((key) => key !== undefined);
}
