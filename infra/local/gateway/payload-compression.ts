import { promisify } from 'node:util';
import { deflate, gunzip, gzip, inflate } from 'node:zlib';
import { type Answer, GatewayProblem } from './gateway-answer.ts';

const decoders = { gzip: promisify(gunzip), deflate: promisify(inflate) };
const encoders = { gzip: promisify(gzip), deflate: promisify(deflate) };

/**
 * The body as it was before the client compressed it. As on AWS, a compressed body of less than
 * `minimumSize` bytes stays compressed. Throws GatewayProblem for an unknown coding, for a body
 * that is not in its coding, and as soon as the decompressed body exceeds `limit` bytes.
 */
export async function decompress(
  body: Buffer,
  encoding: string | undefined,
  { limit, minimumSize = 0 }: { readonly limit: number; readonly minimumSize?: number | undefined },
): Promise<Buffer> {
  const name = (encoding ?? 'identity').trim().toLowerCase();
  if (name === 'identity' || name === '') return body;
  if (name !== 'gzip' && name !== 'deflate') throw new GatewayProblem('UNSUPPORTED_MEDIA_TYPE');
  if (body.length < minimumSize) return body;
  try {
    return await decoders[name](body, { maxOutputLength: limit });
  } catch (error) {
    const tooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw new GatewayProblem(tooLarge ? 'REQUEST_TOO_LARGE' : 'UNSUPPORTED_MEDIA_TYPE');
  }
}

/** Compresses an answer of at least `minimumSize` bytes for a client that accepts it. */
export async function compress(answer: Answer, accepted: string, minimumSize: number | undefined): Promise<Answer> {
  const encoded = answer.headers.some(([name]) => name.toLowerCase() === 'content-encoding');
  if (minimumSize === undefined || encoded || answer.body.length === 0 || answer.body.length < minimumSize)
    return answer;
  const coding = preferredCoding(accepted);
  if (coding === undefined) return answer;
  return {
    ...answer,
    headers: [...answer.headers, ['Content-Encoding', coding]],
    body: await encoders[coding](answer.body),
  };
}

/**
 * API Gateway considers the first coding alone: `br, gzip` is answered without compression
 * (awsdocs/amazon-api-gateway-developer-guide, pull request 32).
 */
function preferredCoding(accepted: string): 'gzip' | 'deflate' | undefined {
  const [name, ...parameters] = accepted
    .split(',', 1)[0]!
    .split(';')
    .map((part) => part.trim().toLowerCase());
  const isRefused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  return !isRefused && (name === 'gzip' || name === 'deflate') ? name : undefined;
}
