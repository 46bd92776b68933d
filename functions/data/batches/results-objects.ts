import { DependencyFailed } from '../../errors.ts';
import { type CallObject, S3Refusal } from '../aws/bucket-objects.ts';

/** Whether an object exists. One HEAD of S3. */
export async function hasObject(call: CallObject, key: string): Promise<boolean> {
  try {
    await call({ method: 'HEAD', key });
    return true;
  } catch (error) {
    // S3 says 403 to a role that must not list the bucket.
    if (error instanceof S3Refusal && (error.status === 403 || error.status === 404)) return false;
    throw storeFailed(error);
  }
}

/** A results document, and its SHA-256 in hexadecimal. */
export interface ResultsDocument {
  readonly text: string;
  readonly sha256: string;
}

/** Stores a document. S3 checks that it arrived whole. One PUT of S3. */
export async function putResults(call: CallObject, key: string, { text, sha256 }: ResultsDocument): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    'x-amz-checksum-sha256': Buffer.from(sha256, 'hex').toString('base64'),
    // Signed in place of the content.
    'x-amz-content-sha256': sha256,
  };
  await call({ method: 'PUT', key, headers, body: text }).catch((error) => {
    throw storeFailed(error);
  });
}

function storeFailed(cause: unknown): DependencyFailed {
  return new DependencyFailed('The store of results failed.', { cause });
}
