import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import * as z from 'zod/mini';
import { CorruptData } from '../errors.ts';
import { isResultsKeyOf } from '../results-key.ts';
import { JobRow, jobRowDefaults } from '../schemas/job.ts';
import type { TableNames } from '../tables.ts';
import { getRow } from './dynamodb/reads.ts';

const ResultsOfRow = z.pick(JobRow, { results_key: true });

/**
 * The function that finds the key of a job's results: null while there are none, undefined when the
 * user has no such job. 1 read unit for each 4 KB of the job's row.
 */
export function getResultsKey(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Jobs'>,
): (userId: string, jobId: string) => Promise<string | null | undefined> {
  return async (userId, jobId) => {
    const key = { user_id: userId, id: jobId };
    const row = await getRow(client, { table: tables.Jobs, key, schema: ResultsOfRow, defaults: jobRowDefaults });
    return row?.results_key;
  };
}

const longestValidity = 900;

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
  if (!(Number.isInteger(validitySeconds) && validitySeconds >= 1 && validitySeconds <= longestValidity)) {
    throw new RangeError(`A results link is valid for 1 to ${longestValidity} s, not for ${validitySeconds}.`);
  }
  return async (userId, key) => {
    if (!isResultsKeyOf(userId, key)) throw new CorruptData('The results are not among those of their owner.');
    const command = new GetObjectCommand({ Bucket: bucket, Key: key, ResponseContentType: 'application/json' });
    return getSignedUrl(client, command, { expiresIn: validitySeconds });
  };
}

/** Without the checksum mode that the SDK otherwise adds to every GET: a plain download cannot use it. */
function s3Client(): S3Client {
  return new S3Client({ requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' });
}
