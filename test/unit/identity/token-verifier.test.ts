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

type Token = () => string | Promise<string>;

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
/** A key that we do not trust, under the name of one of the issuer's keys. */
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

const accepted: Record<string, Token> = {
  RS256: () => token(),
  RS384: () => signedToken(keys.rs384),
  RS512: () => signedToken(keys.rs512),
  ES256: () => signedToken(keys.es256),
  ES384: () => signedToken(keys.es384),
  ES512: () => signedToken(keys.es512),
  'made by jose': () =>
    new SignJWT(claims()).setProtectedHeader({ alg: 'ES256', kid: 'es256' }).sign(keys.es256.privateKey),
  'a key that names no algorithm (RSA)': () => signedToken(keys.anyRsa),
  'a key that names no algorithm, with another of its family': () => signedToken({ ...keys.anyRsa, alg: 'RS512' }),
  'a key that names no algorithm (EC)': () => signedToken(keys.anyEc),
  'a key of P-521 whose algorithm is named after the curve': () => signedToken(keys.es521),
  'one of two keys of one name, by its algorithm': () => signedToken(keys.twin),
  'no typ': () => token({}, { typ: undefined }),
  'an access token by RFC 9068': () => token({}, { typ: 'at+jwt' }),
  'an access token by RFC 9068, in full': () => token({}, { typ: 'application/AT+JWT' }),
  'one of several audiences': () => token({ aud: ['https://other.example', audience] }),
  'the second audience that is allowed': () => token({ aud: clientId }),
  'an access token of Cognito': () => cognito(),
  'an access token that says so and names its audience': () => token({ token_use: 'access' }),
  'no nbf': () => token({ nbf: undefined }),
  'a fractional exp': () => token({ exp: now + 60.5 }),
  'claims it does not know': () => token({ roles: ['a'], nested: { sub: 'x', exp: 1 }, jti: '1' }),
  'a header that brings a key': () => token({}, { jwk: foreign.jwk }),
  'a header that points to keys': () =>
    token({}, { jku: 'https://evil.example/jwks', x5u: 'https://evil.example', x5c: ['x'] }),
  'spaces in its JSON': () =>
    signedToken(keys.rs256, ` ${JSON.stringify(claims(), null, 2)}\n`, JSON.stringify(header(), null, 1)),
  'a subject of any script': () => token({ sub: 'ユーザー🙂' }),
  'a subject of 256 characters': () => token({ sub: '漢'.repeat(256) }),
  'a type in any case': () => token({}, { typ: 'jwt' }),
  'exp and nbf at the edge': () => token({ nbf: now, exp: now + 600 }),
  'own members named as those of the prototype': () =>
    signedToken(keys.rs256, `{"__proto__":{"sub":"x"},${JSON.stringify(claims()).slice(1)}`),
};

