import {
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import * as z from 'zod/mini';
import { CorruptData, DependencyFailed, ResultsGone } from '../errors.ts';
import { isResultsKeyOf } from '../results-key.ts';
import { JobRow } from '../schemas/job.ts';
import type { ResultsRequest, UploadLink } from '../schemas/lease.ts';
import type { TableNames } from '../tables.ts';
import { toMicroseconds } from '../timestamp.ts';
import { getRow } from './dynamodb/reads.ts';

const ResultsOfRow = z.pick(JobRow, {
  results_key: true,
  erased_at: true,
  written_at: true,
  updated_at: true,
});

interface ResultsAge {
  /** After so many days the bucket deletes results; undefined: never. */
  readonly maxDays?: number | undefined;
  readonly now?: () => number;
}

/**
 * The function that finds the key of a job's results: null while there are none, undefined when the
 * user has no such job. Throws ResultsGone where they were erased, and where they have been there
 * for `maxDays`. 1 read unit for each 4 KB of the job's row.
 */
export function getResultsKey(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Jobs'>,
  { maxDays = Number.POSITIVE_INFINITY, now = Date.now }: ResultsAge = {},
): (userId: string, jobId: string) => Promise<string | null | undefined> {
  return async (userId, jobId) => {
    const key = { user_id: userId, id: jobId };
    const row = await getRow(client, { table: tables.Jobs, key, schema: ResultsOfRow });
    if (row?.erased_at !== undefined) throw new ResultsGone('results_erased', 'The batch of the job was erased.');
    if (row?.results_key && expiryOf(row, maxDays) <= now()) {
      throw new ResultsGone('results_expired', `Results are kept for ${maxDays} days.`);
    }
    return row?.results_key;
  };
}

const dayMilliseconds = 86_400_000;

/** S3 counts whole days from an upload, up to the next midnight of UTC. The key comes with it. */
function expiryOf({ written_at, updated_at }: z.infer<typeof ResultsOfRow>, days: number): number {
  const reported = (written_at.results_key ?? toMicroseconds(updated_at)) / 1_000;
  return (Math.floor(reported / dayMilliseconds) + 1 + days) * dayMilliseconds;
}

const maxValiditySeconds = 900;

/**
 * The function that makes links to objects of the results bucket. A link downloads as JSON without
 * a token, for `validitySeconds` (at most 900). Signing is arithmetic: it sends nothing and does
 * not check that the object exists. A link ends with the credentials that signed it. Lambda does
 * not say when those expire; it replaces execution environments with their credentials every few
 * hours.
 *
 * The returned function throws CorruptData for a key that is not below the user's own prefix.
 */
export function signResultsLink(
  bucket: string,
  validitySeconds: number,
  client = s3Client(),
): (userId: string, key: string) => Promise<string> {
  if (!(Number.isInteger(validitySeconds) && validitySeconds >= 1 && validitySeconds <= maxValiditySeconds)) {
    throw new RangeError(`A results link is valid for 1 to ${maxValiditySeconds} s, not for ${validitySeconds}.`);
  }
  return async (userId, key) => {
    if (!isResultsKeyOf(userId, key)) throw new CorruptData('The results are not below the prefix of their owner.');
    const command = new GetObjectCommand({
      Bucket: bucket,
      Key: key,
      ResponseContentType: 'application/json',
      // An upload does not sign its encoding: a link used late could give the same bytes another
      // one.
      ResponseContentEncoding: 'identity',
    });
    return getSignedUrl(client, command, { expiresIn: validitySeconds });
  };
}

/** How long a link for an upload is valid, in seconds. */
const uploadSeconds = 300;

/** Signed as headers: S3 ignores a checksum in the query. */
const signedHeaders = new Set(['content-length', 'x-amz-checksum-sha256']);

/**
 * The function that makes links for the upload of just this document: S3 refuses another length,
 * and content of another SHA-256.
 */
export function signUploadLink(
  bucket: string,
  client = s3Client(),
): (key: string, document: ResultsRequest) => Promise<UploadLink> {
  return async (key, { bytes, sha256 }) => {
    const checksum = Buffer.from(sha256, 'hex').toString('base64');
    const command = new PutObjectCommand({ Bucket: bucket, Key: key, ContentLength: bytes, ChecksumSHA256: checksum });
    const url = await getSignedUrl(client, command, {
      expiresIn: uploadSeconds,
      unhoistableHeaders: signedHeaders,
      signableHeaders: new Set([...signedHeaders, 'host']),
    });
    return { url, headers: { 'Content-Length': String(bytes), 'x-amz-checksum-sha256': checksum } };
  };
}

/** The function that finds whether an object exists. */
export function findObject(bucket: string, client = s3Client()): (key: string) => Promise<boolean> {
  return async (key) => {
    try {
      await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
      return true;
    } catch (error) {
      // S3 says 403 to a role that must not list the bucket.
      const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
      if (status === 403 || status === 404) return false;
      throw new DependencyFailed('The store of results failed.', { cause: error });
    }
  };
}

/**
 * Without the checksum mode that the SDK otherwise adds to every GET: a plain download cannot use
 * it.
 */
export function s3Client(): S3Client {
  return new S3Client({ requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' });
}
