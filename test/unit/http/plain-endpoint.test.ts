import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import {
  CorruptData,
  InsufficientScope,
  MethodNotAllowed,
  NotFound,
  PayloadTooLarge,
  TimedOut,
  TooBusy,
} from '../../../functions/errors.ts';
import { httpFunction } from '../../../functions/http/http-function.ts';
import type { Operation } from '../../../functions/http/operation.ts';
import { plainEndpoint } from '../../../functions/http/plain-endpoint.ts';
import { type Reply, success } from '../../../functions/http/reply.ts';
import { routes } from '../../../functions/routes.ts';
import { isRequestOver } from '../../../functions/runtime/request-lifetime.ts';
import { addToRequestLog } from '../../../functions/runtime/request-log.ts';
import { BatchListQuery } from '../../../functions/schemas/batch-list-query.ts';
import { ErrorBody } from '../../../functions/schemas/error-body.ts';
import { JobPath } from '../../../functions/schemas/job.ts';
import { commonHeaders, gatewayEvent, lambdaContext } from '../../support/gateway-event.ts';

const userId = 'auth0|alice';
const event = gatewayEvent('listBatches', { userId });
const context = lambdaContext();

let lines: Record<string, unknown>[] = [];
beforeEach(() => {
  lines = [];
  vi.stubEnv('AWS_LAMBDA_LOG_LEVEL', 'INFO');
  vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'function-1');
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => {
    lines.push(JSON.parse(String(line)));
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** An operation that reads nothing. */
const operation = {
  tag: 'Service',
  summary: 'A test',
  description: 'A test.',
  success: { status: 200, data: () => z.unknown() },
} satisfies Operation;
const query = { ...operation, query: BatchListQuery };

const answering = (answer: () => Promise<Reply>) =>
  plainEndpoint(routes.listBatches, operation, answer)(event, context);
const throwing = (error: unknown) => answering(() => Promise.reject(error));

const headersOfAll = commonHeaders(event);

const errorBody = (status: number, message: string, reason: string, description: string) => ({
  status: status < 500 ? 'fail' : 'error',
  message,
  code: String(status),
  data: { reason, description },
});

/** A 500: it says nothing of its cause. */
const bare500 = [500, 'Internal Server Error', 'internal_error', 'The request could not be served.', {}] as const;

/** An error as the AWS SDK throws it. */
function awsError(name: string, members: object = {}): Error {
  return Object.assign(new Error('from AWS'), { name, $metadata: { requestId: 'AWS1', attempts: 3 }, ...members });
}

describe('plainEndpoint', () => {
  it('answers with the envelope and the headers of every response', async () => {
    expect(await answering(async () => success({ a: [1] }))).toEqual({
      statusCode: 200,
      headers: headersOfAll,
      body: '{"status":"success","message":"OK.","code":"200","data":{"a":[1]}}',
    });
  });

  it('receives the caller whom the authorizer named', async () => {
    const handler = plainEndpoint(routes.listBatches, operation, async ({ event: _, ...request }) => success(request));
    expect((await handler(event, context)).body).toContain(
      `"data":{"userId":"${userId}","isOperator":false,"claims":{"queue_priority":"MEDIUM"}}`,
    );
    const ofOperator = gatewayEvent('listBatches', { userId, scope: 'openid operator' });
    expect((await handler(ofOperator, context)).body).toContain('"isOperator":true');
  });

  describe('of devices', () => {
    const path = z.object({ job_id: z.string() });
    const ofDevices = { ...operation, path, device: (input: { path: { job_id: string } }) => input.path.job_id };
    const ask = (deviceType: string, scope: string) =>
      plainEndpoint(routes.getResultsLink, ofDevices, async () => success('done'))(
        gatewayEvent('getResultsLink', { userId, scope, path: { job_id: deviceType } }),
        context,
      );

    it('answers a token whose scope names the device of the request', async () => {
      expect((await ask('FRESNEL', 'device:FRESNEL')).statusCode).toBe(200);
      expect((await ask('FRESNEL', 'openid device:*')).statusCode).toBe(200);
    });

    it.each([
      ['FRESNEL', '', 'device:*'],
      ['FRESNEL', 'device:EMU_MPS', 'device:FRESNEL'],
      ['a"b\r\n', 'device:EMU_MPS', 'device:*'],
    ])('refuses for %j a token of scope %j, and says which it lacks', async (deviceType, scope, lacking) => {
      const { statusCode, headers } = await ask(deviceType, scope);
      expect(statusCode).toBe(403);
      expect(headers?.['WWW-Authenticate']).toBe(`Bearer error="insufficient_scope", scope="${lacking}"`);
    });
  });

  it('of users refuses the token of a device', async () => {
    const handler = plainEndpoint(routes.listBatches, operation, async () => success('done'));
    const ofDevice = gatewayEvent('listBatches', { userId, scope: 'openid device:FRESNEL' });
    expect(await handler(ofDevice, context)).toMatchObject({
      statusCode: 403,
      body: JSON.stringify(errorBody(403, 'Forbidden', 'device_token', 'Device tokens cannot use this endpoint.')),
    });
  });

  it('reads path, query and body, and reports the faults of all at once', async () => {
    const reader = {
      ...operation,
      path: JobPath,
      query: BatchListQuery,
      body: z.pipe(
        z.string(),
        z.transform((text) => text.length),
      ),
    };
    const handler = plainEndpoint(routes.getResultsLink, reader, async ({ event: _, ...request }) => success(request));
    const id = '5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a';
    const good = gatewayEvent('getResultsLink', {
      userId,
      path: { job_id: `%7B${id}%7D` },
      query: 'limit=7',
      body: 'abc',
    });
    expect(JSON.parse((await handler(good, context)).body).data).toMatchObject({
      userId,
      path: { job_id: id },
      query: { limit: 7, offset: 0 },
      body: 3,
    });
    const bad = gatewayEvent('getResultsLink', { userId, path: { job_id: 'x' }, query: 'limit=x' });
    const { statusCode, body } = await handler(bad, context);
    expect(statusCode).toBe(422);
    const items = [
      { loc: ['path', 'job_id'], msg: 'Input should be a valid UUID', type: 'uuid_parsing' },
      {
        loc: ['query', 'limit'],
        msg: 'Input should be a valid integer, unable to parse string as an integer',
        type: 'int_parsing',
      },
      { loc: ['body'], msg: expect.any(String), type: expect.any(String) },
    ];
    expect(JSON.parse(body)).toEqual({
      status: 'fail',
      message: 'Unprocessable Entity',
      code: '422',
      data: { reason: 'invalid_input', description: items },
      detail: items,
    });
  });

  it.each([
    [
      new InsufficientScope('a'),
      403,
      'Forbidden',
      'insufficient_scope',
      'The token lacks the scope a.',
      { 'WWW-Authenticate': 'Bearer error="insufficient_scope", scope="a"' },
    ],
    [new NotFound('There is no such job.'), 404, 'Not Found', 'not_found', 'There is no such job.', {}],
    [new PayloadTooLarge('Too large.'), 413, 'Payload Too Large', 'payload_too_large', 'Too large.', {}],
    [
      new MethodNotAllowed(['GET', 'OPTIONS']),
      405,
      'Method Not Allowed',
      'method_not_allowed',
      'The path exists, the method does not.',
      { Allow: 'GET, OPTIONS' },
    ],
    [new TooBusy('Try again.'), 429, 'Too Many Requests', 'busy', 'Try again.', { 'Retry-After': '1' }],
    [new CorruptData('row 5'), ...bare500],
    [new Error('secret'), ...bare500],
    ['secret', ...bare500],
    [undefined, ...bare500],
    [awsError('InternalServerError'), ...bare500],
    [awsError('AccessDeniedException'), ...bare500],
    [new TimedOut('Slow.'), 504, 'Gateway Timeout', 'timeout', 'The request took too long.', {}],
    [awsError('ThrottlingException'), ...bare500],
  ])('answers %o', async (thrown, status, message, reason, description, headers) => {
    const { statusCode, headers: sent, body } = await throwing(thrown);
    expect({ statusCode, headers: sent }).toEqual({ statusCode: status, headers: { ...headersOfAll, ...headers } });
    expect(ErrorBody().parse(JSON.parse(body))).toEqual(errorBody(status, message, reason, description));
    expect(lines).toMatchObject([{ status, reason }]);
  });

  it('answers 504 before the time of the function is out', async () => {
    const never = plainEndpoint(routes.listBatches, operation, () => new Promise<Reply>(() => undefined));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const start = Date.now();
    const answering = never(event, lambdaContext(700)).then((answer) => ({ ...answer, after: Date.now() - start }));
    await vi.runAllTimersAsync();
    vi.useRealTimers();
    const { statusCode, body, after } = await answering;
    expect(after).toBeGreaterThan(150);
    expect(after).toBeLessThan(650);
    expect(statusCode).toBe(504);
    expect(JSON.parse(body)).toEqual(errorBody(504, 'Gateway Timeout', 'timeout', 'The request took too long.'));
  });

  it('lets work that goes on after a 504 know that the request has its answer', async () => {
    const { promise: frozen, resolve: thaw } = Promise.withResolvers<void>();
    const told: boolean[] = [];
    const slow = plainEndpoint(routes.listBatches, operation, async () => {
      told.push(isRequestOver());
      await frozen;
      told.push(isRequestOver());
      return success({});
    });
    expect((await slow(event, lambdaContext(600))).statusCode).toBe(504);
    thaw();
    await vi.waitFor(() => expect(told).toEqual([false, true]));
  });

  it('answers 401 when the token has expired since the gateway kept the authorizer’s answer', async () => {
    const expired = gatewayEvent('listBatches', { userId, exp: Math.floor(Date.now() / 1000) });
    const { statusCode, headers, body } = await plainEndpoint(routes.listBatches, query, async () =>
      expect.unreachable(),
    )(expired, context);
    expect(statusCode).toBe(401);
    expect(headers).toMatchObject({ 'WWW-Authenticate': 'Bearer' });
    expect(JSON.parse(body)).toEqual(
      errorBody(401, 'Unauthorized', 'token_expired', 'A valid bearer token is required.'),
    );
  });

  it.each(['', 'soon', 'NaN', '-1', 'undefined'])('answers 401 when the authorizer says exp=%j', async (exp) => {
    const strange = gatewayEvent('listBatches', { userId, exp: exp as never });
    expect(
      (await plainEndpoint(routes.listBatches, operation, async () => expect.unreachable())(strange, context))
        .statusCode,
    ).toBe(401);
  });

  it('serves nobody without an answer of the authorizer', async () => {
    const { statusCode } = await plainEndpoint(routes.listBatches, operation, async () => expect.unreachable())(
      gatewayEvent('listBatches'),
      context,
    );
    expect(statusCode).toBe(500);
    expect(lines[0]).toMatchObject({ error: { message: 'The authorizer did not say who calls.' } });
  });

  it('serves nobody whom the authorizer names with an empty text', async () => {
    const handler = plainEndpoint(routes.listBatches, operation, async () => expect.unreachable());
    expect((await handler(gatewayEvent('listBatches', { userId: '' }), context)).statusCode).toBe(500);
    expect(lines[0]).toMatchObject({ error: { message: 'The authorizer did not say who calls.' } });
  });

  it('never returns more than Lambda can', async () => {
    const large = { data: JSON.stringify('"'.repeat(3_200_000)) };
    const { statusCode, body } = await answering(async () => large);
    expect(statusCode).toBe(500);
    expect(body.length).toBeLessThan(200);
    expect(lines[0]).toMatchObject({
      error: { message: expect.stringMatching(/^Lambda cannot return a body of \d+ /) },
    });
  });

  it('announces the deprecation of a parameter that is used', async () => {
    const handler = plainEndpoint(routes.listBatches, query, async () => success(1));
    const used = await handler(gatewayEvent('listBatches', { userId, query: 'complete=true' }), context);
    expect(used.headers).toEqual({
      ...headersOfAll,
      'X-Request-Id': expect.any(String),
      Deprecation: expect.stringMatching(/^@\d+$/),
      Link: '<../../openapi.json>; rel="deprecation"; type="application/json"',
    });
    const unused = await handler(gatewayEvent('listBatches', { userId, query: 'open=true' }), context);
    expect(Object.keys(unused.headers ?? {})).not.toContain('Deprecation');
    expect(Object.keys(unused.headers ?? {})).not.toContain('Link');
  });
});

describe('plainEndpoint of an operation that demands a scope', () => {
  const handler = plainEndpoint(routes.listBatches, { ...query, scope: 'batches:read' }, async () => success(1));
  const withScope = (scope?: string) => gatewayEvent('listBatches', { userId, ...(scope !== undefined && { scope }) });

  it.each(['batches:read', 'openid batches:read', 'batches:read jobs:read'])('serves the scope %j', async (scope) => {
    expect(await handler(withScope(scope), context)).toMatchObject({ statusCode: 200 });
  });

  it.each([undefined, '', 'batches', 'batches:readx', 'BATCHES:READ', 'batches:read,jobs:read'])(
    'refuses the scope %j with 403, before it reads the input',
    async (scope) => {
      const faulty = { ...withScope(scope), multiValueQueryStringParameters: { limit: ['x'] } };
      const { statusCode, headers, body } = await handler(faulty, context);
      expect(statusCode).toBe(403);
      expect(headers).toMatchObject({
        'WWW-Authenticate': 'Bearer error="insufficient_scope", scope="batches:read"',
      });
      expect(JSON.parse(body)).toEqual(
        errorBody(403, 'Forbidden', 'insufficient_scope', 'The token lacks the scope batches:read.'),
      );
      expect(lines).toMatchObject([{ status: 403, user_id: userId }]);
    },
  );

  it('refuses an expired token with 401, whatever its scope', async () => {
    const expired = gatewayEvent('listBatches', { userId, exp: 1, scope: 'openid' });
    expect(await handler(expired, context)).toMatchObject({ statusCode: 401 });
  });
});

describe('plainEndpoint of operators', () => {
  const handler = plainEndpoint(routes.listBatches, { ...query, operator: true }, async () => success(1));
  const ask = (scope: string) => handler(gatewayEvent('listBatches', { userId, scope, query: 'limit=5' }), context);

  it.each(['operator', 'openid operator', 'operator profile'])('serves the scope %j', async (scope) => {
    expect(await ask(scope)).toMatchObject({ statusCode: 200 });
  });

  it.each(['', 'openid', 'operators', 'Operator', 'operator:x', 'device:*', 'device:A operator', 'operator device:*'])(
    'refuses the scope %j and names what it lacks',
    async (scope) => {
      const { statusCode, headers, body } = await ask(scope);
      expect([statusCode, JSON.parse(body).data.reason]).toEqual([403, 'insufficient_scope']);
      expect(headers?.['WWW-Authenticate']).toBe('Bearer error="insufficient_scope", scope="operator"');
    },
  );
});

describe('plainEndpoint of operators and of administrators of projects', () => {
  const [own, other] = ['5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a', '00000000-0000-4000-8000-000000000001'];
  const projects = (input: { query: { project_id?: string[] } }) => input.query.project_id ?? [];
  const handler = plainEndpoint(routes.listBatches, { ...query, operator: true, projects }, async () => success(1));
  const ask = async (sent: string, roles: Readonly<Record<string, string | undefined>>, scope = '') => {
    const projects = Object.entries(roles).map(([id, role]) => ({ id, name: 'A project', role }));
    const claims = { projects: JSON.stringify(projects) };
    return (await handler(gatewayEvent('listBatches', { userId, scope, claims, query: sent }), context)).statusCode;
  };

  it('serves who administers all that the request names', async () => {
    expect(await ask(`project_id=${own}`, { [own]: 'admin' })).toBe(200);
    expect(await ask(`project_id=${own}&project_id=${other}`, { [own]: 'admin', [other]: 'admin' })).toBe(200);
    expect(await ask('', {}, 'operator')).toBe(200);
  });

  it.each([
    ['no project', '', { [own]: 'admin' }],
    ['another project', `project_id=${other}`, { [own]: 'admin', [other]: 'member' }],
    ['one of two', `project_id=${own}&project_id=${other}`, { [own]: 'admin' }],
    ['a project with another role', `project_id=${own}`, { [own]: 'member' }],
    ['a project without a role', `project_id=${own}`, { [own]: undefined }],
  ])('refuses %s', async (_, sent, roles) => {
    expect(await ask(sent, roles)).toBe(403);
  });

  it('reports faults to administrators alone', async () => {
    expect(await ask('limit=x', { [own]: 'admin' })).toBe(422);
    expect(await ask('limit=x', { [own]: 'member' })).toBe(403);
  });
});

describe('plainEndpoint of an operation that creates', () => {
  it('answers 201, in the envelope too', async () => {
    const creating = {
      ...operation,
      success: { status: 201, data: () => z.unknown() },
    } satisfies Operation;
    const handler = plainEndpoint(routes.listBatches, creating, async () => success({ a: 1 }));
    expect(await handler(event, context)).toEqual({
      statusCode: 201,
      headers: headersOfAll,
      body: '{"status":"success","message":"Created.","code":"201","data":{"a":1}}',
    });
  });
});

describe('plainEndpoint of a public route', () => {
  it('serves callers without a token', async () => {
    const handler = plainEndpoint(routes.getHealth, operation, () => success('hello'));
    expect(await handler(gatewayEvent('getHealth'), context)).toMatchObject({ statusCode: 200 });
  });
});

describe('plainEndpoint of another route', () => {
  it('serves nobody', async () => {
    const handler = plainEndpoint(routes.getHealth, operation, () => success('hello'));
    expect(await handler(event, context)).toMatchObject({ statusCode: 500 });
    expect(lines[0]).toMatchObject({ error: { message: 'This function serves /health, not /api/v1/batches.' } });
  });
});

describe('httpFunction', () => {
  it('leaves no timer behind', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    await httpFunction(() => ({ status: 200, headers: {}, body: '' }))(event, context);
    expect(timers()).toBe(before);
  });

  it('answers with the status, headers and body that it is given', async () => {
    const handler = httpFunction(() => ({ status: 204, headers: { A: 'b' }, body: '' }));
    expect(await handler(event, context)).toEqual({ statusCode: 204, headers: { ...headersOfAll, A: 'b' }, body: '' });
  });
});

describe('request log', () => {
  it('is one line with the request, the caller, the facts and the answer', async () => {
    const start = Date.now();
    await answering(async () => {
      addToRequestLog({ plan: 'all', ReadUnits: 2.5 });
      await new Promise((resolve) => setTimeout(resolve, 5));
      return success(1);
    });
    expect(lines).toEqual([
      {
        timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
        level: 'INFO',
        function: 'function-1',
        request_id: event.requestContext.requestId,
        extended_request_id: event.requestContext.extendedRequestId,
        method: 'GET',
        route: '/api/v1/batches',
        user_id: userId,
        plan: 'all',
        status: 200,
        Latency: expect.any(Number),
        ReadUnits: 2.5,
      },
    ]);
    expect(lines[0]?.Latency).toBeGreaterThanOrEqual(4);
    expect(lines[0]?.Latency).toBeLessThanOrEqual(Date.now() - start + 1);
  });

  it('says why a request failed, with all causes', async () => {
    await throwing(new CorruptData('row 5', { cause: awsError('SomeError') }));
    expect(lines).toMatchObject([
      {
        level: 'ERROR',
        status: 500,
        error: {
          name: 'CorruptData',
          message: 'row 5',
          stack: expect.stringContaining('plain-endpoint.test.ts'),
          cause: { name: 'SomeError', aws_request_id: 'AWS1', attempts: 3 },
        },
      },
    ]);
  });

  it('names the cause of a 429', async () => {
    await throwing(new TooBusy('Try again.', { cause: awsError('ThrottlingException') }));
    expect(lines).toMatchObject([
      {
        level: 'INFO',
        status: 429,
        error: { name: 'TooBusy', cause: { name: 'ThrottlingException' } },
      },
    ]);
  });

  it('names the error of the service, and no error of the caller', async () => {
    await throwing(new CorruptData('row 5'));
    await throwing(new TimedOut('Slow.'));
    await throwing(new NotFound('There is no such job.'));
    expect(lines.map(({ error }) => (error as Error | undefined)?.name)).toEqual([
      'CorruptData',
      'TimedOut',
      undefined,
    ]);
  });

  it('keeps the facts of simultaneous requests apart', async () => {
    const handler = plainEndpoint(routes.listBatches, operation, async ({ userId }) => {
      await new Promise((resolve) => setTimeout(resolve, (Number(userId.slice(5)) * 7) % 10));
      addToRequestLog({ fact: userId });
      return success(1);
    });
    const users = Array.from({ length: 20 }, (_, index) => `user-${index}`);
    await Promise.all(users.map((user) => handler(gatewayEvent('listBatches', { userId: user }), context)));
    expect(lines).toHaveLength(20);
    for (const line of lines) expect(line.fact).toBe(line.user_id);
  });

  it('has neither token, query nor body', async () => {
    const secret = 'c2VjcmV0';
    const request = gatewayEvent('submitQuizzes', {
      userId,
      headers: { Authorization: `Bearer ${secret}` },
      query: { tag: secret, limit: secret },
      body: `{"${secret}":`,
    });
    await plainEndpoint(routes.submitQuizzes, query, async () => success(1))(request, context);
    expect(lines).toMatchObject([{ status: 422, faults: 1 }]);
    expect(JSON.stringify(lines)).not.toContain(secret);
  });

  it('writes only the levels that Lambda’s configuration asks for', async () => {
    vi.stubEnv('AWS_LAMBDA_LOG_LEVEL', 'ERROR');
    await answering(async () => success(1));
    expect(lines).toEqual([]);
    await throwing(new Error('x'));
    expect(lines).toHaveLength(1);
  });
});
