/** The OpenAPI 3.1 document: made of the routes and of their operations. */

import * as z from 'zod/mini';
import { deprecatedParameters, parameterSchemas } from '../../functions/http/deprecation.ts';
import type { Operation, Success } from '../../functions/http/operation.ts';
import { namesUnknownParameters, unknownParametersHeader } from '../../functions/http/unknown-parameters.ts';
import type { ErrorStatus } from '../../functions/http-statuses.ts';
import { operatorScope } from '../../functions/identity/operator-scope.ts';
import { errorBody, type Reason, reasons } from '../../functions/reasons.ts';
import { type Route, type RouteName, routes } from '../../functions/routes.ts';
import { PageOf, SuccessOf } from '../../functions/schemas/envelope.ts';
import { ErrorBody, ValidationErrorBody } from '../../functions/schemas/error-body.ts';
import { BatchUpdated, JobUpdated, WebhookTested } from '../../functions/schemas/webhook.ts';
import { codeSamples } from './code-samples.ts';
import { exampleOf } from './example.ts';
import { gettingStarted } from './getting-started.ts';
import { loadOperation } from './load-operation.ts';
import { sampleQueries } from './sample-request.ts';

const headers = {
  'X-Request-Id': 'Id of this request: quote it when you ask about the request.',
  'Content-Range': '`FIRST-LAST/TOTAL`, counted from 1, both inclusive; `*/TOTAL` if the page is empty.',
  Deprecation: 'Since when a parameter of the request is deprecated (RFC 9745).',
  Link: 'Where deprecations are documented (`rel="deprecation"`).',
  [unknownParametersHeader]:
    'Parameters of the query that the list does not know and has ignored, percent-encoded and separated by commas. `;near=NAME` names a parameter with nearly the same name.',
  'WWW-Authenticate': 'The expected scheme: `Bearer`.',
  'Retry-After': 'Seconds to wait before the next attempt.',
};

type HeaderName = keyof typeof headers;

/** What all errors of a status have in common; 405 has no operation. */
const errors: Readonly<
  Record<
    Exclude<ErrorStatus, 405>,
    { readonly description: string; readonly example: Reason; readonly headers?: readonly HeaderName[] }
  >
> = {
  401: { description: 'No valid bearer token.', example: 'invalid_token', headers: ['WWW-Authenticate'] },
  403: { description: 'The token does not allow this.', example: 'project_not_allowed' },
  404: { description: 'It does not exist, or is not the caller’s: both look the same.', example: 'not_found' },
  409: { description: 'The request contradicts what is stored.', example: 'batch_ended' },
  413: { description: 'The body is too large.', example: 'payload_too_large' },
  422: { description: 'The input is wrong; every fault is listed.', example: 'invalid_input' },
  429: { description: 'Too many requests.', example: 'throttled', headers: ['Retry-After'] },
  500: { description: 'The service failed.', example: 'internal_error' },
  504: { description: 'The service did not answer in time.', example: 'timeout' },
};

/**
 * The reasons of an operation's errors: its own, and the reasons that follow from the token, the
 * input and the service.
 */
function errorReasons(route: Route, { body, scope, device, everyToken, operator, errors = [] }: Operation): Reason[] {
  const hasScope = scope !== undefined || device !== undefined || operator === true;
  const ofToken: Reason[] = [
    'invalid_token',
    'token_expired',
    'access_denied',
    ...((device ?? operator ?? everyToken) === undefined ? ['device_token' as const] : []),
    ...(hasScope ? ['insufficient_scope' as const] : []),
  ];
  return [
    ...errors,
    ...(body === undefined ? [] : ['payload_too_large' as const]),
    ...(route.public ? [] : ofToken),
    // The gateway reads bodies of calls that have none, too.
    'invalid_input',
    'throttled',
    'busy',
    'internal_error',
    'timeout',
  ];
}

