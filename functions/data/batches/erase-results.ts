import {
  DeleteObjectsCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandInput,
  type ListObjectVersionsCommandOutput,
  type ObjectVersion,
} from '@aws-sdk/client-s3';
import { DependencyFailed } from '../../errors.ts';
import { userResultsPrefix } from '../../values/results-key.ts';
import type { ResultsBucket } from '../aws/results-bucket.ts';

/** Which results: all that were uploaded for these jobs, and those under other keys. */
export interface ResultsOfJobs {
  readonly jobIds: readonly string[];
  readonly keys: readonly string[];
}

/**
 * Beyond this number of prefixes, all objects of the user are listed instead: 1,000 versions in a
 * call.
 */
const maxPrefixes = 500;
const parallelLists = 16;

/**
 * Deletes results in all their versions. What devices upload for a job lies below its id; an event
 * may have named any other key of the owner. Throws DependencyFailed where S3 fails or refuses:
 * then some of them may be deleted.
 */
export async function eraseResults(
  bucket: ResultsBucket,
  userId: string,
  { jobIds, keys }: ResultsOfJobs,
): Promise<void> {
  const ofUser = userResultsPrefix(userId);
  const wanted = [...jobIds.map((id) => `${ofUser}${id}/`), ...keys];
  const exact = new Set(keys);
  const jobs = new Set(jobIds);
  const isWanted = ({ Key = '' }: ObjectVersion) =>
    exact.has(Key) || (Key.startsWith(ofUser) && jobs.has(Key.slice(ofUser.length).split('/', 2)[0] ?? ''));
  const prefixes = (wanted.length > maxPrefixes ? [ofUser] : wanted).values();
  const work = async () => {
    for (const prefix of prefixes) {
      for await (const versions of listVersions(bucket, prefix)) {
        await deleteVersions(bucket, versions.filter(isWanted));
      }
    }
  };
  await Promise.all(Array.from({ length: parallelLists }, work));
}

/** The versions and delete markers below a prefix, at most 1,000 at a time. */
export async function* listVersions(
  { client, name: Bucket }: ResultsBucket,
  Prefix: string,
): AsyncGenerator<readonly ObjectVersion[]> {
  let next: Pick<ListObjectVersionsCommandInput, 'KeyMarker' | 'VersionIdMarker'> | undefined = {};
  while (next !== undefined) {
    const page: ListObjectVersionsCommandOutput = await client
      .send(new ListObjectVersionsCommand({ Bucket, Prefix, ...next }))
      .catch(fail);
    const { Versions = [], DeleteMarkers = [], NextKeyMarker, NextVersionIdMarker, IsTruncated } = page;
    yield [...Versions, ...DeleteMarkers];
    next = IsTruncated ? { KeyMarker: NextKeyMarker, VersionIdMarker: NextVersionIdMarker } : undefined;
  }
}

/** Deletes up to 1,000 versions. Returns how many. */
export async function deleteVersions(
  { client, name: Bucket }: ResultsBucket,
  versions: readonly ObjectVersion[],
): Promise<number> {
  if (versions.length === 0) return 0;
  const Objects = versions.map(({ Key, VersionId }) => ({ Key, VersionId }));
  const command = new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } });
  const { Errors = [] } = await client.send(command).catch(fail);
  if (Errors[0] !== undefined) fail(new Error(`${Errors[0].Code}: ${Errors[0].Message}`));
  return versions.length;
}

function fail(cause: unknown): never {
  throw new DependencyFailed('Results could not be deleted.', { cause });
}