/** By the reason for which they are refused. */
const refused: Record<string, Record<string, Token>> = {
  'not a signed token of three parts': {
    nothing: () => '',
    'one part': () => parts()[0],
    'two parts': () => parts().slice(0, 2).join('.'),
    'four parts': () => `${token()}.`,
    'five parts (encrypted)': () => `${token()}.a.b`,
    'no signature': () => `${parts()[0]}.${parts()[1]}.`,
    'alg none, unsigned': () => `${encoded(header({ alg: 'none' }))}.${encoded(claims())}.`,
  },
  'not JSON objects': {
    'no header': () => `.${parts()[1]}.${parts()[2]}`,
    'no payload': () => signedToken(keys.rs256, ''),
    'a header that is no JSON': () => signedToken(keys.rs256, claims(), 'alg'),
    'a header that is an array': () => signedToken(keys.rs256, claims(), [header()]),
    'a header that is null': () => signedToken(keys.rs256, claims(), 'null'),
    'a header that is not UTF-8': () =>
      signedToken(
        keys.rs256,
        claims(),
        Buffer.concat([Buffer.from('{"alg":"RS256","kid":"rs256","x":"'), Buffer.from([0xff]), Buffer.from('"}')]),
      ),
    'a payload that is no JSON': () => signedToken(keys.rs256, 'foo'),
    'a payload that is an array': () => signedToken(keys.rs256, [claims()]),
    'a payload after a byte order mark': () => signedToken(keys.rs256, `\uFEFF${JSON.stringify(claims())}`),
  },
  'longer than 8 KB': {
    'over 8 KB': () => token({ padding: 'x'.repeat(8192) }),
  },
  'not in base64url': {
    padding: () => `${token()}=`,
    'the other base64 alphabet': () => `${parts()[0]}.${parts()[1]}.${parts()[2].replace(/[-_]/g, '+')}+`,
    'a line break in its signature': () => {
      const [h, p, s] = parts();
      return `${h}.${p}.${s.slice(0, 9)}\n${s.slice(9)}`;
    },
    'a character of no alphabet in its header': () => {
      const [h, p, s] = parts();
      return `${h}!.${p}.${s}`;
    },
    'bits beyond the end of its signature': () => withOtherLastBits(signedToken(keys.rs256)),
  },
  'a member given twice': {
    'alg given twice': () => signedToken(keys.rs256, claims(), '{"alg":"none","kid":"rs256","alg":"RS256"}'),
    'sub given twice': () => signedToken(keys.rs256, `{"sub":"mallory",${JSON.stringify(claims()).slice(1)}`),
    'exp given twice, spelled differently': () =>
      signedToken(keys.rs256, `{"\\u0065xp":1,${JSON.stringify(claims()).slice(1)}`),
  },
  'names no algorithm': {
    'no alg': () => token({}, { alg: undefined }),
    'alg that is no string': () => token({}, { alg: ['RS256'] }),
  },
  'not an algorithm of its key': {
    'alg none with a signature': () => `${encoded(header({ alg: 'none' }))}.${parts()[1]}.${parts()[2]}`,
    'alg NONE': () => `${encoded(header({ alg: 'NONE' }))}.${parts()[1]}.${parts()[2]}`,
    'alg in lower case': () => token({}, { alg: 'rs256' }),
    'HS256 with the public key as secret': () => confused('HS256'),
    'another algorithm of the family than the key names': () => signedToken({ ...keys.rs256, alg: 'RS512' }),
    'PS256 with a key for RS256': () => signedToken({ ...keys.rs256, alg: 'PS256' }),
    'ES256 with an RSA key that names no algorithm': () =>
      signedToken(keys.anyRsa, claims(), { alg: 'ES256', kid: 'anyRsa' }),
    'RS256 with an EC key': () => signedToken(keys.es256, claims(), { alg: 'RS256', kid: 'es256' }),
  },
  'a wrong signature': {
    'RS256 in the header, RS512 in the signature': () => mislabeled('RS512'),
    'ES256 with an RSA key': () => token({}, { alg: 'ES256' }),
    'a foreign key of the same name': () => signedToken(foreign),
    'a foreign key in its header': () => signedToken(foreign, claims(), header({ jwk: foreign.jwk })),
    'another payload': () => {
      const [h, , s] = parts();
      return `${h}.${encoded(claims({ sub: 'mallory' }))}.${s}`;
    },
    'another header': () => {
      const [, p, s] = parts();
      return `${encoded(header({ x: 1 }))}.${p}.${s}`;
    },
    'one bit of the signature flipped': () => {
      const [h, p, s] = parts();
      const b = Buffer.from(s, 'base64url');
      b.writeUInt8(b.readUInt8(7) ^ 1, 7);
      return `${h}.${p}.${b.toString('base64url')}`;
    },
    'half a signature': () => {
      const [h, p, s] = parts();
      return `${h}.${p}.${s.slice(0, 172)}`;
    },
    'an ECDSA signature of zeros': () => {
      const [h, p] = signedToken(keys.es256).split('.');
      return `${h}.${p}.${Buffer.alloc(64).toString('base64url')}`;
    },
  },
  'a key that the issuer does not have': {
    'a key whose algorithm is not that of its curve': () => signedToken(keys.crossed),
    'a key of another family (PS256)': () => signedToken(keys.ps256),
    'a key of another family (Ed25519)': () => signedToken(keys.ed25519, claims(), { alg: 'EdDSA', kid: 'ed25519' }),
    'a key that is too short': () => signedToken(keys.short),
    'a key for encryption': () => signedToken(keys.encryption),
    'a key that is not for verifying': () => signedToken(keys.signOnly),
    'a key that has no name': () => signedToken(keys.nameless),
    'a kid that nobody has': () => token({}, { kid: 'other' }),
    'a kid named as a member of the prototype': () => token({}, { kid: '__proto__' }),
    'a kid like a path': () => token({}, { kid: '../../etc/passwd' }),
  },
  'names none of several keys': {
    'no kid': () => token({}, { kid: undefined }),
  },
  'an unreadable kid': {
    'an empty kid': () => token({}, { kid: '' }),
    'a kid that is no string': () => token({}, { kid: 5 }),
  },
  'asks for extensions': {
    crit: () => token({}, { crit: ['exp'], exp: 1 }),
    'crit with b64': () => token({}, { crit: ['b64'], b64: false }),
    'an empty crit': () => token({}, { crit: [] }),
    'crit null': () => token({}, { crit: null }),
  },
  'another type of token': {
    'a logout token': () => token({}, { typ: 'logout+jwt' }),
    'a type that ends alike': () => token({}, { typ: 'x-jwt' }),
    'a type that begins alike': () => token({}, { typ: 'JWT+x' }),
    'an empty type': () => token({}, { typ: '' }),
    'typ null': () => token({}, { typ: null }),
    'typ that is a list': () => token({}, { typ: ['JWT'] }),
    'typ that is no string': () => token({}, { typ: 1 }),
  },
  'from another issuer': {
    'no iss': () => token({ iss: undefined }),
    'another iss': () => token({ iss: 'https://issuer.example/other' }),
    'iss with a slash at its end': () => token({ iss: `${issuer}/` }),
    'iss that is an array': () => token({ iss: [issuer] }),
  },
  'for another audience': {
    'no aud': () => token({ aud: undefined }),
    'another aud': () => token({ aud: 'https://other.example' }),
    'an empty aud': () => token({ aud: [] }),
    'aud that holds an array': () => token({ aud: [[audience]] }),
    'aud that begins alike': () => token({ aud: `${audience}.evil` }),
    'an ID token of Cognito': () => token({ aud: clientId, token_use: 'id' }),
    'client_id without token_use': () => cognito({ token_use: undefined }),
    'another client of Cognito': () => cognito({ client_id: 'other' }),
    'another aud beside client_id': () => cognito({ aud: 'https://other.example' }),
  },
  'without expiry': {
    'no exp': () => token({ exp: undefined }),
    'exp that is a string': () => token({ exp: String(now + 60) }),
    'exp that is infinite': () =>
      signedToken(keys.rs256, JSON.stringify(claims({ exp: 0 })).replace('"exp":0', '"exp":1e999')),
    'exp null': () => token({ exp: null }),
  },
  expired: {
    'expired by a second': () => token({ exp: now - 1 }),
    'expired at this moment': () => token({ exp: now }),
    'a negative exp': () => token({ exp: -1 }),
  },
  'not valid yet': {
    'not valid yet': () => token({ nbf: now + 60 }),
  },
  'an unreadable nbf': {
    'nbf that is a string': () => token({ nbf: 'now' }),
    'nbf null': () => token({ nbf: null }),
  },
  'without subject': {
    'no sub': () => token({ sub: undefined }),
    'an empty sub': () => token({ sub: '' }),
    'sub that is a number': () => token({ sub: 1 }),
    'sub of half a character': () =>
      signedToken(keys.rs256, JSON.stringify(claims({ sub: 'X' })).replace('"X"', '"\\ud800"')),
    'sub of 257 characters': () => token({ sub: 'x'.repeat(257) }),
    'sub of 256 characters that grow when they are escaped': () => token({ sub: '"'.repeat(256) }),
  },
};

