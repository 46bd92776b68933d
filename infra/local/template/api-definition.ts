import { SetupProblem } from '../../setup-problem.ts';
import { matchesPattern } from '../iam/policy.ts';
import type { AccountContext } from './account-context.ts';
import { checkTemplate } from './mapping-template.ts';
import type { Resource } from './template.ts';

/** A REST API of API Gateway: what its stage answers to which request. */
export interface ApiDefinition {
  readonly id: string;
  readonly stage: string;
  readonly resources: readonly ResourceDefinition[];
  readonly authorizers: readonly AuthorizerDefinition[];
  /** By response type. For the others API Gateway's defaults hold. */
  readonly gatewayResponses: Readonly<Record<string, GatewayResponseDefinition>>;
  /**
   * Responses of at least so many bytes are compressed for those who accept it, and compressed
   * requests of at least so many bytes are decompressed. Undefined: no response is compressed,
   * every request is decompressed.
   */
  readonly minimumCompressionSize?: number;
  /** Media types, with wildcards, of the bodies that functions are given and give as base64. */
  readonly binaryMediaTypes: readonly string[];
  readonly stageVariables: Readonly<Record<string, string>> | null;
}

/**
 * A path: its segments as declared (`{job_id}`, `{rest+}`), and a method definition by HTTP method
 * or `ANY`.
 */
export interface ResourceDefinition {
  readonly id: string;
  readonly path: string;
  readonly segments: readonly string[];
  readonly methods: Readonly<Record<string, MethodDefinition>>;
}

export interface MethodDefinition {
  readonly authorizerId?: string;
  readonly integration:
    | { readonly type: 'AWS_PROXY'; readonly functionArn: string; readonly timeoutMilliseconds: number }
    | { readonly type: 'MOCK'; readonly statusCode: number; readonly responses: readonly MockResponse[] };
}

/**
 * `headers` are literal values. `selects` matches the integration's status; the response without it
 * is the default.
 */
export interface MockResponse {
  readonly statusCode: number;
  readonly selects?: RegExp;
  readonly headers: Readonly<Record<string, string>>;
  readonly template: string;
}

export interface AuthorizerDefinition {
  readonly id: string;
  readonly functionArn: string;
  /** The request header that holds the token, in lower case. */
  readonly header: string;
  readonly validation?: RegExp;
  readonly cacheSeconds: number;
}

/** `headers` are `'literal'` or `context.…`, as in the template. */
export interface GatewayResponseDefinition {
  readonly statusCode?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly template?: string;
}

/** The template's API, and the rest of the template, which its parts refer to. */
interface ApiTemplate {
  readonly resources: readonly Resource[];
  readonly account: AccountContext;
  readonly api: Resource;
  readonly stage: Resource;
}

/**
 * The one REST API of the template. Throws SetupProblem for features that the local gateway does
 * not have.
 */
export function readApi(resources: readonly Resource[], account: AccountContext): ApiDefinition {
  const template = findApi(resources, account);
  const { api, stage } = template;
  const authorizers = apiParts(template, 'Authorizer').map((resource) => readAuthorizer(template, resource));
  const resourceIds = [api.attributes.RootResourceId!, ...apiParts(template, 'Resource').map(({ ref }) => ref)];
  return {
    id: api.ref,
    stage: stage.properties.StageName,
    resources: resourceIds.map((id) => readResource(template, id, authorizers)),
    authorizers,
    gatewayResponses: Object.fromEntries(apiParts(template, 'GatewayResponse').map(readGatewayResponse)),
    ...(api.properties.MinimumCompressionSize !== undefined && {
      minimumCompressionSize: Number(api.properties.MinimumCompressionSize),
    }),
    binaryMediaTypes: api.properties.BinaryMediaTypes ?? [],
    stageVariables: stage.properties.Variables ?? null,
  };
}

