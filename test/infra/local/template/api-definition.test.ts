import { describe, expect, it } from 'vitest';
import { readApi } from '../../../../infra/local/template/api-definition.ts';
import { readTemplate, type Template } from '../../../../infra/local/template/template.ts';

const account = { accountId: '1', region: 'eu-west-3', stackName: 'S', queueEndpoint: '' };
const functionArn = 'arn:aws:lambda:eu-west-3:1:function:S-Function';
const invocationUri = `arn:aws:apigateway:eu-west-3:lambda:path/2015-03-31/functions/${functionArn}/invocations`;
const executeApi = 'arn:aws:execute-api:eu-west-3:1:s-restapi';

type Changes = Record<string, Record<string, unknown> | undefined>;

/**
 * An API with one method behind an authorizer; `changes` replaces properties by logical id,
 * undefined removes the resource.
 */
function api(changes: Changes = {}) {
  const resources: Record<string, { Type: string; Properties: Record<string, unknown> }> = {
    RestApi: { Type: 'AWS::ApiGateway::RestApi', Properties: { MinimumCompressionSize: 1024 } },
    Stage: { Type: 'AWS::ApiGateway::Stage', Properties: { StageName: 'dev' } },
    Function: { Type: 'AWS::Lambda::Function', Properties: {} },
    Jobs: {
      Type: 'AWS::ApiGateway::Resource',
      Properties: { ParentId: { 'Fn::GetAtt': ['RestApi', 'RootResourceId'] }, PathPart: 'jobs' },
    },
    Job: { Type: 'AWS::ApiGateway::Resource', Properties: { ParentId: { Ref: 'Jobs' }, PathPart: '{job_id}' } },
    Method: {
      Type: 'AWS::ApiGateway::Method',
      Properties: {
        ResourceId: { Ref: 'Job' },
        HttpMethod: 'GET',
        AuthorizationType: 'CUSTOM',
        AuthorizerId: { Ref: 'Authorizer' },
        Integration: { Type: 'AWS_PROXY', Uri: invocationUri },
      },
    },
    Authorizer: {
      Type: 'AWS::ApiGateway::Authorizer',
      Properties: {
        Type: 'TOKEN',
        IdentitySource: 'method.request.header.Authorization',
        AuthorizerUri: invocationUri,
        AuthorizerResultTtlInSeconds: 60,
      },
    },
    MethodPermission: permission(`${executeApi}/dev/GET/jobs/*`),
    AuthorizerPermission: permission(`${executeApi}/authorizers/S-Authorizer`),
    Unauthorized: {
      Type: 'AWS::ApiGateway::GatewayResponse',
      Properties: {
        ResponseType: 'UNAUTHORIZED',
        StatusCode: '401',
        ResponseParameters: { 'gatewayresponse.header.WWW-Authenticate': "'Bearer'" },
        ResponseTemplates: { 'application/json': '{"id":"$context.requestId"}' },
      },
    },
  };
  for (const [id, properties] of Object.entries(changes)) {
    if (properties === undefined) delete resources[id];
    else resources[id]!.Properties = { ...resources[id]!.Properties, ...properties };
  }
  const template: Template = { Resources: resources };
  return readApi(readTemplate(template, account).resources, account);
}

function permission(SourceArn: string | undefined, rest: Record<string, unknown> = {}) {
  return {
    Type: 'AWS::Lambda::Permission',
    Properties: {
      FunctionName: functionArn,
      Action: 'lambda:InvokeFunction',
      Principal: 'apigateway.amazonaws.com',
      ...(SourceArn !== undefined && { SourceArn }),
      ...rest,
    },
  };
}

