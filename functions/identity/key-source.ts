import { addToRequestLog, describeError } from '../request-log.ts';
import { TokenRefused } from './compact-jws.ts';
import { type VerificationKey, verificationKey } from './verification-key.ts';

/** The issuer's keys are not known, so that no token can be judged: never the caller's fault. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
}

const second = 1000;
const minute = 60 * second;

/** Between two requests to the issuer, whatever they were for and however they went. */
const pause = 10 * second;
/** After this a key may have been withdrawn: the issuer is asked again before one is used. */
const freshFor = 10 * minute;
/** For so long keys serve on while the issuer does not answer. */
const usableFor = 6 * 60 * minute;
const fetchTimeout = 2 * second;

/**
 * The keys of an issuer, kept between requests. They are fetched when they are first needed, when a token names one that is
 * not known (rotation), and when they are older than 10 minutes: at most once in 10 s, by however many tokens. `fetchText`
 * gets the text of the key set (JWKS), or throws.
 */
export function keySource(fetchText: () => Promise<string>, now = Date.now) {
  let keys: readonly VerificationKey[] = [];
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;

  const age = () => now() - fetchedAt;
  const knows = (kid: string) => keys.some((key) => key.kid === kid);

  async function ask() {
    askedAt = now();
    const start = askedAt;
    try {
      keys = readKeySet(await fetchText());
      fetchedAt = start;
    } catch (error) {
      addToRequestLog({ jwks_error: describeError(error) });
    } finally {
      asking = undefined;
    }
  }

  return {
    /**
     * The key that a token names. Throws TokenRefused when the issuer has no such key, KeysUnavailable when its keys are not
     * known or older than 6 hours.
     */
    async find({ kid, alg }: { kid: string; alg: string }): Promise<VerificationKey> {
      if (age() >= freshFor || !knows(kid)) {
        if (asking === undefined && now() - askedAt >= pause) asking = ask();
        await asking;
      }
      if (age() >= usableFor) throw new KeysUnavailable('The issuer’s keys cannot be fetched.');
      const named = keys.filter((key) => key.kid === kid);
      const key = named.find(({ algorithms }) => algorithms.includes(alg)) ?? named[0];
      if (key === undefined) throw new TokenRefused('a key that the issuer does not have');
      return key;
    },
    /** Seconds since the issuer last answered; undefined before it first did. */
    ageInSeconds(): number | undefined {
      return Number.isFinite(fetchedAt) ? Math.round(age() / second) : undefined;
    },
  };
}

export type KeySource = ReturnType<typeof keySource>;

/** Gets a key set over HTTPS, within 2 s; over HTTP only from this machine. */
export function httpKeySet(uri: string): () => Promise<string> {
  const { protocol, hostname } = new URL(uri);
  if (protocol !== 'https:' && !(protocol === 'http:' && ['127.0.0.1', 'localhost'].includes(hostname))) {
    throw new Error(`JWKS_URI is ${uri}: keys are fetched over HTTPS.`);
  }
  return async () => {
    const response = await fetch(uri, { redirect: 'error', signal: AbortSignal.timeout(fetchTimeout) });
    if (!response.ok) throw new Error(`The issuer answered ${response.status} when asked for its keys.`);
    return response.text();
  };
}

/** The usable keys of a key set; others in it (for encryption, of other families) are passed over. */
export function readKeySet(text: string): VerificationKey[] {
  const { keys } = JSON.parse(text) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('A key set has a member `keys`.');
  return keys
    .filter((jwk) => typeof jwk === 'object' && jwk !== null)
    .map(verificationKey)
    .filter((key) => key !== undefined);
}
