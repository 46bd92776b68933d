import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { tokenPattern } from '../../../infra/stack/api-body.ts';
import { lambdaContext } from '../../support/gateway-event.ts';
import { audience, issuer, issuerKey, signedToken, validClaims } from '../../support/token-issuer.ts';

const key = await issuerKey('RS256', 'key-1');
const keySet = JSON.stringify({ keys: [key.jwk] });
const methodArn = 'arn:aws:execute-api:eu-west-3:123456789012:a1b2c3d4e5/dev/GET/api/v1/batches';

let server: Server;
let answer: RequestListener;
let fetches = 0;
let lines: string[] = [];

beforeEach(async () => {
  vi.resetModules();
  fetches = 0;
  lines = [];
  answer = (_, response) => response.end(keySet);
  server = createServer((request, response) => {
    fetches++;
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('ISSUER', issuer);
  vi.stubEnv('AUDIENCE', `cognito-client-1, ${audience}`);
  vi.stubEnv('JWKS_URI', `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`);
  vi.stubEnv('AWS_LAMBDA_LOG_LEVEL', 'INFO');
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => {
    lines.push(String(line));
    return true;
  });
});

afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** A new instance of the function, without keys. */
async function coldStart() {
  const { handler } = await import('../../../functions/identity/authorizer.ts');
  return (authorizationToken: string | undefined) =>
    handler({ type: 'TOKEN', methodArn, authorizationToken } as never, lambdaContext());
}

describe('authorizer', () => {
  it('names the caller, for the whole stage and until the token expires', async () => {
    const authorize = await coldStart();
    const claims = validClaims();
    expect(await authorize(`Bearer ${signedToken(key, claims)}`)).toEqual({
      principalId: 'auth0|alice',
      policyDocument: {
        Version: '2012-10-17',
        Statement: [
          {
            Action: 'execute-api:Invoke',
            Effect: 'Allow',
            Resource: 'arn:aws:execute-api:eu-west-3:123456789012:a1b2c3d4e5/dev/*',
          },
        ],
      },
      context: { exp: claims.exp, scope: '' },
    });
  });

  it('hands on the scope of the token', async () => {
    const authorize = await coldStart();
    const token = signedToken(key, { ...validClaims(), scope: 'openid batches:write' });
    expect((await authorize(`Bearer ${token}`)).context).toMatchObject({ scope: 'openid batches:write' });
  });

  it('hands on projects with roles and the name, as texts, and logs neither', async () => {
    const authorize = await coldStart();
    const id = '5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a';
    const token = signedToken(key, { ...validClaims(), name: 'Ada', groups: [`project:${id}:member`] });
    expect((await authorize(`Bearer ${token}`)).context).toEqual({
      exp: expect.any(Number),
      scope: '',
      user_name: 'Ada',
      projects: JSON.stringify([{ id, name: id, role: 'member' }]),
    });
    expect(lines.join()).not.toMatch(/Ada|5d6a3f0e|unknown_roles/);
  });

  it('logs roles that do not exist once for each token it verifies, ten of them, and never hands them on', async () => {
    const authorize = await coldStart();
    const id = '5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a';
    const projects = Array.from({ length: 12 }, (_, i) => ({ id, name: 'Mine', role: `r${i}` }));
    const token = signedToken(key, { ...validClaims(), projects });
    for (const call of [1, 2]) {
      expect((await authorize(`Bearer ${token}`)).context).toEqual({
        exp: expect.any(Number),
        scope: '',
        projects: JSON.stringify([{ id, name: 'Mine' }]),
      });
      expect(lines.length).toBe(call);
    }
    const named = projects.slice(0, 10).map(({ role }) => JSON.stringify(role));
    expect(lines.map((line) => JSON.parse(line).unknown_roles)).toEqual([named.join(), named.join()]);
    await authorize(`Bearer ${signedToken(key, { ...validClaims(), groups: [`project:${id}:${'x'.repeat(1000)}`] })}`);
    expect(JSON.parse(lines[2] as string).unknown_roles).toBe(`"${'x'.repeat(499)}`);
  });

  it.each(['bearer', 'BEARER', 'Bearer ', 'bEaReR  '])('takes the scheme in any case: %j', async (scheme) => {
    const authorize = await coldStart();
    expect(await authorize(`${scheme} ${signedToken(key)}`)).toMatchObject({ principalId: 'auth0|alice' });
  });

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    signedToken(key),
    `Basic ${signedToken(key)}`,
    `Bearer${signedToken(key)}`,
    `Bearer ${signedToken(key)} ${signedToken(key)}`,
    `Bearer ${signedToken(key)},Bearer ${signedToken(key)}`,
    `Bearer Bearer ${signedToken(key)}`,
    `Bearer ${signedToken(key, { ...validClaims(), exp: 1 })}`,
    `Bearer ${signedToken(key, validClaims(), { alg: 'RS256', kid: 'unknown' })}`,
    `Bearer ${signedToken(key, validClaims(), { alg: 'RS256', kid: '' })}`,
    `Bearer ${'x'.repeat(100_000)}`,
  ])('answers %.40s with exactly what the gateway turns into 401', async (header) => {
    const authorize = await coldStart();
    const error = await authorize(header).catch((thrown: Error) => thrown);
    expect(error).toEqual(new Error('Unauthorized'));
    expect(Object.keys(error)).toEqual([]);
    expect((error as Error).cause).toBeUndefined();
  });

  it('fetches the keys once for any number of tokens, and not at all for what is not a token', async () => {
    const authorize = await coldStart();
    await authorize('Bearer x').catch(() => undefined);
    await authorize(`Bearer ${signedToken(key, validClaims(), { alg: 'RS256', kid: 5 })}`).catch(() => undefined);
    expect(fetches).toBe(0);
    await Promise.all(Array.from({ length: 20 }, () => authorize(`Bearer ${signedToken(key)}`)));
    await authorize(`Bearer ${signedToken(key)}`);
    expect(fetches).toBe(1);
  });

  it.each<[string, RequestListener]>([
    ['fails', (_, response) => response.writeHead(500).end(keySet)],
    ['answers no key set', (_, response) => response.end('<html>')],
    ['breaks off', (_, response) => response.destroy()],
    [
      'redirects, even to keys',
      ({ url }, response) =>
        url === '/moved' ? response.end(keySet) : response.writeHead(302, { Location: '/moved' }).end(),
    ],
    ['is silent', () => undefined],
    ['stops in the middle', (_, response) => response.write('{"keys":[')],
  ])('fails, and accepts nothing, when the issuer %s', async (_, behaviour) => {
    answer = behaviour;
    const authorize = await coldStart();
    const error: Error = await authorize(`Bearer ${signedToken(key)}`).then(
      () => expect.unreachable(),
      (thrown) => thrown,
    );
    // Each takes 2 s at most (key-source.test.ts), and the function has 15 s.
    expect(fetches).toBeLessThanOrEqual(3);
    expect(error.message).toBe('The issuer’s keys cannot be fetched.');
    expect(error.name).toBe('KeysUnavailable');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { outcome: 'failed', error: { name: 'KeysUnavailable' }, jwks_error: { message: expect.any(String) } },
    ]);
  });

  it('says in the log how the issuer failed', async () => {
    answer = (_, response) => response.writeHead(502).end();
    const authorize = await coldStart();
    await authorize(`Bearer ${signedToken(key)}`).catch(() => undefined);
    expect(JSON.parse(lines.join())).toMatchObject({
      jwks_error: { message: 'The issuer answered 502 when asked for its keys.' },
    });
  });

  it('logs how long it took, in milliseconds', async () => {
    answer = (_, response) => setTimeout(() => response.end(keySet), 30);
    const authorize = await coldStart();
    const start = performance.now();
    await authorize(`Bearer ${signedToken(key)}`);
    const { Latency } = JSON.parse(lines.join());
    expect(Latency).toBeGreaterThan(25);
    expect(Latency).toBeLessThan(performance.now() - start + 1);
  });

  it('logs who was accepted, and why another was refused, never a token', async () => {
    const authorize = await coldStart();
    const good = signedToken(key);
    const expired = signedToken(key, { ...validClaims(), sub: 'mallory', exp: 1 });
    await authorize(`Bearer ${good}`);
    await authorize(`Bearer ${expired}`).catch(() => undefined);
    await authorize(undefined).catch(() => undefined);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'INFO', outcome: 'accepted', user_id: 'auth0|alice', JwksAge: 0, request_id: expect.any(String) },
      { level: 'INFO', outcome: 'refused', reason: 'expired', JwksAge: 0 },
      { level: 'INFO', outcome: 'refused', reason: 'no bearer token' },
    ]);
    for (const text of [good, expired]) {
      for (const part of text.split('.').slice(1)) expect(lines.join()).not.toContain(part);
    }
    expect(lines.join()).not.toContain('mallory');
  });

  it.each(['', ','])('names no audience that is empty: AUDIENCE=x,%s', async (more) => {
    vi.stubEnv('AUDIENCE', `x,${more}`);
    const authorize = await coldStart();
    const empty = signedToken(key, { ...validClaims(), aud: '' });
    await expect(authorize(`Bearer ${empty}`)).rejects.toThrow('Unauthorized');
    const good = signedToken(key, { ...validClaims(), aud: 'x' });
    expect(await authorize(`Bearer ${good}`)).toMatchObject({ principalId: 'auth0|alice' });
  });

  it('does not start with nothing but commas for an audience', async () => {
    vi.stubEnv('AUDIENCE', ' , ,');
    await expect(coldStart()).rejects.toThrow('The environment variable AUDIENCE names no audience.');
  });

  it.each(['ISSUER', 'AUDIENCE', 'JWKS_URI'])('does not start without %s', async (name) => {
    vi.stubEnv(name, '');
    await expect(coldStart()).rejects.toThrow(`The environment variable ${name} is not set.`);
  });
});

