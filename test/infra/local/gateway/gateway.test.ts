import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGateway } from '../../../../infra/local/gateway/gateway.ts';
import { findResource } from '../../../../infra/local/gateway/routing.ts';
import { type HttpServer, startHttpServer } from '../../../../infra/local/http-server.ts';
import { FunctionError } from '../../../../infra/local/lambda/function-error.ts';
import type { LambdaFunction } from '../../../../infra/local/lambda/lambda-function.ts';
import type {
  ApiDefinition,
  MethodDefinition,
  ResourceDefinition,
} from '../../../../infra/local/template/api-definition.ts';

const account = { accountId: '1', region: 'eu-west-3', stackName: 'Stack', queueEndpoint: '' };

const resource = (path: string, methods: Record<string, MethodDefinition>): ResourceDefinition => ({
  id: path,
  path,
  segments: path.split('/').slice(1),
  methods,
});
const proxy = (functionArn: string, authorizerId?: string): MethodDefinition => ({
  integration: { type: 'AWS_PROXY', functionArn, timeoutMilliseconds: 300 },
  ...(authorizerId !== undefined && { authorizerId }),
});

/** Stands in for a bundle: the gateway only calls it. */
const fakeFunction = (arn: string, handler: (event: never) => unknown): LambdaFunction => ({
  definition: { arn } as LambdaFunction['definition'],
  invoke: async (event) => handler(event as never),
  warm: async () => {},
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
    authorizers: [{ id: 'authorizer', functionArn: 'authorizer', header: 'authorization', cacheSeconds: 60 }],
    gatewayResponses: {
      DEFAULT_5XX: {
        headers: { 'X-Request': 'context.requestId', 'X-Kind': "'own'" },
        template:
          '{"type":"$context.error.responseType","text":$context.error.messageString,"nothing":"$context.unknown"}',
      },
      UNAUTHORIZED: { statusCode: 418, headers: {}, template: '{}' },
    },
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
      'bytes',
      'one, two',
      'application/json',
    ]);
    expect(headers.get('x-amzn-remapped-www-authenticate')).toBe('Bearer');
    expect(headers.get('x-amzn-requestid')).toBe(asked.at(-1)!.requestContext.requestId);
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
    results = () => new Promise((resolve) => setTimeout(resolve, 600));
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

    it('hands its context on as text, and asks it once for a token', async () => {
      results = () => ({ statusCode: 200 });
      verdict = () => ({ ...allow, context: { exp: 17, admin: false } });
      const before = authorized.length;
      expect([(await ask('A')).status, (await ask('A', '8')).status]).toEqual([200, 200]);
      expect(authorized.slice(before)).toEqual(['A']);
      expect(asked.at(-1)!.requestContext.authorizer).toMatchObject({ principalId: 'me', exp: '17', admin: 'false' });
      expect(asked.at(-1)!.pathParameters).toEqual({ id: '8' });
    });

    it('holds the kept policy against each method', async () => {
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
