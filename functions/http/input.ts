import type { APIGatewayProxyEvent } from 'aws-lambda';
import type * as z from 'zod/mini';
import { InvalidInput, PayloadTooLarge } from '../errors.ts';
import { inputFaults } from '../schemas/input-faults.ts';

const maxBytes = 3 * 1024 * 1024;

/** Lambda takes and returns the body as a JSON string, in 6 MB with all that comes with it. */
const maxEscapedBytes = 5.5 * 1024 * 1024;

/**
 * The text of a request's body, whatever its content type says; undefined when there is none. Throws PayloadTooLarge
 * above 3 MB, InvalidInput when it is not UTF-8.
 */
export function readBody({ body, isBase64Encoded }: APIGatewayProxyEvent): string | undefined {
  if (body === null || body === '') return undefined;
  const text = isBase64Encoded ? decodeUtf8(Buffer.from(body, 'base64')) : body;
  if (Buffer.byteLength(text) > maxBytes || Buffer.byteLength(JSON.stringify(text)) > maxEscapedBytes) {
    throw new PayloadTooLarge('A request body holds at most 3 MB.');
  }
  if (!text.isWellFormed()) throw notUtf8();
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw notUtf8();
  }
}

function notUtf8(): InvalidInput {
  return new InvalidInput([{ loc: ['body'], msg: 'The body should be JSON in UTF-8', type: 'json_invalid' }]);
}

/** The schemas of what an endpoint reads: the path's parameters, the values of each query parameter, the body's text. */
export interface InputSchemas {
  readonly path?: z.ZodMiniType;
  readonly query?: z.ZodMiniType;
  readonly body?: z.ZodMiniType;
}

export type Input<Schemas extends InputSchemas> = {
  [Part in keyof Schemas]: Schemas[Part] extends z.ZodMiniType ? z.output<Schemas[Part]> : never;
};

const sources = {
  path: ({ pathParameters }: APIGatewayProxyEvent) => decoded(pathParameters ?? {}),
  query: ({ multiValueQueryStringParameters }: APIGatewayProxyEvent) => multiValueQueryStringParameters ?? {},
  body: readBody,
};

/** Reads a request by its schemas. Throws InvalidInput with every fault of all its parts. */
export function readInput<Schemas extends InputSchemas>(schemas: Schemas, event: APIGatewayProxyEvent): Input<Schemas> {
  const parts = Object.entries(schemas as Record<keyof typeof sources, z.ZodMiniType>).map(([part, schema]) => ({
    part,
    result: schema.safeParse(sources[part as keyof typeof sources](event)),
  }));
  const faults = parts.flatMap(({ part, result }) => (result.success ? [] : inputFaults(part, result.error)));
  if (faults.length > 0) throw new InvalidInput(faults);
  return Object.fromEntries(parts.map(({ part, result }) => [part, result.data])) as Input<Schemas>;
}

/** Whether a path's parameters arrive decoded is not documented. Decoding again is safe: no parameter holds a percent sign. */
function decoded(parameters: Record<string, string | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, value && percentDecoded(value)]));
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
