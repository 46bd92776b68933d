import { hash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isDenied } from '../iam/policy.ts';
import type { Principals } from '../iam/principals.ts';
import { decodeComponent, type HttpServer, readBody, splitTarget, startHttpServer } from '../service/http-server.ts';
import { Refusal } from '../service/refusal.ts';
import type { BucketDefinition } from '../template/deployment.ts';
import { authenticate } from './authenticate.ts';
import { memoryObjects, type ObjectFiles, type StoredObject } from './object-files.ts';
import { listVersions, type ObjectVersion, putMarker, putVersion, removeVersion } from './object-versions.ts';

const actions: Readonly<Record<string, string>> = {
  GET: 's3:GetObject',
  HEAD: 's3:GetObject',
  PUT: 's3:PutObject',
  DELETE: 's3:DeleteObject',
};

/** What one page of a listing holds. */
const maxListed = 1_000;

const maxObjectBytes = 256 * 1024 * 1024;

/**
 * The part of S3 that the service and its clients use: GET, HEAD, PUT and DELETE of objects in the
 * template's buckets (path style), which keep versions; lists of versions, and their deletion. All
 * are signed in the header or as a pre-signed URL. It refuses what S3 refuses: a missing, wrong or
 * expired signature, and what the role or the bucket's policy does not allow. `now` is in
 * milliseconds since 1970.
 */
export function startObjectStore(options: {
  readonly buckets: readonly BucketDefinition[];
  readonly principals: Principals;
  readonly files?: ObjectFiles;
  readonly now?: () => number;
}): Promise<HttpServer> {
  const store = { files: memoryObjects(), now: Date.now, ...options };
  return startHttpServer(0, async (request, response) => {
    const requestId = randomUUID();
    response.setHeader('x-amz-request-id', requestId);
    response.setHeader('Server', 'AmazonS3');
    try {
      if (request.method === 'OPTIONS') response.writeHead(200, corsHeaders).end();
      else await serve(store, await readCall(store, request), response);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      response.writeHead(error.status, { 'Content-Type': 'application/xml' });
      response.end(request.method === 'HEAD' ? undefined : errorXml(error, requestId));
    }
  });
}

type Store = Required<Parameters<typeof startObjectStore>[0]>;

/** A request that is signed, for a bucket that is there. */
interface ObjectCall {
  readonly request: IncomingMessage;
  readonly body: Buffer;
  readonly query: Readonly<Record<string, string | string[]>>;
  readonly bucket: string;
  /** Empty for the bucket itself. */
  readonly key: string;
  /** Whether role and bucket allow it: with the key, that object; without, the bucket itself. */
  mayDo(action: string, key?: string, prefix?: string): boolean;
}

async function readCall({ buckets, principals, now }: Store, request: IncomingMessage): Promise<ObjectCall> {
  const { path, search } = splitTarget(request.url ?? '/');
  const { method = 'GET', headers } = request;
  const query = groupPairs(new URLSearchParams(search));
  const body = await readBody(request, maxObjectBytes);
  if (body === undefined) throw new Refusal('EntityTooLarge', 'Your proposed upload exceeds the maximum allowed size');
  const signed = { request: { method, path, query, headers }, body, now: now() };
  const { principal, claim } = await authenticate(signed, principals);
  const [, bucketName = '', ...segments] = path.split('/');
  const bucket = buckets.find(({ name }) => name === bucketName);
  if (bucket === undefined) throw new Refusal('NoSuchBucket', 'The specified bucket does not exist', 404);
  return {
    request,
    body,
    query,
    bucket: bucketName,
    key: segments.map(decodeComponent).join('/'),
    mayDo(action, key, prefix) {
      const resource = `arn:aws:s3:::${bucketName}${key === undefined ? '' : `/${key}`}`;
      const conditions = {
        ...(prefix !== undefined && { 's3:prefix': prefix }),
        // On this machine the loopback interface takes the place of TLS.
        'aws:SecureTransport': 'true',
        's3:signatureAge': String(now() - claim.date.getTime()),
      };
      return (
        principal.mayDo({ action, resource, conditions }) && !isDenied(bucket.policy, { action, resource, conditions })
      );
    },
  };
}

async function serve(store: Store, call: ObjectCall, response: ServerResponse): Promise<void> {
  const { request, query, key } = call;
  const { method = 'GET' } = request;
  if (key === '' && method === 'GET' && query.versions !== undefined) return serveVersions(store, call, response);
  if (key === '' && method === 'POST' && query.delete !== undefined) return deleteObjects(store, call, response);
  const action = actions[method];
  if (action === undefined || key === '') {
    throw new Refusal('NotImplemented', 'The local store does not know this request.', 501);
  }
  if (!call.mayDo(action, key)) throw accessDenied();
  if (method === 'PUT') return putObject(store, call, response);
  if (method !== 'DELETE') return getObject(store, call, response);
  await putMarker(store.files, `${call.bucket}/${key}`, store.now());
  response.writeHead(204).end();
}

async function serveVersions({ files }: Store, { bucket, query, mayDo }: ObjectCall, response: ServerResponse) {
  const prefix = String(query.prefix ?? '');
  if (!mayDo('s3:ListBucketVersions', undefined, prefix)) throw accessDenied();
  const versions = await listVersions(files, `${bucket}/${prefix}`);
  sendXml(response, versionsXml(bucket, versions, query));
}