function findApi(resources: readonly Resource[], account: AccountContext): ApiTemplate {
  const [api, ...otherApis] = resources.filter(({ type }) => type === 'AWS::ApiGateway::RestApi');
  const [stage, ...otherStages] = resources.filter(({ type }) => type === 'AWS::ApiGateway::Stage');
  if (api === undefined || stage === undefined || otherApis.length + otherStages.length > 0) {
    throw new SetupProblem('The local stack serves a template with one REST API and one stage.');
  }
  return { resources, account, api, stage };
}

function apiParts({ resources }: ApiTemplate, type: string): readonly Resource[] {
  return resources.filter((resource) => resource.type === `AWS::ApiGateway::${type}`);
}

function readResource(
  template: ApiTemplate,
  id: string,
  authorizers: readonly AuthorizerDefinition[],
): ResourceDefinition {
  const segments = segmentsOf(template, id);
  const path = `/${segments.join('/')}`;
  const methods = apiParts(template, 'Method').filter(({ properties }) => properties.ResourceId === id);
  return {
    id,
    path,
    segments,
    methods: Object.fromEntries(
      methods.map((method) => {
        requireKnownAuthorization(method, authorizers);
        return [method.properties.HttpMethod, readMethod(template, method, path)] as const;
      }),
    ),
  };
}

function segmentsOf(template: ApiTemplate, id: string): readonly string[] {
  if (id === template.api.attributes.RootResourceId) return [];
  const resource = apiParts(template, 'Resource').find(({ ref }) => ref === id);
  if (resource === undefined) throw new SetupProblem(`The template does not declare the API resource ${id}.`);
  return [...segmentsOf(template, resource.properties.ParentId), resource.properties.PathPart];
}

function readAuthorizer(template: ApiTemplate, { logicalId, ref, properties }: Resource): AuthorizerDefinition {
  const header = /^method\.request\.header\.(.+)$/.exec(properties.IdentitySource)?.[1];
  if (properties.Type !== 'TOKEN' || header === undefined) {
    throw new SetupProblem(`The local gateway knows token authorizers only, not ${logicalId}.`);
  }
  const functionArn = functionArnOf(properties.AuthorizerUri);
  requirePermission(template, functionArn, `authorizers/${ref}`);
  return {
    id: ref,
    functionArn,
    header: header.toLowerCase(),
    ...(properties.IdentityValidationExpression !== undefined && {
      validation: new RegExp(properties.IdentityValidationExpression),
    }),
    cacheSeconds: properties.AuthorizerResultTtlInSeconds ?? 300,
  };
}

function requireKnownAuthorization({ logicalId, properties }: Resource, authorizers: readonly AuthorizerDefinition[]) {
  const { AuthorizationType: authorization = 'NONE', AuthorizerId } = properties;
  if (authorization !== 'NONE' && authorization !== 'CUSTOM') {
    throw new SetupProblem(`The local gateway does not know the authorization ${authorization} of ${logicalId}.`);
  }
  if (authorization === 'CUSTOM' && !authorizers.some(({ id }) => id === AuthorizerId)) {
    throw new SetupProblem(`The template does not declare the authorizer of ${logicalId}.`);
  }
  if (properties.ApiKeyRequired === true || properties.RequestValidatorId !== undefined) {
    throw new SetupProblem(`The local gateway knows neither API keys nor request validators: ${logicalId}.`);
  }
}

function readMethod(template: ApiTemplate, { logicalId, properties }: Resource, path: string): MethodDefinition {
  const { Integration } = properties;
  return {
    ...(properties.AuthorizationType === 'CUSTOM' && { authorizerId: properties.AuthorizerId }),
    integration: Integration.Type === 'MOCK' ? readMock(logicalId, properties) : readProxy(),
  };

  function readProxy() {
    if (Integration.Type !== 'AWS_PROXY') {
      throw new SetupProblem(`The local gateway does not know the integration ${Integration.Type} of ${logicalId}.`);
    }
    const functionArn = functionArnOf(Integration.Uri);
    const method = properties.HttpMethod === 'ANY' ? 'GET' : properties.HttpMethod;
    const examplePath = path.replace(/\{[^}]*\}/g, 'x');
    requirePermission(template, functionArn, `${template.stage.properties.StageName}/${method}${examplePath}`);
    return { type: 'AWS_PROXY' as const, functionArn, timeoutMilliseconds: Integration.TimeoutInMillis ?? 29_000 };
  }
}

