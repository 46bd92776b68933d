import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { handler as getHealth } from '../../functions/endpoints/service/get-health.ts';
import { handler as getOpenApi } from '../../functions/endpoints/service/get-open-api.ts';
import { handler as methodNotAllowed } from '../../functions/endpoints/service/method-not-allowed.ts';
import { type RouteName, routes } from '../../functions/routes.ts';
import { commonHeaders, gatewayEvent, lambdaContext } from '../support/gateway-event.ts';

describe('GET /health', () => {
  it('says that requests reach the service', async () => {
    const event = gatewayEvent('getHealth');
    expect(await getHealth(event, lambdaContext())).toEqual({
      statusCode: 200,
      headers: commonHeaders(event),
      body: '{"status":"success","message":"OK.","code":"200","data":{"healthy":true}}',
    });
  });
});

describe('GET /openapi.json', () => {
  it.each([
    ['/dev/openapi.json', '/dev'],
    ['/openapi.json', '/'],
  ])('answers with the committed document, for the paths beside %s', async (path, url) => {
    const event = gatewayEvent('getOpenApi');
    event.requestContext.path = path;
    const { statusCode, headers, body } = await getOpenApi(event, lambdaContext());
    expect({ statusCode, headers }).toEqual({ statusCode: 200, headers: commonHeaders(event) });
    expect(JSON.parse(body)).toEqual({ ...JSON.parse(readFileSync('openapi.json', 'utf8')), servers: [{ url }] });
  });
});

describe('an unknown path', () => {
  it('is answered 404', async () => {
    const event = { ...gatewayEvent('getHealth'), resource: '/{path+}', path: '/api/v3/jobs' };
    const { statusCode, headers, body } = await methodNotAllowed(event, lambdaContext());
    expect({ statusCode, headers }).toEqual({ statusCode: 404, headers: commonHeaders(event) });
    expect(JSON.parse(body)).toEqual({
      status: 'fail',
      message: 'Not Found',
      code: '404',
      data: { reason: 'unknown_route', description: 'There is no such route.' },
    });
  });
});

describe('a known path with another method', () => {
  it.each(Object.entries(routes))('is answered 405 with the methods of the path of %s', async (name, { path }) => {
    const ofPath = Object.values(routes).filter((route) => route.path === path);
    const methods = [...ofPath.map(({ method }) => method), 'OPTIONS'];
    const event = gatewayEvent(name as RouteName, { method: 'DELETE', path: { job_id: 'x' } });
    const { statusCode, headers, body } = await methodNotAllowed(event, lambdaContext());
    expect({ statusCode, headers }).toEqual({
      statusCode: 405,
      headers: { ...commonHeaders(event), Allow: methods.join(', ') },
    });
    expect(JSON.parse(body)).toEqual({
      status: 'fail',
      message: 'Method Not Allowed',
      code: '405',
      data: { reason: 'method_not_allowed', description: 'The path exists, the method does not.' },
    });
  });
});
