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
  readonly gatewayResponses: Readonly<Record<string, ResponseDefinition>>;
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
    | { readonly type: 'MOCK'; readonly response: ResponseDefinition };
}

export interface AuthorizerDefinition {
  readonly id: string;
  readonly functionArn: string;
  /** The request header that holds the token, in lower case. */
  readonly header: string;
  readonly cacheSeconds: number;
  /** A token of another form is refused, and the function not called. */
  readonly pattern: RegExp;
}

/** An answer of the gateway's own; `headers` are `'literal'` or `context.…`, as in the template. */
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
export function readApi(resources: readonly Resource[], account: AccountContext): ApiDefinition {
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
  requirePermissions(definition, resources, `arn:aws:execute-api:${account.region}:${account.accountId}:${api.ref}`);
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
  const functionArn = functionArnOf(integration.uri);
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

function readMock(owner: string, operation: BodyPart): MethodDefinition['integration'] {
  const { requestTemplates, responses = {} } = operation['x-amazon-apigateway-integration'];
  const isKnown = /^\s*\{\s*"?statusCode"?\s*:\s*"?\d{3}"?\s*\}\s*$/.test(requestTemplates?.['application/json']);
  if (!isKnown || Object.keys(responses).join() !== 'default') {
    throw new SetupProblem(`The local gateway knows mocks with one response and a status, not that of ${owner}.`);
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

/**
 * API Gateway may call a function only if the function's own policy allows it for this API and
 * method.
 */
function requirePermissions(
  { stage, resources: paths, authorizers }: ApiDefinition,
  all: readonly Resource[],
  api: string,
) {
  const permissions = all.filter(({ type }) => type === 'AWS::Lambda::Permission');
  const requirePermission = (functionArn: string, source: string) => {
    const sourceArn = `${api}/${source}`;
    const isPermitted = permissions.some(
      ({ properties }) =>
        (properties.FunctionName === functionArn || functionArn.endsWith(`:${properties.FunctionName}`)) &&
        properties.Action === 'lambda:InvokeFunction' &&
        properties.Principal === 'apigateway.amazonaws.com' &&
        (properties.SourceArn === undefined || matchesPattern(properties.SourceArn, sourceArn)),
    );
    if (!isPermitted) throw new SetupProblem(`No permission lets API Gateway call ${functionArn} for ${sourceArn}.`);
  };
  for (const { id, functionArn } of authorizers) requirePermission(functionArn, `authorizers/${id}`);
  for (const { path, methods } of paths) {
    for (const [method, { authorizerId, integration }] of Object.entries(methods)) {
      if (authorizerId !== undefined && !authorizers.some(({ id }) => id === authorizerId)) {
        throw new SetupProblem(`The template does not declare the authorizer of ${method} ${path}.`);
      }
      if (integration.type === 'MOCK') continue;
      const example = `${method === 'ANY' ? 'GET' : method}${path.replace(/\{[^}]*\}/g, 'x')}`;
      requirePermission(integration.functionArn, `${stage}/${example}`);
    }
  }
}