describe('readApi', () => {
  it('reads resources with their methods, the authorizer and gateway responses', () => {
    expect(api()).toMatchObject({
      id: 's-restapi',
      stage: 'dev',
      minimumCompressionSize: 1024,
      stageVariables: null,
      resources: [
        { path: '/', segments: [], methods: {} },
        { path: '/jobs', segments: ['jobs'], methods: {} },
        {
          path: '/jobs/{job_id}',
          segments: ['jobs', '{job_id}'],
          methods: {
            GET: {
              authorizerId: 'S-Authorizer',
              integration: { type: 'AWS_PROXY', functionArn, timeoutMilliseconds: 29_000 },
            },
          },
        },
      ],
      authorizers: [{ id: 'S-Authorizer', functionArn, header: 'authorization', cacheSeconds: 60 }],
      gatewayResponses: {
        UNAUTHORIZED: {
          statusCode: 401,
          headers: { 'WWW-Authenticate': "'Bearer'" },
          template: '{"id":"$context.requestId"}',
        },
      },
    });
  });

  it.each<[string, Changes]>([
    ['there is none', { MethodPermission: undefined }],
    ['it names another method', { MethodPermission: { SourceArn: `${executeApi}/dev/POST/jobs/*` } }],
    ['it names another path', { MethodPermission: { SourceArn: `${executeApi}/dev/GET/batches` } }],
    ['it names another stage', { MethodPermission: { SourceArn: `${executeApi}/prod/GET/jobs/*` } }],
    ['it names another API', { MethodPermission: { SourceArn: `${executeApi}x/dev/GET/jobs/*` } }],
    ['it is for another function', { MethodPermission: { FunctionName: `${functionArn}2` } }],
    ['it is for another service', { MethodPermission: { Principal: 's3.amazonaws.com' } }],
    ['it is for another action', { MethodPermission: { Action: 'lambda:GetFunction' } }],
    ['the authorizer has none', { AuthorizerPermission: undefined }],
    ['it is for another authorizer', { AuthorizerPermission: { SourceArn: `${executeApi}/authorizers/other` } }],
  ])('requires a permission to call each function: %s', (_, changes) => {
    expect(() => api(changes)).toThrow(`No permission lets API Gateway call ${functionArn}`);
  });

  it.each<[string, Changes]>([
    ['without a source', { MethodPermission: { SourceArn: undefined }, AuthorizerPermission: undefined }],
    ['by the name of the function', { MethodPermission: { FunctionName: 'S-Function' } }],
    ['for the whole API', { MethodPermission: { SourceArn: `${executeApi}/*` }, AuthorizerPermission: undefined }],
  ])('accepts a permission %s', (_, changes) => {
    expect(api(changes).authorizers).toHaveLength(1);
  });

  it.each<[string, Changes, string]>([
    ['no stage', { Stage: undefined }, 'one REST API and one stage'],
    ['an authorizer of another type', { Authorizer: { Type: 'REQUEST' } }, 'Authorizer'],
    ['an authorizer that is not there', { Method: { AuthorizerId: 'other' } }, 'authorizer of Method'],
    ['another authorization', { Method: { AuthorizationType: 'AWS_IAM' } }, 'AWS_IAM'],
    ['an API key', { Method: { ApiKeyRequired: true } }, 'API keys'],
    ['another integration', { Method: { Integration: { Type: 'HTTP_PROXY' } } }, 'HTTP_PROXY'],
    ['an integration of another URI', { Method: { Integration: { Type: 'AWS_PROXY', Uri: 'http://x' } } }, 'http://x'],
    ['a resource that is not there', { Job: { ParentId: 'other' } }, 'other'],
    [
      'a template that it does not understand',
      { Unauthorized: { ResponseTemplates: { 'application/json': '#set($x = 1)' } } },
      '#set',
    ],
    [
      'a header that is computed',
      { Unauthorized: { ResponseParameters: { 'gatewayresponse.header.X': 'method.request.header.Y' } } },
      'method.request.header.Y',
    ],
  ])('refuses %s', (_, changes, message) => {
    expect(() => api(changes)).toThrow(message);
  });
});
