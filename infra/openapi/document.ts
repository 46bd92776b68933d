/** The OpenAPI 3.1 document: made of the route table and of the schemas that requests are read by. */

import { STATUS_CODES } from 'node:http';
import * as z from 'zod/mini';
import { type Route, type RouteName, routes } from '../../functions/routes.ts';
import { Batch, batchDescriptions } from '../../functions/schemas/batch.ts';
import { BatchListQuery, batchListDescriptions } from '../../functions/schemas/batch-list-query.ts';
import {
  ErrorBody,
  PageOf,
  Pagination,
  SuccessOf,
  ValidationError,
  ValidationErrorBody,
} from '../../functions/schemas/envelope.ts';
import { Job, JobPath, jobDescriptions, jobPathDescriptions } from '../../functions/schemas/job.ts';
import { JobListQuery, jobListDescriptions } from '../../functions/schemas/job-list-query.ts';
import { orderAndPageDescriptions } from '../../functions/schemas/query-values.ts';
import { Quiz, QuizzesBody } from '../../functions/schemas/quiz.ts';

/** What the document says of a route beyond the route table. */
interface Operation {
  readonly summary: string;
  readonly description: string;
  readonly path?: z.ZodMiniObject;
  readonly query?: z.ZodMiniObject;
  readonly body?: z.ZodMiniType;
  readonly success: z.ZodMiniType;
  readonly successHeaders?: readonly (keyof typeof headers)[];
  readonly errors: readonly (keyof typeof errors)[];
}

const headers = {
  'X-Request-Id': 'Names this request: quote it when asking about it.',
  'Content-Range': '`FIRST-LAST/TOTAL`, counted from 1, both inclusive; `*/TOTAL` when the page is empty.',
  Deprecation: 'Since when a parameter of the request is deprecated (RFC 9745).',
  Link: 'Where deprecations are documented (`rel="deprecation"`).',
  'WWW-Authenticate': 'The scheme that is expected: `Bearer`.',
  'Retry-After': 'Seconds to wait before the next attempt.',
};

const errors = {
  401: { description: 'No valid bearer token.', headers: ['WWW-Authenticate'] },
  403: { description: 'The token does not allow this.', headers: [] },
  404: { description: 'No such thing, or not the caller’s: the two look the same.', headers: [] },
  413: { description: 'The body is larger than 3 MB.', headers: [] },
  422: { description: 'The input is at fault; every fault is listed.', headers: [] },
  429: { description: 'Too many requests.', headers: ['Retry-After'] },
  500: { description: 'The service failed.', headers: [] },
  504: { description: 'The service did not answer in time.', headers: [] },
} as const;

const ofEveryRoute = [429, 500, 504] as const;
const withToken = [401, 403, 422, ...ofEveryRoute] as const;

const pageRules =
  'Filters AND together, the values of one filter OR. Repeat a parameter to give it several values. Unknown parameters are ignored.';

/** Schemas that the document names; the specification's own names where it has some. */
const components = {
  ProducedBatchResponse: described(Batch, batchDescriptions),
  ProducedPartialJobResponseV2: described(Job, jobDescriptions),
  ProducedQuizResponse: Quiz,
  ConsumedMultipleQuizzesRequest: QuizzesBody,
  Pagination,
  Error: ErrorBody,
  ValidationError,
  HTTPValidationError: ValidationErrorBody,
};
for (const [id, schema] of Object.entries(components)) z.globalRegistry.add(schema, { id });

const operations: Readonly<Record<RouteName, Operation>> = {
  listBatches: {
    summary: 'Get all batches',
    description: `The caller’s batches, each with the number of its jobs in each status. ${pageRules}`,
    query: described(BatchListQuery.def.in, { ...orderAndPageDescriptions, ...batchListDescriptions }),
    success: PageOf(components.ProducedBatchResponse),
    successHeaders: ['Content-Range', 'Deprecation', 'Link'],
    errors: withToken,
  },
  listJobs: {
    summary: 'Get jobs',
    description: `The caller’s jobs, without their results. ${pageRules}`,
    query: described(JobListQuery.def.in, { ...orderAndPageDescriptions, ...jobListDescriptions }),
    success: PageOf(components.ProducedPartialJobResponseV2),
    successHeaders: ['Content-Range'],
    errors: withToken,
  },
  getResultsLink: {
    summary: 'Get a link to the results of a job',
    description:
      'A link that downloads the results as JSON, without a token, for some minutes; null while the job has no results.',
    path: described(JobPath, jobPathDescriptions),
    success: SuccessOf(
      z.strictObject({
        results_link: z.nullable(z.string()).register(z.globalRegistry, {
          format: 'uri',
          examples: ['https://results.s3.eu-west-3.amazonaws.com/results/…?X-Amz-Signature=…'],
        }),
      }),
    ),
    errors: [404, ...withToken],
  },
  submitQuizzes: {
    summary: 'Post multiple quizzes',
    description:
      'Stores submissions of the caller, all or none, and returns their records in the order of the body. A record belongs to (caller, CMS quiz id, place in its array): sent again it is updated and keeps its `id` and `created_at`.',
    body: QuizzesBody,
    success: PageOf(Quiz),
    errors: [413, ...withToken],
  },
  getOpenApi: {
    summary: 'Get this document',
    description: 'The OpenAPI document of this service.',
    success: z.looseObject({ openapi: z.string() }),
    errors: ofEveryRoute,
  },
  getHealth: {
    summary: 'Get the health of the service',
    description: 'Whether requests reach the service.',
    success: SuccessOf(z.strictObject({ healthy: z.literal(true) })),
    errors: ofEveryRoute,
  },
};

