/**
 * Calls of S3 for one object, signed by the SDK's own signer and sent by Node. The SDK's client of
 * S3 is for links and erasures alone: beside DynamoDB's it takes some 170 kB more of a bundle, and
 * its start takes half as long again. `fetch` is not used: the first call of a function would load
 * it, and it would decode objects whose uploader declared an encoding, and so read more than their
 * length.
 */

import type { IncomingMessage, RequestOptions } from 'node:http';
import * as https from 'node:https';
import { fromEnv } from '@aws-sdk/credential-provider-env';
import { SignatureV4 } from '@smithy/signature-v4';
import { systemClock } from '../../runtime/clock.ts';
import { requiredEnv } from '../../runtime/env.ts';
import { plainHttp } from '../../values/plain-http.ts';
import { Sha256 } from './sha256.ts';

interface ObjectCall {
  readonly method: 'GET' | 'HEAD' | 'PUT';
  readonly key: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** Of a GET, the content is still to be read. */
export type CallObject = (call: ObjectCall) => Promise<IncomingMessage>;

/** S3 refused a call or failed. Its name is S3's code, as the SDK's errors have it. */
export class S3Refusal extends Error {
  readonly status: number;
  readonly $fault: 'client' | 'server';

  constructor(status: number, code: string) {
    super(`S3 answered ${status}: ${code}`);
    this.name = code;
    this.status = status;
    this.$fault = status >= 500 ? 'server' : 'client';
  }
}

/** Connections that break are the same as silence. */
const broken = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

/** The connection failed, or S3 was silent for too long. Its name is as with the SDK. */
class S3Unanswered extends Error {
  constructor(cause: Error & { readonly code?: string }) {
    super('S3 gave no answer.', { cause });
    this.name = cause.code === undefined || broken.has(cause.code) ? 'TimeoutError' : cause.code;
  }
}

const attempts = 3;

/**
 * Calls for the objects of the bucket. Each takes at most 3 attempts of `milliseconds`, with short
 * pauses: attempts that get no answer, are throttled or fail in S3 are repeated. The content of an
 * object that stops for so long on its way fails. They throw S3Refusal, and errors that
 * translateErrors knows.
 */
export function bucketObjects(bucket: string, milliseconds = 2_000): CallObject {
  const region = requiredEnv('AWS_REGION');
  const { protocol, hostname, port, host, pathname } = addressOf(bucket, region);
  const sha256 = Sha256;
  const signer = new SignatureV4({ credentials: fromEnv(), region, service: 's3', sha256, uriEscapePath: false });

  return async ({ method, key, headers = {}, body, signal }) => {
    const target = { method, protocol, hostname, path: `${pathname}${escapeKey(key)}` };
    for (let attempt = 1; ; attempt++) {
      const signed = await signer.sign({ ...target, query: {}, headers: { ...headers, host }, body });
      const options = { ...target, port, headers: signed.headers, timeout: milliseconds, ...(signal && { signal }) };
      try {
        return await send(options, body);
      } catch (error) {
        if (attempt === attempts || signal?.aborted || !mayPass(error)) throw error;
      }
      await systemClock.sleep(Math.random() * 100 * 2 ** attempt);
    }
  };
}

/**
 * The bucket's own host on AWS. A bucket with dots has none that a certificate covers; a given
 * endpoint need not know hosts of buckets.
 */
function addressOf(bucket: string, region: string): URL {
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const { AWS_ENDPOINT_URL_S3: ownEndpoint, AWS_ENDPOINT_URL: endpoint } = process.env;
  const given = ownEndpoint ?? endpoint;
  if (given === undefined && !bucket.includes('.')) return new URL(`https://${bucket}.s3.${region}.${domain}/`);
  return new URL(`${(given ?? `https://s3.${region}.${domain}`).replace(/\/$/, '')}/${bucket}/`);
}

/** As S3 signs it: encodeURIComponent leaves a few characters. */
function escapeKey(key: string): string {
  return encodeURIComponent(key)
    .replaceAll('%2F', '/')
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

async function send(options: RequestOptions, body: string | undefined): Promise<IncomingMessage> {
  const answer = await answerTo(options, body);
  const { statusCode: status = 0 } = answer;
  if (status < 200 || status >= 300) throw new S3Refusal(status, await errorCode(answer).catch(() => `HTTP ${status}`));
  if (options.method !== 'GET') answer.resume();
  return answer;
}

function answerTo(options: RequestOptions, body: string | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { request: open } = options.protocol === 'https:' ? https : plainHttp();
    const request = open(options, resolve);
    const giveUp = () => request.destroy(new Error('S3 was silent for too long.'));
    const timer = setTimeout(giveUp, options.timeout);
    request
      .on('response', () => clearTimeout(timer))
      .on('timeout', giveUp)
      .on('error', (cause) => {
        clearTimeout(timer);
        reject(new S3Unanswered(cause));
      })
      .end(body);
  });
}

const maxErrorCharacters = 10_000;

async function errorCode(answer: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of answer) {
    text += chunk;
    if (text.length > maxErrorCharacters) break;
  }
  const [, code = `HTTP ${answer.statusCode}`] = /<Code>(\w+)<\/Code>/.exec(text) ?? [];
  return code;
}

function mayPass(error: unknown): boolean {
  if (!(error instanceof S3Refusal)) return error instanceof S3Unanswered;
  return error.$fault === 'server' || error.status === 429 || error.name === 'RequestTimeout';
}
