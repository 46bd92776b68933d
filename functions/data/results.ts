import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { CorruptData } from '../errors.ts';
import { isResultsKeyOf } from '../results-key.ts';
import type { TableNames } from '../tables.ts';

/** Where the results of jobs are. */
export function jobResults(client: DynamoDBDocumentClient, tables: TableNames<'Jobs'>) {
  return {
    /** The key of this user's job's results; null while it has none; undefined when the user has no such job. 1 read unit. */
    async keyOf(userId: string, jobId: string): Promise<string | null | undefined> {
      const { Item } = await client.send(
        new GetCommand({
          TableName: tables.Jobs,
          Key: { user_id: userId, id: jobId },
          ProjectionExpression: 'results_key',
          ConsistentRead: true,
        }),
      );
      return Item === undefined ? undefined : (Item.results_key ?? null);
    },
  };
}

const longestValidity = 900;

/**
 * Links to objects of the results bucket that download as JSON without a token, for `validitySeconds` (at most 900). Signing
 * is arithmetic: it sends nothing and does not look whether the object is there.
 */
export function resultsLinks(bucket: string, validitySeconds: number, client = s3Client()) {
  if (!(Number.isInteger(validitySeconds) && validitySeconds >= 1 && validitySeconds <= longestValidity)) {
    throw new RangeError(`A results link is valid for 1 to ${longestValidity} s, not for ${validitySeconds}.`);
  }
  return {
    /** For an object of this user. Throws when the credentials that sign would expire before the link. */
    async linkTo(userId: string, key: string): Promise<string> {
      if (!isResultsKeyOf(userId, key)) throw new CorruptData('The results are not among those of their owner.');
      const { expiration } = await client.config.credentials();
      if (expiration !== undefined && expiration.getTime() < Date.now() + validitySeconds * 1000) {
        throw new Error(`The signing credentials expire at ${expiration.toISOString()}, before the link would.`);
      }
      const command = new GetObjectCommand({ Bucket: bucket, Key: key, ResponseContentType: 'application/json' });
      return getSignedUrl(client, command, { expiresIn: validitySeconds });
    },
  };
}

/** Without the checksum mode that the SDK else adds to every GET, and that a plain download cannot make use of. */
function s3Client(): S3Client {
  return new S3Client({ requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' });
}
