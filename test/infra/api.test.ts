import { STATUS_CODES } from 'node:http';
import { describe, expect, it } from 'vitest';
import { type Route, routes } from '../../functions/routes.ts';
import { synthesize } from '../support/synthesize.ts';

const { ofType, one, readable, text, outputs } = synthesize();
const allRoutes = Object.entries<Route>(routes).map(([name, route]) => ({ name, ...route }));

/** Methods by `METHOD /path`. */
const methods = new Map(
  ofType('AWS::ApiGateway::Method').map((method) => {
    const [path, verb] = /Default(.*)\/([A-Z]+)$/.exec(method.path)!.slice(1) as [string, string];
    return [`${verb} ${path === '' ? '/' : path}`, method.properties] as const;
  }),
);

const knownPaths = [...new Set(allRoutes.map(({ path }) => path))];

/** Every gateway response type that API Gateway documents, and the status it has here. */
const gatewayStatuses = {
  ACCESS_DENIED: 403,
  API_CONFIGURATION_ERROR: 500,
  AUTHORIZER_CONFIGURATION_ERROR: 500,
  AUTHORIZER_FAILURE: 500,
  BAD_REQUEST_BODY: 422,
  BAD_REQUEST_PARAMETERS: 422,
  DEFAULT_4XX: 422,
  DEFAULT_5XX: 500,
  EXPIRED_TOKEN: 401,
  INTEGRATION_FAILURE: 500,
  INTEGRATION_TIMEOUT: 504,
  INVALID_API_KEY: 403,
  INVALID_SIGNATURE: 401,
  MISSING_AUTHENTICATION_TOKEN: 404,
  QUOTA_EXCEEDED: 429,
  REQUEST_TOO_LARGE: 413,
  RESOURCE_NOT_FOUND: 404,
  THROTTLED: 429,
  UNAUTHORIZED: 401,
  UNSUPPORTED_MEDIA_TYPE: 422,
  WAF_FILTERED: 403,
};

describe('the routes', () => {
  it.each(allRoutes)('$method $path calls its function', ({ method, path, name }) => {
    const { Integration } = methods.get(`${method} ${path}`);
    expect(Integration).toMatchObject({ Type: 'AWS_PROXY', IntegrationHttpMethod: 'POST' });
    expect(readable(Integration.Uri)).toContain(`/Api/${name[0]!.toUpperCase()}${name.slice(1)}/invocations`);
  });

  it.each(allRoutes.filter((route) => !route.public))('$method $path asks the authorizer', ({ method, path }) => {
    const properties = methods.get(`${method} ${path}`);
    expect(properties.AuthorizationType).toBe('CUSTOM');
    expect(readable(properties.AuthorizerId)).toBe('Api/TokenAuthorizer');
  });

  it.each(allRoutes.filter((route) => route.public))('$method $path asks for no token', ({ method, path }) => {
    expect(methods.get(`${method} ${path}`).AuthorizationType).toBe('NONE');
  });

  it.each([...knownPaths, '/', '/{path+}'])(
    '%s with any other method is answered by one function, without a token',
    (path) => {
      const { Integration, AuthorizationType } = methods.get(`ANY ${path}`);
      expect(AuthorizationType).toBe('NONE');
      expect(readable(Integration.Uri)).toContain('/Api/MethodNotAllowed/invocations');
    },
  );

  it.each(knownPaths)('%s allows browsers of any origin to send a token', (path) => {
    const { Integration, AuthorizationType } = methods.get(`OPTIONS ${path}`);
    const [response] = Integration.IntegrationResponses;
    const allowed = allRoutes.filter((route) => route.path === path).map(({ method }) => method);
    expect(AuthorizationType).toBe('NONE');
    expect(response).toMatchObject({
      StatusCode: '204',
      ResponseParameters: {
        'method.response.header.Access-Control-Allow-Origin': "'*'",
        'method.response.header.Access-Control-Allow-Methods': `'${allowed.join()}'`,
        'method.response.header.Access-Control-Allow-Headers':
          "'Authorization,Content-Type,Content-Encoding,Idempotency-Key'",
      },
    });
  });

  it.each(knownPaths)('%s answers browsers although bodies are binary', (path) => {
    expect(methods.get(`OPTIONS ${path}`).Integration.ContentHandling).toBe('CONVERT_TO_TEXT');
  });

  it('hand bodies of every content type over as bytes', () => {
    expect(ofType('AWS::ApiGateway::RestApi')[0]!.properties.BinaryMediaTypes).toEqual(['*/*']);
  });

  it('are the only methods', () => {
    expect(methods.size).toBe(allRoutes.length + 2 * knownPaths.length + 2);
  });

  it('let the gateway call each function that they name', () => {
    const called = new Set([...methods.values()].flatMap(({ Integration }) => Integration.Uri ?? []).map(readable));
    const callable = ofType('AWS::Lambda::Permission').map(({ properties }) => readable(properties.FunctionName));
    for (const uri of called) expect(callable).toContain(/(Api\/\w+)\/invocations$/.exec(uri)![1]);
    expect(callable).toContain('Api/Authorizer');
  });
});

