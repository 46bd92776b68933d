import { randomBytes } from 'node:crypto';
import { get as httpGet } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGateway } from '../../../../infra/local/gateway/gateway.ts';
import { findResource } from '../../../../infra/local/gateway/routing.ts';
import { FunctionError } from '../../../../infra/local/lambda/function-error.ts';
import type { LambdaFunction } from '../../../../infra/local/lambda/lambda-function.ts';
import { type HttpServer, startHttpServer } from '../../../../infra/local/service/http-server.ts';
import type {
  ApiDefinition,
  MethodDefinition,
  ResourceDefinition,
} from '../../../../infra/local/template/api-definition.ts';

const account = { accountId: '1', region: 'eu-west-3', stackName: 'Stack', queueEndpoint: '' };

const resource = (path: string, methods: Record<string, MethodDefinition>): ResourceDefinition => ({
  path,
  segments: path.split('/').slice(1),
  methods,
});
const proxy = (functionArn: string, authorizerId?: string): MethodDefinition => ({
  integration: { type: 'AWS_PROXY', functionArn, timeoutMilliseconds: 300 },
  ...(authorizerId !== undefined && { authorizerId }),
});

/** Replaces a bundle: the gateway only calls it. */
const fakeFunction = (arn: string, handler: (event: never) => unknown): LambdaFunction => ({
  definition: { arn } as LambdaFunction['definition'],
  invoke: async (event) => handler(event as never),
  stop: async () => {},
});

describe('findResource', () => {
  const resources = ['/', '/jobs', '/jobs/{id}', '/jobs/latest', '/jobs/{id}/link', '/files/{rest+}'].map((path) =>
    resource(path === '/' ? '' : path, { GET: proxy('any') }),
  );

  it.each([
    ['/', '', {}],
    ['/jobs', '/jobs', {}],
    ['/jobs/', '/jobs', {}],
    ['/jobs/7', '/jobs/{id}', { id: '7' }],
    ['/jobs/a%20b%2Fc', '/jobs/{id}', { id: 'a b/c' }],
    ['/jobs/%zz', '/jobs/{id}', { id: '%zz' }],
    ['/jobs/latest', '/jobs/latest', {}],
    ['/jobs/7/link/', '/jobs/{id}/link', { id: '7' }],
    ['/files/a/b%20c', '/files/{rest+}', { rest: 'a/b c' }],
  ])('finds %s', (path, found, parameters) => {
    expect(findResource(resources, path)).toEqual({ resource: expect.objectContaining({ path: found }), parameters });
  });

  it.each(['/nothing', '/jobs//', '//jobs', '/jobs/7/other', '/files', '/files/', '/JOBS'])(
    'does not find %s',
    (path) => {
      expect(findResource(resources, path)).toBeUndefined();
    },
  );
});

