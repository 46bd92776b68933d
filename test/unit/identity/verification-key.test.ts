import { describe, expect, it } from 'vitest';
import { readCompactJws, TokenRefused } from '../../../functions/identity/compact-jws.ts';
import { verificationKey } from '../../../functions/identity/verification-key.ts';
import { issuerKey, signedToken } from '../../support/token-issuer.ts';

const rsa = await issuerKey('RS256', 'rsa');
const ec = await issuerKey('ES256', 'ec');
const p521 = await issuerKey('ES512', 'p521');
const n = Buffer.from(String(rsa.jwk.n), 'base64url');
const base64url = (bytes: Buffer) => bytes.toString('base64url');

describe('verificationKey', () => {
  it.each([
    [{ ...rsa.jwk, alg: undefined }, ['RS256', 'RS384', 'RS512']],
    [rsa.jwk, ['RS256']],
    [{ ...rsa.jwk, alg: 'RS512' }, ['RS512']],
    [{ ...rsa.jwk, use: undefined }, ['RS256']],
    [{ ...rsa.jwk, key_ops: ['sign', 'verify'] }, ['RS256']],
    [ec.jwk, ['ES256']],
    [{ ...ec.jwk, alg: undefined }, ['ES256']],
    [{ ...p521.jwk, alg: 'ES521' }, ['ES512']],
  ])('is made for the algorithms of its family, or the one it names (%#)', (jwk, algorithms) => {
    expect(verificationKey({ ...jwk })).toMatchObject({ kid: jwk.kid, algorithms });
  });

  it.each([
    ['has an empty name', { ...rsa.jwk, kid: '' }],
    ['has a name that is no text', { ...rsa.jwk, kid: 5 }],
    ['is for encryption', { ...rsa.jwk, use: 'enc' }],
    ['has a use that is none', { ...rsa.jwk, use: null }],
    ['is for signing', { ...rsa.jwk, key_ops: ['sign'] }],
    ['is for nothing', { ...rsa.jwk, key_ops: [] }],
    ['has operations that are no list', { ...rsa.jwk, key_ops: 'verify' }],
    ['is too short', { ...rsa.jwk, n: base64url(n.subarray(0, 255)) }],
    ['lacks n', { ...rsa.jwk, n: undefined }],
    ['lacks e', { ...rsa.jwk, e: undefined }],
    ['lacks crv', { ...ec.jwk, crv: undefined }],
    ['names its curve in a list', { ...ec.jwk, crv: ['P-256'] }],
    ['lacks x', { ...ec.jwk, x: undefined }],
    ['lacks y', { ...ec.jwk, y: undefined }],
    ['is no point of its curve', { ...ec.jwk, x: ec.jwk.y }],
    ['is on a curve of another family', { ...ec.jwk, alg: undefined, crv: 'secp256k1' }],
    ['names the algorithm of another curve', { ...ec.jwk, alg: 'ES384' }],
    ['names the curve of another', { ...ec.jwk, alg: 'ES521' }],
    ['names an algorithm of another family', { ...rsa.jwk, alg: 'PS256' }],
    ['names an algorithm of another kind', { ...rsa.jwk, alg: 'ES256' }],
    ['is secret', { kty: 'oct', kid: 'a', k: 'AAAA', n: rsa.jwk.n, e: rsa.jwk.e }],
    ['says nothing of its kind', { ...rsa.jwk, kty: undefined }],
    ['says nothing of its kind, on a curve', { ...ec.jwk, kty: undefined }],
  ])('is none where the key %s', (_, jwk) => {
    expect(verificationKey(jwk)).toBeUndefined();
  });

  it.each([
    ['RSA', rsa],
    ['EC', ec],
  ])('verifies what its key signed, by its algorithm, and says why not else: %s', (_, issued) => {
    const key = verificationKey({ ...issued.jwk, d: 'private', x5u: 'https://evil.example' })!;
    const token = signedToken(issued);
    expect(key.verify(readCompactJws(token))).toBeUndefined();
    const [header, , signature] = token.split('.');
    const forged = readCompactJws(`${header}.e30.${signature}`);
    expect(() => key.verify(forged)).toThrow(new TokenRefused('a wrong signature'));
    const other = readCompactJws(signedToken(issued, {}, { alg: 'RS512', kid: issued.kid }));
    expect(() => key.verify(other)).toThrow(new TokenRefused('not an algorithm of its key'));
  });
});
