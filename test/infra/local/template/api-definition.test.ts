import { describe, expect, it } from 'vitest';
import { readApi } from '../../../../infra/local/template/api-definition.ts';
import { readTemplate, type Template } from '../../../../infra/local/template/template.ts';

const account = { accountId: '1', region: 'eu-west-3', stackName: 'S', queueEndpoint: '' };
const functionArn = 'arn:aws:lambda:eu-west-3:1:function:S-Function';
const invocationUri = `arn:aws:apigateway:eu-west-3:lambda:path/2015-03-31/functions/${functionArn}/invocations`;
const credentials = 'arn:aws:iam::1:role/S-Role';

type Part = Record<string, unknown>;
type Changes = Record<string, Part | undefined>;

const operation = {
  security: [{ token: [] }],
  'x-amazon-apigateway-integration': { type: 'aws_proxy', uri: invocationUri, credentials },
};
const authorizer = {
  type: 'token',
  authorizerUri: invocationUri,
  authorizerCredentials: credentials,
  authorizerResultTtlInSeconds: 60,
};
const scheme = { type: 'apiKey', in: 'header', name: 'Authorization', 'x-amazon-apigateway-authtype': 'custom' };
const unauthorized = {
  statusCode: '401',
  responseParameters: { 'gatewayresponse.header.WWW-Authenticate': "'Bearer'" },
  responseTemplates: { 'application/json': '{"id":"$context.requestId"}' },
};
const mock = {
  type: 'mock',
  requestTemplates: { 'application/json': '{ statusCode: 200 }' },
  passthroughBehavior: 'never',
  responses: {
    default: { statusCode: '204', responseParameters: { 'method.response.header.Vary': "'Origin'" } },
  },
};
const preflight = { responses: { 204: { headers: { Vary: {} } } }, 'x-amazon-apigateway-integration': mock };

interface BodyParts {
  readonly get?: Part;
  readonly authorizer?: Part;
  readonly unauthorized?: Part;
  readonly preflight?: Part;
}

/** The body of an API with one method behind an authorizer, whose parts can be changed. */
function bodyOf(parts: BodyParts = {}) {
  return {
    paths: {
      '/jobs/{job_id}': { get: { ...operation, ...parts.get }, options: { ...preflight, ...parts.preflight } },
      '/{path+}': { 'x-amazon-apigateway-any-method': { ...operation, security: [] } },
    },
    components: {
      securitySchemes: {
        token: { ...scheme, 'x-amazon-apigateway-authorizer': { ...authorizer, ...parts.authorizer } },
      },
    },
    'x-amazon-apigateway-gateway-responses': { UNAUTHORIZED: { ...unauthorized, ...parts.unauthorized } },
  };
}

/**
 * The API of a template. `changes` replaces properties by logical id, undefined removes the
 * resource.
 */
function api(changes: Changes = {}, body: object = bodyOf()) {
  const resources: Record<string, { Type: string; Properties: Part }> = {
    RestApi: { Type: 'AWS::ApiGateway::RestApi', Properties: { MinimumCompressionSize: 1024, Body: body } },
    Stage: { Type: 'AWS::ApiGateway::Stage', Properties: { StageName: 'dev' } },
    Function: { Type: 'AWS::Lambda::Function', Properties: {} },
    Role: { Type: 'AWS::IAM::Role', Properties: { ...trusting('apigateway.amazonaws.com'), ...allowing() } },
  };
  for (const [id, properties] of Object.entries(changes)) {
    if (properties === undefined) delete resources[id];
    else resources[id]!.Properties = { ...resources[id]!.Properties, ...properties };
  }
  const template: Template = { Resources: resources };
  return readApi(readTemplate(template, account).resources);
}

function trusting(Service: string) {
  return { AssumeRolePolicyDocument: { Statement: [{ Effect: 'Allow', Principal: { Service } }] } };
}

function allowing(Action = 'lambda:InvokeFunction', Resource = functionArn, Effect = 'Allow') {
  return { Policies: [{ PolicyDocument: { Statement: [{ Effect, Action, Resource }] } }] };
}

