import { STATUS_CODES } from 'node:http';
import { App } from 'aws-cdk-lib';
import type { CfnDeployment, CfnRestApi, SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import { describe, expect, it } from 'vitest';
import cdk from '../../cdk.json' with { type: 'json' };
import { reasons } from '../../functions/reasons.ts';
import { type Route, routes } from '../../functions/routes.ts';
import { tokenPattern } from '../../infra/stack/api-body.ts';
import { ServiceStack } from '../../infra/stack/service-stack.ts';
import { stages } from '../../infra/stack/stages.ts';
import { synthesize } from '../support/synthesize.ts';

const { ofType, one, readable, outputs } = await synthesize();
const restApi = one('AWS::ApiGateway::RestApi', 'Api/RestApi').properties;
const allRoutes = Object.entries<Route>(routes);
const knownPaths = [...new Set(allRoutes.map(([, { path }]) => path))];
const constructOf = (name: string) => `Api/${name[0]!.toUpperCase()}${name.slice(1)}`;

// biome-ignore lint/suspicious/noExplicitAny: the shape is OpenAPI's, with AWS's extensions.
type Part = any;

/** Operations of the API's body by `METHOD /path`. */
const operations = new Map(
  Object.entries<Part>(restApi.Body.paths).flatMap(([path, item]) =>
    Object.entries<Part>(item).map(([method, operation]): [string, Part] => {
      const name = method === 'x-amazon-apigateway-any-method' ? 'ANY' : method.toUpperCase();
      return [`${name} ${path}`, operation];
    }),
  ),
);

/** What `describeOne` returns for each operation whose method and key are meant. */
function describeEach(isMeant: (method: string, key: string) => boolean, describeOne: (operation: Part) => unknown) {
  const meant = [...operations].filter(([key]) => isMeant(key.split(' ')[0]!, key));
  return Object.fromEntries(meant.map(([key, operation]) => [key, describeOne(operation)]));
}

function describeCall({ security, 'x-amazon-apigateway-integration': { uri, credentials, ...integration } }: Part) {
  const called = /:lambda:path\/2015-03-31\/functions\/(.+)\/invocations$/.exec(readable(uri))?.[1];
  return { ...integration, called, role: readable(credentials), security };
}

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
  const call = { type: 'aws_proxy', httpMethod: 'POST', role: 'Api/GatewayRole' };

  it('call their functions, behind the authorizer unless they are public', () => {
    const isRoute = (method: string) => method !== 'ANY' && method !== 'OPTIONS';
    expect(describeEach(isRoute, describeCall)).toEqual(
      Object.fromEntries(
        allRoutes.map(([name, { method, path, public: isPublic }]) => [
          `${method} ${path}`,
          { ...call, called: constructOf(name), security: isPublic ? undefined : [{ token: [] }] },
        ]),
      ),
    );
  });

  it('leave any other method, and any other path, to one function without a token', () => {
    // API Gateway makes a resource of each of them, to which `/{path+}` does not lead.
    const inner = new Set(
      knownPaths.flatMap((path) => path.split('/').map((_, end, segments) => segments.slice(0, end).join('/'))),
    );
    const between = [...inner].filter((path) => path !== '' && !knownPaths.includes(path));
    expect(between).toEqual(expect.arrayContaining(['/api', '/api/v1', '/api/v2/batches']));
    expect(describeEach((method) => method === 'ANY', describeCall)).toEqual(
      Object.fromEntries(
        [...knownPaths, ...between, '/', '/{path+}'].map((path) => [
          `ANY ${path}`,
          { ...call, called: 'Api/MethodNotAllowed', security: undefined },
        ]),
      ),
    );
  });

  it('allow browsers of any origin to send a token', () => {
    expect(
      describeEach(
        (method) => method === 'OPTIONS',
        ({ parameters: _, ...operation }) => operation,
      ),
    ).toEqual(Object.fromEntries(knownPaths.map((path) => [`OPTIONS ${path}`, expectedPreflight(path)])));
  });

  function expectedPreflight(path: string) {
    const methods = allRoutes.filter(([, route]) => route.path === path).map(([, { method }]) => method);
    const headers = {
      'Access-Control-Allow-Origin': "'*'",
      'Access-Control-Allow-Methods': `'${methods.join()}'`,
      'Access-Control-Allow-Headers': "'Authorization,Content-Type,Content-Encoding,Idempotency-Key'",
      'Access-Control-Max-Age': "'3600'",
    };
    const each = <Value>(prefix: string, write: (value: string) => Value) =>
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [prefix + name, write(value)]));
    return {
      // API Gateway refuses a header that is not declared.
      responses: { 204: { description: expect.any(String), headers: each('', () => expect.anything()) } },
      'x-amazon-apigateway-integration': {
        type: 'mock',
        requestTemplates: { 'application/json': '{ statusCode: 200 }' },
        passthroughBehavior: 'never',
        // The template cannot read a body of bytes, and bodies of every content type are bytes.
        contentHandling: 'CONVERT_TO_TEXT',
        responses: {
          default: { statusCode: '204', responseParameters: each('method.response.header.', (value) => value) },
        },
      },
    };
  }

  it('declare the parameters of their paths', () => {
    const declared = describeEach(
      () => true,
      ({ parameters = [] }) => parameters.map(({ name }: { name: string }) => name),
    );
    expect(declared).toEqual(
      Object.fromEntries(
        [...operations.keys()].map((key) => [key, Array.from(key.matchAll(/\{(\w+)\+?\}/g), ([, name]) => name)]),
      ),
    );
  });

  it('are called in the one role that may call the functions of the API, and do nothing else', () => {
    const { properties } = one('AWS::IAM::Role', 'Api/GatewayRole');
    const names = ['Authorizer', 'MethodNotAllowed'].map((name) => `Api/${name}`);
    const called = [...names, ...allRoutes.map(([name]) => constructOf(name))];
    expect(properties.AssumeRolePolicyDocument.Statement).toEqual([
      { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: 'apigateway.amazonaws.com' } },
    ]);
    const [{ Resource, ...rights }, ...others] = properties.Policies[0].PolicyDocument.Statement;
    expect([rights, others]).toEqual([{ Effect: 'Allow', Action: 'lambda:InvokeFunction' }, []]);
    expect(Resource.map(readable).sort()).toEqual(called.sort());
    expect([properties.Policies.length, properties.ManagedPolicyArns]).toEqual([1, undefined]);
    // IAM takes 10,240 characters of a role's policies, and names of functions have up to 64.
    expect(called.length * ('"arn:aws:lambda:eu-central-1:123456789012:function:",'.length + 64)).toBeLessThan(10_000);
  });
});

