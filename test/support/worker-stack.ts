/**
 * The service as users and workers see it, below HTTP: on tables of its own, at a time that the
 * test chooses.
 */

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { CallObject } from '../../functions/data/aws/bucket-objects.ts';
import type { ResultsBucket } from '../../functions/data/aws/results-bucket.ts';
import { closeBatch } from '../../functions/data/batches/batch-updates.ts';
import { cancelBatch, cancelJob } from '../../functions/data/batches/cancellations.ts';
import { addJobs, createBatch } from '../../functions/data/batches/new-batches.ts';
import { getQueuedBatch } from '../../functions/data/batches/queue-counts.ts';
import { getItem } from '../../functions/data/dynamodb/reads.ts';
import { claimBatch } from '../../functions/data/leases/claim-batch.ts';
import { getJobRow } from '../../functions/data/leases/leased-jobs.ts';
import { extendLease, putBackBatch, releaseLease } from '../../functions/data/leases/leases.ts';
import { nextJob } from '../../functions/data/leases/next-job.ts';
import { getUploadKey, reportJob } from '../../functions/data/leases/report-job.ts';
import { listQueue } from '../../functions/data/operators/device-queue.ts';
import { setDevice } from '../../functions/data/operators/device-settings.ts';
import { measureQueue } from '../../functions/data/operators/queue-measures.ts';
import { deviceRules } from '../../functions/data/queue/device-rules.ts';
import { announceQueue, getRulesItem } from '../../functions/data/queue/queue.ts';
import { type DeviceSettings, deviceClockKey, type QueueItem } from '../../functions/data/queue/queue-item.ts';
import { getBatch } from '../../functions/data/rows/batches.ts';
import { getJob } from '../../functions/data/rows/jobs.ts';
import { showDevice } from '../../functions/data/rows/show-device.ts';
import type { Clock } from '../../functions/runtime/clock.ts';
import { AddJobsRequest, CreateBatchRequest } from '../../functions/schemas/batch-request.ts';
import { DeviceSettingsRequest } from '../../functions/schemas/device.ts';
import { LeasePath, type LeaseReference, ReportRequest } from '../../functions/schemas/lease.ts';
import type { QueuePriority } from '../../functions/schemas/values.ts';
import type { TableNames } from '../../functions/tables.ts';
import { sequenceText } from './sequence-text.ts';
import { testDb } from './test-db.ts';

/** The project of all its batches. */
export const project_id = 'cccccccc-0000-4000-8000-000000000001';

export interface Wanted {
  readonly device_type?: string;
  readonly jobs?: number;
  readonly open?: boolean;
  readonly priority?: QueuePriority;
  /** Its configuration, and the variables of its jobs, are too long for their rows. */
  readonly long?: true;
}

