import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { expect } from 'vitest';
import { type RouteName, routes } from '../../functions/routes.ts';
import document from '../../openapi.json' with { type: 'json' };

// The patterns beside the formats say more than the formats do.
const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(document, 'openapi.json');
const validators = new Map<string, ValidateFunction>();

interface Response {
  readonly $ref?: string;
  readonly content?: object;
}

interface Operation {
  readonly responses: object;
  readonly 'x-error-reasons': readonly string[];
}

/**
 * Expects an answer that openapi.json describes, by its status, headers and body; gives the body.
 */
export function expectDocumented(routeName: RouteName, { statusCode, headers = {}, body }: APIGatewayProxyResult) {
  const { path, method } = routes[routeName];
  const pointer = `/paths/${path.replaceAll('/', '~1').replace(/[{}]/g, encodeURIComponent)}/${method.toLowerCase()}/responses/${statusCode}`;
  const operations = document.paths as unknown as Record<string, Record<string, Operation>>;
  const operation = operations[path]![method.toLowerCase()]!;
  const response = (operation.responses as Record<string, Response>)[statusCode];
  expect(response, `${routeName} answers ${statusCode}`).toBeDefined();
  const place = response?.$ref?.slice(1) ?? pointer;
  const type = Object.keys(response?.content ?? {})[0] ?? 'application/json';
  const schema = `openapi.json#${place}/content/${type.replace('/', '~1')}/schema`;
  const validate = validators.get(schema) ?? ajv.compile({ $ref: schema });
  validators.set(schema, validate);
  const content: unknown = type === 'application/json' ? JSON.parse(body) : body;
  if (!validate(content)) throw new Error(`${ajv.errorsText(validate.errors)}: ${body.slice(0, 1_000)}`);
  const { reason } = (content as { data?: { reason?: string } }).data ?? {};
  if (statusCode >= 400) expect(operation['x-error-reasons'], `reasons of ${routeName}`).toContain(reason);
  expect(headers).toMatchObject({
    'Content-Type': expect.stringContaining(type),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': expect.stringMatching(/./),
  });
  return content;
}
