import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type InputFault, InvalidInput, PayloadTooLarge } from '../errors.ts';
import { inputFaults } from '../schemas/input-faults.ts';
import type { Input, InputPart, Operation } from './operation.ts';

const mebibyte = 1024 * 1024;

/**
 * The largest body, as a JSON string. An answer may repeat the body, and Lambda returns at most 6
 * MB, with the body as a JSON string.
 */
const maxEscapedBytes = 5.5 * mebibyte;

/**
 * The text of a request's body, whatever its content type; undefined when there is none. Throws
 * PayloadTooLarge above this number of MB, InvalidInput when it is not UTF-8.
 *
 * The API's definition makes the gateway pass bytes on. A gateway that passes text on instead has
 * put U+FFFD in place of bytes that are not UTF-8, so text with U+FFFD is refused.
 */
export function readBody({ body, isBase64Encoded }: APIGatewayProxyEvent, megabytes = 3): string | undefined {
  if (body === null || body === '') return undefined;
  const text = isBase64Encoded ? decodeUtf8(Buffer.from(body, 'base64')) : body;
  if (Buffer.byteLength(text) > megabytes * mebibyte || Buffer.byteLength(JSON.stringify(text)) > maxEscapedBytes) {
    throw new PayloadTooLarge(`A request body holds at most ${megabytes} MB.`);
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
  path: readPathParameters,
  query: ({ multiValueQueryStringParameters }: APIGatewayProxyEvent) => multiValueQueryStringParameters ?? {},
  headers: ({ multiValueHeaders }: APIGatewayProxyEvent) => headerValues(multiValueHeaders),
  body: readBody,
} satisfies Record<InputPart, unknown>;

/**
 * The headers. One that came with several different values is a list, which schemas of texts
 * refuse.
 */
function headerValues(headers: APIGatewayProxyEvent['multiValueHeaders']): Record<string, unknown> {
  const pairs = Object.entries(headers).flatMap(([name, values = []]) =>
    values.map((value) => ({ name: name.toLowerCase(), value })),
  );
  return Object.fromEntries(
    Array.from(
      Map.groupBy(pairs, ({ name }) => name),
      ([name, all]) => {
        const values = [...new Set(all.map(({ value }) => value))];
        return [name, values.length === 1 ? values[0] : values];
      },
    ),
  );
}

/** How the `loc` of a fault names the part. */
const partNames = { path: 'path', query: 'query', headers: 'header', body: 'body' } satisfies Record<InputPart, string>;

/**
 * Reads a request by an operation's schemas. Throws InvalidInput with every fault of all its parts.
 */
export function readInput<Described extends Pick<Operation, InputPart | 'bodyMegabytes'>>(
  operation: Described,
  event: APIGatewayProxyEvent,
): Input<Described> {
  let faults: InputFault[] = [];
  const input: Record<string, unknown> = {};
  for (const part of ['path', 'query', 'headers', 'body'] as const) {
    const result = operation[part]?.safeParse(sources[part](event, operation.bodyMegabytes));
    if (result?.success === false) faults = faults.concat(inputFaults(partNames[part], result.error));
    else if (result !== undefined) input[part] = result.data;
  }
  if (faults.length > 0) throw new InvalidInput(faults);
  return input as Input<Described>;
}

/**
 * The parameters of a path, each by its one percent-encoding. AWS does not document whether they
 * arrive decoded; the path does. So a percent sign that the path has as well was sent as `%25`, and
 * decoding it once more would name something else. Nothing that a path names has a percent sign:
 * throws InvalidInput for a parameter that has one.
 */
function readPathParameters({ pathParameters, path }: APIGatewayProxyEvent): Record<string, string | undefined> {
  const decoded = Object.entries(pathParameters ?? {}).map(([name, sent]) => {
    const value = sent?.includes('%') && !path.includes(sent) ? percentDecoded(sent) : sent;
    if (!value?.includes('%')) return [name, value];
    const msg = 'Input should have no percent sign, once it is percent-decoded';
    throw new InvalidInput([{ loc: ['path', name], msg, type: 'value_error' }]);
  });
  return Object.fromEntries(decoded);
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
