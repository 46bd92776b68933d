import type { APIGatewayProxyEvent } from 'aws-lambda';
import type * as z from 'zod/mini';
import { InvalidInput } from '../errors.ts';
import { inputFaults } from './input-faults.ts';
import { readBody } from './read-body.ts';

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