export function workerStack(
  client: DynamoDBDocumentClient,
  names: TableNames,
  clock: { now: number; readonly sleep?: Clock['sleep'] },
  callObject: CallObject = allObjects,
) {
  const db = testDb(client, names, { now: () => clock.now, sleep: clock.sleep });
  const claims = { queue_priority: 'MEDIUM' } as const;
  const stack = {
    db,
    create(
      userId: string,
      { device_type = 'FRESNEL', jobs = 1, open = false, priority = 'MEDIUM', long }: Wanted = {},
    ) {
      const note = { note: 'x'.repeat(1_100) };
      const noted = { variables: { note: { type: 'float', value: [0] } } };
      const body = CreateBatchRequest.parse({
        project_id,
        device_type,
        open,
        sequence_builder: sequenceText(long && noted),
        ...(long && { configuration: note }),
        jobs: Array.from({ length: jobs }, (_, runs) => ({ runs: runs + 1, ...(long && { variables: note }) })),
      });
      return createBatch(db, { userId, claims: { queue_priority: priority } }, body);
    },
    add: (userId: string, batchId: string, jobs: number, job: object = {}) =>
      addJobs(db, { userId, claims }, { batchId, body: AddJobsRequest.parse(Array.from({ length: jobs }, () => job)) }),
    close: (userId: string, batchId: string) => closeBatch(db, userId, batchId),
    cancel: (userId: string, batchId: string) => cancelBatch(db, { userId, batchId }),
    cancelJob: (userId: string, jobId: string) => cancelJob(db, userId, jobId),
    batch: (userId: string, batchId: string) => getBatch(db, userId, batchId),
    job: (userId: string, jobId: string) => getJob(db, userId, jobId),
    jobRow: (lease: LeaseReference, jobId: string) => getJobRow(db, lease, jobId),
    /** An operator sets the device. */
    set: (deviceType: string, settings: object) =>
      setDevice(db, { operator: 'auth0|operator', deviceType, settings: DeviceSettingsRequest.parse(settings) }),
    retryAfter: async (deviceType: string) => {
      const claimed = await claimBatch(db, deviceType, 'worker');
      return 'retry_after' in claimed ? claimed.retry_after : undefined;
    },
    claim: async (deviceType: string, worker: string) => {
      const claimed = await claimBatch(db, deviceType, worker);
      return 'lease' in claimed ? claimed : undefined;
    },
    heartbeat: (lease: LeaseReference, jobId: string | null) => extendLease(db, lease, jobId),
    uploadKey: (lease: LeaseReference, jobId: string, sha256: string) => getUploadKey(db, lease, jobId, sha256),
    report: (lease: LeaseReference, jobId: string, content: object = { status: 'DONE' }) =>
      reportJob(db, callObject, { lease, jobId, report: ReportRequest.parse(content) }),
    next: (lease: LeaseReference) => nextJob(db, lease),
    release: (lease: LeaseReference) => releaseLease(db, lease),
    putBack: (item: QueueItem) => putBackBatch(db, item),
    measure: (deviceType: string) => measureQueue(db, deviceType),
    // With a database of its own: places are kept for 10 s.
    queued: (userId: string, batchId: string) => getQueuedBatch({ ...db }, userId, batchId),
    announce: (deviceType: string, settings: DeviceSettings) => announceQueue(db, deviceType, settings),
    rules: async (deviceType: string) => deviceRules(await getRulesItem(db, deviceType)),
    list: async (deviceType: string) => (await listQueue(db, deviceType, { limit: 100, offset: 0 })).items,
    show: (device: Parameters<typeof showDevice>[1]) => showDevice({ ...db }, device),
    clockItem: (device_type: string) =>
      getItem(db, { table: 'DeviceQueue', key: { device_type, key: deviceClockKey }, consistent: true }),
  };
  /** As `claim`, where there is something to claim. */
  const claimed = async (deviceType: string, worker = 'worker') => {
    const claim = await stack.claim(deviceType, worker);
    if (claim === undefined) throw new Error('There was nothing to claim.');
    return claim;
  };
  /** A batch that a worker has, of a device and a user that no other test has. */
  const held = async (wanted: Omit<Wanted, 'device_type'> = {}) => {
    const { device, user } = newNames();
    const batch = await stack.create(user, { ...wanted, device_type: device });
    const claim = await claimed(device);
    return { device, user, batch, claim, lease: leaseFrom(claim) };
  };
  return { ...stack, claimed, held };
}

/** Has every object: results that count no shots. */
const allObjects: CallObject = async () => {
  const content = Buffer.from('{}');
  const headers = { 'content-length': String(content.length) };
  return Object.assign(Readable.from([content]), { headers }) as IncomingMessage;
};

/** A bucket whose objects no one erases. */
export const allResults: ResultsBucket = {
  name: 'results',
  client: { send: async () => ({}) } as unknown as S3Client,
};

/** A device and a user that no other test has. */
export function newNames() {
  const mark = randomUUID();
  return { device: `DEVICE ${mark}`, user: `auth0|${mark}` };
}

/** What the text of a lease names. */
export function leaseFrom({ lease }: { readonly lease: string }): LeaseReference {
  return LeasePath.parse({ lease }).lease;
}
