import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, accounts, deviceAccount, projectAccounts } from '../../../../infra/local/issuer/accounts.ts';
import { createBrowserSessions } from '../../../../infra/local/issuer/browser-sessions.ts';
import { createIssuer, type Issuer, maxTokenSeconds } from '../../../../infra/local/issuer/issuer.ts';
import { type HttpServer, startHttpServer } from '../../../../infra/local/service/http-server.ts';

const [demo] = accounts;
const directory = mkdtempSync(join(tmpdir(), 'issuer-'));
const keyFile = join(directory, 'data/key.json');
const allAccounts = [...accounts, ...projectAccounts, deviceAccount];
const issuerWithKey = () =>
  createIssuer({
    url: 'http://issuer',
    audience: 'api',
    accounts: allAccounts,
    keyFile,
    stylesheet: '/console?file=page.css',
  });

let issuer: Issuer;
let server: HttpServer;
beforeAll(async () => {
  issuer = await issuerWithKey();
  server = await startHttpServer(0, (request, response) =>
    issuer.handle((request.url ?? '').replace(/\?.*/, ''), request, response),
  );
});
afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true });
});

const get = async (path: string) => (await fetch(server.url + path)).json();
/** The claims of a token that the issuer's own keys verify. */
async function verify(token: string) {
  const keys = createLocalJWKSet((await get('/.well-known/jwks.json')) as JSONWebKeySet);
  return jwtVerify(token, keys, { issuer: 'http://issuer', audience: 'api' });
}

describe('tokens', () => {
  it('carry subject, audience, expiry and scope, signed with the published key', async () => {
    const { payload, protectedHeader } = await verify(await issuer.token(demo, 60));
    const now = Math.floor(Date.now() / 1000);
    expect(payload).toMatchObject({ sub: demo.userId, scope: 'openid profile email', jti: expect.any(String) });
    expect(payload.exp! - payload.iat!).toBe(60);
    expect(Math.abs(payload.iat! - now)).toBeLessThanOrEqual(2);
    expect(protectedHeader).toMatchObject({ alg: 'RS256', typ: 'JWT', kid: expect.any(String) });
  });

  it('name the project of an account with its role, and what people call it', async () => {
    const projectsOf = async (account: Account) => (await verify(await issuer.token(account))).payload;
    for (const account of projectAccounts) {
      const { name, username, project } = account;
      expect(await projectsOf(account)).toMatchObject({ name, preferred_username: username, projects: [project] });
    }
    const ofDemo = await projectsOf(demo);
    expect(ofDemo.preferred_username).toBe('demo');
    expect(Object.keys(ofDemo)).not.toContain('projects');
  });

  it('are valid for a working day by default', async () => {
    const { payload } = await verify(await issuer.token(demo));
    expect(payload.exp! - payload.iat!).toBe(maxTokenSeconds);
  });

  it('outlive a restart with the same key file, which no other user can read', async () => {
    const token = await (await issuerWithKey()).token(demo);
    expect((await verify(token)).payload.sub).toBe(demo.userId);
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    const stranger = await createIssuer({ url: 'http://issuer', audience: 'api', accounts });
    await expect(verify(await stranger.token(demo))).rejects.toThrow();
  });
});

describe('paths', () => {
  it('describe the issuer and publish nothing but the public key', async () => {
    expect(await get('/.well-known/openid-configuration')).toMatchObject({
      issuer: 'http://issuer',
      token_endpoint: 'http://issuer/oauth/token',
      jwks_uri: 'http://issuer/.well-known/jwks.json',
      end_session_endpoint: 'http://issuer/logout',
    });
    const { keys } = (await get('/.well-known/jwks.json')) as JSONWebKeySet;
    expect(keys.map((key) => Object.keys(key).sort())).toEqual([['alg', 'e', 'kid', 'kty', 'n', 'use']]);
    expect((await fetch(`${server.url}/else`)).status).toBe(404);
    expect((await fetch(`${server.url}/oauth/token`)).status).toBe(405);
  });
});