describe('the authorizer', () => {
  it('gets what may be a token, and its answer is kept for a minute', () => {
    const { token, ...others } = restApi.Body.components.securitySchemes;
    const { authorizerUri, authorizerCredentials, ...authorizer } = token['x-amazon-apigateway-authorizer'];
    expect(others).toEqual({});
    expect(token).toMatchObject({
      type: 'apiKey',
      in: 'header',
      name: 'Authorization',
      'x-amazon-apigateway-authtype': 'custom',
    });
    expect(authorizer).toEqual({
      type: 'token',
      authorizerResultTtlInSeconds: 60,
      identityValidationExpression: tokenPattern,
    });
    expect(readable(authorizerUri)).toContain('/functions/Api/Authorizer/invocations');
    expect(readable(authorizerCredentials)).toBe('Api/GatewayRole');
  });
});

describe('the gateway itself', () => {
  const responses: Readonly<Record<string, Part>> = restApi.Body['x-amazon-apigateway-gateway-responses'];

  const reasonsOf = (status: number) =>
    Object.entries(reasons).flatMap(([reason, each]) => (each.status === status ? [reason] : []));

  function expectedBody(status: number) {
    const isUnreadable = status === 422;
    const detail = [{ loc: expect.any(Array), msg: expect.any(String), type: expect.any(String) }];
    return {
      status: status < 500 ? 'fail' : 'error',
      message: STATUS_CODES[status],
      code: String(status),
      data: {
        reason: expect.stringMatching(`^(${reasonsOf(status).join('|')})$`),
        description: isUnreadable ? detail : expect.any(String),
      },
      ...(isUnreadable && { detail }),
    };
  }

  it('has an answer in the envelope for every type, with the headers of every response', () => {
    const read = Object.entries(responses).map(([type, { responseTemplates, ...response }]) => {
      const { 'application/json': template, ...others } = responseTemplates;
      return [type, { ...response, body: JSON.parse(template), others }];
    });
    expect(Object.fromEntries(read)).toEqual(
      Object.fromEntries(
        Object.entries(gatewayStatuses).map(([type, status]) => [
          type,
          {
            statusCode: String(status),
            body: expectedBody(status),
            others: {},
            responseParameters: {
              'gatewayresponse.header.X-Request-Id': 'context.requestId',
              'gatewayresponse.header.Access-Control-Allow-Origin': "'*'",
              'gatewayresponse.header.Access-Control-Expose-Headers': "'X-Request-Id'",
              'gatewayresponse.header.Cache-Control': "'no-store'",
              'gatewayresponse.header.X-Content-Type-Options': "'nosniff'",
              ...(status === 401 && { 'gatewayresponse.header.WWW-Authenticate': "'Bearer'" }),
              ...(status === 429 && { 'gatewayresponse.header.Retry-After': "'1'" }),
            },
          },
        ]),
      ),
    );
  });

  it('never answers 503', () => {
    expect(Object.values(gatewayStatuses)).not.toContain(503);
    expect(JSON.stringify(responses)).not.toContain('503');
  });
});

