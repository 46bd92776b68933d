/** How a worker uploads the results of a job and reports how it ended. */

import { createHash } from 'node:crypto';
import { InvalidInput, LeaseLost } from '../../errors.ts';
import { addToRequestLog, describeError } from '../../runtime/request-log.ts';
import type { JobRow } from '../../schemas/job.ts';
import type { LeaseReference, NextJob, ReportRequest } from '../../schemas/lease.ts';
import { isFinalJob } from '../../statuses.ts';
import { leasedResultsKey } from '../../values/results-key.ts';
import type { CallObject } from '../aws/bucket-objects.ts';
import { hasObject, putResults } from '../batches/results-objects.ts';
import type { Db } from '../dynamodb/db.ts';
import { keptWith } from '../dynamodb/kept-with.ts';
import type { LifecycleDb } from '../lifecycle/lifecycle-db.ts';
import { isReported, jobNotLeased, noSuchJob, reportJob as reportChange } from '../lifecycle/run-jobs.ts';
import { getLeased, renewLease, wasGivenUp } from '../queue/lease-items.ts';
import { noteWorker } from '../queue/queue.ts';
import { leaseLost, type QueueItem } from '../queue/queue-item.ts';
import { countShots, shotsOfDocument } from './count-shots.ts';
import { advance, commitLeased, ended, getJobRow, jobFinder, nextJobOf } from './leased-jobs.ts';

/**
 * The key under which a job's results of this SHA-256 are uploaded. Until another link is asked
 * for, a report means these results. Throws LeaseLost; NotFound when the batch has no such job;
 * IllegalTransition when the job is not the one that runs under this lease. 2 read units; 1 write
 * unit.
 */
export async function getUploadKey(
  db: Db<'Jobs' | 'DeviceQueue'>,
  lease: LeaseReference,
  jobId: string,
  sha256: string,
): Promise<string> {
  const [item, job] = await Promise.all([getLeased(db, lease), getJobRow(db, lease, jobId)]);
  if (item === undefined) throw leaseLost();
  if (job === undefined) throw noSuchJob();
  if (!runs(job, item)) throw jobNotLeased();
  if ((await renewLease(db, lease, sha256)) === undefined) throw leaseLost();
  return leasedResultsKey(lease.userId, jobId, { fence: lease.fence, sha256 });
}

/** Whether the job is the one that runs under the lease. */
function runs(job: JobRow, { place }: QueueItem): boolean {
  return !isFinalJob(job) && job.status !== 'PENDING' && job.creation_order === place;
}

/** What a worker reports of a job under its lease. */
interface LeasedReport {
  readonly lease: LeaseReference;
  readonly jobId: string;
  readonly report: ReportRequest;
}

/**
 * Reports how a job ended, and starts the next one of the batch. A repeated report answers the same
 * and changes nothing. Throws LeaseLost; InvalidInput when the report has `results` that were not
 * uploaded under this lease; NotFound when the batch has no such job; IllegalTransition when the
 * job has ended in another way, or does not run under this lease.
 *
 * A document that comes with the report is stored before the job refers to it, under a key of this
 * lease and job: no other call ever changes it. If the report is refused after that, the object
 * stays there until the results of the job are erased; nothing refers to it.
 *
 * Costs, beside the lifecycle's: 5 write units; 2.5 read units, and the job's sequence. One of the
 * write units is for the device's job times: no item that a report writes anyway outlives the batch
 * and is free of conflicts between workers. Once the sample of times is full, one report in four
 * and the last of a batch take it. With a document, one PUT of S3. With results that were uploaded,
 * a HEAD; if the job is DONE without `runs`, also a GET to count its shots. PUT and HEAD run beside
 * the first read of the change.
 */
export async function reportJob(db: LifecycleDb, call: CallObject, reported: LeasedReport): Promise<NextJob> {
  try {
    return await endJob(db, call, reported);
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    const { lease, jobId, report } = reported;
    // The lease may have ended by this very report.
    const job = await getJobRow(db, lease, jobId);
    if (job?.fence !== lease.fence || !isReported(job, lease, report.status)) throw error;
    if (!(await wasGivenUp(db, lease))) throw error;
    return ended;
  }
}

