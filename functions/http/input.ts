import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type InputFault, InvalidInput, PayloadTooLarge } from '../errors.ts';
import { inputFaults } from '../schemas/input-faults.ts';
import type { Input, Operation } from './operation.ts';

const maxBytes = 3 * 1024 * 1024;

/** The answer may repeat the body, and Lambda returns at most 6 MB, in which the body is a JSON string. */
const maxEscapedBytes = 5.5 * 1024 * 1024;

/**
 * The text of a request's body, whatever its content type says; undefined when there is none. Throws PayloadTooLarge
 * above 3 MB, InvalidInput when it is not UTF-8.
 *
 * The API's definition makes the gateway hand over bytes. A gateway that hands over text instead has put U+FFFD in place of
 * bytes that are not UTF-8, so text with U+FFFD is refused.
 */
export function readBody({ body, isBase64Encoded }: APIGatewayProxyEvent): string | undefined {
  if (body === null || body === '') return undefined;
  const text = isBase64Encoded ? decodeUtf8(Buffer.from(body, 'base64')) : body;
  if (Buffer.byteLength(text) > maxBytes || Buffer.byteLength(JSON.stringify(text)) > maxEscapedBytes) {
    throw new PayloadTooLarge('A request body holds at most 3 MB.');
  }
  if (!isBase64Encoded && (!text.isWellFormed() || text.includes('\uFFFD'))) throw notUtf8();
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw notUtf8();
  }
}

function notUtf8(): InvalidInput {
  return new InvalidInput([{ loc: ['body'], msg: 'The body should be JSON in UTF-8', type: 'json_invalid' }]);
}

const sources = {
  path: ({ pathParameters }: APIGatewayProxyEvent) => percentDecodedValues(pathParameters ?? {}),
  query: ({ multiValueQueryStringParameters }: APIGatewayProxyEvent) => multiValueQueryStringParameters ?? {},
  body: readBody,
};

/** Reads a request by an operation's schemas. Throws InvalidInput with every fault of all its parts. */
export function readInput<Described extends Pick<Operation, 'path' | 'query' | 'body'>>(
  operation: Described,
  event: APIGatewayProxyEvent,
): Input<Described> {
  const faults: InputFault[] = [];
  const input: Record<string, unknown> = {};
  for (const part of ['path', 'query', 'body'] as const) {
    const result = operation[part]?.safeParse(sources[part](event));
    if (result?.success === false) faults.push(...inputFaults(part, result.error));
    else if (result !== undefined) input[part] = result.data;
  }
  if (faults.length > 0) throw new InvalidInput(faults);
  return input as Input<Described>;
}

/** AWS does not document whether a path's parameters arrive decoded. Decoding again is safe: no parameter holds a percent sign. */
function percentDecodedValues(parameters: Record<string, string | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, value && percentDecoded(value)]));
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