describe('the deployment', () => {
  it('is a new one whenever the body changes, in its tokens too, and only then', () => {
    const app = new App({ context: { ...cdk.context, 'aws:cdk:bundling-stacks': [] }, analyticsReporting: false });
    const stack = new ServiceStack(app, 'Stack', { settings: stages.dev });
    const construct = stack.node.findChild('Api').node.findChild('RestApi') as SpecRestApi;
    const restApiOfStack = construct.node.defaultChild as CfnRestApi;
    const deployment = construct.latestDeployment!.node.defaultChild as CfnDeployment;
    const body: Part = restApiOfStack.body;

    /** The logical id of the deployment if the body were changed so. */
    function idWith(change: (changed: Part) => void): string {
      const changed = structuredClone(body);
      change(changed);
      restApiOfStack.body = changed;
      return stack.resolve(deployment.logicalId);
    }

    const integrationOf = ({ paths }: Part, name: keyof typeof routes) =>
      paths[routes[name].path][routes[name].method.toLowerCase()]['x-amazon-apigateway-integration'];
    const unchanged = idWith(() => undefined);
    const changes = [
      idWith((changed) => {
        integrationOf(changed, 'getJob').uri = integrationOf(changed, 'getBatch').uri;
      }),
      idWith((changed) => {
        changed['x-amazon-apigateway-gateway-responses'].THROTTLED.statusCode = '503';
      }),
      idWith((changed) => {
        changed.components.securitySchemes.token['x-amazon-apigateway-authorizer'].authorizerResultTtlInSeconds = 1;
      }),
    ];
    expect(new Set([unchanged, ...changes]).size).toBe(1 + changes.length);
    expect(idWith(() => undefined)).toBe(unchanged);
  });

  it('is the one that the stage serves', () => {
    const [deployment, ...others] = ofType('AWS::ApiGateway::Deployment');
    expect(others).toEqual([]);
    const [stage] = ofType('AWS::ApiGateway::Stage');
    expect(readable(stage!.properties.DeploymentId)).toBe(deployment!.path);
  });
});

