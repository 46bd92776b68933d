import { connect } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { call, demo, stack } from '../support/local-stack.ts';

const submission = JSON.stringify({ data: {} });

describe('the gateway', () => {
  it.each(['/nowhere', '/api', '/api/v1', '/api/v3/jobs', '/api/v1/batch', '//', '/api/v1/jobs'])(
    'answers 404 to %s',
    async (path) => {
      const { status, body } = await call(path, { token: demo.token });
      expect(status).toBe(404);
      expect(body).toMatchObject({
        status: 'fail',
        message: 'Not Found',
        code: '404',
        data: { reason: expect.any(String), description: expect.any(String) },
      });
    },
  );

  it('ignores a trailing slash', async () => {
    expect((await call('/health/')).status).toBe(200);
  });

  it.each(['%', '%zz', '%e0%a4', '%00', 'a%2Fb'])('answers 422 to the job id %s', async (id) => {
    const { status, body } = await call(`/api/v1/jobs/${id}/results_link`, { token: demo.token });
    expect(status).toBe(422);
    expect(body.detail[0].loc).toEqual(['path', 'job_id']);
  });

  it('reads malformed escapes in a query', async () => {
    expect((await call('/api/v1/batches?tag=%zz&%=1&&=', { token: demo.token })).status).toBe(200);
  });

  it.each([
    ['gzip', gzipSync(submission)],
    ['deflate', deflateSync(submission)],
    ['identity', Buffer.from(submission)],
  ])('decodes a body in %s', async (coding, body) => {
    const headers = { 'Content-Type': 'application/json', 'Content-Encoding': coding };
    const answer = await call('/api/v1/quizzes', { method: 'POST', token: demo.token, headers, body });
    expect(answer.status).toBe(200);
  });

  it.each([
    ['gzip', Buffer.from(submission)],
    ['gzip', gzipSync(submission).subarray(0, 20)],
    ['br', brotliCompressSync(submission)],
  ])('answers 422 to a body that is not %s', async (coding, body) => {
    const headers = { 'Content-Type': 'application/json', 'Content-Encoding': coding };
    const answer = await call('/api/v1/quizzes', { method: 'POST', token: demo.token, headers, body });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ status: 'fail', code: '422', detail: expect.any(Array) });
  });

  it.each([
    ['11 MB', Buffer.alloc(11 * 1024 * 1024, 'x'), {}],
    ['a gzip bomb', gzipSync(Buffer.alloc(30 * 1024 * 1024)), { 'Content-Encoding': 'gzip' }],
  ])('answers 413 to %s', async (_, body, headers) => {
    const answer = await call('/api/v1/quizzes', {
      method: 'POST',
      token: demo.token,
      headers: { 'Content-Type': 'application/json', ...headers },
      body,
    });
    expect(answer.status).toBe(413);
    expect(answer.body).toMatchObject({ status: 'fail', code: '413', data: { description: expect.any(String) } });
  });

  it.each([9_000, 30_000])('refuses heads of more than 10 KB: %i', async (size) => {
    const { status } = await call(`/api/v1/batches`, { token: demo.token, headers: { 'X-Long': 'x'.repeat(size) } });
    expect(status).toBe(size < 10_000 ? 200 : 422);
  });

  it('answers 401 to a token of 30,000 characters', async () => {
    const { status, headers, body } = await call('/api/v1/batches', { token: 'x'.repeat(30_000) });
    expect([status, headers.get('www-authenticate'), body.code]).toEqual([401, 'Bearer', '401']);
  });

  it.each(['/api/v1/batches', '/health'])('compresses %s for those who accept it', async (path) => {
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${demo.token}\r\nConnection: close\r\n`;
    expect(await rawRequest(`${request}Accept-Encoding: gzip\r\n\r\n`)).toMatch(/content-encoding: gzip/i);
    expect(await rawRequest(`${request}\r\n`)).not.toMatch(/content-encoding/i);
  });

  it.each([
    ['no HTTP', 'hello\r\n\r\n'],
    ['a header without a name', 'GET /health HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n'],
    ['a request without a Host', 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['CONNECT', 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n'],
    ['70 KB of headers', `GET /health HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(70_000)}\r\n\r\n`],
  ])('answers %s with the envelope', async (_, request) => {
    const raw = await rawRequest(request);
    const [head = '', body = ''] = raw.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(JSON.parse(body)).toMatchObject({ status: 'fail', data: expect.any(Object) });
  });

  it.each(['100-continue', 'the-unexpected'])('serves a request that expects %s', async (expectation) => {
    const raw = await rawRequest(
      `GET /health HTTP/1.1\r\nHost: x\r\nExpect: ${expectation}\r\nConnection: close\r\n\r\n`,
    );
    expect(raw).toMatch(/HTTP\/1\.1 200 OK/);
    expect(raw).toContain('"status":"success"');
  });

  it('still serves after all of this', async () => {
    expect((await call('/health')).body).toMatchObject({ status: 'success' });
  });
});

/** Sends the bytes as they are; all that comes back. */
function rawRequest(text: string): Promise<string> {
  const { hostname, port } = new URL(stack.baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}