async function deleteObjects({ files, now }: Store, { body, bucket, mayDo }: ObjectCall, response: ServerResponse) {
  const refused: string[] = [];
  for (const { key, version } of readDeletions(body.toString())) {
    const action = version === undefined ? 's3:DeleteObject' : 's3:DeleteObjectVersion';
    if (!mayDo(action, key)) refused.push(key);
    else if (version === undefined) await putMarker(files, `${bucket}/${key}`, now());
    else await removeVersion(files, `${bucket}/${key}`, version);
  }
  const errors = refused.map((key) => `<Error><Key>${escapeXml(key)}</Key><Code>AccessDenied</Code></Error>`);
  sendXml(response, `<DeleteResult>${errors.join('')}</DeleteResult>`);
}

async function putObject({ files, now }: Store, { request, body, bucket, key }: ObjectCall, response: ServerResponse) {
  const content = decodeChunks(request, body);
  requireChecksum(request.headers['x-amz-checksum-sha256'], content);
  const contentType = request.headers['content-type'] ?? 'application/octet-stream';
  const modified = new Date(now()).toUTCString();
  await putVersion(files, `${bucket}/${key}`, { content, contentType, modified }, now());
  response.writeHead(200, { ETag: entityTag(content) }).end();
}

async function getObject(
  { files }: Store,
  { request, query, bucket, key, mayDo }: ObjectCall,
  response: ServerResponse,
) {
  const stored = await files.read(`${bucket}/${key}`);
  if (stored !== undefined && stored.isMarker !== true) return sendObject(request, response, { stored, query });
  // S3 shows that an object does not exist only to roles that may list the bucket.
  if (mayDo('s3:ListBucket')) throw new Refusal('NoSuchKey', 'The specified key does not exist.', 404);
  throw accessDenied();
}

function accessDenied(): Refusal {
  return new Refusal('AccessDenied', 'Access Denied', 403);
}

function sendXml(response: ServerResponse, xml: string) {
  response.writeHead(200, { 'Content-Type': 'application/xml' });
  response.end(`<?xml version="1.0" encoding="UTF-8"?>\n${xml}`);
}

function versionsXml(
  bucket: string,
  versions: readonly ObjectVersion[],
  query: Readonly<Record<string, unknown>>,
): string {
  const { 'key-marker': key, 'version-id-marker': version } = query;
  const last = versions.findIndex((each) => each.name === `${bucket}/${key}` && each.version === version);
  const page = versions.slice(last + 1, last + 1 + maxListed);
  const keyOf = ({ name }: ObjectVersion) => escapeXml(name.slice(bucket.length + 1));
  const items = page.map((each) => {
    const [tag, size] = each.isMarker ? ['DeleteMarker', ''] : ['Version', `<Size>${each.bytes}</Size>`];
    return `<${tag}><Key>${keyOf(each)}</Key><VersionId>${each.version}</VersionId><IsLatest>${each.isLatest}</IsLatest>${size}</${tag}>`;
  });
  const [end] = page.slice(-1);
  const next =
    end === undefined || last + 1 + page.length === versions.length
      ? '<IsTruncated>false</IsTruncated>'
      : `<IsTruncated>true</IsTruncated><NextKeyMarker>${keyOf(end)}</NextKeyMarker><NextVersionIdMarker>${end.version}</NextVersionIdMarker>`;
  return `<ListVersionsResult>${next}${items.join('')}</ListVersionsResult>`;
}

/** The objects that the body of a deletion names. */
function readDeletions(xml: string): { key: string; version: string | undefined }[] {
  return Array.from(xml.matchAll(/<Object>(.*?)<\/Object>/gs), ([, object = '']) => {
    const text = (tag: string) => new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(object)?.[1];
    return { key: unescapeXml(text('Key') ?? ''), version: text('VersionId') };
  });
}

const xmlEntities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => xmlEntities[character as '&']);
}

function unescapeXml(text: string): string {
  const [characters, entities] = [Object.keys(xmlEntities), Object.values(xmlEntities)];
  return text.replace(/&\w+;/g, (entity) => characters[entities.indexOf(entity)] ?? entity);
}

function errorXml({ code, message }: Refusal, requestId: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message><RequestId>${requestId}</RequestId></Error>`;
}

function sendObject(
  { method, headers }: IncomingMessage,
  response: ServerResponse,
  { stored, query }: { readonly stored: StoredObject; readonly query: Readonly<Record<string, string | string[]>> },
) {
  const overrides = Object.entries(query).filter(([name]) => name.startsWith('response-'));
  response.writeHead(200, {
    ...(headers.origin !== undefined && corsHeaders),
    'Content-Type': stored.contentType,
    'Content-Length': stored.content.length,
    'Last-Modified': stored.modified,
    ETag: entityTag(stored.content),
    'Accept-Ranges': 'bytes',
    ...Object.fromEntries(overrides.map(([name, value]) => [name.slice('response-'.length), String(value)])),
  });
  response.end(method === 'HEAD' ? undefined : stored.content);
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
    throw new Refusal('NotImplemented', 'The local store does not read signed chunks.', 501);
  }
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at);
    const size = end < 0 ? Number.NaN : Number.parseInt(body.toString('latin1', at, end), 16);
    if (!(size >= 0)) throw new Refusal('IncompleteBody', 'The request body terminated unexpectedly');
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(body.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}

/** A checksum counts as a header only; S3 ignores one in the query. */
function requireChecksum(declared: string | string[] | undefined, content: Buffer) {
  if (declared === undefined || hash('sha256', content, 'base64') === declared) return;
  throw new Refusal('BadDigest', 'The SHA256 you specified did not match the calculated checksum.');
}

function groupPairs(pairs: URLSearchParams): Record<string, string | string[]> {
  const values = Map.groupBy(pairs, ([name]) => name);
  return Object.fromEntries(
    [...values].map(([name, all]) => [name, all.length === 1 ? all[0]![1] : all.map(([, value]) => value)]),
  );
}

function entityTag(content: Buffer): string {
  return `"${hash('md5', content)}"`;
}
