import { SetupProblem } from '../../commands/setup-problem.ts';
import { isAllowed } from '../iam/policy.ts';
import { checkTemplate } from './mapping-template.ts';
import { readRole } from './role.ts';
import type { Resource } from './template.ts';

/** A REST API of API Gateway: what its stage answers to which request. */
export interface ApiDefinition {
  readonly id: string;
  readonly stage: string;
  readonly resources: readonly ResourceDefinition[];
  readonly authorizers: readonly AuthorizerDefinition[];
  /** By response type. For the others API Gateway's defaults hold. */
  readonly gatewayResponses: Readonly<Record<string, ResponseDefinition>>;
  /**
   * The smallest size in bytes at which responses are compressed, for clients that accept it, and
   * compressed requests are decompressed. Undefined: no response is compressed, every request is
   * decompressed.
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
    | ({ readonly type: 'AWS_PROXY'; readonly timeoutMilliseconds: number } & CalledFunction)
    | { readonly type: 'MOCK'; readonly response: ResponseDefinition };
}

/** A function, and the role in which the gateway calls it. */
interface CalledFunction {
  readonly functionArn: string;
  readonly roleArn?: string | undefined;
}

export interface AuthorizerDefinition extends CalledFunction {
  readonly id: string;
  /** The request header that holds the token, in lower case. */
  readonly header: string;
  readonly cacheSeconds: number;
  /** A token of another form is refused, and the function not called. */
  readonly pattern: RegExp;
}

/**
 * An answer of the gateway's own. `headers` are `'literal'` or `context.…`, as in the template.
 */
export interface ResponseDefinition {
  readonly statusCode?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly template?: string;
}

/** A part of the API's body; its shape is OpenAPI's, with the extensions of API Gateway. */
type BodyPart = Resource['properties'];

const anyMethod = 'x-amazon-apigateway-any-method';

/** The members of a path that are methods, by their name in OpenAPI. */
const methodNames = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', anyMethod];

/**
 * The one REST API of the template, as its body describes it. Throws SetupProblem for features that
 * the local gateway does not have, and for functions that the API may not call.
 */
export function readApi(resources: readonly Resource[]): ApiDefinition {
  const [api, ...otherApis] = resources.filter(({ type }) => type === 'AWS::ApiGateway::RestApi');
  const [stage, ...otherStages] = resources.filter(({ type }) => type === 'AWS::ApiGateway::Stage');
  if (api === undefined || stage === undefined || otherApis.length + otherStages.length > 0) {
    throw new SetupProblem('The local stack serves a template with one REST API and one stage.');
  }
  const { Body: body = {}, MinimumCompressionSize: compressionSize, BinaryMediaTypes = [] } = api.properties;
  const definition: ApiDefinition = {
    id: api.ref,
    stage: stage.properties.StageName,
    resources: mapEntries(body.paths, readResource),
    authorizers: mapEntries(body.components?.securitySchemes, readAuthorizer),
    gatewayResponses: Object.fromEntries(
      mapEntries(body['x-amazon-apigateway-gateway-responses'], (type, response) => [
        type,
        readResponse(type, response, 'gatewayresponse.header.'),
      ]),
    ),
    ...(compressionSize !== undefined && { minimumCompressionSize: Number(compressionSize) }),
    binaryMediaTypes: BinaryMediaTypes,
    stageVariables: stage.properties.Variables ?? null,
  };
  requireCallable(definition, resources);
  return definition;
}

function mapEntries<Result>(parts: BodyPart, read: (name: string, part: BodyPart) => Result): Result[] {
  return Object.entries<BodyPart>(parts ?? {}).map(([name, part]) => read(name, part));
}

function readResource(path: string, item: BodyPart): ResourceDefinition {
  const methods = mapEntries(item, (name, operation) => {
    if (!methodNames.includes(name)) throw new SetupProblem(`The local gateway does not know ${name} of ${path}.`);
    const method = name === anyMethod ? 'ANY' : name.toUpperCase();
    return [method, readMethod(`${method} ${path}`, operation)] as const;
  });
  return {
    path,
    segments: path.split('/').filter((segment) => segment !== ''),
    methods: Object.fromEntries(methods),
  };
}

function readAuthorizer(id: string, scheme: BodyPart): AuthorizerDefinition {
  const authorizer = scheme['x-amazon-apigateway-authorizer'] ?? {};
  const isKnown = scheme.type === 'apiKey' && scheme.in === 'header' && authorizer.type === 'token';
  const { identityValidationExpression: expression = '^.*$' } = authorizer;
  // Whether API Gateway would also take a part of the token for a match is written nowhere.
  const isWhole = /^\^.*\$$/.test(expression);
  if (!isKnown || scheme['x-amazon-apigateway-authtype'] !== 'custom' || !isWhole) {
    throw new SetupProblem(`The local gateway knows authorizers of whole tokens only, not ${id}.`);
  }
  return {
    id,
    functionArn: functionArnOf(authorizer.authorizerUri),
    roleArn: authorizer.authorizerCredentials,
    header: scheme.name.toLowerCase(),
    cacheSeconds: authorizer.authorizerResultTtlInSeconds ?? 300,
    pattern: new RegExp(expression),
  };
}

function readMethod(owner: string, operation: BodyPart): MethodDefinition {
  const authorizerId = requiredAuthorizer(owner, operation);
  const authorization = authorizerId === undefined ? {} : { authorizerId };
  const integration = operation['x-amazon-apigateway-integration'] ?? {};
  if (integration.type === 'mock') return { ...authorization, integration: readMock(owner, operation) };
  if (integration.type !== 'aws_proxy') {
    throw new SetupProblem(`The local gateway does not know the integration ${integration.type} of ${owner}.`);
  }
  const called = { functionArn: functionArnOf(integration.uri), roleArn: integration.credentials };
  const timeoutMilliseconds = integration.timeoutInMillis ?? 29_000;
  return { ...authorization, integration: { type: 'AWS_PROXY', ...called, timeoutMilliseconds } };
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

function readMock(owner: string, operation: BodyPart): MethodDefinition['integration'] {
  const { requestTemplates, passthroughBehavior, responses = {} } = operation['x-amazon-apigateway-integration'];
  const isKnown = /^\s*\{\s*"?statusCode"?\s*:\s*"?\d{3}"?\s*\}\s*$/.test(requestTemplates?.['application/json']);
  if (!isKnown || passthroughBehavior !== 'never' || Object.keys(responses).join() !== 'default') {
    throw new SetupProblem(`The local gateway knows mocks with one response, for JSON alone, not that of ${owner}.`);
  }
  const prefix = 'method.response.header.';
  const response = readResponse(owner, responses.default, prefix);
  const declared = operation.responses?.[response.statusCode ?? '']?.headers ?? {};
  const undeclared = Object.keys(response.headers).find((name) => declared[name] === undefined);
  if (undeclared !== undefined) {
    throw new SetupProblem(`API Gateway refuses ${prefix}${undeclared} of ${owner}: it is not declared.`);
  }
  return { type: 'MOCK', response: { ...response, template: response.template ?? '' } };
}

function readResponse(owner: string, response: BodyPart, headerPrefix: string): ResponseDefinition {
  const template = response.responseTemplates?.['application/json'];
  const headers = Object.entries<string>(response.responseParameters ?? {}).map(([name, value]) => {
    if (!/^('.*'|context\..+)$/s.test(value)) {
      throw new SetupProblem(`The local gateway does not know the value ${value} of ${owner}.`);
    }
    return [name.replace(headerPrefix, ''), value];
  });
  return {
    ...(response.statusCode !== undefined && { statusCode: Number(response.statusCode) }),
    headers: Object.fromEntries(headers),
    ...(template !== undefined && { template: checkTemplate(owner, template) }),
  };
}

/** The ARN within an integration's URI. */
function functionArnOf(uri: string): string {
  const arn = /:lambda:path\/2015-03-31\/functions\/(arn:.+)\/invocations$/.exec(uri)?.[1];
  if (arn === undefined) throw new SetupProblem(`The local gateway does not know the integration URI ${uri}.`);
  return arn;
}

/** API Gateway calls a function in a role that it may assume, which must allow the call. */
function requireCallable({ resources: paths, authorizers }: ApiDefinition, all: readonly Resource[]) {
  const requireCall = ({ functionArn, roleArn }: CalledFunction) => {
    if (roleArn === undefined) throw new SetupProblem(`API Gateway has no role to call ${functionArn} in.`);
    const statements = readRole(roleArn, all, 'apigateway.amazonaws.com');
    if (isAllowed(statements, { action: 'lambda:InvokeFunction', resource: functionArn })) return;
    throw new SetupProblem(`The role ${roleArn} does not let API Gateway call ${functionArn}.`);
  };
  for (const authorizer of authorizers) requireCall(authorizer);
  for (const { path, methods } of paths) {
    for (const [method, { authorizerId, integration }] of Object.entries(methods)) {
      if (authorizerId !== undefined && !authorizers.some(({ id }) => id === authorizerId)) {
        throw new SetupProblem(`The template does not declare the authorizer of ${method} ${path}.`);
      }
      if (integration.type === 'AWS_PROXY') requireCall(integration);
    }
  }
}
