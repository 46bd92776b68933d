/** Where results lie in the bucket, and which keys may name them: the one place that says so. */

/** Keys of all results begin with it; functions may read below it, and nowhere else. */
export const resultsPrefix = 'results/';

/** Keys of one user's results begin with it. */
export function userResultsPrefix(userId: string): string {
  return `${resultsPrefix}${userId}/`;
}

/**
 * Key of the results that a device uploads under a lease. It names the lease and the document's
 * SHA-256 (hexadecimal, lower case), and links to it are signed for that SHA-256 alone. So an
 * object under it never changes, whenever a link is used.
 */
export function leasedResultsKey(userId: string, jobId: string, { fence, sha256 }: LeasedDocument): string {
  return `${userResultsPrefix(userId)}${jobId}/${fence}/${sha256}.json`;
}

interface LeasedDocument {
  /** The number of the lease. */
  readonly fence: number;
  readonly sha256: string;
}

/** S3's limit of a key, in bytes of UTF-8. */
const maxKeyBytes = 1_024;

/**
 * Whether the key names results of this user: a link is signed for such keys only. Below the user's
 * own prefix it consists of plain segments, which no client, proxy or browser takes for another
 * path. A plain segment
 * - is not empty, `.` or `..`;
 * - contains no backslash, control character or percent-encoded character.
 */
export function isResultsKeyOf(userId: string, key: string): boolean {
  const prefix = userResultsPrefix(userId);
  return (
    key.startsWith(prefix) &&
    Buffer.byteLength(key) <= maxKeyBytes &&
    key.isWellFormed() &&
    key.slice(prefix.length).split('/').every(isPlainSegment)
  );
}

function isPlainSegment(segment: string): boolean {
  return segment !== '' && segment !== '.' && segment !== '..' && !/[\\\p{Cc}]|%[0-9a-f]{2}/iu.test(segment);
}