/** In the order in which readers meet them. */
const tags: Readonly<Record<Operation['tag'], string>> = {
  Batches: 'Batches of jobs, with the number of jobs in each status.',
  Jobs: 'Jobs of batches, and links to their results.',
  Devices: 'Devices that run the jobs.',
  Projects: 'Projects that batches belong to.',
  Limits: 'Limits set by operators, and what is left of them.',
  Usage: 'Usage by day, project, user and device type.',
  Quizzes: 'Submissions to the quizzes of the learning pages.',
  Webhooks: 'Messages to your own receivers when batches and jobs end.',
  'For devices': 'Calls of machines, with their own tokens: take batches, run their jobs and report.',
  'For operators':
    'Calls of operators, who run the machines: see who waits for what, act on users’ work, and limit it. Each act is in the audit trail.',
  Service: 'The service itself; needs no token.',
};

const bearer = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description: 'An access token from the deployment’s OpenID Connect issuer; its `sub` is the user. See “Get a token”.',
};

/** The messages that receivers of webhooks are sent. */
const webhooks = {
  jobUpdated: { summary: 'A job has ended', body: JobUpdated },
  batchUpdated: { summary: 'A batch has ended', body: BatchUpdated },
  webhookTested: { summary: 'A test was requested', body: WebhookTested },
} as const;

/** Headers of the Standard Webhooks specification. */
const webhookHeaders = {
  'webhook-id': 'Id of the message, the same for all attempts: a receiver should skip ids that it has seen.',
  'webhook-timestamp': 'When this attempt was made, in seconds since 1970.',
  'webhook-signature':
    'Signatures of `{webhook-id}.{webhook-timestamp}.{body}`, separated by spaces: `v1a,` and the base64 of an ed25519 signature. One of them is valid under a key of `GET /api/v1/webhooks/public-key`.',
};

/** What the document says of one route. */
interface DescribedRoute {
  readonly name: RouteName;
  readonly route: Route;
  readonly operation: Operation;
  /** The schema of the whole answer; it has a name unless the operation gives it one. */
  readonly answer: z.ZodMiniType;
  readonly body: z.ZodMiniType | undefined;
  /** Why it may be refused. */
  readonly reasons: readonly Reason[];
}

/** The document, the same at every call. */
export async function openApiDocument() {
  const operations = Object.entries<Route>(routes).filter(([, { page }]) => page !== true);
  const described = await Promise.all(operations.map(([name]) => describeRoute(name as RouteName)));
  const paths: Record<string, Record<string, unknown>> = {};
  for (const each of described) {
    const { path, method } = each.route;
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationObject(each) };
  }
  const statuses = new Set(described.flatMap(({ reasons: named }) => named.map((reason) => reasons[reason].status)));
  return {
    openapi: '3.1.1',
    info: {
      title: 'Quantum Batch API',
      version: '0.2.0',
      description: gettingStarted,
      contact: { name: 'The operator of this deployment' },
      license: { name: 'All rights reserved', identifier: 'LicenseRef-All-Rights-Reserved' },
    },
    servers: [{ url: '/' }],
    tags: usedTags(described),
    paths,
    webhooks: Object.fromEntries(
      Object.entries(webhooks).map(([name, each]) => [name, { post: webhookObject(name, each) }]),
    ),
    components: {
      schemas: componentSchemas(described),
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
      ),
      responses: Object.fromEntries([...statuses].map((status) => [status, errorResponse(status)])),
      securitySchemes: { bearer },
    },
  };
}

function usedTags(described: readonly DescribedRoute[]) {
  const used = new Set<string>(described.map(({ operation }) => operation.tag));
  return Object.entries(tags)
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }));
}

async function describeRoute(name: RouteName): Promise<DescribedRoute> {
  const operation = await loadOperation(name);
  const { success, bodySchema } = operation;
  const body = bodySchema?.() ?? valueSchema(operation);
  const answer = answerSchema(success).register(z.globalRegistry, {
    id: `${name[0]!.toUpperCase()}${name.slice(1)}Response`,
  });
  const route: Route = routes[name];
  return { name, route, operation, answer, body, reasons: errorReasons(route, operation) };
}

/** The schema of the value that the text of a body holds: `jsonBody` reads the text first. */
function valueSchema({ body }: Operation): z.ZodMiniType | undefined {
  return body instanceof z.ZodMiniPipe ? (body.def.out as z.ZodMiniType) : body;
}

