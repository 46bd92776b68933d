import { createHash, createHmac } from 'node:crypto';
import { type IncomingHttpHeaders, request as requestPlain, type ServerResponse } from 'node:http';
import type { RequestOptions } from 'node:https';
import { buffer, text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { HeadObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { bucketObjects } from '../../../../functions/data/aws/bucket-objects.ts';
import { hasObject, putResults } from '../../../../functions/data/batches/results-objects.ts';
import { startHttpServer } from '../../../../infra/local/service/http-server.ts';

interface Received {
  readonly method: string | undefined;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const received: Received[] = [];
type Handle = (response: ServerResponse, request: Received) => void;
let handle: Handle;
const server = await startHttpServer(0, async (incoming, response) => {
  const { method, url = '', headers } = incoming;
  const request = { method, url, headers, body: await buffer(incoming) };
  received.push(request);
  handle(response, request);
});
afterAll(() => server.stop());

/** What goes to AWS arrives here. */
vi.mock('node:https', () => ({
  request: (options: RequestOptions, ...rest: never[]) => {
    const { hostname, port } = new URL(server.url);
    return requestPlain({ ...options, protocol: 'http:', hostname, port }, ...rest);
  },
}));

const keys = { accessKeyId: 'AKIDTEST', secretAccessKey: 'a secret', sessionToken: 'a+session/token=' };

beforeEach(() => {
  received.length = 0;
  handle = (response) => response.end('{}');
  vi.stubEnv('AWS_REGION', 'eu-west-3');
  vi.stubEnv('AWS_ACCESS_KEY_ID', keys.accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', keys.secretAccessKey);
  vi.stubEnv('AWS_SESSION_TOKEN', keys.sessionToken);
  vi.stubEnv('AWS_ENDPOINT_URL_S3', server.url);
  vi.stubEnv('AWS_ENDPOINT_URL', undefined);
});

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
const hmac = (key: string | Buffer, content: string) => createHmac('sha256', key).update(content).digest();

/** By AWS's description of version 4, without the SDK. */
function signatureOf({ method, url, headers, body }: Received, secret: string): string {
  const [, date = '', signed = ''] = /\/(\d{8})\/.*SignedHeaders=([^,]*),/.exec(headers.authorization!) ?? [];
  const lines = signed.split(';').map((name) => `${name}:${headers[name]}\n`);
  const canonical = [method, url, '', lines.join(''), signed, sha256(body)].join('\n');
  const scope = `${date}/eu-west-3/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${secret}`);
  return hmac(key, toSign).toString('hex');
}

const strange = "results/auth0|ada/a b#é😀/%2F+&=~!'()*:@,;$?.json";

/** The request that the SDK's client sends. */
async function sentBySdk(bucket: string, key: string, region = 'eu-west-3') {
  const sent: { hostname: string; path: string }[] = [];
  const requestHandler = {
    async handle(request: { hostname: string; path: string }) {
      sent.push(request);
      throw new Error('not sent');
    },
  };
  const client = new S3Client({ region, credentials: keys, requestHandler: requestHandler as never, maxAttempts: 1 });
  await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key })).catch(() => undefined);
  return { host: sent[0]!.hostname, path: sent[0]!.path };
}

describe('a call for an object', () => {
  it.each(['GET', 'HEAD', 'PUT'] as const)('is signed as AWS describes it, with its session: %s', async (method) => {
    const call = bucketObjects('results-bucket');
    if (method === 'PUT') await putResults(call, strange, { text: '"é😀"', sha256: sha256('"é😀"') });
    else (await call({ method, key: strange })).resume();
    const [request] = received as [Received];
    expect(request.method).toBe(method);
    expect(request.body.toString()).toBe(method === 'PUT' ? '"é😀"' : '');
    expect(request.headers['x-amz-security-token']).toBe(keys.sessionToken);
    expect(request.headers['x-amz-content-sha256']).toBe(sha256(request.body));
    expect(request.headers.authorization).toBe(
      `AWS4-HMAC-SHA256 Credential=AKIDTEST/${request.headers['x-amz-date']!.slice(0, 8)}/eu-west-3/s3/aws4_request, ` +
        `SignedHeaders=${method === 'PUT' ? 'content-type;' : ''}host;${
          method === 'PUT' ? 'x-amz-checksum-sha256;' : ''
        }x-amz-content-sha256;x-amz-date;x-amz-security-token, ` +
        `Signature=${signatureOf(request, keys.secretAccessKey)}`,
    );
  });

  it('is signed by the credentials of the environment as they are now', async () => {
    const call = bucketObjects('results-bucket');
    await hasObject(call, 'a');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'another secret');
    vi.stubEnv('AWS_SESSION_TOKEN', undefined);
    await hasObject(call, 'a');
    for (const [at, secret] of [keys.secretAccessKey, 'another secret'].entries()) {
      expect(received[at]!.headers.authorization).toContain(`Signature=${signatureOf(received[at]!, secret)}`);
    }
    expect(received[1]!.headers).not.toHaveProperty('x-amz-security-token');
  });

  it.each([
    ['results-bucket', 'eu-west-3'],
    ['results-bucket', 'us-east-1'],
    ['results-bucket', 'cn-north-1'],
    ['results.bucket', 'eu-west-3'],
  ])('goes where the SDK’s client sends it: %s in %s', async (bucket, region) => {
    vi.stubEnv('AWS_REGION', region);
    vi.stubEnv('AWS_ENDPOINT_URL_S3', undefined);
    await hasObject(bucketObjects(bucket), strange);
    const { host, path } = await sentBySdk(bucket, strange, region);
    expect([received[0]!.headers.host, received[0]!.url]).toEqual([host, path]);
  });

  it.each([
    ['AWS_ENDPOINT_URL_S3', ''],
    ['AWS_ENDPOINT_URL', '/'],
    ['AWS_ENDPOINT_URL', '/s3'],
  ])('goes to %s%s where that is set, as the SDK’s client does', async (variable, path) => {
    vi.stubEnv('AWS_ENDPOINT_URL_S3', undefined);
    vi.stubEnv(variable, `${server.url}${path}`);
    await hasObject(bucketObjects('results-bucket'), strange);
    expect(received[0]!.headers.host).toBe(new URL(server.url).host);
    expect(received[0]!.url).toBe((await sentBySdk('results-bucket', strange)).path);
  });

  it('reads an object as it is, whatever encoding its uploader declared', async () => {
    const content = gzipSync('{}');
    handle = (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(content);
    expect(await buffer(await bucketObjects('results-bucket')({ method: 'GET', key: 'a' }))).toEqual(content);
  });
});

