import { exportJWK, generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import { call, demo, makeToken, stack } from '../support/local-stack.ts';
import { hang } from '../support/patience.ts';

const now = Math.floor(Date.now() / 1000);
const foreignKey = await exportJWK((await generateKeyPair('RS256', { extractable: true })).privateKey);

/** That only the issuer itself can make: the smoke test refuses what anyone can. */
const badTokens: [what: string, token: string][] = [
  ['a key of someone else', await makeToken({}, {}, foreignKey)],
  ['an expired token', await makeToken({ exp: now - 60 })],
  ['another issuer', await makeToken({ iss: 'https://elsewhere.example' })],
  ['another audience', await makeToken({ aud: 'elsewhere' })],
];

describe('bearer tokens', () => {
  it.each(badTokens)('refuses %s with 401 and a challenge', async (_, token) => {
    const { status, headers, body } = await call('/api/v1/batches', { token });
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe('Bearer');
    expect(body).toMatchObject({
      status: 'fail',
      message: 'Unauthorized',
      code: '401',
      data: { reason: 'invalid_token', description: expect.any(String) },
    });
  });

  it('refuses a token once it has expired, though the gateway remembers it', async () => {
    let token = '';
    const ask = () => call('/api/v1/batches', { token });
    const askWithNewToken = async () => {
      token = await makeToken({ exp: Math.floor(Date.now() / 1000) + 2 });
      return (await ask()).status;
    };
    // A busy machine may need more than these two seconds.
    await expect.poll(askWithNewToken, hang).toBe(200);
    await expect.poll(async () => (await ask()).status, hang).toBe(401);
    expect((await ask()).body).toMatchObject({ status: 'fail', code: '401' });
  });
});

describe('POST /oauth/token', () => {
  const ask = async (parameters: Record<string, string>, headers: Record<string, string> = {}) => {
    const response = await fetch(stack.tokenEndpoint, {
      method: 'POST',
      headers,
      body: new URLSearchParams(parameters),
    });
    // biome-ignore lint/suspicious/noExplicitAny: the tests say what they expect of it.
    return { status: response.status, headers: response.headers, body: (await response.json()) as any };
  };
  const credentials = { username: demo.username, password: demo.password };

  it.each([
    [{ grant_type: 'password', ...credentials }],
    [{ grant_type: 'http://auth0.com/oauth/grant-type/password-realm', realm: 'any', audience: 'any', ...credentials }],
    [{ grant_type: 'client_credentials', client_id: demo.username, client_secret: demo.password }],
  ])('gives a token that the API accepts: %o', async (parameters) => {
    const { status, headers, body } = await ask(parameters);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 43_200 });
    expect((await call('/api/v1/batches?limit=1', { token: body.access_token })).body.data[0].user_id).toBe(
      demo.userId,
    );
  });

  it('accepts a JSON body and a client in the Authorization header', async () => {
    const response = await fetch(stack.tokenEndpoint, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ grant_type: 'password', ...credentials }),
    });
    expect(response.status).toBe(200);
    const basic = Buffer.from(`${demo.username}:${demo.password}`).toString('base64');
    expect((await ask({ grant_type: 'client_credentials' }, { Authorization: `Basic ${basic}` })).status).toBe(200);
  });

  it('gives the operator a token that opens the paths of operators, and users none', async () => {
    const { username, password, token } = stack.operator;
    const { body } = await ask({ grant_type: 'password', username, password });
    for (const ofOperator of [body.access_token, token]) {
      expect((await call('/api/v1/audit', { token: ofOperator })).status).toBe(200);
      expect((await call('/api/v1/batches', { token: ofOperator })).body).toMatchObject({ data: [] });
    }
    for (const other of [demo.token, stack.device.token]) {
      const { status, body: refusal } = await call('/api/v1/audit', { token: other });
      expect([status, refusal.data.reason]).toEqual([403, 'insufficient_scope']);
    }
  });

  it.each([
    [{ grant_type: 'password', username: 'demo', password: 'wrong' }, 400, 'invalid_grant'],
    [{ grant_type: 'password', username: 'nobody', password: 'demo' }, 400, 'invalid_grant'],
    [{ grant_type: 'password', username: 'demo' }, 400, 'invalid_request'],
    [{ grant_type: 'client_credentials', client_id: 'demo', client_secret: 'wrong' }, 401, 'invalid_client'],
    [{ grant_type: 'implicit' }, 400, 'unsupported_grant_type'],
    [{ grant_type: 'authorization_code', code: 'made-up', client_id: 'console' }, 400, 'invalid_grant'],
    [{}, 400, 'invalid_request'],
  ])('refuses %o with %i %s', async (parameters, status, error) => {
    const answer = await ask(parameters as Record<string, string>);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ error, error_description: expect.any(String) });
  });
});