function answerSchema(success: Success): z.ZodMiniType {
  if ('list' in success) return PageOf(success.list(), success.status);
  return 'data' in success ? SuccessOf(success.data(), success.status) : success.body();
}

function webhookObject(name: string, { summary, body }: (typeof webhooks)[keyof typeof webhooks]) {
  return {
    operationId: name,
    tags: ['Webhooks'],
    summary,
    description:
      'Sent to the `webhook` of the batch, up to seven times over 17 hours, until the receiver answers 2xx within 15 s. Messages come in no particular order, and may come more than once.',
    security: [],
    parameters: Object.entries(webhookHeaders).map(([header, description]) => ({
      name: header,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    requestBody: { required: true, content: json(body(), exampleOf(inputSchema(body()))) },
    responses: {
      '2XX': { description: 'Delivered.' },
      410: { description: 'The receiver wants no more messages of this batch.' },
    },
  };
}

const bodyRules = 'JSON in UTF-8. It is read as JSON whatever the `Content-Type`, even without one.';

const orAdministers = ', or make its holder an administrator of each project that the request names';

function operationObject({ name, route, operation, answer, body, reasons: named }: DescribedRoute) {
  const {
    tag,
    summary,
    description,
    device,
    operator,
    projects,
    path,
    query,
    headers,
    success,
    errors = [],
  } = operation;
  const ofDevice = device === undefined ? undefined : '`device:{device_type}` or `device:*`';
  const scope = operator === true ? operatorScope : operation.scope;
  const scopes = scope === undefined ? ofDevice : `\`${scope}\``;
  const successHeaders: HeaderName[] = [
    ...(success.headers ?? []),
    ...(deprecatedParameters(query).length > 0 ? (['Deprecation', 'Link'] as const) : []),
    ...(namesUnknownParameters(operation) ? ([unknownParametersHeader] as const) : []),
  ];
  return {
    operationId: name,
    tags: [tag],
    summary,
    description: [
      description,
      // In words: to linters, bearer tokens have no scopes.
      ...(scopes === undefined ? [] : [`The token must have the scope ${scopes}${projects ? orAdministers : ''}.`]),
      ...(errors.length === 0 ? [] : [`Errors: ${errors.map(describeReason).join(', ')}.`]),
    ].join('\n\n'),
    'x-error-reasons': named,
    security: route.public ? [] : [{ bearer: [] }],
    parameters: [
      ...parameters(name, 'path', path),
      ...parameters(name, 'query', query),
      ...parameters(name, 'header', headers),
    ],
    ...(body && {
      requestBody: { description: bodyRules, required: true, content: json(body, exampleOf(inputSchema(body))) },
    }),
    responses: {
      [success.status]: {
        description: 'OK',
        headers: headerReferences(successHeaders),
        content: {
          ...content(answer, exampleOf(inputSchema(answer)), success.contentType),
          ...(success.csv && { 'text/csv': { schema: { type: 'string' } } }),
        },
      },
      ...Object.fromEntries(
        named.map((reason) => [reasons[reason].status, { $ref: `#/components/responses/${reasons[reason].status}` }]),
      ),
    },
    'x-codeSamples': codeSamples(name, {
      route,
      path: path === undefined ? {} : (exampleOf(inputSchema(path)) as Record<string, string>),
      query: sampleQueries[name] ?? {},
      body: body && exampleOf(inputSchema(body)),
    }),
  };
}

function describeReason(reason: Reason): string {
  return `\`${reason}\` (${reasons[reason].status})`;
}

function parameters(operationId: string, place: 'path' | 'query' | 'header', object: z.ZodMiniType | undefined) {
  return Object.entries(parameterSchemas(object)).map(([name, reader]) => {
    const { deprecated, ...schema } = jsonSchema(reader);
    const description = fieldDescriptions(object instanceof z.ZodMiniPipe ? object.def.in : object)?.[name];
    if (description === undefined) throw new Error(`${operationId}: the parameter ${name} is not described.`);
    const fallback = reader instanceof z.ZodMiniDefault ? { default: reader.def.defaultValue } : {};
    return {
      name,
      in: place,
      required: place === 'path',
      description,
      ...(deprecated === true && { deprecated }),
      schema: { ...schema, ...fallback },
    };
  });
}

/** What a schema says of its members: `fields` in its registered metadata. */
function fieldDescriptions(schema: z.core.$ZodType | undefined): Readonly<Record<string, string>> | undefined {
  return schema && (z.globalRegistry.get(schema)?.fields as Readonly<Record<string, string>> | undefined);
}

function errorResponse(status: ErrorStatus) {
  const { description, example, headers = [] } = errors[status as keyof typeof errors];
  return {
    description,
    headers: headerReferences(headers),
    content: json(
      status === 422 ? ValidationErrorBody() : ErrorBody(),
      errorBody(example, status === 422 ? [faultExample] : description),
    ),
  };
}

const faultExample = { loc: ['query', 'limit'], msg: 'Input should be less than 101', type: 'less_than' };

function headerReferences(names: readonly HeaderName[]) {
  return Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

const json = (schema: z.ZodMiniType, example?: unknown) => content(schema, example);

function content(schema: z.ZodMiniType, example?: unknown, type = 'application/json') {
  return { [type]: { schema: jsonSchema(schema), ...(example !== undefined && { example }) } };
}

/** Every schema that has a name, by its name. */
function componentSchemas(described: readonly DescribedRoute[]) {
  const used = described.flatMap(({ operation: { path, query }, answer, body }) => [
    answer,
    ...(body === undefined ? [] : [body]),
    ...Object.values(parameterSchemas(path)),
    ...Object.values(parameterSchemas(query)),
  ]);
  const { $defs = {} } = inputSchema(
    z.union([...used, JobUpdated(), BatchUpdated(), WebhookTested(), ErrorBody(), ValidationErrorBody()]),
  );
  const named = Object.entries($defs).map(([name, { id, ...schema }]) => [name, schema] as const);
  return withReferences(Object.fromEntries(named.toSorted(([left], [right]) => (left < right ? -1 : 1))));
}

/** A schema in which named schemas are references. */
function jsonSchema(schema: z.ZodMiniType): Record<string, unknown> {
  const { $schema, $defs, id, ...rest } = inputSchema(schema);
  return id === undefined ? withReferences(rest) : withReferences({ $ref: `#/$defs/${id}` });
}

/** As it is sent: what a reader takes, not what it makes of it. */
function inputSchema(schema: z.ZodMiniType) {
  return describeMembers(
    z.toJSONSchema(schema, {
      io: 'input',
      // A JSON object that is taken as it is: its metadata says what it is.
      unrepresentable: 'any',
      override: ({ jsonSchema }) => useInclusiveBounds(jsonSchema),
    }),
  );
}

/**
 * The same JSON Schema, each object's `fields` as the descriptions of its members. Only afterwards:
 * while schemas are converted, the entries of members may still be empty. An `example` becomes the
 * only one of its `examples`, which zod leaves out where input is transformed.
 */
function describeMembers<Json>(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(describeMembers) as Json;
  if (typeof schema !== 'object' || schema === null) return schema;
  const { fields, example, ...rest } = schema as Record<string, unknown>;
  const described = {
    ...Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, describeMembers(value)])),
    ...(example !== undefined && { examples: [example] }),
  };
  if (fields === undefined) return described as Json;
  const members = Object.entries(((described as Record<string, unknown>).properties ?? {}) as Record<string, object>);
  const descriptions = fields as Readonly<Record<string, string>>;
  const properties = members.map(([name, member]) => [name, { ...member, description: descriptions[name] }]);
  return { ...described, properties: Object.fromEntries(properties) } as Json;
}

/** Bounds as people write them; bounds that any number keeps are left out. */
function useInclusiveBounds(schema: z.core.JSONSchema.BaseSchema) {
  if (schema.type !== 'integer') return;
  if (typeof schema.exclusiveMinimum === 'number') {
    schema.minimum = schema.exclusiveMinimum + 1;
    delete schema.exclusiveMinimum;
  }
  if (typeof schema.exclusiveMaximum === 'number') {
    schema.maximum = schema.exclusiveMaximum - 1;
    delete schema.exclusiveMaximum;
  }
}

function withReferences<Json>(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));
}