describe('readApi', () => {
  it('reads resources with their methods, the authorizer and gateway responses', () => {
    expect(api()).toMatchObject({
      id: 's-restapi',
      stage: 'dev',
      minimumCompressionSize: 1024,
      stageVariables: null,
      resources: [
        {
          path: '/jobs/{job_id}',
          segments: ['jobs', '{job_id}'],
          methods: {
            GET: {
              authorizerId: 'token',
              integration: { type: 'AWS_PROXY', functionArn, timeoutMilliseconds: 29_000 },
            },
            OPTIONS: {
              integration: {
                type: 'MOCK',
                response: { statusCode: 204, headers: { Vary: "'Origin'" }, template: '' },
              },
            },
          },
        },
        { path: '/{path+}', segments: ['{path+}'], methods: { ANY: { integration: { type: 'AWS_PROXY' } } } },
      ],
      authorizers: [{ id: 'token', functionArn, header: 'authorization', cacheSeconds: 60, pattern: /^.*$/ }],
      gatewayResponses: {
        UNAUTHORIZED: {
          statusCode: 401,
          headers: { 'WWW-Authenticate': "'Bearer'" },
          template: '{"id":"$context.requestId"}',
        },
      },
    });
  });

  it.each<[string, Changes, BodyParts]>([
    ['there is none', { Role: undefined }, {}],
    ['it is for another service', { Role: trusting('lambda.amazonaws.com') }, {}],
    ['it allows nothing', { Role: { Policies: [] } }, {}],
    ['it is for another function', { Role: allowing(undefined, `${functionArn}2`) }, {}],
    ['it is for another action', { Role: allowing('lambda:GetFunction') }, {}],
    ['it forbids the call', { Role: allowing(undefined, undefined, 'Deny') }, {}],
    [
      'a method names none',
      {},
      { get: { 'x-amazon-apigateway-integration': { type: 'aws_proxy', uri: invocationUri } } },
    ],
    ['the authorizer names none', {}, { authorizer: { authorizerCredentials: undefined } }],
  ])('requires a role to call each function in: %s', (_, changes, parts) => {
    expect(() => api(changes, bodyOf(parts))).toThrow(/role/);
  });

  it('refuses a template without a stage', () => {
    expect(() => api({ Stage: undefined })).toThrow('one REST API and one stage');
  });

  it.each<[string, BodyParts, string]>([
    ['an authorizer of another type', { authorizer: { type: 'request' } }, 'not token'],
    ['an expression for a part', { authorizer: { identityValidationExpression: '^Bearer' } }, 'whole tokens only'],
    ['an authorizer that is not there', { get: { security: [{ other: [] }] } }, 'authorizer of GET /jobs/{job_id}'],
    ['two authorizers', { get: { security: [{ token: [] }, { other: [] }] } }, 'GET /jobs/{job_id} has more'],
    ['another authorization', { get: { 'x-amazon-apigateway-auth': { type: 'AWS_IAM' } } }, 'x-amazon-apigateway-auth'],
    ['a request validator', { get: { 'x-amazon-apigateway-request-validator': 'all' } }, 'request-validator'],
    ['another integration', { get: { 'x-amazon-apigateway-integration': { type: 'http_proxy' } } }, 'http_proxy'],
    [
      'an integration of another URI',
      { get: { 'x-amazon-apigateway-integration': { type: 'aws_proxy', uri: 'http://x' } } },
      'http://x',
    ],
    [
      'a mock that chooses its response',
      { preflight: { 'x-amazon-apigateway-integration': { ...mock, responses: { ...mock.responses, '5..': {} } } } },
      'mocks with one response',
    ],
    [
      'a mock that passes on what it has no template for',
      { preflight: { 'x-amazon-apigateway-integration': { ...mock, passthroughBehavior: 'when_no_match' } } },
      'for JSON alone',
    ],
    [
      'a header of a mock that is not declared',
      { preflight: { responses: {} } },
      'refuses method.response.header.Vary',
    ],
    [
      'a template that it does not understand',
      { unauthorized: { responseTemplates: { 'application/json': '#set($x = 1)' } } },
      '#set',
    ],
    [
      'a header that is computed',
      { unauthorized: { responseParameters: { 'gatewayresponse.header.X': 'method.request.header.Y' } } },
      'method.request.header.Y',
    ],
  ])('refuses %s', (_, parts, message) => {
    expect(() => api({}, bodyOf(parts))).toThrow(message);
  });

  it('refuses a member of a path that is no method', () => {
    const body = { ...bodyOf(), paths: { '/jobs': { parameters: [] } } };
    expect(() => api({}, body)).toThrow('parameters of /jobs');
  });
});