/** What jose accepts: it does not know our stricter rules. */
const acceptedByJose = [
  'over 8 KB',
  'a line break in its signature',
  'bits beyond the end of its signature',
  'alg given twice',
  'a key of another family (PS256)',
  'a logout token',
  'a type that ends alike',
  'a type that begins alike',
  'an empty type',
  'typ null',
  'typ that is a list',
  'typ that is no string',
  'a payload after a byte order mark',
  'sub given twice',
  'exp given twice, spelled differently',
  'an ID token of Cognito',
  'exp that is infinite',
  'an empty sub',
  'sub that is a number',
  'sub of half a character',
  'sub of 257 characters',
  'sub of 256 characters that grow when they are escaped',
];

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

/** What a token with these claims says beside who it is, until when, and its scope. */
async function claimsOf(more: object) {
  const { userId, exp, scope, ...rest } = await verify(token({ ...more }));
  return rest;
}

/** Each project as `name: role`, in the order of the token, and the roles that do not exist. */
async function rolesOf(more: object) {
  const { projects, unknownRoles } = await claimsOf(more);
  const named: { id: string; name: string; role?: string }[] | undefined = projects && JSON.parse(projects);
  return { roles: named?.map(({ name, role = 'none' }) => `${name}: ${role}`), unknownRoles };
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
  it('accepts what is right, and jose agrees', async () => {
    expect(Object.keys(accepted).length).toBeGreaterThan(25);
    for (const [name, token] of Object.entries(accepted)) {
      const text = await token();
      const { sub, exp, scope = '' } = JSON.parse(Buffer.from(text.split('.')[1] as string, 'base64url').toString());
      expect(await verify(text).catch(String), name).toEqual({ userId: sub, exp, scope });
      expect(await joseAccepts(text), name).toBe(name !== 'a key of P-521 whose algorithm is named after the curve');
    }
  });

  it('refuses all others, each for its reason, and jose most of them', async () => {
    const reasons: Record<string, object> = {};
    const takenByJose: string[] = [];
    for (const [reason, tokens] of Object.entries(refused)) {
      for (const [name, token] of Object.entries(tokens)) {
        const text = await token();
        const error = await verify(text).catch((thrown: Error) => thrown);
        reasons[reason] = {
          ...reasons[reason],
          ...(error instanceof TokenRefused && error.message === reason && { [name]: token }),
        };
        if (await joseAccepts(text)) takenByJose.push(name);
      }
    }
    expect(reasons).toEqual(refused);
    expect(takenByJose.sort()).toEqual(acceptedByJose.sort());
  });

  it.each([
    [{ scope: 'a b' }, 'a b'],
    [{ scope: ['a', 'b'] }, 'a b'],
    [{ scope: ['a', ['operator'], 'openid operator', '', null, { toString: 'operator' }, 'b'] }, 'a b'],
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

  it.each([
    [{ groups: ['a', 'operators'] }, 'operator'],
    [{ groups: 'operators', scope: 'openid' }, 'openid operator'],
    [{ 'cognito:groups': ['operators'], scope: ['a', 'b'] }, 'a b operator'],
    [{ groups: ['a'], 'cognito:groups': ['operators'] }, 'operator'],
    [{ groups: [], scope: 'operator' }, 'operator'],
    // A device's token may say so, too: isOperator refuses it.
    [{ groups: ['operators'], scope: 'device:*' }, 'device:* operator'],
    [{ groups: ['operator', 'Operators', 'operators ', ['operators'], { operators: true }, null, 1] }, ''],
    [{ groups: 'operators x', 'cognito:groups': 'a,operators' }, ''],
    [{ groups: '["operators"]', 'cognito:groups': { operators: 'operators', 0: 'operators' } }, ''],
    [{ groups: true, 'cognito:groups': null }, ''],
    [{ roles: ['operators'], group: 'operators' }, ''],
  ])('makes of the group of operators their scope: %j', async (claims, scope) => {
    expect((await verify(signedToken(keys.rs256, { ...validClaims(now), ...claims }))).scope).toBe(scope);
  });

  it('hands on the highest priority and the projects that a token names', async () => {
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
    [{ projects: { id: '5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a', name: 'Mine', role: 'admin' } }, 'projects'],
  ])('refuses a token whose %j cannot be read: it would allow too much', async (claims, reason) => {
    await expect(verify(signedToken(keys.rs256, { ...validClaims(now), ...claims }))).rejects.toThrow(reason);
  });

  const a = '5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a';
  const b = 'b0000000-0000-0000-0000-00000000000b';
  const claim = (...roles: unknown[]) => ({ projects: roles.map((role) => ({ id: a, name: 'A', role })) });
  const groups = (...names: unknown[]) => ({ groups: names });

  it.each<[object, string[] | undefined, string[]?]>([
    [{}, undefined],
    // The claim.
    [claim(undefined), ['A: none']],
    [claim(null), ['A: none']],
    [claim('viewer'), ['A: viewer']],
    [claim('member'), ['A: member']],
    [claim('admin'), ['A: admin']],
    [claim('viewer', 'admin', 'member'), ['A: admin']],
    [claim('owner', 'member', undefined), ['A: member'], ['"owner"']],
    [
      claim('Admin', 'admin ', '', 5, ['admin'], { role: 'admin' }, true, 'toString'),
      ['A: none'],
      ['"Admin"', '"admin "', '""', '5', '["admin"]', '{"role":"admin"}', 'true', '"toString"'],
    ],
    [
      {
        projects: [
          { id: a.toUpperCase(), name: 'A', role: 'viewer' },
          { id: b, name: 'B' },
          { id: `{${a}}`, name: 'Other', role: 'member' },
          { id: `urn:uuid:${b.replaceAll('-', '')}`, name: 'B', role: 'admin' },
        ],
      },
      ['A: member', 'B: admin'],
    ],
    // Groups, whose projects have their ids for names.
    [groups(`project:${a}:viewer`), [`${a}: viewer`]],
    [{ groups: `project:${a}:member` }, [`${a}: member`]],
    [{ 'cognito:groups': ['operators', `project:${a}:admin`] }, [`${a}: admin`]],
    [
      { groups: [`project:${b}:admin`, `project:${a}:viewer`], 'cognito:groups': [`project:${a}:member`] },
      [`${b}: admin`, `${a}: member`],
    ],
    [groups(`project:${a.toUpperCase()}:viewer`, `project:urn:uuid:{${a}}:member`), [`${a}: member`]],
    [groups(`project:${a.replaceAll('-', '')}:viewer`), [`${a}: viewer`]],
    [groups(`project:${a}:owner`, `project:${b}:`), [`${a}: none`, `${b}: none`], ['"owner"', '""']],
    // None of these names a project.
    [
      groups('operators', 'project', 'project:', 'project::', 'project:mine:admin', `project:${a}`, `${a}:admin`),
      undefined,
    ],
    [groups(`/project:${a}:admin`, ` project:${a}:admin`, `Project:${a}:admin`, `x project:${a}:admin`), undefined],
    [groups(`project:${a}:admin:viewer`, `project:${a} :admin`, `project:${a}\n:admin`), undefined],
    [groups([`project:${a}:admin`], { name: `project:${a}:admin` }, null, 7, true), undefined],
    [{ groups: `project:${a}:admin,project:${b}:admin` }, undefined],
    [{ groups: { 0: `project:${a}:admin` }, 'cognito:groups': null, roles: [`project:${a}:admin`] }, undefined],
    // Where the claim is there, groups are not read, not even for a project that it does not name.
    [{ ...claim('viewer'), ...groups(`project:${a}:admin`, `project:${b}:admin`, `project:${b}:x`) }, ['A: viewer']],
    [{ projects: [], ...groups(`project:${a}:admin`) }, []],
    // Tokens of devices have no role. They may still be restricted to projects.
    [{ ...claim('admin'), scope: 'device:FRESNEL' }, ['A: none']],
    [{ ...groups(`project:${a}:admin`), scope: 'device/*', token_use: 'access' }, [`${a}: none`]],
    [{ ...claim('admin'), scope: 'openid', ...groups('operators') }, ['A: admin']],
  ])('reads the roles of %j', async (claims, roles, unknownRoles) => {
    expect(await rolesOf(claims)).toEqual({ roles, unknownRoles });
  });

  const family = '👩\u200D👩\u200D👧';

  it.each<[object, string | undefined]>([
    [{}, undefined],
    [{ name: 'Ada Lovelace' }, 'Ada Lovelace'],
    [{ email: 'ada@example.com', preferred_username: 'ada', name: 'Ada' }, 'Ada'],
    [{ email: 'ada@example.com', preferred_username: 'ada' }, 'ada'],
    [{ email: 'ada@example.com', nickname: 'Countess', username: 'ada' }, 'ada@example.com'],
    [{ nickname: 'Countess', username: 'ada', 'cognito:username': 'ada' }, undefined],
    // A claim without a name makes room for the next.
    [{ name: '', preferred_username: ' \t\n\u3000', email: 'ada@example.com' }, 'ada@example.com'],
    [{ name: '\u200B\u2060\uFEFF\u00AD\u200D', preferred_username: '\u3164\u115F', email: '\u2800' }, undefined],
    [{ name: null, preferred_username: ['ada'], email: { text: 'ada' } }, undefined],
    [{ name: 5, preferred_username: true, email: 'ada@example.com' }, 'ada@example.com'],
    // Blanks and characters that hide or turn what follows.
    [{ name: '  Ada \r\n\t Lovelace\u2028\u00A0' }, 'Ada Lovelace'],
    [{ name: 'A\u0000d\u001Ba\u007F\u0085' }, 'Ada'],
    [{ name: '\u202Eada\u202C \u2066x\u2069\u061C\u200E\u200F' }, 'ada x'],
    [{ name: 'Ada\u200B\u2060\u00AD\u{E0041}' }, 'Ada'],
    [{ name: `Ada ${family} نمی\u200Cدانم` }, `Ada ${family} نمی\u200Cدانم`],
    [{ name: '<b>"Ada"</b> O’Neil; DROP TABLE' }, '<b>"Ada"</b> O’Neil; DROP TABLE'],
    // 128 characters, each of them whole.
    [{ name: 'x'.repeat(128) }, 'x'.repeat(128)],
    [{ name: 'x'.repeat(129) }, 'x'.repeat(128)],
    [{ name: `${'x'.repeat(127)} y` }, 'x'.repeat(127)],
    [{ name: '🙂'.repeat(200) }, '🙂'.repeat(128)],
    [{ name: `\u202E${'漢'.repeat(128)}` }, '漢'.repeat(128)],
  ])('reads the name of %j', async (claims, user_name) => {
    expect((await claimsOf(claims)).user_name).toBe(user_name);
  });

  it('reads a name that is no text of Unicode', async () => {
    const text = JSON.stringify(claims({ name: 'X' })).replace('"X"', '"Ada \\ud800"');
    expect(await verify(signedToken(keys.rs256, text))).toMatchObject({ user_name: 'Ada \uFFFD' });
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

  it('measures time by the clock it is given', async () => {
    let time = (now + 30) * 1000;
    const source = keySource(async () => JSON.stringify(keySet));
    const verifyLater = tokenVerifier({ issuer, audiences: [audience], keys: source, now: () => time });
    const text = token({ nbf: now + 35, exp: now + 60 });
    await expect(verifyLater(text)).resolves.toMatchObject({ exp: now + 60 });
    time = (now + 60) * 1000;
    await expect(verifyLater(text)).rejects.toThrow('expired');
    time = (now + 30) * 1000 - 1;
    await expect(verifyLater(text)).rejects.toThrow('not valid yet');
  });
});
