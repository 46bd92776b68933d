import { createSecretKey } from 'node:crypto';
import { createLocalJWKSet, jwtVerify, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { TokenRefused } from '../../../functions/identity/compact-jws.ts';
import { keySource } from '../../../functions/identity/key-source.ts';
import { tokenVerifier } from '../../../functions/identity/token-verifier.ts';
import {
  audience,
  encoded,
  type IssuerKey,
  issuer,
  issuerKey,
  signature,
  signedToken,
  validClaims,
} from '../../support/token-issuer.ts';

const clientId = 'cognito-client-1';
const now = Math.floor(Date.now() / 1000);

/**
 * A token, and whether a second reading of it by jose must agree; it does not know our stricter
 * rules.
 */
interface Sample {
  readonly token: () => string | Promise<string>;
  readonly reason?: string;
  readonly jose?: 'agrees' | 'is laxer';
}

const rs256 = await issuerKey('RS256', 'rs256');
const keys = {
  rs256,
  rs384: alsoNamed('rs384', { alg: 'RS384' }),
  rs512: await issuerKey('RS512', 'rs512'),
  es256: await issuerKey('ES256', 'es256'),
  es384: await issuerKey('ES384', 'es384'),
  es512: await issuerKey('ES512', 'es512'),
  anyRsa: alsoNamed('anyRsa', { alg: undefined, use: undefined }),
  anyEc: await issuerKey('ES256', 'anyEc', { alg: undefined, use: undefined, key_ops: ['verify'] }),
  es521: await issuerKey('ES512', 'es521', { alg: 'ES521' }),
  twin: await issuerKey('ES256', 'rs256'),
  ps256: alsoNamed('ps256', { alg: 'PS256' }),
  ed25519: await issuerKey('Ed25519', 'ed25519'),
  short: alsoNamed('short', {
    n: Buffer.from(String(rs256.jwk.n), 'base64url').subarray(0, 255).toString('base64url'),
  }),
  encryption: alsoNamed('encryption', { use: 'enc' }),
  signOnly: alsoNamed('signOnly', { key_ops: ['sign'] }),
  nameless: alsoNamed('nameless', { kid: undefined }),
  crossed: await issuerKey('ES256', 'crossed', { alg: 'ES384' }),
};
/** Of nobody we trust, under a name that the issuer has. */
const foreign = await issuerKey('RS256', 'rs256');

const keySet = { keys: Object.values(keys).map(({ jwk }) => jwk) };
const source = keySource(async () => JSON.stringify({ keys: [null, 'x', 5, [], {}, ...keySet.keys] }));
const verify = tokenVerifier({ issuer, audiences: [audience, clientId], keys: source });

/**
 * The RSA key under another name and with other members: making each its own would take most of the
 * time of these tests.
 */
function alsoNamed(kid: string, members: Record<string, unknown>): IssuerKey {
  const alg = String(members.alg ?? rs256.alg);
  return { ...rs256, kid, alg, jwk: { ...rs256.jwk, kid, ...members } as IssuerKey['jwk'] };
}

const claims = (changes: Record<string, unknown> = {}) => ({ ...validClaims(now), ...changes });
const header = (changes: Record<string, unknown> = {}) => ({ alg: 'RS256', kid: 'rs256', typ: 'JWT', ...changes });
const token = (changes: Record<string, unknown> = {}, headerChanges: Record<string, unknown> = {}) =>
  signedToken(keys.rs256, claims(changes), header(headerChanges));
const parts = () => token().split('.') as [string, string, string];
const cognito = (changes: Record<string, unknown> = {}) =>
  token({
    aud: undefined,
    client_id: clientId,
    token_use: 'access',
    scope: 'aws.cognito.signin.user.admin',
    ...changes,
  });

const accepted: Record<string, Sample> = {
  RS256: { token: () => token() },
  RS384: { token: () => signedToken(keys.rs384) },
  RS512: { token: () => signedToken(keys.rs512) },
  ES256: { token: () => signedToken(keys.es256) },
  ES384: { token: () => signedToken(keys.es384) },
  ES512: { token: () => signedToken(keys.es512) },
  'made by jose': {
    token: () => new SignJWT(claims()).setProtectedHeader({ alg: 'ES256', kid: 'es256' }).sign(keys.es256.privateKey),
  },
  'a key that names no algorithm (RSA)': { token: () => signedToken(keys.anyRsa) },
  'a key that names no algorithm, with another of its family': {
    token: () => signedToken({ ...keys.anyRsa, alg: 'RS512' }),
  },
  'a key that names no algorithm (EC)': { token: () => signedToken(keys.anyEc) },
  'a key of P-521 whose algorithm is named after the curve': { token: () => signedToken(keys.es521), jose: 'is laxer' },
  'one of two keys of one name, by its algorithm': { token: () => signedToken(keys.twin) },
  'no typ': { token: () => token({}, { typ: undefined }) },
  'an access token by RFC 9068': { token: () => token({}, { typ: 'at+jwt' }) },
  'an access token by RFC 9068, in full': { token: () => token({}, { typ: 'application/AT+JWT' }) },
  'one of several audiences': { token: () => token({ aud: ['https://other.example', audience] }) },
  'the second audience that is allowed': { token: () => token({ aud: clientId }) },
  'an access token of Cognito': { token: () => cognito() },
  'an access token that says so and names its audience': { token: () => token({ token_use: 'access' }) },
  'no nbf': { token: () => token({ nbf: undefined }) },
  'a fractional exp': { token: () => token({ exp: now + 60.5 }) },
  'claims it does not know': { token: () => token({ roles: ['a'], nested: { sub: 'x', exp: 1 }, jti: '1' }) },
  'a header that brings a key': { token: () => token({}, { jwk: foreign.jwk }) },
  'a header that points to keys': {
    token: () => token({}, { jku: 'https://evil.example/jwks', x5u: 'https://evil.example', x5c: ['x'] }),
  },
  'spaces in its JSON': {
    token: () => signedToken(keys.rs256, ` ${JSON.stringify(claims(), null, 2)}\n`, JSON.stringify(header(), null, 1)),
  },
  'a subject of any script': { token: () => token({ sub: 'ユーザー🙂' }) },
  'a subject of 256 characters': { token: () => token({ sub: '漢'.repeat(256) }) },
  'a type in any case': { token: () => token({}, { typ: 'jwt' }) },
  'exp and nbf at the edge': { token: () => token({ nbf: now, exp: now + 600 }) },
  'own members named as those of the prototype': {
    token: () => signedToken(keys.rs256, `{"__proto__":{"sub":"x"},${JSON.stringify(claims()).slice(1)}`),
  },
};

const refused: Record<string, Sample> = {
  nothing: { token: () => '', reason: 'not a signed token of three parts' },
  'one part': { token: () => parts()[0], reason: 'not a signed token of three parts' },
  'two parts': { token: () => parts().slice(0, 2).join('.'), reason: 'not a signed token of three parts' },
  'four parts': { token: () => `${token()}.`, reason: 'not a signed token of three parts' },
  'five parts (encrypted)': { token: () => `${token()}.a.b`, reason: 'not a signed token of three parts' },
  'no signature': { token: () => `${parts()[0]}.${parts()[1]}.`, reason: 'not a signed token of three parts' },
  'no header': { token: () => `.${parts()[1]}.${parts()[2]}`, reason: 'not JSON objects' },
  'no payload': { token: () => signedToken(keys.rs256, ''), reason: 'not JSON objects' },
  'over 8 KB': { token: () => token({ padding: 'x'.repeat(8192) }), reason: 'longer than 8 KB', jose: 'is laxer' },
  padding: { token: () => `${token()}=`, reason: 'not in base64url' },
  'the other base64 alphabet': {
    token: () => `${parts()[0]}.${parts()[1]}.${parts()[2].replace(/[-_]/g, '+')}+`,
    reason: 'not in base64url',
  },
  'a line break in its signature': {
    token: () => {
      const [h, p, s] = parts();
      return `${h}.${p}.${s.slice(0, 9)}\n${s.slice(9)}`;
    },
    reason: 'not in base64url',
    jose: 'is laxer',
  },
  'a character of no alphabet in its header': {
    token: () => {
      const [h, p, s] = parts();
      return `${h}!.${p}.${s}`;
    },
    reason: 'not in base64url',
  },
  'bits beyond the end of its signature': {
    token: () => withOtherLastBits(signedToken(keys.rs256)),
    reason: 'not in base64url',
    jose: 'is laxer',
  },
  'a header that is no JSON': { token: () => signedToken(keys.rs256, claims(), 'alg'), reason: 'not JSON objects' },
  'a header that is an array': {
    token: () => signedToken(keys.rs256, claims(), [header()]),
    reason: 'not JSON objects',
  },
  'a header that is null': { token: () => signedToken(keys.rs256, claims(), 'null'), reason: 'not JSON objects' },
  'a header that is not UTF-8': {
    token: () =>
      signedToken(
        keys.rs256,
        claims(),
        Buffer.concat([Buffer.from('{"alg":"RS256","kid":"rs256","x":"'), Buffer.from([0xff]), Buffer.from('"}')]),
      ),
    reason: 'not JSON objects',
  },
  'alg given twice': {
    token: () => signedToken(keys.rs256, claims(), '{"alg":"none","kid":"rs256","alg":"RS256"}'),
    reason: 'a member given twice',
    jose: 'is laxer',
  },
  'no alg': { token: () => token({}, { alg: undefined }), reason: 'names no algorithm' },
  'alg that is no string': { token: () => token({}, { alg: ['RS256'] }), reason: 'names no algorithm' },
  'alg none, unsigned': {
    token: () => `${encoded(header({ alg: 'none' }))}.${encoded(claims())}.`,
    reason: 'not a signed token of three parts',
  },
  'alg none with a signature': {
    token: () => `${encoded(header({ alg: 'none' }))}.${parts()[1]}.${parts()[2]}`,
    reason: 'not an algorithm of its key',
  },
  'alg NONE': {
    token: () => `${encoded(header({ alg: 'NONE' }))}.${parts()[1]}.${parts()[2]}`,
    reason: 'not an algorithm of its key',
  },
  'alg in lower case': { token: () => token({}, { alg: 'rs256' }), reason: 'not an algorithm of its key' },
  'HS256 with the public key as secret': { token: () => confused('HS256'), reason: 'not an algorithm of its key' },
  'another algorithm of the family than the key names': {
    token: () => signedToken({ ...keys.rs256, alg: 'RS512' }),
    reason: 'not an algorithm of its key',
  },
  'RS256 in the header, RS512 in the signature': { token: () => mislabeled('RS512'), reason: 'a wrong signature' },
  'PS256 with a key for RS256': {
    token: () => signedToken({ ...keys.rs256, alg: 'PS256' }),
    reason: 'not an algorithm of its key',
  },
  'ES256 with an RSA key': { token: () => token({}, { alg: 'ES256' }), reason: 'a wrong signature' },
  'ES256 with an RSA key that names no algorithm': {
    token: () => signedToken(keys.anyRsa, claims(), { alg: 'ES256', kid: 'anyRsa' }),
    reason: 'not an algorithm of its key',
  },
  'RS256 with an EC key': {
    token: () => signedToken(keys.es256, claims(), { alg: 'RS256', kid: 'es256' }),
    reason: 'not an algorithm of its key',
  },
  'a key whose algorithm is not that of its curve': {
    token: () => signedToken(keys.crossed),
    reason: 'a key that the issuer does not have',
  },
  'a key of another family (PS256)': {
    token: () => signedToken(keys.ps256),
    reason: 'a key that the issuer does not have',
    jose: 'is laxer',
  },
  'a key of another family (Ed25519)': {
    token: () => signedToken(keys.ed25519, claims(), { alg: 'EdDSA', kid: 'ed25519' }),
    reason: 'a key that the issuer does not have',
  },
  'a key that is too short': { token: () => signedToken(keys.short), reason: 'a key that the issuer does not have' },
  'a key for encryption': { token: () => signedToken(keys.encryption), reason: 'a key that the issuer does not have' },
  'a key that is not for verifying': {
    token: () => signedToken(keys.signOnly),
    reason: 'a key that the issuer does not have',
  },
  'a key that has no name': { token: () => signedToken(keys.nameless), reason: 'a key that the issuer does not have' },
  'no kid': { token: () => token({}, { kid: undefined }), reason: 'names none of several keys' },
  'an empty kid': { token: () => token({}, { kid: '' }), reason: 'an unreadable kid' },
  'a kid that is no string': { token: () => token({}, { kid: 5 }), reason: 'an unreadable kid' },
  'a kid that nobody has': { token: () => token({}, { kid: 'other' }), reason: 'a key that the issuer does not have' },
  'a kid named as a member of the prototype': {
    token: () => token({}, { kid: '__proto__' }),
    reason: 'a key that the issuer does not have',
  },
  'a kid like a path': {
    token: () => token({}, { kid: '../../etc/passwd' }),
    reason: 'a key that the issuer does not have',
  },
  'a foreign key of the same name': { token: () => signedToken(foreign), reason: 'a wrong signature' },
  'a foreign key in its header': {
    token: () => signedToken(foreign, claims(), header({ jwk: foreign.jwk })),
    reason: 'a wrong signature',
  },
  crit: { token: () => token({}, { crit: ['exp'], exp: 1 }), reason: 'asks for extensions' },
  'crit with b64': { token: () => token({}, { crit: ['b64'], b64: false }), reason: 'asks for extensions' },
  'an empty crit': { token: () => token({}, { crit: [] }), reason: 'asks for extensions' },
  'crit null': { token: () => token({}, { crit: null }), reason: 'asks for extensions' },
  'a logout token': {
    token: () => token({}, { typ: 'logout+jwt' }),
    reason: 'another type of token',
    jose: 'is laxer',
  },
  'a type that ends alike': {
    token: () => token({}, { typ: 'x-jwt' }),
    reason: 'another type of token',
    jose: 'is laxer',
  },
  'a type that begins alike': {
    token: () => token({}, { typ: 'JWT+x' }),
    reason: 'another type of token',
    jose: 'is laxer',
  },
  'an empty type': { token: () => token({}, { typ: '' }), reason: 'another type of token', jose: 'is laxer' },
  'typ null': { token: () => token({}, { typ: null }), reason: 'another type of token', jose: 'is laxer' },
  'typ that is a list': { token: () => token({}, { typ: ['JWT'] }), reason: 'another type of token', jose: 'is laxer' },
  'typ that is no string': { token: () => token({}, { typ: 1 }), reason: 'another type of token', jose: 'is laxer' },
  'another payload': {
    token: () => {
      const [h, , s] = parts();
      return `${h}.${encoded(claims({ sub: 'mallory' }))}.${s}`;
    },
    reason: 'a wrong signature',
  },
  'another header': {
    token: () => {
      const [, p, s] = parts();
      return `${encoded(header({ x: 1 }))}.${p}.${s}`;
    },
    reason: 'a wrong signature',
  },
  'one bit of the signature flipped': {
    token: () => {
      const [h, p, s] = parts();
      const b = Buffer.from(s, 'base64url');
      b.writeUInt8(b.readUInt8(7) ^ 1, 7);
      return `${h}.${p}.${b.toString('base64url')}`;
    },
    reason: 'a wrong signature',
  },
  'half a signature': {
    token: () => {
      const [h, p, s] = parts();
      return `${h}.${p}.${s.slice(0, 172)}`;
    },
    reason: 'a wrong signature',
  },
  'an ECDSA signature of zeros': {
    token: () => {
      const [h, p] = signedToken(keys.es256).split('.');
      return `${h}.${p}.${Buffer.alloc(64).toString('base64url')}`;
    },
    reason: 'a wrong signature',
  },
  'a payload that is no JSON': { token: () => signedToken(keys.rs256, 'foo'), reason: 'not JSON objects' },
  'a payload that is an array': { token: () => signedToken(keys.rs256, [claims()]), reason: 'not JSON objects' },
  'a payload after a byte order mark': {
    token: () => signedToken(keys.rs256, `\uFEFF${JSON.stringify(claims())}`),
    reason: 'not JSON objects',
    jose: 'is laxer',
  },
  'sub given twice': {
    token: () => signedToken(keys.rs256, `{"sub":"mallory",${JSON.stringify(claims()).slice(1)}`),
    reason: 'a member given twice',
    jose: 'is laxer',
  },
  'exp given twice, spelled differently': {
    token: () => signedToken(keys.rs256, `{"\\u0065xp":1,${JSON.stringify(claims()).slice(1)}`),
    reason: 'a member given twice',
    jose: 'is laxer',
  },
  'no iss': { token: () => token({ iss: undefined }), reason: 'from another issuer' },
  'another iss': { token: () => token({ iss: 'https://issuer.example/other' }), reason: 'from another issuer' },
  'iss with a slash at its end': { token: () => token({ iss: `${issuer}/` }), reason: 'from another issuer' },
  'iss that is an array': { token: () => token({ iss: [issuer] }), reason: 'from another issuer' },
  'no aud': { token: () => token({ aud: undefined }), reason: 'for another audience' },
  'another aud': { token: () => token({ aud: 'https://other.example' }), reason: 'for another audience' },
  'an empty aud': { token: () => token({ aud: [] }), reason: 'for another audience' },
  'aud that holds an array': { token: () => token({ aud: [[audience]] }), reason: 'for another audience' },
  'aud that begins alike': { token: () => token({ aud: `${audience}.evil` }), reason: 'for another audience' },
  'an ID token of Cognito': {
    token: () => token({ aud: clientId, token_use: 'id' }),
    reason: 'for another audience',
    jose: 'is laxer',
  },
  'client_id without token_use': { token: () => cognito({ token_use: undefined }), reason: 'for another audience' },
  'another client of Cognito': { token: () => cognito({ client_id: 'other' }), reason: 'for another audience' },
  'another aud beside client_id': {
    token: () => cognito({ aud: 'https://other.example' }),
    reason: 'for another audience',
  },
  'no exp': { token: () => token({ exp: undefined }), reason: 'without expiry' },
  'exp that is a string': { token: () => token({ exp: String(now + 60) }), reason: 'without expiry' },
  'exp that is infinite': {
    token: () => signedToken(keys.rs256, JSON.stringify(claims({ exp: 0 })).replace('"exp":0', '"exp":1e999')),
    reason: 'without expiry',
    jose: 'is laxer',
  },
  'exp null': { token: () => token({ exp: null }), reason: 'without expiry' },
  'expired by a second': { token: () => token({ exp: now - 1 }), reason: 'expired' },
  'expired at this moment': { token: () => token({ exp: now }), reason: 'expired' },
  'a negative exp': { token: () => token({ exp: -1 }), reason: 'expired' },
  'not valid yet': { token: () => token({ nbf: now + 60 }), reason: 'not valid yet' },
  'nbf that is a string': { token: () => token({ nbf: 'now' }), reason: 'an unreadable nbf' },
  'nbf null': { token: () => token({ nbf: null }), reason: 'an unreadable nbf' },
  'no sub': { token: () => token({ sub: undefined }), reason: 'without subject' },
  'an empty sub': { token: () => token({ sub: '' }), reason: 'without subject', jose: 'is laxer' },
  'sub that is a number': { token: () => token({ sub: 1 }), reason: 'without subject', jose: 'is laxer' },
  'sub of half a character': {
    token: () => signedToken(keys.rs256, JSON.stringify(claims({ sub: 'X' })).replace('"X"', '"\\ud800"')),
    reason: 'without subject',
    jose: 'is laxer',
  },
  'sub of 257 characters': {
    token: () => token({ sub: 'x'.repeat(257) }),
    reason: 'without subject',
    jose: 'is laxer',
  },
  'sub of 256 characters that grow when they are escaped': {
    token: () => token({ sub: '"'.repeat(256) }),
    reason: 'without subject',
    jose: 'is laxer',
  },
};

/** The last character of a signature of 256 bytes carries four bits that belong to no byte. */
function withOtherLastBits(text: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return text.slice(0, -1) + alphabet[alphabet.indexOf(text.at(-1) ?? '') ^ 1];
}

function confused(alg: string): string {
  const secret = createSecretKey(Buffer.from(JSON.stringify(keys.rs256.jwk)));
  return signedToken({ ...keys.rs256, alg, privateKey: secret }, claims(), header({ alg }));
}

function mislabeled(alg: string): string {
  const input = `${encoded(header())}.${encoded(claims())}`;
  return `${input}.${signature({ alg, privateKey: keys.rs256.privateKey }, input)}`;
}

async function joseAccepts(text: string): Promise<boolean> {
  const usable = keySet.keys.filter(({ kty, alg }) => kty !== 'OKP' && alg !== 'ES521');
  const algorithms = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256'];
  const verified = await jwtVerify(text, createLocalJWKSet({ keys: usable }), {
    issuer,
    algorithms,
    requiredClaims: ['exp', 'sub'],
  }).catch(() => undefined);
  const { aud, client_id, token_use } = verified?.payload ?? {};
  const named = aud ?? (token_use === 'access' ? client_id : undefined);
  return verified !== undefined && [named].flat().some((name) => name === audience || name === clientId);
}

describe('tokenVerifier', () => {
  it('is tried with over 60 tokens', () => {
    expect(Object.keys(accepted).length + Object.keys(refused).length).toBeGreaterThan(100);
  });

  it.each(Object.entries(accepted))('accepts %s', async (_, sample) => {
    const text = await sample.token();
    const { sub, exp, scope = '' } = JSON.parse(Buffer.from(text.split('.')[1] as string, 'base64url').toString());
    await expect(verify(text)).resolves.toEqual({ userId: sub, exp, scope });
    expect(await joseAccepts(text)).toBe(sample.jose !== 'is laxer');
  });

  it.each([
    [{ scope: 'a b' }, 'a b'],
    [{ scope: ['a', 'b'] }, 'a b'],
    [{ scp: 'a b' }, 'a b'],
    [{ scp: ['a', 'b'] }, 'a b'],
    [{ scope: 'a', scp: 'b' }, 'a'],
    [{ scope: 5 }, ''],
    [{ scope: null }, ''],
    [{}, ''],
    [{ scope: 'device:FRESNEL' }, 'device:FRESNEL'],
    [{ scope: 'device/FRESNEL' }, 'device/FRESNEL'],
    [{ token_use: 'access', scope: 'device/FRESNEL device/*' }, 'device:FRESNEL device:*'],
    [
      { token_use: 'access', scope: 'a device/FRESNEL mydevice/A b/device/C' },
      'a device:FRESNEL mydevice/A b/device/C',
    ],
  ])('reads the scope of %j', async (claims, scope) => {
    expect(await verify(signedToken(keys.rs256, { ...validClaims(now), ...claims }))).toMatchObject({ scope });
  });

  it('hands on the highest priority and the projects that a token names', async () => {
    const claimsOf = async (more: object) => {
      const { userId, exp, scope, ...claims } = await verify(signedToken(keys.rs256, { ...validClaims(now), ...more }));
      return claims;
    };
    expect(await claimsOf({})).toEqual({});
    expect(await claimsOf({ queue_priority: 'HIGH' })).toEqual({ queue_priority: 'HIGH' });
    const id = '5D6A3F0E-6F2B-4C0E-9A51-6D3C6F6F1F2A';
    expect(await claimsOf({ projects: [{ id, name: 'Mine', more: 1 }] })).toEqual({
      projects: JSON.stringify([{ id: id.toLowerCase(), name: 'Mine' }]),
    });
    expect(await claimsOf({ projects: [] })).toEqual({ projects: '[]' });
  });

  it.each([
    [{ queue_priority: 'high' }, 'queue_priority'],
    [{ queue_priority: null }, 'queue_priority'],
    [{ projects: 'all' }, 'projects'],
    [{ projects: null }, 'projects'],
    [{ projects: [null] }, 'project'],
    [{ projects: [{ id: 'mine', name: 'Mine' }] }, 'project'],
    [{ projects: [{ id: '5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a' }] }, 'project'],
  ])('refuses a token whose %j cannot be read: it would allow too much', async (claims, reason) => {
    await expect(verify(signedToken(keys.rs256, { ...validClaims(now), ...claims }))).rejects.toThrow(reason);
  });

  it('accepts a token without kid when the issuer has one key', async () => {
    const only = keySource(async () => JSON.stringify({ keys: [keys.nameless.jwk, keys.encryption.jwk] }));
    const verifyByOnly = tokenVerifier({ issuer, audiences: [audience], keys: only });
    const nameless = (by: IssuerKey) => signedToken(by, validClaims(now), { alg: 'RS256' });
    expect(await verifyByOnly(nameless(keys.rs256))).toMatchObject({ userId: 'auth0|alice' });
    await expect(verifyByOnly(nameless(foreign))).rejects.toThrow(new TokenRefused('a wrong signature'));
    const es256 = signedToken(keys.es256, validClaims(now), { alg: 'ES256' });
    await expect(verifyByOnly(es256)).rejects.toThrow(new TokenRefused('not an algorithm of its key'));
  });

  it('tries every key of the token’s kid', async () => {
    const twins = [foreign.jwk, keys.es256.jwk, keys.rs256.jwk].map((jwk) => ({ ...jwk, kid: 'same' }));
    const source = keySource(async () => JSON.stringify({ keys: twins }));
    const verifyByTwins = tokenVerifier({ issuer, audiences: [audience], keys: source });
    const signed = (by: IssuerKey) => signedToken(by, validClaims(now), { alg: by.alg, kid: 'same' });
    for (const by of [foreign, keys.rs256, keys.es256]) {
      expect(await verifyByTwins(signed(by))).toMatchObject({ userId: 'auth0|alice' });
    }
    await expect(verifyByTwins(signed(keys.es384))).rejects.toThrow(new TokenRefused('not an algorithm of its key'));
    const stranger = await issuerKey('RS256', 'same');
    await expect(verifyByTwins(signed(stranger))).rejects.toThrow(new TokenRefused('a wrong signature'));
  });

  it.each(Object.entries(refused))('refuses %s', async (_, sample) => {
    const text = await sample.token();
    await expect(verify(text)).rejects.toThrow(new TokenRefused(sample.reason));
    expect(await joseAccepts(text)).toBe(sample.jose === 'is laxer');
  });

  it('measures time by the clock it is given', async () => {
    let time = (now + 30) * 1000;
    const source = keySource(async () => JSON.stringify(keySet));
    const verifyLater = tokenVerifier({ issuer, audiences: [audience], keys: source, now: () => time });
    const text = token({ nbf: now + 30, exp: now + 60 });
    await expect(verifyLater(text)).resolves.toMatchObject({ exp: now + 60 });
    time = (now + 60) * 1000;
    await expect(verifyLater(text)).rejects.toThrow('expired');
    time = (now + 30) * 1000 - 1;
    await expect(verifyLater(text)).rejects.toThrow('not valid yet');
  });
});
