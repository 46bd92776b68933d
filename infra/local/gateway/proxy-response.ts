import { validateHeaderName, validateHeaderValue } from 'node:http';
import { type Answer, GatewayProblem } from './gateway-answer.ts';

/** Header names that a function may not set: API Gateway sends them under another name. */
const remappedHeaders = new Set([
  'connection',
  'content-length',
  'date',
  'expect',
  'host',
  'max-forwards',
  'proxy-authenticate',
  'server',
  'te',
  'trailer',
  'upgrade',
  'via',
  'www-authenticate',
]);

/**
 * The HTTP answer that a function's result describes. A base64 body is decoded only for a caller
 * who wants binary: others get the base64, as from API Gateway. Throws GatewayProblem for a result
 * that API Gateway does not accept.
 */
export function proxyResponse(result: unknown, wantsBinary: boolean): Answer {
  const malformed = new GatewayProblem('DEFAULT_5XX', 502);
  if (typeof result !== 'object' || result === null || Array.isArray(result)) throw malformed;
  const known = ['statusCode', 'headers', 'multiValueHeaders', 'body', 'isBase64Encoded', 'cookies'];
  const { statusCode, headers, multiValueHeaders, body, isBase64Encoded } = result as Record<string, unknown>;
  const status = Number(statusCode);
  if (Object.keys(result).some((key) => !known.includes(key))) throw malformed;
  if (!Number.isInteger(status) || status < 100 || status > 599) throw malformed;
  if (body !== undefined && body !== null && typeof body !== 'string') throw malformed;
  const multiple = headerObject(multiValueHeaders);
  const single = headerObject(headers);
  if (multiple === undefined || single === undefined) throw malformed;
  const names = new Set(multiple.map(([name]) => name.toLowerCase()));
  const pairs = [...single.filter(([name]) => !names.has(name.toLowerCase())), ...multiple]
    .filter(([name]) => name.toLowerCase() !== 'transfer-encoding')
    .map(
      ([name, value]) => [remappedHeaders.has(name.toLowerCase()) ? `x-amzn-Remapped-${name}` : name, value] as const,
    );
  if (!pairs.some(([name]) => name.toLowerCase() === 'content-type')) pairs.push(['Content-Type', 'application/json']);
  return {
    status,
    headers: pairs,
    body: Buffer.from(String(body ?? ''), isBase64Encoded === true && wantsBinary ? 'base64' : 'utf8'),
  };
}

/** Names and values, or undefined when they are not valid HTTP headers. */
function headerObject(value: unknown): [string, string][] | undefined {
  if (value === undefined || value === null) return [];
  if (typeof value !== 'object' || Array.isArray(value)) return undefined;
  const pairs = Object.entries(value).flatMap(([name, each]) =>
    [each].flat().map((one): [string, unknown] => [name, one]),
  );
  if (!pairs.every(([, one]) => ['string', 'number', 'boolean'].includes(typeof one))) return undefined;
  try {
    return pairs.map(([name, one]) => {
      validateHeaderName(name);
      validateHeaderValue(name, String(one));
      return [name, String(one)];
    });
  } catch {
    return undefined;
  }
}