async function endJob(db: LifecycleDb, call: CallObject, { lease, jobId, report }: LeasedReport): Promise<NextJob> {
  const { status, start_timestamp, end_timestamp, errors, results_document: document } = report;
  const item = await getLeased(db, lease);
  if (item === undefined) throw leaseLost();
  const update = {
    status,
    ...(start_timestamp !== null && { start_timestamp }),
    ...(end_timestamp !== null && { end_timestamp }),
    ...(errors !== null && { errors }),
  };
  const find = jobFinder(db, lease, item);
  // The change counts no other results than the report's.
  const shotsOf = async (userId: string, key: string) =>
    document === null ? countShots(call, userId, key) : shotsOfDocument(document);
  let resultsKey: Promise<string | undefined> | undefined;
  let busy: number | undefined;
  const countBusy = (_: string, microseconds: number) => {
    busy = (busy ?? 0) + microseconds;
  };
  const progress = await commitLeased(db, { lease, shotsOf, countBusy }, async () => {
    resultsKey ??= findResults(db, call, { lease, jobId, report, item });
    const [found, results_key] = await Promise.all([find(item.place), resultsKey]);
    const ofJob = { jobId, update: { ...update, ...(results_key !== undefined && { results_key }) } };
    return reportChange({ lease, now: db.clock.now(), ...found }, ofJob);
  });
  const counting = countJob(db, item, { jobId, busy });
  try {
    const next = progress.kind === 'search' ? await advance(db, lease, { from: progress.place, find }) : progress;
    return await nextJobOf(db, lease, next);
  } finally {
    await counting;
  }
}

/** The devices whose samples of job times are known to be full, as a function has seen it. */
const fullSamples = keptWith(() => new Set<string>());

/**
 * Counts how long the job occupied its worker. `busy` is undefined where its batch carries that to
 * a later report; then nothing is written, if the device's sample of job times is full. A failure
 * to count does not fail the report.
 */
async function countJob(
  db: Db<'DeviceQueue'>,
  item: QueueItem,
  { jobId, busy }: { readonly jobId: string; readonly busy: number | undefined },
): Promise<void> {
  const { device_type, worker, job_id, job_since, job_shots: shots } = item;
  const isMeasured = job_id === jobId && job_since !== undefined;
  if ((!isMeasured && !busy) || (busy === undefined && fullSamples(db).has(device_type))) return;
  const job = isMeasured ? { seconds: (db.clock.now() - job_since) / 1_000, shots } : undefined;
  try {
    if (await noteWorker(db, device_type, { worker, job, busy })) fullSamples(db).add(device_type);
  } catch (error) {
    addToRequestLog({ job_time_error: describeError(error) });
  }
}

/** A report, and the batch under its lease. */
type HeldReport = LeasedReport & { readonly item: QueueItem };

/** The key of the results that the report brings or refers to; undefined where it has none. */
async function findResults(db: Db<'Jobs'>, call: CallObject, held: HeldReport): Promise<string | undefined> {
  const { results, results_document } = held.report;
  if (results) return findUploaded(db, call, held);
  return results_document === null ? undefined : storeDocument(db, call, { ...held, text: results_document });
}

/**
 * Stores the document, and returns its key. Only what runs under a valid lease gets one: neither a
 * made-up lease nor a job of another batch can leave objects. A repeated report stores nothing, as
 * its job has ended.
 */
async function storeDocument(
  db: Db<'Jobs'>,
  call: CallObject,
  { lease, jobId, item, text }: HeldReport & { readonly text: string },
): Promise<string | undefined> {
  // The item does not name a job that an event has started: its row shows it.
  if (item.job_id !== jobId) {
    const job = await getJobRow(db, lease, jobId);
    if (job === undefined) throw noSuchJob();
    if (isFinalJob(job)) return undefined;
    if (!runs(job, item)) throw jobNotLeased();
  }
  const sha256 = createHash('sha256').update(text).digest('hex');
  const key = leasedResultsKey(lease.userId, jobId, { fence: lease.fence, sha256 });
  await putResults(call, key, { text, sha256 });
  return key;
}

/**
 * The key of the results for which a link was asked last. A repeated report gets the key of the
 * first report: the link may have been for the next job since. The bucket is asked only under a
 * valid lease: a made-up lease must learn nothing from the answer.
 */
async function findUploaded(db: Db<'Jobs'>, call: CallObject, { lease, jobId, item }: HeldReport): Promise<string> {
  const { results_sha256: sha256 } = item;
  const key = sha256 && leasedResultsKey(lease.userId, jobId, { fence: lease.fence, sha256 });
  if (key && (await hasObject(call, key))) return key;
  const job = await getJobRow(db, lease, jobId);
  if (job?.fence === lease.fence && job.results_key !== null) return job.results_key;
  const msg = 'Input should be true only after the results were uploaded under this lease';
  throw new InvalidInput([{ loc: ['body', 'results'], msg, type: 'value_error' }]);
}