describe('createGateway', () => {
  const asked: APIGatewayProxyEvent[] = [];
  const authorized: string[] = [];
  let results: (event: APIGatewayProxyEvent) => unknown = () => ({ statusCode: 200, body: '{}' });
  let verdict: (token: string) => unknown = () => ({});
  let server: HttpServer;

  const api: ApiDefinition = {
    id: 'api',
    stage: 'dev',
    resources: [
      resource('/open', { ANY: proxy('echo') }),
      resource('/private/{id}', { GET: proxy('echo', 'authorizer') }),
      resource('/unwired', { GET: proxy('missing') }),
    ],
    authorizers: [
      { id: 'authorizer', functionArn: 'authorizer', header: 'authorization', cacheSeconds: 60, pattern: /^.*$/ },
    ],
    gatewayResponses: {
      DEFAULT_5XX: {
        headers: { 'X-Request': 'context.requestId', 'X-Kind': "'own'" },
        template:
          '{"type":"$context.error.responseType","text":$context.error.messageString,"nothing":"$context.unknown"}',
      },
      UNAUTHORIZED: { statusCode: 418, headers: {}, template: '{}' },
    },
    minimumCompressionSize: 100,
    binaryMediaTypes: ['image/*', 'application/octet-stream'],
    stageVariables: null,
  };

  beforeAll(async () => {
    const functions = [
      fakeFunction('echo', (event: APIGatewayProxyEvent) => {
        asked.push(event);
        return results(event);
      }),
      fakeFunction('authorizer', ({ authorizationToken }: { authorizationToken: string }) => {
        authorized.push(authorizationToken);
        return verdict(authorizationToken);
      }),
    ];
    server = await startHttpServer(0, createGateway(api, functions, account).handle);
  });
  afterAll(() => server.stop());

  /** Sends the path as it is, which fetch does not. */
  const get = (path: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const request = httpGet({ host: '127.0.0.1', port: new URL(server.url).port, path, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      request.on('error', reject);
    });

  const call = async (path: string, init?: RequestInit) => {
    const response = await fetch(server.url + path, init);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  it('makes the event of a REST API', async () => {
    results = () => ({ statusCode: 200, body: 'ok' });
    await call('/open?a=1&a=2&b=%C3%BC+x&__proto__=p', { method: 'POST', body: 'bödy', headers: { 'X-One': '1' } });
    expect(asked.at(-1)).toMatchObject({
      resource: '/open',
      path: '/open',
      httpMethod: 'POST',
      queryStringParameters: { a: '2', b: 'ü x' },
      multiValueQueryStringParameters: { a: ['1', '2'], b: ['ü x'] },
      pathParameters: null,
      stageVariables: null,
      body: 'bödy',
      isBase64Encoded: false,
      multiValueHeaders: { 'X-One': ['1'] },
      requestContext: { stage: 'dev', resourcePath: '/open', identity: { sourceIp: '127.0.0.1' } },
    });
    expect(Object.hasOwn(asked.at(-1)!.queryStringParameters!, '__proto__')).toBe(true);
    await call('/open');
    expect(asked.at(-1)).toMatchObject({
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      body: null,
    });
  });

  it('takes the request id from the caller, and makes the extended one itself', async () => {
    results = () => ({ statusCode: 200 });
    const answers = [];
    for (const id of ['chosen', 'chosen', undefined]) {
      answers.push((await call('/open', id === undefined ? {} : { headers: { 'x-amzn-RequestId': id } })).headers);
    }
    expect(answers.map((headers) => headers.get('x-amzn-requestid'))).toEqual([
      'chosen',
      'chosen',
      expect.stringMatching(/^[0-9a-f-]{36}$/),
    ]);
    expect(new Set(answers.map((headers) => headers.get('x-amz-apigw-id'))).size).toBe(3);
    expect(asked.at(-1)!.requestContext.extendedRequestId).toBe(answers.at(-1)!.get('x-amz-apigw-id'));
  });

  it('serves the same below the stage’s name, as AWS does', async () => {
    results = () => ({ statusCode: 200, body: 'ok' });
    expect((await call('/dev/open?a=1')).text).toBe('ok');
    expect(asked.at(-1)).toMatchObject({
      resource: '/open',
      path: '/open',
      queryStringParameters: { a: '1' },
      requestContext: { path: '/dev/open' },
    });
    await call('/open');
    expect(asked.at(-1)!.requestContext.path).toBe('/open');
    for (const path of ['/devil/open', '/open/dev', '/dev/dev/open']) expect((await call(path)).text).not.toBe('ok');
  });

  it('answers with what the function says', async () => {
    results = () => ({
      statusCode: '201',
      headers: { 'X-A': 'single', 'WWW-Authenticate': 'Bearer' },
      multiValueHeaders: { 'x-a': ['one', 'two'] },
      body: Buffer.from('bytes').toString('base64'),
      isBase64Encoded: true,
    });
    const { status, headers, text } = await call('/open');
    expect([status, text, headers.get('x-a'), headers.get('content-type')]).toEqual([
      201,
      'Ynl0ZXM=',
      'one, two',
      'application/json',
    ]);
    expect(headers.get('x-amzn-remapped-www-authenticate')).toBe('Bearer');
    expect(headers.get('x-amzn-requestid')).toBe(asked.at(-1)!.requestContext.requestId);
  });

  it.each([
    ['application/octet-stream', 'bytes'],
    ['image/png; q=0.5, text/html', 'bytes'],
    ['text/html, image/png', 'Ynl0ZXM='],
    ['*/*', 'Ynl0ZXM='],
  ])('answers those who accept %s with %s for base64 of "bytes"', async (Accept, expected) => {
    results = () => ({ statusCode: 200, body: 'Ynl0ZXM=', isBase64Encoded: true });
    expect((await call('/open', { headers: { Accept } })).text).toBe(expected);
  });

  it.each<[string | undefined, boolean]>([
    ['image/png', true],
    ['IMAGE/PNG', true],
    ['application/octet-stream; version=1', true],
    ['application/json', false],
    ['application/octet-stream2', false],
    [undefined, false],
  ])('passes on a body of the type %s as base64: %s', async (type, isBinary) => {
    results = () => ({ statusCode: 200 });
    const body = Buffer.from([0x7b, 0xff, 0xed, 0xa0, 0x80]);
    await call('/open', { method: 'POST', body, ...(type !== undefined && { headers: { 'Content-Type': type } }) });
    expect(asked.at(-1)).toMatchObject({
      isBase64Encoded: isBinary,
      // Bytes that are not UTF-8 are lost in a text.
      body: isBinary ? body.toString('base64') : '{\uFFFD\uFFFD\uFFFD\uFFFD',
    });
  });

  it('decompresses a body of at least the minimum size, and passes on a smaller one as it came', async () => {
    results = () => ({ statusCode: 200 });
    const send = async (text: string) => {
      const headers = { 'Content-Encoding': 'gzip', 'Content-Type': 'application/octet-stream' };
      const body = gzipSync(text);
      await call('/open', { method: 'POST', body, headers });
      return { sent: body, arrived: Buffer.from(asked.at(-1)!.body!, 'base64') };
    };
    const small = await send('small');
    expect(small.arrived).toEqual(small.sent);
    const text = randomBytes(200).toString('hex');
    expect((await send(text)).arrived.toString()).toBe(text);
  });

  it('compresses answers of at least the minimum size for those who accept it', async () => {
    for (const [size, coding] of [
      [99, null],
      [100, 'gzip'],
    ] as const) {
      results = () => ({ statusCode: 200, body: 'x'.repeat(size) });
      const { headers, text } = await call('/open', { headers: { 'Accept-Encoding': 'gzip' } });
      expect([headers.get('content-encoding'), text.length]).toEqual([coding, size]);
    }
  });

  it.each([
    ['gzip, br', 'gzip'],
    ['deflate;q=0.5, gzip', 'deflate'],
    ['GZIP ;q=1', 'gzip'],
    ['br, gzip', null],
    ['*', null],
    ['gzip;q=0, deflate', null],
    ['identity', null],
  ])('reads the first coding of Accept-Encoding alone: %s', async (accepted, coding) => {
    results = () => ({ statusCode: 200, body: 'x'.repeat(100) });
    const { headers, text } = await call('/open', { headers: { 'Accept-Encoding': accepted } });
    expect([headers.get('content-encoding'), text]).toEqual([coding, 'x'.repeat(100)]);
  });

  it.each([
    ['?a=1;b=2&a=3', { a: ['1', '3'], b: ['2'] }],
    ['?tag=100%&x=%zz', { tag: ['100%25'], x: ['%25zz'] }],
    ['?a=%C3%BC+%2B&b=%e0%a4', { a: ['ü +'], b: ['\uFFFD'] }],
    ['?a=%7C%7B%7D%3B', { a: ['|{};'] }],
    ['?=&a&&b=', { '': [''], a: [''], b: [''] }],
  ])('reads the query %s as API Gateway does', async (query, parameters) => {
    results = () => ({ statusCode: 200 });
    await get(`/open${query}`);
    expect(asked.at(-1)!.multiValueQueryStringParameters).toEqual(parameters);
  });

  it.each(['|', '{', '}'])('refuses a raw %s in a query', async (character) => {
    results = () => ({ statusCode: 200 });
    expect(await get(`/open?a=${character}`)).toBe(400);
    expect(await get(`/open?a=${encodeURIComponent(character)}`)).toBe(200);
  });

  it('refuses a request line and headers of more than 10,240 bytes, 401 when the token is to blame', async () => {
    results = () => ({ statusCode: 200 });
    const answered = async (path: string, headers: Record<string, string>) => (await call(path, { headers })).status;
    expect(await answered('/open', { 'X-Long': 'x'.repeat(9_000) })).toBe(200);
    expect(await answered('/open', { 'X-Long': 'x'.repeat(10_240) })).toBe(431);
    expect(await answered('/open', { Authorization: `Bearer ${'x'.repeat(10_240)}` })).toBe(431);
    expect(await answered('/private/7', { Authorization: `Bearer ${'x'.repeat(10_240)}` })).toBe(418);
    expect(await answered('/private/7', { Authorization: 'Bearer x', 'X-Long': 'x'.repeat(10_240) })).toBe(431);
  });

  it.each([
    ['null', null],
    ['a text', 'hello'],
    ['no status', { body: 'x' }],
    ['a status that is none', { statusCode: 99 }],
    ['a body that is no text', { statusCode: 200, body: { a: 1 } }],
    ['an unknown member', { statusCode: 200, stats: 1 }],
    ['headers that are none', { statusCode: 200, headers: { a: { b: 1 } } }],
    ['a header that HTTP forbids', { statusCode: 200, headers: { 'bad name': 'x' } }],
  ])('answers 502 when the function returns %s', async (_, result) => {
    results = () => result;
    const { status, headers, text } = await call('/open');
    expect(status).toBe(502);
    expect(headers.get('x-kind')).toBe('own');
    expect(JSON.parse(text)).toEqual({ type: 'DEFAULT_5XX', text: 'Internal server error', nothing: '' });
  });

  it('answers 502 when the function fails, 504 when it takes too long, 500 when there is none', async () => {
    results = () => {
      throw new FunctionError('Error', 'broken');
    };
    expect((await call('/open')).status).toBe(502);
    results = () => new Promise(() => undefined);
    const late = await call('/open');
    expect([late.status, JSON.parse(late.text).type]).toEqual([504, 'INTEGRATION_TIMEOUT']);
    expect((await call('/unwired')).status).toBe(500);
  });

  describe('with a token authorizer', () => {
    const statement = (Resource: string, Effect = 'Allow') => ({ Action: 'execute-api:Invoke', Effect, Resource });
    const stageArn = 'arn:aws:execute-api:eu-west-3:1:api/dev/*';
    const allow = { principalId: 'me', policyDocument: { Statement: [statement(stageArn)] } };
    const ask = (token: string, id = '7') => call(`/private/${id}`, { headers: { Authorization: token } });

    it('does not ask it without a token', async () => {
      const before = authorized.length;
      expect((await call('/private/7')).status).toBe(418);
      expect(authorized).toHaveLength(before);
    });

    it('passes on its context as text, and asks it once about a token', async () => {
      results = () => ({ statusCode: 200 });
      verdict = () => ({ ...allow, context: { exp: 17, admin: false } });
      const before = authorized.length;
      expect([(await ask('A')).status, (await ask('A', '8')).status]).toEqual([200, 200]);
      expect(authorized.slice(before)).toEqual(['A']);
      expect(asked.at(-1)!.requestContext.authorizer).toMatchObject({ principalId: 'me', exp: '17', admin: 'false' });
      expect(asked.at(-1)!.pathParameters).toEqual({ id: '8' });
    });

    it('applies a cached policy to each method', async () => {
      verdict = () => ({ ...allow, policyDocument: { Statement: statement(`${stageArn.slice(0, -1)}GET/private/7`) } });
      expect([(await ask('B')).status, (await ask('B', '8')).status]).toEqual([200, 403]);
    });

    it.each<[string, () => unknown, number]>([
      [
        'throws Unauthorized',
        () => {
          throw new FunctionError('Error', 'Unauthorized');
        },
        418,
      ],
      [
        'throws anything else',
        () => {
          throw new FunctionError('Error', 'unauthorized');
        },
        500,
      ],
      [
        'denies',
        () => ({ ...allow, policyDocument: { Statement: [statement(stageArn), statement(stageArn, 'Deny')] } }),
        403,
      ],
      ['returns no policy', () => ({ principalId: 'me' }), 500],
      ['returns null', () => null, 500],
      ['returns a context that is not flat', () => ({ ...allow, context: { a: {} } }), 500],
    ])('answers when it %s', async (name, result, status) => {
      verdict = result;
      expect((await ask(name)).status).toBe(status);
    });
  });
});
