import {
  DeleteObjectsCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandInput,
  type ListObjectVersionsCommandOutput,
  type ObjectVersion,
  type S3Client,
} from '@aws-sdk/client-s3';
import { DependencyFailed } from '../../errors.ts';
import { userResultsPrefix } from '../../values/results-key.ts';
import { s3Client } from './results.ts';

/** Which results: all that were uploaded for these jobs, and those under other keys. */
export interface ResultsOfJobs {
  readonly jobIds: readonly string[];
  readonly keys: readonly string[];
}

/** Beyond so many prefixes all that a user has is listed instead: 1,000 versions in a call. */
const maxPrefixes = 500;
const parallelLists = 16;

/**
 * The function that deletes results in all their versions. What devices upload for a job lies below
 * its id; an event may have named any other key of the owner. Throws DependencyFailed where S3
 * fails or refuses: then some of them may be deleted.
 */
export function eraseResults(
  bucket: string,
  client = s3Client(),
): (userId: string, results: ResultsOfJobs) => Promise<void> {
  return async (userId, { jobIds, keys }) => {
    const ofUser = userResultsPrefix(userId);
    const wanted = [...jobIds.map((id) => `${ofUser}${id}/`), ...keys];
    const exact = new Set(keys);
    const jobs = new Set(jobIds);
    const isWanted = ({ Key = '' }: ObjectVersion) =>
      exact.has(Key) || (Key.startsWith(ofUser) && jobs.has(Key.slice(ofUser.length).split('/', 2)[0] ?? ''));
    const prefixes = (wanted.length > maxPrefixes ? [ofUser] : wanted).values();
    const work = async () => {
      for (const prefix of prefixes) {
        for await (const versions of listVersions(client, { bucket, prefix })) {
          await deleteVersions(client, bucket, versions.filter(isWanted));
        }
      }
    };
    await Promise.all(Array.from({ length: parallelLists }, work));
  };
}

/** The versions and delete markers below a prefix, at most 1,000 at a time. */
export async function* listVersions(
  client: S3Client,
  { bucket: Bucket, prefix: Prefix }: { readonly bucket: string; readonly prefix: string },
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
  client: S3Client,
  Bucket: string,
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