describe('the token endpoint', () => {
  const ask = async (body: string | URLSearchParams, headers: Record<string, string> = {}) => {
    const response = await fetch(`${server.url}/oauth/token`, { method: 'POST', body, headers });
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Record<string, unknown>,
    };
  };
  const password = { grant_type: 'password', username: demo.username, password: demo.password };

  it('grants a token as its answer describes it', async () => {
    const { status, body, headers } = await ask(new URLSearchParams({ ...password, expires_in: '120' }));
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 120 });
    const { payload } = await verify(String(body.access_token));
    expect(payload.exp! - payload.iat!).toBe(120);
    expect(body.scope).toBe(payload.scope);
  });

  it.each([
    ['0', 400],
    ['1', 200],
    [String(maxTokenSeconds), 200],
    [String(maxTokenSeconds + 1), 400],
    ['1.5', 400],
    ['soon', 400],
  ])('answers expires_in %s with %i', async (expires_in, status) => {
    expect((await ask(new URLSearchParams({ ...password, expires_in }))).status).toBe(status);
  });

  it.each([
    ['a body that is not JSON', '{', { 'Content-Type': 'application/json' }],
    ['a JSON array', '[]', { 'Content-Type': 'application/json' }],
    ['more than 64 KB', `x=${'y'.repeat(65_536)}`, {}],
  ])('refuses %s', async (_, body, headers) => {
    expect(await ask(body, headers)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });

  it.each([
    ['in the body', { client_id: 'device', client_secret: 'device' }, {}],
    ['in the header', {}, { Authorization: `Basic ${Buffer.from('device:device').toString('base64')}` }],
  ])('grants a device the scope of devices alone, for its client credentials %s', async (_, parameters, headers) => {
    const { status, body } = await ask(
      new URLSearchParams({ grant_type: 'client_credentials', scope: 'openid', ...parameters }),
      headers,
    );
    expect([status, body.scope]).toEqual([200, 'device:*']);
    const { payload } = await verify(String(body.access_token));
    expect(payload).toMatchObject({ sub: 'device', scope: 'device:*' });
  });

  it('challenges a client whose Authorization header is wrong', async () => {
    const Authorization = `Basic ${Buffer.from('demo:wrong').toString('base64')}`;
    const { status, headers } = await ask(new URLSearchParams({ grant_type: 'client_credentials' }), { Authorization });
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Basic']);
  });
});