describe('the authorizer', () => {
  it('gets every Authorization header, even a malformed one, and its answer is kept for a minute', () => {
    const [authorizer, ...others] = ofType('AWS::ApiGateway::Authorizer');
    expect(others).toEqual([]);
    expect(authorizer!.properties).toMatchObject({
      Type: 'TOKEN',
      IdentitySource: 'method.request.header.Authorization',
      AuthorizerResultTtlInSeconds: 60,
    });
    expect(authorizer!.properties).not.toHaveProperty('IdentityValidationExpression');
    expect(readable(authorizer!.properties.AuthorizerUri)).toContain('/Api/Authorizer/invocations');
  });
});

describe('the gateway itself', () => {
  const responses = new Map(
    ofType('AWS::ApiGateway::GatewayResponse').map(({ properties }) => [properties.ResponseType, properties]),
  );

  it('has an answer in the envelope for every type', () => {
    expect([...responses.keys()].sort()).toEqual(Object.keys(gatewayStatuses));
  });

  describe.each(Object.entries(gatewayStatuses))('for %s', (type, status) => {
    const { StatusCode, ResponseTemplates, ResponseParameters } = responses.get(type);

    it(`answers ${status} in the envelope`, () => {
      expect(StatusCode).toBe(String(status));
      expect(Object.keys(ResponseTemplates)).toEqual(['application/json']);
      const body = JSON.parse(ResponseTemplates['application/json']);
      expect(body).toEqual({
        status: status < 500 ? 'fail' : 'error',
        message: STATUS_CODES[status],
        code: String(status),
        data: { description: expect.anything() },
        ...(status === 422 && {
          detail: [{ loc: expect.any(Array), msg: expect.any(String), type: expect.any(String) }],
        }),
      });
      if (status === 422) expect(body.data.description).toEqual(body.detail);
      else expect(body.data.description).toEqual(expect.any(String));
    });

    it('sends the headers of every response', () => {
      expect(ResponseParameters).toEqual({
        'gatewayresponse.header.X-Request-Id': 'context.requestId',
        'gatewayresponse.header.Access-Control-Allow-Origin': "'*'",
        'gatewayresponse.header.Access-Control-Expose-Headers': "'X-Request-Id'",
        'gatewayresponse.header.Cache-Control': "'no-store'",
        'gatewayresponse.header.X-Content-Type-Options': "'nosniff'",
        ...(status === 401 && { 'gatewayresponse.header.WWW-Authenticate': "'Bearer'" }),
        ...(status === 429 && { 'gatewayresponse.header.Retry-After': "'1'" }),
      });
    });
  });

  it('never answers 503', () => {
    expect([...responses.values()].map(({ StatusCode }) => StatusCode)).not.toContain('503');
    expect(text).not.toMatch(/\\"code\\":\\"503|"StatusCode": ?"503"/);
  });
});

describe('the stage', () => {
  const [stage] = ofType('AWS::ApiGateway::Stage');

  it('is traced and throttled, logs errors without data, and emits no metrics for each method', () => {
    expect(stage!.properties).toMatchObject({
      StageName: 'core-fast',
      TracingEnabled: true,
      MethodSettings: [
        {
          HttpMethod: '*',
          ResourcePath: '/*',
          MetricsEnabled: false,
          LoggingLevel: 'ERROR',
          DataTraceEnabled: false,
          ThrottlingRateLimit: 50,
          ThrottlingBurstLimit: 100,
        },
      ],
    });
  });

  it('writes an access log of JSON lines that hold no token', () => {
    const { DestinationArn, Format } = stage!.properties.AccessLogSetting;
    expect(readable(DestinationArn)).toMatch(/:log-group:Api\/AccessLog$/);
    expect(JSON.parse(Format)).toMatchObject({
      requestId: '$context.requestId',
      extendedRequestId: '$context.extendedRequestId',
      userId: '$context.authorizer.principalId',
      route: '$context.resourcePath',
      status: '$context.status',
      latency: '$context.responseLatency',
    });
    expect(Format).not.toMatch(/authorization|\$context\.path\b/i);
    expect(Format).not.toMatch(/userAgent|caller|\$context\.protocol/);
  });

  it('finds both of its logs created, with a limit to how long they keep lines', () => {
    const errorLog = one('AWS::Logs::LogGroup', 'Api/ErrorLog');
    expect(readable(errorLog.properties.LogGroupName)).toBe('API-Gateway-Execution-Logs_Api/RestApi/core-fast');
    expect(stage!.attributes.DependsOn).toContainEqual(expect.stringMatching(/^ApiErrorLog/));
    for (const { properties } of ofType('AWS::Logs::LogGroup')) expect(properties.RetentionInDays).toBe(7);
  });

  it('compresses responses, and decompresses request bodies of any size', () => {
    expect(one('AWS::ApiGateway::RestApi', 'Api/RestApi').properties.MinimumCompressionSize).toBe(0);
  });

  it('takes TLS 1.2 and 1.3 only', () => {
    expect(one('AWS::ApiGateway::RestApi', 'Api/RestApi').properties).toMatchObject({
      SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PQ_2025_09',
      EndpointAccessMode: 'STRICT',
      EndpointConfiguration: { Types: ['REGIONAL'] },
    });
  });

  it('has its URL, without a trailing slash, among the outputs', () => {
    expect(readable(outputs.ApiUrl)).toMatch(
      /^https:\/\/Api\/RestApi\.execute-api\.AWS::Region\.AWS::URLSuffix\/core-fast$/,
    );
  });
});