/** The document, the same at every call. */
export function openApiDocument() {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Quantum Batch API',
      version: '0.1.0',
      description:
        'Batches, jobs, results and quizzes of a quantum computing platform. A known path asked with another method is answered 405, an unknown path 404, both in the form of `Error`.',
    },
    servers: [{ url: '/' }],
    paths: paths(),
    components: {
      schemas: componentSchemas(),
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
      ),
      responses: Object.fromEntries(
        Object.keys(errors).map((status) => [status, errorResponse(Number(status) as never)]),
      ),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    },
  };
}

function paths() {
  const byPath: Record<string, Record<string, unknown>> = {};
  for (const [name, route] of Object.entries<Route>(routes)) {
    byPath[route.path] = {
      ...byPath[route.path],
      [route.method.toLowerCase()]: operationObject(name, route, operations[name as RouteName]),
    };
  }
  return byPath;
}

function operationObject(operationId: string, route: Route, operation: Operation) {
  const { summary, description, path, query, body, success, successHeaders = [] } = operation;
  return {
    operationId,
    summary,
    description,
    security: route.public ? [] : [{ bearer: [] }],
    parameters: [...parameters('path', path), ...parameters('query', query)],
    ...(body && { requestBody: { required: true, content: json(body) } }),
    responses: {
      200: { description: 'OK', headers: headerReferences(successHeaders), content: json(success) },
      ...Object.fromEntries(operation.errors.map((status) => [status, { $ref: `#/components/responses/${status}` }])),
    },
  };
}

function parameters(place: 'path' | 'query', object: z.ZodMiniObject | undefined) {
  return Object.entries(object?.shape ?? {}).map(([name, reader]) => {
    const { description, deprecated, ...schema } = jsonSchema(reader as z.ZodMiniType);
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

function errorResponse(status: keyof typeof errors) {
  const { description, headers } = errors[status];
  return {
    description,
    headers: headerReferences(headers),
    content: {
      'application/json': {
        ...json(status === 422 ? ValidationErrorBody : ErrorBody)['application/json'],
        example: exampleOf(status),
      },
    },
  };
}

function exampleOf(status: keyof typeof errors) {
  const fault = { loc: ['query', 'limit'], msg: 'Input should be less than 101', type: 'less_than' };
  return {
    status: status < 500 ? 'fail' : 'error',
    message: STATUS_CODES[status],
    code: String(status),
    ...(status === 422
      ? { data: { description: [fault] }, detail: [fault] }
      : { data: { description: errors[status].description } }),
  };
}

function headerReferences(names: readonly string[]) {
  return Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function json(schema: z.ZodMiniType) {
  return { 'application/json': { schema: jsonSchema(schema) } };
}

/** The schemas of all components, by name. */
function componentSchemas() {
  const { $defs = {} } = inputSchema(z.union(Object.values(components)));
  return withReferences(Object.fromEntries(Object.entries($defs).map(([name, { id, ...schema }]) => [name, schema])));
}

/** A schema in which components are references. */
function jsonSchema(schema: z.ZodMiniType) {
  const { $schema, $defs, ...rest } = inputSchema(schema);
  return withReferences(rest);
}

/** As it is sent: what a reader takes, not what it makes of it. */
function inputSchema(schema: z.ZodMiniType) {
  return z.toJSONSchema(schema, { io: 'input' });
}

function withReferences<Json>(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

/** The same object, its members with these descriptions. */
function described<Members extends z.core.$ZodLooseShape>(
  object: z.ZodMiniObject<Members>,
  descriptions: Readonly<Record<keyof Members, string>>,
) {
  const members = Object.entries<z.ZodMiniType>(object.shape as never).map(([name, member]) => [
    name,
    member.check(z.describe(descriptions[name as keyof Members])),
  ]);
  return z.clone(object, { ...object.def, shape: Object.fromEntries(members) });
}