const refuse =
  (status: number, code = ''): Handle =>
  (response) =>
    response.writeHead(status).end(code && `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
const get = (options: { milliseconds?: number; signal?: AbortSignal } = {}) => {
  const { milliseconds = 600_000, signal } = options;
  return bucketObjects('results-bucket', milliseconds)({ method: 'GET', key: 'a', ...(signal && { signal }) });
};

describe('a call that fails', () => {
  const passing: [string, Handle, string][] = [
    ['an internal error', refuse(500, 'InternalError'), 'InternalError'],
    ['an error without a code', refuse(502), 'HTTP 502'],
    ['a slowdown', refuse(503, 'SlowDown'), 'SlowDown'],
    ['a throttled call', refuse(429, 'TooManyRequests'), 'TooManyRequests'],
    ['a body that came too slowly', refuse(400, 'RequestTimeout'), 'RequestTimeout'],
    ['a broken connection', (response) => void response.destroy(), 'TimeoutError'],
    [
      'an error that breaks off',
      (response) => void response.writeHead(500).write('<', () => response.destroy()),
      'HTTP 500',
    ],
  ];

  it.each(passing)('is repeated twice, and may pass: %s', async (_, fault, name) => {
    handle = (response, request) => (received.length < 3 ? fault(response, request) : response.end('{}'));
    expect(await text(await get())).toBe('{}');
    received.length = 0;
    handle = fault;
    await expect(get()).rejects.toMatchObject({ name });
    expect(received).toHaveLength(3);
  });

  it.each([
    [403, 'AccessDenied'],
    [404, 'NoSuchKey'],
    [400, 'ExpiredToken'],
    [412, 'PreconditionFailed'],
  ])('is not repeated where S3 refuses it: %d %s', async (status, name) => {
    handle = refuse(status, name);
    await expect(get()).rejects.toMatchObject({ name, status });
    expect(received).toHaveLength(1);
  });

  it('follows no redirection', async () => {
    handle = (response) => response.writeHead(307, { location: `${server.url}/elsewhere` }).end();
    await expect(get()).rejects.toMatchObject({ name: 'HTTP 307', status: 307 });
    expect(received).toHaveLength(1);
  });

  it('reads no endless error', async () => {
    handle = (response) => {
      const more = () => response.write('x'.repeat(1_000), more);
      response.writeHead(400);
      more();
    };
    await expect(get()).rejects.toMatchObject({ name: 'HTTP 400' });
  });

  it('ends in silence', async () => {
    handle = () => undefined;
    await expect(get({ milliseconds: 20 })).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('ends with its signal, and is not repeated', async () => {
    const end = new AbortController();
    handle = () => end.abort();
    await expect(get({ signal: end.signal })).rejects.toThrow();
    expect(received).toHaveLength(1);
  });
});

describe('hasObject', () => {
  it.each([
    [200, true],
    [403, false],
    [404, false],
  ])('takes %d for %s', async (status, exists) => {
    handle = refuse(status);
    expect(await hasObject(bucketObjects('results-bucket'), 'a')).toBe(exists);
  });

  it.each([400, 500])('does not know after %d', async (status) => {
    handle = refuse(status);
    await expect(hasObject(bucketObjects('results-bucket'), 'a')).rejects.toThrow('The store of results failed.');
  });
});