describe('the stage', () => {
  it('records one request in a hundred, and not the first of each second beside them', () => {
    expect(ofType('AWS::XRay::SamplingRule').map(({ properties }) => properties.SamplingRule)).toEqual([
      {
        RuleName: 'QuantumBatchApi-dev',
        Priority: 1_000,
        ReservoirSize: 0,
        FixedRate: 0.01,
        ServiceType: 'AWS::ApiGateway::Stage',
        ServiceName: 'QuantumBatchApi-dev/core-fast',
        ...{ Host: '*', HTTPMethod: '*', URLPath: '*', ResourceARN: '*', Version: 1 },
      },
    ]);
  });

  const [stage] = ofType('AWS::ApiGateway::Stage');

  /** The settings of a method, and of all that have none of their own. */
  const settings = new Map<string, Part>(
    stage!.properties.MethodSettings.map(({ HttpMethod, ResourcePath, ...others }: Part) => [
      `${HttpMethod} ${ResourcePath.replace(/^\/~1/, '/').replaceAll('~1', '/')}`,
      others,
    ]),
  );

  it('is traced, and has its settings of methods in full, as a method takes none from the stage', () => {
    expect(stage!.properties).toMatchObject({ StageName: 'core-fast', TracingEnabled: true });
    for (const [method, { ThrottlingRateLimit: rate, ...others }] of settings) {
      expect(others, method).toEqual({
        MetricsEnabled: false,
        LoggingLevel: 'ERROR',
        DataTraceEnabled: false,
        ThrottlingBurstLimit: 2 * rate,
      });
    }
  });

  it('has a small rate for all methods but those that need a token, and the list of devices', () => {
    const [all, ...own] = settings;
    expect([all![0], all![1].ThrottlingRateLimit]).toEqual(['* /*', 20]);
    const expected = allRoutes.filter(([name, route]) => route.public !== true || name === 'listDevices');
    expect(own.map(([method]) => method).sort()).toEqual(
      expected.map(([, { method, path }]) => `${method} ${path}`).sort(),
    );
  });

  it('takes most calls where clients ask again and again', () => {
    const rateOf = ({ method, path }: Route) => settings.get(`${method} ${path}`).ThrottlingRateLimit;
    const { listJobs, getBatch, getJobStatus, getResultsLink, claimBatch, extendLease, createBatch } = routes;
    for (const route of [listJobs, getBatch, getJobStatus, getResultsLink, claimBatch, extendLease, createBatch]) {
      expect(rateOf(route), route.path).toBe(50);
    }
    for (const route of [routes.listDevices, routes.cancelBatches]) expect(rateOf(route), route.path).toBe(20);
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
    expect(restApi.MinimumCompressionSize).toBe(0);
    expect(restApi.Body['x-amazon-apigateway-minimum-compression-size']).toBe(0);
  });

  it('hands bodies of every content type over as bytes', () => {
    expect(restApi.BinaryMediaTypes).toEqual(['*/*']);
    expect(restApi.Body['x-amazon-apigateway-binary-media-types']).toEqual(['*/*']);
  });

  it('takes TLS 1.2 and 1.3 only, by the template and by the body that it imports', () => {
    expect(restApi.Body).toMatchObject({
      'x-amazon-apigateway-security-policy': 'SecurityPolicy_TLS13_1_2_PQ_2025_09',
      'x-amazon-apigateway-endpoint-access-mode': 'STRICT',
    });
    expect(restApi).toMatchObject({
      // What an import does not know would be left out silently.
      FailOnWarnings: true,
      SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PQ_2025_09',
      EndpointAccessMode: 'STRICT',
      EndpointConfiguration: { Types: ['REGIONAL'] },
      Parameters: { endpointConfigurationTypes: 'REGIONAL' },
    });
  });

  it('has its URL, without a trailing slash, among the outputs', () => {
    expect(readable(outputs.ApiUrl)).toMatch(
      /^https:\/\/Api\/RestApi\.execute-api\.AWS::Region\.AWS::URLSuffix\/core-fast$/,
    );
  });
});