/**
 * API Gateway may call a function only if the function's own policy allows it for this API and
 * method.
 */
function requirePermission({ resources, account, api }: ApiTemplate, functionArn: string, source: string) {
  const sourceArn = `arn:aws:execute-api:${account.region}:${account.accountId}:${api.ref}/${source}`;
  const isPermitted = resources.some(
    ({ type, properties }) =>
      type === 'AWS::Lambda::Permission' &&
      (properties.FunctionName === functionArn || functionArn.endsWith(`:${properties.FunctionName}`)) &&
      properties.Action === 'lambda:InvokeFunction' &&
      properties.Principal === 'apigateway.amazonaws.com' &&
      (properties.SourceArn === undefined || matchesPattern(properties.SourceArn, sourceArn)),
  );
  if (!isPermitted) throw new SetupProblem(`No permission lets API Gateway call ${functionArn} for ${sourceArn}.`);
}

function readMock(logicalId: string, properties: Resource['properties']): MethodDefinition['integration'] {
  const requestTemplate = String(properties.Integration.RequestTemplates?.['application/json']);
  const statusCode = /^\s*\{\s*"?statusCode"?\s*:\s*"?(\d{3})"?\s*\}\s*$/.exec(requestTemplate)?.[1];
  if (statusCode === undefined) throw new SetupProblem(`The local gateway does not know the template of ${logicalId}.`);
  const responses = (properties.Integration.IntegrationResponses ?? []).map((response: Resource['properties']) => {
    const declared = properties.MethodResponses?.find(
      (each: Resource['properties']) => String(each.StatusCode) === String(response.StatusCode),
    );
    return {
      statusCode: Number(response.StatusCode),
      ...(response.SelectionPattern !== undefined && { selects: new RegExp(`^(${response.SelectionPattern})$`) }),
      template: checkTemplate(logicalId, response.ResponseTemplates?.['application/json'] ?? ''),
      headers: Object.fromEntries(
        Object.entries<string>(response.ResponseParameters ?? {}).map(([name, value]) => {
          const literal = /^'(.*)'$/s.exec(value)?.[1];
          if (declared?.ResponseParameters?.[name] === undefined || literal === undefined) {
            throw new SetupProblem(`API Gateway refuses ${name} of ${logicalId}: undeclared, or not a literal.`);
          }
          return [name.replace('method.response.header.', ''), literal];
        }),
      ),
    };
  });
  return { type: 'MOCK', statusCode: Number(statusCode), responses };
}

function readGatewayResponse({ logicalId, properties }: Resource): [string, GatewayResponseDefinition] {
  const template = properties.ResponseTemplates?.['application/json'];
  return [
    properties.ResponseType,
    {
      ...(properties.StatusCode !== undefined && { statusCode: Number(properties.StatusCode) }),
      headers: Object.fromEntries(
        Object.entries<string>(properties.ResponseParameters ?? {}).map(([name, value]) => {
          if (!/^('.*'|context\..+)$/s.test(value)) {
            throw new SetupProblem(`The local gateway does not know the value ${value} of ${logicalId}.`);
          }
          return [name.replace('gatewayresponse.header.', ''), value];
        }),
      ),
      ...(template !== undefined && { template: checkTemplate(logicalId, template) }),
    },
  ];
}

/** The ARN within an integration's URI. */
function functionArnOf(uri: string): string {
  const arn = /:lambda:path\/2015-03-31\/functions\/(arn:.+)\/invocations$/.exec(uri)?.[1];
  if (arn === undefined) throw new SetupProblem(`The local gateway does not know the integration URI ${uri}.`);
  return arn;
}
