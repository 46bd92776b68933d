import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { decodeComponent, type HttpServer, parseTarget, readBody, startHttpServer } from '../http-server.ts';
import { isDenied } from '../iam/policy.ts';
import type { Principal, Principals } from '../iam/principals.ts';
import { isSignedBy, readSignatureClaim, type SignatureClaim, type SignedRequest } from '../iam/sigv4.ts';
import type { BucketDefinition } from '../template/deployment.ts';
import { memoryObjects, type ObjectFiles } from './object-files.ts';

/** S3's error: its code, its status, its text. */
class S3Error extends Error {
  readonly code: string;
  readonly status: number;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const actions: Readonly<Record<string, string>> = {
  GET: 's3:GetObject',
  HEAD: 's3:GetObject',
  PUT: 's3:PutObject',
  DELETE: 's3:DeleteObject',
};

const objectLimit = 256 * 1024 * 1024;
const oneWeekSeconds = 604_800;
/** How far the clocks of signer and store may be apart. */
const clockSkewSeconds = 15 * 60;

/**
 * The part of S3 that the service and its clients use: objects of the template's buckets (path style), put, got, asked
 * for and deleted with a signature in the header or in a pre-signed URL. Refuses what S3 refuses: no or a wrong
 * signature, an expired one, a principal whose role or the bucket whose policy does not allow it; `now` is in
 * milliseconds since 1970.
 */
export function startObjectStore(options: {
  readonly buckets: readonly BucketDefinition[];
  readonly principals: Principals;
  readonly files?: ObjectFiles;
  readonly now?: () => number;
}): Promise<HttpServer> {
  const { buckets, principals, files = memoryObjects(), now = Date.now } = options;
  return startHttpServer(0, async (request, response) => {
    const requestId = randomUUID();
    response.setHeader('x-amz-request-id', requestId);
    response.setHeader('Server', 'AmazonS3');
    try {
      await serve(request, response);
    } catch (error) {
      if (!(error instanceof S3Error)) throw error;
      response.writeHead(error.status, { 'Content-Type': 'application/xml' });
      response.end(request.method === 'HEAD' ? undefined : errorXml(error, requestId));
    }
  });

  async function serve(request: IncomingMessage, response: ServerResponse) {
    const { path, query: pairs } = parseTarget(request.url ?? '/');
    if (request.method === 'OPTIONS') return void response.writeHead(200, corsHeaders).end();
    const query = groupPairs(pairs);
    const method = request.method ?? 'GET';
    const body = await readBody(request, objectLimit);
    if (body === undefined)
      throw new S3Error(400, 'EntityTooLarge', 'Your proposed upload exceeds the maximum allowed size');
    const signed: SignedRequest = { method, path, query, headers: request.headers };
    const { principal, claim } = await authenticate(signed, body);
    const [, bucketName = '', ...segments] = path.split('/');
    const key = segments.map(decodeComponent).join('/');
    const bucket = buckets.find(({ name }) => name === bucketName);
    const action = actions[method];
    if (action === undefined || key === '')
      throw new S3Error(501, 'NotImplemented', 'The local store serves objects only.');
    if (bucket === undefined) throw new S3Error(404, 'NoSuchBucket', 'The specified bucket does not exist');
    const access = {
      action,
      resource: `arn:aws:s3:::${bucketName}/${key}`,
      conditions: {
        // On this machine the loopback interface stands for TLS.
        'aws:SecureTransport': 'true',
        's3:signatureAge': String(now() - claim.date.getTime()),
      },
    };
    if (!principal.mayDo(access) || isDenied(bucket.policy, access))
      throw new S3Error(403, 'AccessDenied', 'Access Denied');
    const name = `${bucketName}/${key}`;
    if (method === 'PUT') {
      const content = decodeChunks(request, body);
      const contentType = request.headers['content-type'] ?? 'application/octet-stream';
      await files.write(name, { content, contentType, modified: new Date(now()).toUTCString() });
      response.writeHead(200, { ETag: entityTag(content) }).end();
    } else if (method === 'DELETE') {
      await files.remove(name);
      response.writeHead(204).end();
    } else {
      const stored = await files.read(name);
      if (stored === undefined) throw new S3Error(404, 'NoSuchKey', 'The specified key does not exist.');
      const overrides = Object.entries(query).filter(([each]) => each.startsWith('response-'));
      response.writeHead(200, {
        ...(request.headers.origin !== undefined && corsHeaders),
        'Content-Type': stored.contentType,
        'Content-Length': stored.content.length,
        'Last-Modified': stored.modified,
        ETag: entityTag(stored.content),
        'Accept-Ranges': 'bytes',
        ...Object.fromEntries(overrides.map(([each, value]) => [each.slice('response-'.length), String(value)])),
      });
      response.end(method === 'HEAD' ? undefined : stored.content);
    }
  }

  async function authenticate(
    request: SignedRequest,
    body: Buffer,
  ): Promise<{ principal: Principal; claim: SignatureClaim }> {
    const claim = readSignatureClaim(request);
    if (claim === undefined) {
      const malformed = Object.keys(request.query).some((name) => /^x-amz-(signature|credential)$/i.test(name));
      if (malformed) {
        throw new S3Error(
          400,
          'AuthorizationQueryParametersError',
          'Error parsing the signature parameters of the query',
        );
      }
      throw new S3Error(403, 'AccessDenied', 'Access Denied');
    }
    const principal = principals.get(claim.accessKeyId);
    if (principal === undefined) {
      throw new S3Error(403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our records.');
    }
    const age = (now() - claim.date.getTime()) / 1000;
    if (claim.presigned) {
      if (claim.expiresIn < 1 || claim.expiresIn > oneWeekSeconds) {
        throw new S3Error(
          400,
          'AuthorizationQueryParametersError',
          'X-Amz-Expires must be between 1 second and one week',
        );
      }
      if (age > claim.expiresIn) throw new S3Error(403, 'AccessDenied', 'Request has expired');
      if (age < -clockSkewSeconds) throw new S3Error(403, 'AccessDenied', 'Request is not yet valid');
    } else if (Math.abs(age) > clockSkewSeconds) {
      throw new S3Error(
        403,
        'RequestTimeTooSkewed',
        'The difference between the request time and the current time is too large.',
      );
    }
    const declared = request.headers['x-amz-content-sha256'];
    const payloadHash = claim.presigned ? 'UNSIGNED-PAYLOAD' : String(declared);
    const mustSign = [
      'host',
      ...Object.keys(request.headers).filter((name) => name.startsWith('x-amz-') && !claim.presigned),
    ];
    if (
      claim.service !== 's3' ||
      mustSign.some((name) => !claim.signedHeaders.includes(name)) ||
      !(await isSignedBy(principal.credentials, claim, request, payloadHash))
    ) {
      throw new S3Error(
        403,
        'SignatureDoesNotMatch',
        'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
      );
    }
    if (/^[0-9a-f]{64}$/.test(payloadHash) && createHash('sha256').update(body).digest('hex') !== payloadHash) {
      throw new S3Error(
        400,
        'XAmzContentSHA256Mismatch',
        "The provided 'x-amz-content-sha256' header does not match what was computed.",
      );
    }
    return { principal, claim };
  }
}

/** The results bucket lets browsers download from any origin. */
const corsHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET',
  'Access-Control-Allow-Headers': '*',
};

/** The content of a body that the SDK sends in chunks with a checksum as trailer. */
function decodeChunks(request: IncomingMessage, body: Buffer): Buffer {
  const declared = request.headers['x-amz-content-sha256'];
  if (typeof declared !== 'string' || !declared.startsWith('STREAMING-')) return body;
  if (declared !== 'STREAMING-UNSIGNED-PAYLOAD-TRAILER') {
    throw new S3Error(501, 'NotImplemented', 'The local store does not read signed chunks.');
  }
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at);
    const size = end < 0 ? Number.NaN : Number.parseInt(body.toString('latin1', at, end), 16);
    if (!(size >= 0)) throw new S3Error(400, 'IncompleteBody', 'The request body terminated unexpectedly');
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(body.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}

function groupPairs(pairs: readonly [string, string][]): Record<string, string | string[]> {
  const values = Map.groupBy(pairs, ([name]) => name);
  return Object.fromEntries(
    [...values].map(([name, all]) => [name, all.length === 1 ? all[0]![1] : all.map(([, value]) => value)]),
  );
}

function entityTag(content: Buffer): string {
  return `"${createHash('md5').update(content).digest('hex')}"`;
}

function errorXml({ code, message }: S3Error, requestId: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message><RequestId>${requestId}</RequestId></Error>`;
}
