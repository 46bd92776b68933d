import type { IncomingMessage } from 'node:http';
import { addAbortSignal } from 'node:stream';
import * as z from 'zod/mini';
import { CorruptData, DependencyFailed } from '../../errors.ts';
import { JobRow } from '../../schemas/job.ts';
import { onDemand } from '../../schemas/on-demand.ts';
import { storedRow } from '../../schemas/stored-row.ts';
import { isObject } from '../../values/json-text.ts';
import { isResultsKeyOf } from '../../values/results-key.ts';
import type { CallObject } from '../aws/bucket-objects.ts';
import { translateErrors } from '../dynamodb/aws-errors.ts';
import type { Db } from '../dynamodb/db.ts';
import { type BatchOfUser, getBatchRow } from '../rows/batches.ts';
import { listRowsOfBatch } from '../rows/jobs.ts';
import { countsAgree } from './batch-details.ts';
import { selectJobs } from './selected-jobs.ts';

const JobWithResults = onDemand(() => z.pick(JobRow(), { id: true, status: true, results_key: true }));

/**
 * The results keys of a batch's jobs, by job, in creation order; jobs without results are left out.
 * Undefined when the user has no such batch. `jobIds` narrows this to these jobs; ids of other
 * batches are left out.
 *
 * Named jobs are read by their ids, strongly consistent. Otherwise all are listed. If their rows
 * lag behind the batch's own counts, the jobs are read again by their ids. So the results of every
 * job that was seen to be DONE are found, unless an event brings them for a job that was DONE
 * before: these are found once all copies of its row have them.
 *
 * Read units: 1 for the batch, and 1 for each named job. Without names, 2, and 0.1 for each KB of
 * jobs that were created together, 0.5 for each other job; if rows lag, 1 for each job.
 */
export async function listResultsKeys(
  db: Db<'Batches' | 'Jobs' | 'Columns'>,
  of: BatchOfUser,
  jobIds?: string[],
): Promise<ReadonlyMap<string, string> | undefined> {
  const [batch, found] = await Promise.all([
    getBatchRow(db, of.userId, of.batchId),
    jobIds === undefined ? listedJobs(db, of) : selectJobs(db, of, { id: jobIds }).then(({ jobs }) => jobs),
  ]);
  if (batch === undefined) return undefined;
  const isCurrent = jobIds !== undefined || countsAgree(batch, found);
  const jobs = isCurrent ? found : (await selectJobs(db, of, {})).jobs;
  if (jobIds === undefined && jobs.length < batch.jobs_count) throw new CorruptData('Jobs of a batch are missing.');
  return new Map(jobs.flatMap(({ id, results_key }) => (results_key === null ? [] : [[id, results_key]])));
}

/** A batch's jobs in their order. Their rows may lag. */
async function listedJobs(
  db: Db<'Jobs' | 'Columns'>,
  of: BatchOfUser,
): Promise<z.infer<ReturnType<typeof JobWithResults>>[]> {
  const { items } = await listRowsOfBatch(db, of, Number.MAX_SAFE_INTEGER);
  return items.map((item) => storedRow(JobWithResults(), item));
}

interface ResultsDocuments {
  /** The JSON text of each document as it was uploaded, by job, in the order of the keys. */
  readonly documents: ReadonlyMap<string, string>;
  /** Jobs whose results were never uploaded. */
  readonly missing: readonly string[];
  /** Jobs whose results are no JSON object. A device may upload anything. */
  readonly unreadable: readonly string[];
}

/** Objects that are read at the same time. */
const parallelReads = 32;

/**
 * Attempts to read an object whose content breaks off. A call itself repeats only what fails before
 * the content arrives.
 */
const bodyAttempts = 3;

/** Which documents to read, and how many bytes of them. */
interface ResultsRead {
  readonly userId: string;
  /** By their jobs. */
  readonly keys: ReadonlyMap<string, string>;
  readonly maxBytes: number;
}

/**
 * Reads results documents from the bucket, by the keys of their jobs; undefined when together they
 * have more than `maxBytes`. Sizes are read before contents, so nothing beyond that limit is
 * downloaded. One GET of S3 for each document. Throws CorruptData for a key outside the user's own
 * prefix.
 */
export async function readResults(
  call: CallObject,
  { userId, keys, maxBytes }: ResultsRead,
): Promise<ResultsDocuments | undefined> {
  const reading: Reading = { call, maxBytes, bytes: 0, end: new AbortController() };
  const texts = new Map<string, string>();
  const unreadable = new Set<string>();
  const waiting = keys.entries();
  const readWaiting = async () => {
    for (const [jobId, key] of waiting) {
      if (!isResultsKeyOf(userId, key)) throw new CorruptData('The results are not below the prefix of their owner.');
      const content = await readDocument(reading, key);
      if (content === undefined) continue;
      const text = documentText(content);
      if (text === undefined) unreadable.add(jobId);
      else texts.set(jobId, text);
    }
  };
  try {
    await Promise.all(Array.from({ length: parallelReads }, readWaiting));
  } catch (error) {
    if (error instanceof TooManyBytes) return undefined;
    throw error;
  } finally {
    reading.end.abort();
  }
  const jobIds = [...keys.keys()];
  return {
    documents: new Map(jobIds.filter((id) => texts.has(id)).map((id) => [id, texts.get(id) as string])),
    missing: jobIds.filter((id) => !texts.has(id) && !unreadable.has(id)),
    unreadable: jobIds.filter((id) => unreadable.has(id)),
  };
}

/** What the reads of one call share. */
interface Reading {
  readonly call: CallObject;
  readonly maxBytes: number;
  /** Of the documents whose sizes are known. */
  bytes: number;
  readonly end: AbortController;
}

/** The content of a document, read again where it breaks off; undefined where there is none. */
async function readDocument(reading: Reading, key: string): Promise<Uint8Array | undefined> {
  for (let attempt = 1; ; attempt++) {
    const object = await openObject(reading, key);
    if (object === undefined) return undefined;
    if (attempt === 1) reading.bytes += object.length;
    if (reading.bytes > reading.maxBytes) throw new TooManyBytes();
    try {
      return await readAll(object.body);
    } catch (cause) {
      if (attempt === bodyAttempts) throw new DependencyFailed('The content of an object broke off.', { cause });
    }
  }
}

async function openObject({ call, end: { signal } }: Reading, key: string) {
  const body = await unlessMissing(call({ method: 'GET', key, signal }));
  if (body === undefined) return undefined;
  addAbortSignal(signal, body);
  const length = Number(body.headers['content-length'] ?? Number.NaN);
  if (Number.isNaN(length)) throw new DependencyFailed('S3 did not say how long an object is.');
  return { length, body };
}

/** Node ends a body at the length that it announces, and fails where it ends before. */
async function readAll(body: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

class TooManyBytes extends Error {}

/**
 * Returns undefined for an object that does not exist. S3 reports AccessDenied for it to a role
 * that may not list the bucket.
 */
async function unlessMissing<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await translateErrors(call);
  } catch (error) {
    if (error instanceof Error && (error.name === 'AccessDenied' || error.name === 'NoSuchKey')) return undefined;
    throw error;
  }
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
