import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { SignatureV4 } from '@smithy/signature-v4';

/** A key pair, and the session token that comes with a role's. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** A request as it arrived: `path` still encoded, `query` decoded. */
export interface SignedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string | string[]>>;
  readonly headers: IncomingHttpHeaders;
}

/** What the request says of its own signature, before anything is checked. */
export interface SignatureClaim extends Signature {
  readonly accessKeyId: string;
  readonly date: Date;
  readonly region: string;
  readonly service: string;
}

interface Signature {
  readonly presigned: boolean;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly sessionToken: string | undefined;
  /** Seconds, of a pre-signed URL. */
  readonly expiresIn: number;
}

/** A signature as it was sent, with its credential and its time. */
interface SentSignature extends Signature {
  readonly credential: string;
  readonly time: string;
}

/**
 * The claim in the query of a pre-signed URL or in the Authorization header. Undefined when there
 * is none.
 */
export function readSignatureClaim({
  query,
  headers,
}: Pick<SignedRequest, 'query' | 'headers'>): SignatureClaim | undefined {
  const sent = query['X-Amz-Signature'] === undefined ? readHeaders(headers) : readQuery(query);
  if (sent === undefined) return undefined;
  const { credential, time, ...signature } = sent;
  const [accessKeyId, day, region, service, end] = credential.split('/');
  const date = parseDate(time);
  if (date === undefined || day !== time.slice(0, 8) || end !== 'aws4_request') return undefined;
  if (accessKeyId === undefined || region === undefined || service === undefined) return undefined;
  return { ...signature, accessKeyId, date, region, service };
}

/**
 * Signs the request again with AWS's signer, with exactly the headers that the claim names, and
 * compares the signatures. `payloadHash` is the hash of the body, or what S3 signs in its place.
 */
export async function isSignedBy(
  credentials: Credentials,
  claim: SignatureClaim,
  { request, payloadHash }: { readonly request: SignedRequest; readonly payloadHash: string },
): Promise<boolean> {
  if (claim.sessionToken !== credentials.sessionToken) return false;
  const headers: Record<string, string> = {};
  for (const name of claim.signedHeaders) {
    const value = request.headers[name];
    if (value === undefined) return false;
    headers[name] = Array.isArray(value) ? value.join(',') : value;
  }
  const signer = new SignatureV4({
    credentials,
    region: claim.region,
    service: claim.service,
    sha256: Sha256,
    uriEscapePath: claim.service !== 's3',
    applyChecksum: false,
  });
  const query: Record<string, string | string[]> = { ...request.query };
  for (const name of signatureParameters) delete query[name];
  // The signer takes the payload's hash from this header, even when the header itself is not
  // signed.
  const hashHeader = { 'x-amz-content-sha256': payloadHash };
  const copy = {
    method: request.method,
    protocol: 'http:',
    hostname: '127.0.0.1',
    path: request.path,
    query,
    headers: { ...headers, ...hashHeader },
  };
  const signable = new Set(claim.signedHeaders);
  const unsignable = new Set(signable.has('x-amz-content-sha256') ? [] : ['x-amz-content-sha256']);
  const common = { signingDate: claim.date, signableHeaders: signable, unsignableHeaders: unsignable };
  if (claim.presigned) {
    const unhoistableHeaders = new Set(['x-amz-content-sha256', ...claim.signedHeaders]);
    const signed = await signer.presign(copy, { ...common, expiresIn: claim.expiresIn, unhoistableHeaders });
    return signed.query?.['X-Amz-Signature'] === claim.signature;
  }
  const signed = await signer.sign(copy, common);
  return signed.headers.authorization?.endsWith(` Signature=${claim.signature}`) === true;
}

const signatureParameters = [
  'X-Amz-Algorithm',
  'X-Amz-Credential',
  'X-Amz-Date',
  'X-Amz-Expires',
  'X-Amz-SignedHeaders',
  'X-Amz-Security-Token',
  'X-Amz-Signature',
];

function readQuery(query: SignedRequest['query']): SentSignature | undefined {
  const field = (name: string) => {
    const value = query[`X-Amz-${name}`];
    return typeof value === 'string' ? value : undefined;
  };
  const [credential, time, signedHeaders, signature] = ['Credential', 'Date', 'SignedHeaders', 'Signature'].map(field);
  const expires = field('Expires');
  if (field('Algorithm') !== 'AWS4-HMAC-SHA256' || !/^\d{1,6}$/.test(expires ?? '')) return undefined;
  if (credential === undefined || time === undefined || signedHeaders === undefined || signature === undefined)
    return undefined;
  return {
    presigned: true,
    credential,
    time,
    signedHeaders: signedHeaders.split(';'),
    signature,
    sessionToken: field('Security-Token'),
    expiresIn: Number(expires),
  };
}

function readHeaders(headers: IncomingHttpHeaders): SentSignature | undefined {
  const [, credential, signedHeaders = '', signature = ''] =
    /^AWS4-HMAC-SHA256 Credential=([^,\s]+), ?SignedHeaders=([^,\s]+), ?Signature=([0-9a-f]+)$/.exec(
      headers.authorization ?? '',
    ) ?? [];
  const { 'x-amz-date': time, 'x-amz-security-token': token } = headers;
  if (credential === undefined || typeof time !== 'string') return undefined;
  return {
    presigned: false,
    credential,
    time,
    signedHeaders: signedHeaders.split(';'),
    signature,
    sessionToken: token === undefined ? token : String(token),
    expiresIn: 0,
  };
}

/** `20261121T025936Z`. */
function parseDate(text: string): Date | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hours, minutes, seconds] = match;
  const date = new Date(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** Node's SHA-256 in the form that the signer asks for. With a secret it is an HMAC. */
class Sha256 {
  readonly #hash: { update(data: Uint8Array | string): unknown; digest(): Buffer };

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as Uint8Array | string);
  }

  update(data: Uint8Array) {
    this.#hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset() {
    throw new Error('A hash is used once.');
  }
}
