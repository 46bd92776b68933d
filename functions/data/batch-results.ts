import { addAbortSignal, type Readable } from 'node:stream';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { CorruptData, DependencyFailed } from '../errors.ts';
import { isObject } from '../json-text.ts';
import { isResultsKeyOf } from '../results-key.ts';
import { JobRow } from '../schemas/job.ts';
import type { TableNames } from '../tables.ts';
import { countsAgree } from './batch-details.ts';
import { getBatch } from './batches.ts';
import { translateErrors } from './dynamodb/aws-errors.ts';
import { queryAll } from './dynamodb/reads.ts';
import { storedRow } from './dynamodb/stored-row.ts';
import { selectJobs } from './selected-jobs.ts';

const JobWithResults = z.pick(JobRow, { id: true, status: true, results_key: true });

/**
 * The function that finds the keys of the results of a batch's jobs, by job, in creation order;
 * jobs without results are left out; undefined when the user has no such batch. With `jobIds` it
 * finds those of these jobs alone, as far as they are the batch's. Jobs that are named are read by
 * their ids, strongly consistent. Otherwise they are read from an index, and again by their ids
 * where that lags behind the batch's own counts. So the results of every job that was seen to be
 * DONE are found.
 *
 * Read units: 1 for the batch, and one for each job that is named; otherwise 0.1 for each KB of its
 * jobs and, where the index lags, one for each job besides.
 */
export function listResultsKeys(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs' | 'Columns'>,
): (userId: string, batchId: string, jobIds?: string[]) => Promise<ReadonlyMap<string, string> | undefined> {
  const batchOf = getBatch(client, tables);
  const jobsOf = selectJobs(client, tables);
  const indexed = async (userId: string, batchId: string) => {
    const items = await queryAll(client, {
      table: tables.Jobs,
      index: 'by_batch',
      partition: { user_id: userId, batch_id: batchId },
      sortKey: 'creation_order',
      range: 'all',
      consistent: false,
    });
    return items.map((item) => storedRow(JobWithResults, item));
  };
  return async (userId, batchId, jobIds) => {
    const [batch, found] = await Promise.all([
      batchOf(userId, batchId),
      jobIds === undefined
        ? indexed(userId, batchId)
        : jobsOf(userId, batchId, { id: jobIds }).then(({ jobs }) => jobs),
    ]);
    if (batch === undefined) return undefined;
    const isCurrent = jobIds !== undefined || countsAgree(batch, found);
    const jobs = isCurrent ? found : (await jobsOf(userId, batchId, {})).jobs;
    return new Map(jobs.flatMap(({ id, results_key }) => (results_key === null ? [] : [[id, results_key]])));
  };
}

export interface ResultsDocuments {
  /** The JSON text of each document as it was uploaded, by job, in the order of the keys. */
  readonly documents: ReadonlyMap<string, string>;
  /** Jobs whose results were never uploaded. */
  readonly missing: readonly string[];
  /** Jobs whose results are no JSON object. A device may upload anything. */
  readonly unreadable: readonly string[];
}

/** Objects that are read at the same time: fewer than the SDK's connections. */
const parallelReads = 32;

/**
 * How often an object is read whose content breaks off on its way. The SDK itself repeats only what
 * fails before that.
 */
const bodyAttempts = 3;

/**
 * The function that reads results documents from the bucket, by the keys of their jobs; undefined
 * when together they have more than `maxBytes`. Sizes come before contents: nothing beyond that
 * limit is downloaded. One GET of S3 for each document.
 *
 * The returned function throws CorruptData for a key that is not below the user's own prefix.
 */
export function readResults(
  bucket: string,
  client = s3Client(),
): (userId: string, keys: ReadonlyMap<string, string>, maxBytes: number) => Promise<ResultsDocuments | undefined> {
  return async (userId, keys, maxBytes) => {
    const texts = new Map<string, string>();
    const unreadable = new Set<string>();
    const waiting = keys.entries();
    const end = new AbortController();
    let bytes = 0;

    const readWaiting = async () => {
      for (const [jobId, key] of waiting) {
        if (!isResultsKeyOf(userId, key)) throw new CorruptData('The results are not below the prefix of their owner.');
        await readDocument(jobId, key);
      }
    };
    const readDocument = async (jobId: string, key: string) => {
      for (let attempt = 1; ; attempt++) {
        const object = await openObject(key);
        if (object === undefined) return;
        if (attempt === 1) bytes += object.length;
        if (bytes > maxBytes) throw new TooManyBytes();
        try {
          const text = documentText(await object.content());
          if (text === undefined) unreadable.add(jobId);
          else texts.set(jobId, text);
          return;
        } catch (error) {
          if (!(error instanceof DependencyFailed) || attempt === bodyAttempts) throw error;
        }
      }
    };
    const openObject = async (Key: string) => {
      const command = new GetObjectCommand({ Bucket: bucket, Key });
      const { ContentLength: length, Body } = await unlessMissing(client.send(command, { abortSignal: end.signal }));
      if (Body === undefined) return undefined;
      addAbortSignal(end.signal, Body as Readable);
      if (length === undefined) throw new DependencyFailed('S3 did not say how long an object is.');
      const content = () => Body.transformToByteArray().catch(brokenOff);
      return { length, content };
    };

    try {
      await Promise.all(Array.from({ length: parallelReads }, readWaiting));
    } catch (error) {
      if (error instanceof TooManyBytes) return undefined;
      throw error;
    } finally {
      end.abort();
    }
    const jobIds = [...keys.keys()];
    return {
      documents: new Map(jobIds.filter((id) => texts.has(id)).map((id) => [id, texts.get(id) as string])),
      missing: jobIds.filter((id) => !texts.has(id) && !unreadable.has(id)),
      unreadable: jobIds.filter((id) => unreadable.has(id)),
    };
  };
}

class TooManyBytes extends Error {}

/**
 * Answers with nothing for an object that does not exist. To a role that may not list the bucket,
 * S3 calls it AccessDenied.
 */
async function unlessMissing<Answer extends object>(call: Promise<Answer>): Promise<Partial<Answer>> {
  try {
    return await translateErrors(call);
  } catch (error) {
    if (error instanceof Error && (error.name === 'AccessDenied' || error.name === 'NoSuchKey')) return {};
    throw error;
  }
}

function brokenOff(cause: unknown): never {
  throw new DependencyFailed('The content of an object broke off.', { cause });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The text of a JSON object; undefined where the content is none. */
function documentText(content: Uint8Array): string | undefined {
  try {
    const text = utf8.decode(content);
    return isObject(JSON.parse(text)) ? text : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A read takes at most 3 attempts of 2 s each; so does the content of an object that stops on its
 * way.
 */
function s3Client(): S3Client {
  return new S3Client({
    maxAttempts: 3,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: 2_000,
      throwOnRequestTimeout: true,
      socketTimeout: 2_000,
    },
  });
}