describe('the pattern by which the gateway refuses tokens itself', () => {
  const pattern = new RegExp(tokenPattern);
  // In base64url they make `-` and `_`, which plain tokens hold in their signature only.
  const x = '?????>>>>>';
  const token = signedToken(key, { ...validClaims(), x }, { alg: key.alg, kid: key.kid, x });
  const [header, payload, signed] = token.split('.');

  it.each([
    ...[
      '',
      ' ',
      'Bearer',
      'Bearer ',
      token,
      `Basic ${token}`,
      `Bearer${token}`,
      `Bearer\t${token}`,
      `Bearer: ${token}`,
    ],
    ...[`Bearer Bearer ${token}`, `Bearer ${token} ${token}`, `Bearer ${token},Bearer ${token}`, ` Bearer ${token}`],
    ...['Bearer abc', 'Bearer a.b', 'Bearer a.b.c.d', 'Bearer ..', `Bearer ${header}.${payload}.`, `Bearer ${token}=`],
    ...[`Bearer .${payload}.${signed}`, `Bearer "${token}"`, `Bearer ${token}\n`, `Bearer ${token}\u00e9`],
  ])('does not take %.40j', async (authorization) => {
    expect(pattern.test(authorization)).toBe(false);
    const authorize = await coldStart();
    await expect(authorize(authorization)).rejects.toThrow('Unauthorized');
  });

  /** Changes of a good header. Most changes leave it good or nearly so. */
  const change = fc.oneof(
    fc.record({
      at: fc.nat(),
      remove: fc.nat(2),
      insert: fc.constantFrom('', ' ', '  ', '.', '-', '_', '=', '+', '\t'),
    }),
    fc.record({ at: fc.nat(6), remove: fc.constant(1), insert: fc.constantFrom(' ', ...'BEARERbearer') }),
    fc.record({ at: fc.nat(), remove: fc.nat(1), insert: fc.string({ unit: 'binary', maxLength: 2 }) }),
  );
  const authorization = fc
    .record({
      scheme: fc.mixedCase(fc.constant('Bearer')),
      spaces: fc.tuple(fc.integer({ min: 1, max: 3 }), fc.nat(3)),
      changes: fc.array(change, { maxLength: 2 }),
    })
    .map(({ scheme, spaces: [before, after], changes }) =>
      changes.reduce(
        (text, { at, remove, insert }) => {
          const place = at % (text.length + 1);
          return text.slice(0, place) + insert + text.slice(place + remove);
        },
        `${scheme}${' '.repeat(before)}${token}${' '.repeat(after)}`,
      ),
    );

  it('takes whatever the authorizer accepts', async () => {
    const authorize = await coldStart();
    const counts = { accepted: 0, refused: 0, refusedByPattern: 0 };
    await fc.assert(
      fc.asyncProperty(authorization, async (text) => {
        const isAccepted = await authorize(text).then(
          () => true,
          () => false,
        );
        counts[isAccepted ? 'accepted' : 'refused']++;
        if (!pattern.test(text)) counts.refusedByPattern++;
        expect(pattern.test(text) || !isAccepted, text).toBe(true);
      }),
      { numRuns: 2_000 },
    );
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(100);
  });
});
