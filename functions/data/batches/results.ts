import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import * as z from 'zod/mini';
import { CorruptData, ResultsGone } from '../../errors.ts';
import { JobRow } from '../../schemas/job.ts';
import type { ResultsRequest, UploadLink } from '../../schemas/lease.ts';
import { timeLimits } from '../../time-limits.ts';
import { isResultsKeyOf } from '../../values/results-key.ts';
import { toMicroseconds } from '../../values/timestamp.ts';
import type { ResultsBucket } from '../aws/results-bucket.ts';
import type { Db } from '../dynamodb/db.ts';
import { getRow } from '../dynamodb/reads.ts';

const ResultsOfRow = z.pick(JobRow(), {
  results_key: true,
  erased_at: true,
  written_at: true,
  updated_at: true,
});

/**
 * The key of a job's results: null while there are none, undefined when the user has no such job.
 * Throws ResultsGone when they were erased, or have reached the age of `maxDays`, at which the
 * bucket deletes them. 1 read unit for each 4 KB of the job's row.
 */
export async function getResultsKey(
  db: Db<'Jobs'>,
  { userId, jobId }: { readonly userId: string; readonly jobId: string },
  maxDays = Number.POSITIVE_INFINITY,
): Promise<string | null | undefined> {
  const key = { user_id: userId, id: jobId };
  const row = await getRow(db, { table: 'Jobs', key, schema: ResultsOfRow });
  if (row?.erased_at !== undefined) throw new ResultsGone('results_erased', 'The batch of the job was erased.');
  if (row?.results_key && expiryOf(row, maxDays) <= db.clock.now()) {
    throw new ResultsGone('results_expired', `Results are kept for ${maxDays} days.`);
  }
  return row?.results_key;
}

const dayMilliseconds = 86_400_000;

/** S3 counts whole days from an upload, up to the next midnight of UTC. The key comes with it. */
function expiryOf({ written_at, updated_at }: z.infer<typeof ResultsOfRow>, days: number): number {
  const reported = (written_at.results_key ?? toMicroseconds(updated_at)) / 1_000;
  return (Math.floor(reported / dayMilliseconds) + 1 + days) * dayMilliseconds;
}

const maxValiditySeconds = 900;

/** Throws RangeError if links to results may not be valid for this long: 1 to 900 s. */
export function requireValidity(seconds: number): number {
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= maxValiditySeconds) return seconds;
  throw new RangeError(`A results link is valid for 1 to ${maxValiditySeconds} s, not for ${seconds}.`);
}

/**
 * A link to an object of the results bucket. It downloads as JSON without a token, for
 * `validitySeconds` (see requireValidity). Signing is arithmetic: it sends nothing and does not
 * check that the object exists. A link ends with the credentials that signed it. Lambda does not
 * say when those expire; it replaces execution environments with their credentials every few hours.
 *
 * Throws CorruptData for a key that is not below the user's own prefix.
 */
export async function signResultsLink(
  { client, name }: ResultsBucket,
  { userId, key }: { readonly userId: string; readonly key: string },
  validitySeconds: number,
): Promise<string> {
  if (!isResultsKeyOf(userId, key)) throw new CorruptData('The results are not below the prefix of their owner.');
  const command = new GetObjectCommand({
    Bucket: name,
    Key: key,
    ResponseContentType: 'application/json',
    // An upload does not sign its encoding: a link used late could give the same bytes another
    // one.
    ResponseContentEncoding: 'identity',
  });
  return getSignedUrl(client, command, { expiresIn: validitySeconds });
}

/** Signed as headers: S3 ignores a checksum in the query. */
const signedHeaders = new Set(['content-length', 'x-amz-checksum-sha256']);

/**
 * A link for the upload of just this document: S3 refuses another length, and content of another
 * SHA-256.
 */
export async function signUploadLink(
  { client, name }: ResultsBucket,
  key: string,
  { bytes, sha256 }: ResultsRequest,
): Promise<UploadLink> {
  const checksum = Buffer.from(sha256, 'hex').toString('base64');
  const command = new PutObjectCommand({ Bucket: name, Key: key, ContentLength: bytes, ChecksumSHA256: checksum });
  const url = await getSignedUrl(client, command, {
    expiresIn: timeLimits.uploadLink,
    unhoistableHeaders: signedHeaders,
    signableHeaders: new Set([...signedHeaders, 'host']),
  });
  return { url, headers: { 'Content-Length': String(bytes), 'x-amz-checksum-sha256': checksum } };
}
