import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { transformSync } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { type Route, routes } from '../../functions/routes.ts';
import { batchOrderings } from '../../functions/schemas/batch-list-query.ts';
import { ErrorBody, ValidationErrorBody } from '../../functions/schemas/error-body.ts';
import { LeasePath } from '../../functions/schemas/lease.ts';
import { openApiDocument } from '../../infra/openapi/document.ts';

interface Operation {
  operationId: string;
  tags: string[];
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
  'x-codeSamples': { lang: string; source: string }[];
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

interface Node {
  readonly path: string;
  readonly node: Record<string, unknown>;
}

/** Every object of the document, with the way to it. */
function nodes(value: unknown, path: readonly string[] = []): Node[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([name, member]) => nodes(member, [...path, name]));
  return Array.isArray(value) ? inner : [{ path: path.join('.'), node: value as Record<string, unknown> }, ...inner];
}

describe('openApiDocument', () => {
  it('is what openapi.json holds: `npm run openapi` writes it', () => {
    expect(readFileSync('openapi.json', 'utf8')).toBe(`${JSON.stringify(document, null, 2)}\n`);
  });

  it('describes every route of the API, and no other', () => {
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, security }]) => [
        operationId,
        method.toUpperCase(),
        path,
        security.length === 0,
      ]),
    );
    expect(described).toEqual(
      Object.entries<Route>(routes)
        .filter(([, { page }]) => page !== true)
        .map(([name, { method, path, public: isPublic = false }]) => [name, method, path, isPublic]),
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
      'complete count_by created_after created_before device_type end_date has_errors id id__starts_with limit max_jobs min_jobs offset open order_by order_by_direction project_id queue_priority scope start_date status tag user_id'.split(
        ' ',
      ),
    );
    expect(parameters('/api/v1/batches')).toMatchObject({
      order_by: {
        in: 'query',
        required: false,
        schema: { $ref: '#/components/schemas/BatchOrder', default: 'created_at' },
      },
      order_by_direction: { schema: { $ref: '#/components/schemas/SortDirection', default: 'DESC' } },
      limit: { schema: { type: 'integer', minimum: 1, maximum: 100, default: 100 } },
      offset: { schema: { type: 'integer', minimum: 0, default: 0 } },
      id: { schema: { type: 'array', maxItems: 100, items: { type: 'string', pattern: expect.any(String) } } },
      status: { schema: { type: 'array', items: { $ref: '#/components/schemas/BatchStatus' } } },
      complete: { deprecated: true, schema: { type: 'boolean' } },
      open: { schema: { type: 'boolean' } },
      min_jobs: { schema: { type: 'integer' } },
      start_date: { schema: { type: 'string', format: 'date-time' } },
      tag: { schema: { type: 'array', maxItems: 100, items: { type: 'string', maxLength: 256 } } },
    });
  });

  it('describes every parameter of the job list', () => {
    expect(Object.keys(parameters('/api/v2/jobs')).sort()).toEqual(
      'batch_id count_by created_after created_before end_date errors id id__starts_with limit max_runs min_runs offset order_by order_by_direction origin project_id scope start_date status user_id'.split(
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
    ['/openapi.json', 'get', ['200', '422', '429', '500', '504']],
    // The gateway also reads a body where none is wanted.
    ['/health', 'get', ['200', '422', '429', '500', '504']],
  ])('describes every answer of %s', (path, method, statuses) => {
    expect(Object.keys(operation(path, method).responses)).toEqual(statuses);
  });

  it('describes each status of errors once, and refers to it', () => {
    for (const { operationId, responses } of Object.values(paths).flatMap(Object.values<Operation>)) {
      for (const [status, response] of Object.entries(responses).filter(([each]) => each >= '400')) {
        expect(response, operationId).toEqual({ $ref: `#/components/responses/${status}` });
      }
    }
  });

  it('names the enumerations that parameters and answers share', () => {
    expect(document.components.schemas).toMatchObject({
      BatchOrder: { enum: [...batchOrderings] },
      BatchStatus: { enum: expect.arrayContaining(['PENDING', 'PAUSED']) },
      ProducedBatchResponse: { properties: { status: { $ref: '#/components/schemas/BatchStatus' } } },
    });
  });

  it('has no enumeration without a name: generated clients would invent one', () => {
    const nameless = nodes(document).filter(
      ({ node, path }) => Array.isArray(node.enum) && !/^components\.schemas\.\w+$/.test(path),
    );
    expect(nameless.map(({ path }) => path)).toEqual([]);
  });

  it('names the body of every answer', () => {
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { operationId, responses }] of Object.entries(methods)) {
        const success = Object.entries(responses).find(([status]) => status < '300')?.[1] as {
          content: Record<string, { schema: unknown }>;
        };
        const name = `${operationId[0]!.toUpperCase()}${operationId.slice(1)}Response`;
        const [content] = Object.values(success.content);
        expect(content?.schema, `${method} ${path}`).toEqual({
          $ref: `#/components/schemas/${name}`,
        });
      }
    }
  });

  it('shows an example of every answer that its schema describes', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(document, 'openapi.json');
    const examples = nodes(document).filter(({ node }) => 'example' in node);
    expect(examples.length).toBeGreaterThan(Object.keys(routes).length);
    for (const { node, path } of examples) {
      const validate = ajv.compile(JSON.parse(JSON.stringify(node.schema).replaceAll('"#/', '"openapi.json#/')));
      expect(validate(node.example), `${path}: ${ajv.errorsText(validate.errors)}`).toBe(true);
      expect(JSON.stringify(node.example)).not.toContain(String(Number.MAX_SAFE_INTEGER));
    }
  });

  it('shows leases that the service can read', () => {
    const leases = JSON.stringify(document).match(/(?<=\/leases\/|"lease":")[\w-]+/g) ?? [];
    expect(leases.length).toBeGreaterThan(10);
    for (const lease of new Set(leases)) expect(LeasePath.safeParse({ lease }).success, lease).toBe(true);
  });

  it('shows every operation in curl, Python and TypeScript, without faults of syntax', () => {
    for (const { operationId, 'x-codeSamples': samples } of Object.values(paths).flatMap(Object.values<Operation>)) {
      expect(samples.map(({ lang }) => lang)).toEqual(['Shell', 'Python', 'TypeScript']);
      const [shell, , typescript] = samples.map(({ source }) => source) as [string, string, string];
      expect(spawnSync('bash', ['-n'], { input: shell, encoding: 'utf8' }).stderr, operationId).toBe('');
      expect(() => transformSync(typescript, { loader: 'ts', format: 'esm' }), operationId).not.toThrow();
    }
  });

  it('groups every operation under a tag that it describes', () => {
    const described = new Map(document.tags.map(({ name, description }) => [name, description]));
    for (const methods of Object.values(paths)) {
      for (const { tags } of Object.values(methods)) {
        expect(tags).toHaveLength(1);
        expect(described.get(tags[0] as never)).toMatch(/./);
      }
    }
  });

  it('shows examples of errors that are errors', () => {
    const responses = document.components.responses as Record<
      string,
      { content: Record<string, { example: unknown }> }
    >;
    for (const [status, { content }] of Object.entries(responses)) {
      const example = content['application/json']?.example;
      const { code } = (status === '422' ? ValidationErrorBody() : ErrorBody()).parse(example);
      expect(code).toBe(status);
    }
  });

  it('asks for a bearer token', () => {
    expect(document.components.securitySchemes).toEqual({
      bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: expect.stringContaining('token') },
    });
    expect(operation('/api/v1/quizzes', 'post').security).toEqual([{ bearer: [] }]);
  });

  it('is the same at every call', async () => {
    expect(await openApiDocument()).toEqual(document);
  });
});
