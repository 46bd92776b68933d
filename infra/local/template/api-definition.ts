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
   * Responses of at least so many bytes are compressed for clients that accept it, and compressed
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

/** A part of the API's body; its shape is OpenAPI's, with the extensions of API Gateway. */
type BodyPart = Resource['properties'];

const anyMethod = 'x-amazon-apigateway-any-method';

/** The members of a path that are methods, by their name in OpenAPI. */
const methodNames = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', anyMethod];

/**
 * The one REST API of the template, as its body describes it. Throws SetupProblem for features that
 * the local gateway does not have.
 */
export function readApi(resources: readonly Resource[], account: AccountContext): ApiDefinition {
  const template = findApi(resources, account);
  const { api, stage } = template;
  const body = api.properties.Body ?? {};
  const authorizers = Object.entries<BodyPart>(body.components?.securitySchemes ?? {}).map(([id, scheme]) =>
    readAuthorizer(template, id, scheme),
  );
  const responses = Object.entries<BodyPart>(body['x-amazon-apigateway-gateway-responses'] ?? {});
  return {
    id: api.ref,
    stage: stage.properties.StageName,
    resources: Object.entries<BodyPart>(body.paths ?? {}).map(([path, item]) =>
      readResource(template, { path, item, authorizers }),
    ),
    authorizers,
    gatewayResponses: Object.fromEntries(responses.map(([type, each]) => [type, readGatewayResponse(type, each)])),
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

interface PathItem {
  readonly path: string;
  readonly item: BodyPart;
  readonly authorizers: readonly AuthorizerDefinition[];
}

function readResource(template: ApiTemplate, { path, item, authorizers }: PathItem): ResourceDefinition {
  return {
    path,
    segments: path.split('/').filter((segment) => segment !== ''),
    methods: Object.fromEntries(
      Object.entries<BodyPart>(item).map(([name, operation]) => {
        if (!methodNames.includes(name)) throw new SetupProblem(`The local gateway does not know ${name} of ${path}.`);
        const method = name === anyMethod ? 'ANY' : name.toUpperCase();
        return [method, readMethod(template, { method, path, operation, authorizers })];
      }),
    ),
  };
}

function readAuthorizer(template: ApiTemplate, id: string, scheme: BodyPart): AuthorizerDefinition {
  const authorizer = scheme['x-amazon-apigateway-authorizer'] ?? {};
  const isKnown = scheme.type === 'apiKey' && scheme.in === 'header' && authorizer.type === 'token';
  if (!isKnown || scheme['x-amazon-apigateway-authtype'] !== 'custom') {
    throw new SetupProblem(`The local gateway knows token authorizers only, not ${id}.`);
  }
  const functionArn = functionArnOf(authorizer.authorizerUri);
  requirePermission(template, functionArn, `authorizers/${id}`);
  return {
    id,
    functionArn,
    header: scheme.name.toLowerCase(),
    ...(authorizer.identityValidationExpression !== undefined && {
      validation: new RegExp(authorizer.identityValidationExpression),
    }),
    cacheSeconds: authorizer.authorizerResultTtlInSeconds ?? 300,
  };
}

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operation: BodyPart;
  readonly authorizers: readonly AuthorizerDefinition[];
}

function readMethod(template: ApiTemplate, { method, path, operation, authorizers }: Operation): MethodDefinition {
  const owner = `${method} ${path}`;
  const authorizerId = requiredAuthorizer(owner, operation);
  if (authorizerId !== undefined && !authorizers.some(({ id }) => id === authorizerId)) {
    throw new SetupProblem(`The template does not declare the authorizer of ${owner}.`);
  }
  const integration = operation['x-amazon-apigateway-integration'] ?? {};
  const authorization = authorizerId === undefined ? {} : { authorizerId };
  if (integration.type === 'mock') return { ...authorization, integration: readMock(owner, operation) };
  if (integration.type !== 'aws_proxy') {
    throw new SetupProblem(`The local gateway does not know the integration ${integration.type} of ${owner}.`);
  }
  const functionArn = functionArnOf(integration.uri);
  const example = `${method === 'ANY' ? 'GET' : method}${path.replace(/\{[^}]*\}/g, 'x')}`;
  requirePermission(template, functionArn, `${template.stage.properties.StageName}/${example}`);
  const timeoutMilliseconds = integration.timeoutInMillis ?? 29_000;
  return { ...authorization, integration: { type: 'AWS_PROXY', functionArn, timeoutMilliseconds } };
}

/** The one security scheme of an operation. */
function requiredAuthorizer(owner: string, operation: BodyPart): string | undefined {
  const [required = {}, ...others] = operation.security ?? [];
  const [name, ...alsoRequired] = Object.keys(required);
  if (others.length + alsoRequired.length > 0) {
    throw new SetupProblem(`The local gateway knows one authorizer of a method: ${owner} has more.`);
  }
  const unknown = ['x-amazon-apigateway-auth', 'x-amazon-apigateway-request-validator'].find(
    (each) => each in operation,
  );
  if (unknown !== undefined) throw new SetupProblem(`The local gateway does not know ${unknown} of ${owner}.`);
  return name;
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

function readMock(owner: string, operation: BodyPart): MethodDefinition['integration'] {
  const integration = operation['x-amazon-apigateway-integration'];
  const requestTemplate = String(integration.requestTemplates?.['application/json']);
  const statusCode = /^\s*\{\s*"?statusCode"?\s*:\s*"?(\d{3})"?\s*\}\s*$/.exec(requestTemplate)?.[1];
  if (statusCode === undefined) throw new SetupProblem(`The local gateway does not know the template of ${owner}.`);
  const responses = Object.entries<BodyPart>(integration.responses ?? {}).map(([pattern, response]) => {
    const declared = operation.responses?.[response.statusCode]?.headers ?? {};
    return {
      statusCode: Number(response.statusCode),
      ...(pattern !== 'default' && { selects: new RegExp(`^(${pattern})$`) }),
      template: checkTemplate(owner, response.responseTemplates?.['application/json'] ?? ''),
      headers: Object.fromEntries(
        Object.entries<string>(response.responseParameters ?? {}).map(([parameter, value]) => {
          const name = parameter.replace('method.response.header.', '');
          const literal = /^'(.*)'$/s.exec(value)?.[1];
          if (declared[name] === undefined || literal === undefined) {
            throw new SetupProblem(`API Gateway refuses ${parameter} of ${owner}: undeclared, or not a literal.`);
          }
          return [name, literal];
        }),
      ),
    };
  });
  return { type: 'MOCK', statusCode: Number(statusCode), responses };
}

function readGatewayResponse(type: string, response: BodyPart): GatewayResponseDefinition {
  const template = response.responseTemplates?.['application/json'];
  return {
    ...(response.statusCode !== undefined && { statusCode: Number(response.statusCode) }),
    headers: Object.fromEntries(
      Object.entries<string>(response.responseParameters ?? {}).map(([name, value]) => {
        if (!/^('.*'|context\..+)$/s.test(value)) {
          throw new SetupProblem(`The local gateway does not know the value ${value} of ${type}.`);
        }
        return [name.replace('gatewayresponse.header.', ''), value];
      }),
    ),
    ...(template !== undefined && { template: checkTemplate(type, template) }),
  };
}

/** The ARN within an integration's URI. */
function functionArnOf(uri: string): string {
  const arn = /:lambda:path\/2015-03-31\/functions\/(arn:.+)\/invocations$/.exec(uri)?.[1];
  if (arn === undefined) throw new SetupProblem(`The local gateway does not know the integration URI ${uri}.`);
  return arn;
}
