import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Route, routes } from '../../functions/routes.ts';
import { batchOrderings } from '../../functions/schemas/batch-list-query.ts';
import { ErrorBody, ValidationErrorBody } from '../../functions/schemas/error-body.ts';
import { openApiDocument } from '../../infra/openapi/document.ts';

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  security: object[];
  parameters: {
    name: string;
    in: string;
    required: boolean;
    description: string;
    deprecated?: true;
    schema: Record<string, unknown>;
  }[];
  requestBody?: { content: object };
  responses: Record<string, { $ref?: string; headers?: object }>;
}

const document = await openApiDocument();
const paths = document.paths as Record<string, Record<string, Operation>>;
const operation = (path: string, method = 'get') => paths[path]?.[method] as Operation;
const parameters = (path: string) =>
  Object.fromEntries(operation(path).parameters.map((parameter) => [parameter.name, parameter]));

function* references(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (name === '$ref') yield String(member);
    else yield* references(member);
  }
}

describe('openApiDocument', () => {
  it('is what openapi.json holds: `npm run openapi` writes it', () => {
    expect(readFileSync('openapi.json', 'utf8')).toBe(`${JSON.stringify(document, null, 2)}\n`);
  });

  it('describes every route, and no other', () => {
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, security }]) => [
        operationId,
        method.toUpperCase(),
        path,
        security.length === 0,
      ]),
    );
    expect(described).toEqual(
      Object.entries<Route>(routes).map(([name, { method, path, public: isPublic = false }]) => [
        name,
        method,
        path,
        isPublic,
      ]),
    );
  });

  it('points nowhere but to its own parts', () => {
    const targets = [...references(document)];
    expect(targets.length).toBeGreaterThan(20);
    for (const target of targets) {
      const part = target
        .split('/')
        .slice(1)
        .reduce((value: unknown, name) => (value as Record<string, unknown>)?.[name], document);
      expect(part, target).toBeDefined();
    }
  });

  it('uses the names of the specification', () => {
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining([
        'ProducedBatchResponse',
        'ProducedPartialJobResponseV2',
        'ProducedQuizResponse',
        'ConsumedMultipleQuizzesRequest',
        'HTTPValidationError',
        'ValidationError',
      ]),
    );
  });

  it('describes every parameter of the batch list', () => {
    expect(Object.keys(parameters('/api/v1/batches')).sort()).toEqual(
      'complete device_type end_date id id__starts_with limit max_jobs min_jobs offset open order_by order_by_direction project_id queue_priority start_date status tag user_id'.split(
        ' ',
      ),
    );
    expect(parameters('/api/v1/batches')).toMatchObject({
      order_by: {
        in: 'query',
        required: false,
        schema: { type: 'string', enum: [...batchOrderings], default: 'created_at' },
      },
      order_by_direction: { schema: { enum: ['ASC', 'DESC'], default: 'DESC' } },
      limit: { schema: { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 101, default: 100 } },
      offset: { schema: { type: 'integer', minimum: 0, default: 0 } },
      id: { schema: { type: 'array', maxItems: 100, items: { type: 'string', pattern: expect.any(String) } } },
      status: { schema: { type: 'array', items: { enum: expect.arrayContaining(['PENDING', 'PAUSED']) } } },
      complete: { deprecated: true, schema: { type: 'boolean' } },
      open: { schema: { type: 'boolean' } },
      min_jobs: { schema: { type: 'integer' } },
      start_date: { schema: { type: 'string', format: 'date-time' } },
      tag: { schema: { type: 'string', maxLength: 256 } },
    });
  });

  it('describes every parameter of the job list', () => {
    expect(Object.keys(parameters('/api/v2/jobs')).sort()).toEqual(
      'batch_id end_date errors id id__starts_with limit max_runs min_runs offset order_by order_by_direction origin project_id start_date status user_id'.split(
        ' ',
      ),
    );
  });

  it('says of every operation and parameter what it is', () => {
    for (const methods of Object.values(paths)) {
      for (const { summary, description, parameters: all } of Object.values(methods)) {
        expect([summary, description, ...all.map((parameter) => parameter.description)]).not.toContain(undefined);
      }
    }
  });

  it('says of every field of an item what it is', () => {
    const schemas = document.components.schemas as Record<
      string,
      { properties?: Record<string, { description?: string }> }
    >;
    for (const name of ['ProducedBatchResponse', 'ProducedPartialJobResponseV2', 'ProducedQuizResponse']) {
      for (const [field, { description }] of Object.entries(schemas[name]?.properties ?? {})) {
        expect(description, `${name}.${field}`).toBeTypeOf('string');
      }
    }
  });

  it.each([
    ['/api/v1/batches', 'get', ['200', '401', '403', '422', '429', '500', '504']],
    ['/api/v2/jobs', 'get', ['200', '401', '403', '422', '429', '500', '504']],
    ['/api/v1/jobs/{job_id}/results_link', 'get', ['200', '401', '403', '404', '422', '429', '500', '504']],
    ['/api/v1/quizzes', 'post', ['200', '401', '403', '413', '422', '429', '500', '504']],
    ['/openapi.json', 'get', ['200', '429', '500', '504']],
    ['/health', 'get', ['200', '429', '500', '504']],
  ])('describes every answer of %s', (path, method, statuses) => {
    expect(Object.keys(operation(path, method).responses)).toEqual(statuses);
  });

  it('shows examples of errors that are errors', () => {
    const responses = document.components.responses as Record<
      string,
      { content: Record<string, { example: unknown }> }
    >;
    for (const [status, { content }] of Object.entries(responses)) {
      const example = content['application/json']?.example;
      const { code } = (status === '422' ? ValidationErrorBody : ErrorBody).parse(example);
      expect(code).toBe(status);
    }
  });

  it('asks for a bearer token', () => {
    expect(document.components.securitySchemes).toEqual({
      bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    });
    expect(operation('/api/v1/quizzes', 'post').security).toEqual([{ bearer: [] }]);
  });

  it('is the same at every call', async () => {
    expect(await openApiDocument()).toEqual(document);
  });
});
