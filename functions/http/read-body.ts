import type { APIGatewayProxyEvent } from 'aws-lambda';
import { InvalidInput, PayloadTooLarge } from '../errors.ts';

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
