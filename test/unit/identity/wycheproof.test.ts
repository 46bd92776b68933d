/**
 * The JSON Web Signature vectors of C2SP/wycheproof, where WYCHEPROOF_JWS names their file; the
 * project does not contain them. Their payloads are no claims: they test signatures alone.
 */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readCompactJws } from '../../../functions/identity/compact-jws.ts';
import { verificationKey } from '../../../functions/identity/verification-key.ts';

interface Group {
  readonly public?: Record<string, unknown>;
  readonly tests: readonly { tcId: number; comment: string; jws: string; result: 'valid' | 'invalid' }[];
}

const file = process.env.WYCHEPROOF_JWS;
const groups: Group[] = file === undefined ? [] : JSON.parse(readFileSync(file, 'utf8')).testGroups;

const cases = groups.flatMap(({ public: jwk, tests }) =>
  jwk === undefined ? [] : tests.map((test) => ({ ...test, jwk, name: `${test.tcId} ${test.comment}` })),
);
const family = /^(RS|ES)(256|384|512)$/;

function accepts(jwk: Record<string, unknown>, jws: string): boolean {
  try {
    const parts = readCompactJws(jws);
    const key = verificationKey(jwk);
    key?.verify(parts);
    return key !== undefined && key.kid === parts.header.kid;
  } catch {
    return false;
  }
}

/** Rightly signed, by an algorithm that this service takes. */
function mustAccept({ result, jws }: (typeof cases)[number]): boolean {
  const [header = ''] = jws.split('.');
  return result === 'valid' && family.test(JSON.parse(Buffer.from(header, 'base64url').toString()).alg);
}

describe.skipIf(cases.length === 0)('Wycheproof', () => {
  it('has vectors with public keys', () => {
    expect(cases.length).toBeGreaterThan(300);
    expect(cases.filter(mustAccept).length).toBeGreaterThan(15);
  });

  it.each(cases)('$name: $result', (vector) => {
    expect(accepts(vector.jwk, vector.jws)).toBe(mustAccept(vector));
  });
});
