import {
  DeleteObjectsCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandInput,
  type ListObjectVersionsCommandOutput,
  type ObjectVersion,
  type S3Client,
} from '@aws-sdk/client-s3';
import { DependencyFailed } from '../errors.ts';
import { userResultsPrefix } from '../results-key.ts';
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
      for (const prefix of prefixes) await deleteVersions(client, { bucket, prefix }, isWanted);
    };
    await Promise.all(Array.from({ length: parallelLists }, work));
  };
}

/** Deletes those versions and delete markers below a prefix that are wanted. Returns how many. */
export async function deleteVersions(
  client: S3Client,
  { bucket: Bucket, prefix: Prefix }: { readonly bucket: string; readonly prefix: string },
  isWanted: (version: ObjectVersion) => boolean = () => true,
): Promise<number> {
  let deleted = 0;
  let next: Pick<ListObjectVersionsCommandInput, 'KeyMarker' | 'VersionIdMarker'> | undefined = {};
  try {
    while (next !== undefined) {
      const page: ListObjectVersionsCommandOutput = await client.send(
        new ListObjectVersionsCommand({ Bucket, Prefix, ...next }),
      );
      const { Versions = [], DeleteMarkers = [], NextKeyMarker, NextVersionIdMarker, IsTruncated } = page;
      // At most 1,000 of both together: what a call deletes.
      const Objects = [...Versions, ...DeleteMarkers]
        .filter(isWanted)
        .map(({ Key, VersionId }) => ({ Key, VersionId }));
      if (Objects.length > 0) {
        const { Errors = [] } = await client.send(
          new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }),
        );
        if (Errors[0] !== undefined) throw new Error(`${Errors[0].Code}: ${Errors[0].Message}`);
      }
      deleted += Objects.length;
      next = IsTruncated ? { KeyMarker: NextKeyMarker, VersionIdMarker: NextVersionIdMarker } : undefined;
    }
  } catch (error) {
    throw new DependencyFailed('Results could not be deleted.', { cause: error });
  }
  return deleted;
}