describe('the page to sign in at', () => {
  const verifier = 'a'.repeat(43);
  const callback = 'http://127.0.0.1:3000/console';
  const query = {
    response_type: 'code',
    client_id: 'console',
    redirect_uri: callback,
    state: 'a state',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  const open = (changed: Record<string, string>, form?: Record<string, string>, cookie?: string) =>
    fetch(`${server.url}/authorize?${new URLSearchParams({ ...query, ...changed })}`, {
      redirect: 'manual',
      ...(cookie !== undefined && { headers: { cookie } }),
      ...(form !== undefined && { method: 'POST', body: new URLSearchParams(form) }),
    });
  const signIn = async (changed: Record<string, string> = {}) => {
    const response = await open(changed, { username: 'demo', password: 'demo' });
    return new URL(response.headers.get('location') ?? 'http://nowhere').searchParams;
  };
  const redeem = async (parameters: Record<string, string>) => {
    const body = new URLSearchParams({ client_id: 'console', redirect_uri: callback, ...parameters });
    const response = await fetch(`${server.url}/oauth/token`, { method: 'POST', body });
    return { ...((await response.json()) as Record<string, string>), status: response.status } as Record<
      string,
      string | number
    >;
  };
  const codeGrant = { grant_type: 'authorization_code', code_verifier: verifier };

  it('runs nothing, loads the looks of the console, and sends its form to itself', async () => {
    const page = await open({});
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = page.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/script-src|connect-src|unsafe/);
    expect(policy).toContain("form-action 'self' http://127.0.0.1:3000");
    const text = await page.text();
    expect(text).toMatch(/<input [^>]*name="password" type="password"/);
    expect(text).toContain('<link rel="stylesheet" href="/console?file=page.css">');
    expect(text).not.toMatch(/<style|style=|<script/);
  });

  it('offers each account that is for people, which signs in without a password', async () => {
    const offered = [...(await (await open({})).text()).matchAll(/name="account" value="([^"]+)"/g)];
    const names = offered.map(([, name]) => name!);
    expect(names).toEqual([...accounts, ...projectAccounts].map(({ username }) => username));
    for (const account of names) {
      const code = new URL((await open({}, { account })).headers.get('location')!).searchParams.get('code')!;
      const { access_token } = await redeem({ ...codeGrant, code });
      expect((await verify(String(access_token))).payload.preferred_username).toBe(account);
    }
    for (const account of ['device', 'made-up', '']) expect((await open({}, { account })).status).toBe(401);
  });

  it('gives tokens for a code once, and renews them once for each refresh token', async () => {
    const parameters = await signIn();
    expect(parameters.get('state')).toBe('a state');
    const code = parameters.get('code')!;
    const first = await redeem({ ...codeGrant, code });
    expect((await verify(String(first.access_token))).payload.sub).toBe(demo.userId);
    expect(decodeJwt(String(first.id_token))).toMatchObject({ aud: 'console', preferred_username: 'demo' });
    expect(await redeem({ ...codeGrant, code })).toMatchObject({ status: 400, error: 'invalid_grant' });
    const renewal = { grant_type: 'refresh_token', refresh_token: String(first.refresh_token) };
    const second = await redeem(renewal);
    expect((await verify(String(second.access_token))).payload.sub).toBe(demo.userId);
    expect(await redeem(renewal)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  it.each([
    ['another verifier', { code_verifier: 'b'.repeat(43) }],
    ['another address', { redirect_uri: 'http://127.0.0.1:3000/other' }],
    ['another client', { client_id: 'other' }],
    ['a code of its own', { code: 'made-up' }],
  ])('gives none for %s', async (_, changed) => {
    const code = (await signIn()).get('code')!;
    expect(await redeem({ ...codeGrant, code, ...changed })).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  it('refuses a wrong password, on the same page', async () => {
    const page = await open({}, { username: 'demo', password: 'wrong' });
    expect([page.status, await page.text()]).toEqual([401, expect.stringContaining('Wrong username or password.')]);
  });

  it.each([
    [{ redirect_uri: 'https://evil.example/console' }, 'redirect_uri is no address of this machine.'],
    [{ redirect_uri: 'http://127.0.0.1.evil.example/' }, 'redirect_uri is no address of this machine.'],
    [{ redirect_uri: '' }, 'redirect_uri is no address of this machine.'],
    [{ client_id: '' }, 'client_id is missing.'],
  ])('sends nobody away with %j', async (changed, message) => {
    const response = await open(changed, { username: 'demo', password: 'demo' });
    expect([response.status, await response.text()]).toEqual([400, message]);
  });

  it.each([
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
  ])('goes back with an error for %j', async (changed, error) => {
    const parameters = await signIn(changed);
    expect([parameters.get('error'), parameters.get('code'), parameters.get('state')]).toEqual([
      error,
      null,
      'a state',
    ]);
  });

  describe('the session of a browser', () => {
    /** The `Cookie` header of a browser that got this answer. */
    const cookieOf = (response: Response) => response.headers.get('set-cookie')?.split(';')[0] ?? '';
    const enter = async (account = 'demo', cookie?: string) => cookieOf(await open({}, { account }, cookie));
    const parametersOf = (response: Response) =>
      new URL(response.headers.get('location') ?? 'http://nowhere').searchParams;
    const signOut = (cookie: string, parameters: Record<string, string> = {}) =>
      fetch(`${server.url}/logout?${new URLSearchParams(parameters)}`, { redirect: 'manual', headers: { cookie } });

    it('begins with a cookie that scripts cannot read, and that other sites do not send', async () => {
      const header = (await open({}, { account: 'demo' })).headers.get('set-cookie');
      expect(header).toMatch(/^issuer-default=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
      expect((await open({}, { account: 'nobody' })).headers.get('set-cookie')).toBeNull();
      expect((await open({})).headers.get('set-cookie')).toBeNull();
    });

    it.each([{}, { prompt: 'none' }])(
      'answers with a code of the same person, without a question: %j',
      async (changed) => {
        const parameters = parametersOf(await open(changed, undefined, `a=b; ${await enter('member')}; c=d`));
        expect(parameters.get('state')).toBe('a state');
        const tokens = await redeem({ ...codeGrant, code: parameters.get('code')! });
        expect((await verify(String(tokens.access_token))).payload.preferred_username).toBe('member');
      },
    );

    it.each([undefined, '', 'issuer-default=made-up', 'issuer-4000=x'])(
      'is not there for the cookie %j',
      async (cookie) => {
        const parameters = parametersOf(await open({ prompt: 'none' }, undefined, cookie));
        expect([parameters.get('error'), parameters.get('state')]).toEqual(['login_required', 'a state']);
        expect((await open({}, undefined, cookie)).status).toBe(200);
      },
    );

    it.each(['login', 'select_account', 'login consent'])('does not answer for prompt=%s', async (prompt) => {
      expect((await open({ prompt }, undefined, await enter())).status).toBe(200);
    });

    it('refuses prompt=none with another prompt', async () => {
      expect(parametersOf(await open({ prompt: 'none login' }, undefined, await enter())).get('error')).toBe(
        'invalid_request',
      );
    });

    it('answers no address of another machine', async () => {
      const foreign = { redirect_uri: 'https://evil.example/console', prompt: 'none' };
      const response = await open(foreign, undefined, await enter());
      expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    });

    it('is replaced by the next sign-in', async () => {
      const first = await enter();
      const second = await enter('member', first);
      expect(parametersOf(await open({ prompt: 'none' }, undefined, first)).get('error')).toBe('login_required');
      expect(parametersOf(await open({ prompt: 'none' }, undefined, second)).get('code')).not.toBeNull();
    });

    it('ends with sign-out, which leads back with its state', async () => {
      const cookie = await enter();
      const response = await signOut(cookie, { post_logout_redirect_uri: callback, state: 'of this' });
      expect([response.status, response.headers.get('location')]).toEqual([303, `${callback}?state=of+this`]);
      expect(response.headers.get('set-cookie')).toMatch(/^issuer-default=; Path=\/; .*Max-Age=0$/);
      expect(parametersOf(await open({ prompt: 'none' }, undefined, cookie)).get('error')).toBe('login_required');
    });

    it('ends with sign-out that names no address, which says so', async () => {
      const cookie = await enter();
      expect(await (await signOut(cookie)).text()).toContain('You have signed out');
      expect(parametersOf(await open({ prompt: 'none' }, undefined, cookie)).get('error')).toBe('login_required');
    });

    it.each(['https://evil.example/', 'http://127.0.0.1.evil.example/', 'javascript:alert(1)', ''])(
      'stays when sign-out is to lead to %j',
      async (post_logout_redirect_uri) => {
        const cookie = await enter();
        expect((await signOut(cookie, { post_logout_redirect_uri })).status).toBe(400);
        expect(parametersOf(await open({ prompt: 'none' }, undefined, cookie)).get('code')).not.toBeNull();
      },
    );

    it('has a cookie of its own for each stack on a machine', async () => {
      const stacks = ['http://127.0.0.1:3000/_local/issuer', 'http://127.0.0.1:4000/_local/issuer'].map(
        createBrowserSessions,
      );
      const cookies = stacks.map((each) => each.begin(demo, undefined));
      expect(new Set(cookies.map((each) => each.split('=')[0])).size).toBe(2);
      for (const each of cookies) expect(each).toContain('Path=/_local/issuer;');
      const both = cookies.map((each) => each.split(';')[0]).join('; ');
      stacks[0]!.end(both);
      expect(stacks.map((each) => each.find(both)?.username)).toEqual([undefined, 'demo']);
    });
  });
});
