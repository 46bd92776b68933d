/**
 * The service as users and workers see it, below HTTP: on tables of its own, at a time that the
 * test chooses.
 */

import { randomUUID } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { closeBatch } from '../../functions/data/batches/batch-updates.ts';
import { cancelBatch, cancelJob } from '../../functions/data/batches/cancellations.ts';
import { addJobs, createBatch } from '../../functions/data/batches/new-batches.ts';
import { getQueuedBatch } from '../../functions/data/batches/queue-counts.ts';
import { getItem } from '../../functions/data/dynamodb/reads.ts';
import { claimBatch } from '../../functions/data/leases/claim-batch.ts';
import {
  extendLease,
  getJobRow,
  getUploadKey,
  nextJob,
  putBackBatch,
  releaseLease,
  reportJob,
} from '../../functions/data/leases/leases.ts';
import type { LifecycleOptions } from '../../functions/data/lifecycle/commit-tasks.ts';
import { listQueue } from '../../functions/data/operators/device-queue.ts';
import { setDevice } from '../../functions/data/operators/device-settings.ts';
import { measureQueue } from '../../functions/data/operators/queue-measures.ts';
import { workQueue } from '../../functions/data/queue/queue.ts';
import { deviceClockKey } from '../../functions/data/queue/queue-item.ts';
import { getBatch } from '../../functions/data/rows/batches.ts';
import { getJob } from '../../functions/data/rows/jobs.ts';
import { showDevice } from '../../functions/data/rows/show-device.ts';
import { AddJobsRequest, CreateBatchRequest } from '../../functions/schemas/batch-request.ts';
import { DeviceSettingsRequest } from '../../functions/schemas/device.ts';
import { LeasePath, type LeaseReference, ReportRequest } from '../../functions/schemas/lease.ts';
import type { QueuePriority } from '../../functions/schemas/values.ts';
import type { TableNames } from '../../functions/tables.ts';
import { sequenceText } from './sequence-text.ts';

const project_id = 'cccccccc-0000-4000-8000-000000000001';

export interface Wanted {
  readonly device_type?: string;
  readonly jobs?: number;
  readonly open?: boolean;
  readonly priority?: QueuePriority;
}

export function workerStack(
  client: DynamoDBDocumentClient,
  names: TableNames,
  clock: { now: number },
  more: Pick<LifecycleOptions, 'shotsOf' | 'newPace'> = {},
) {
  const options = { now: () => clock.now, ...more };
  const create = createBatch(client, names, options);
  const add = addJobs(client, names, options);
  const claim = claimBatch(client, names, options);
  const set = setDevice(client, names, options);
  const list = listQueue(client, names, options);
  const report = reportJob(client, names, { ...options, hasResults: async () => true });
  return {
    async create(
      userId: string,
      { device_type = 'FRESNEL', jobs = 1, open = false, priority = 'MEDIUM' }: Wanted = {},
    ) {
      const body = CreateBatchRequest.parse({
        project_id,
        device_type,
        open,
        sequence_builder: sequenceText(),
        jobs: Array.from({ length: jobs }, (_, runs) => ({ runs: runs + 1 })),
      });
      return create({ userId }, body, { queue_priority: priority });
    },
    add: (userId: string, batchId: string, jobs: number) =>
      add({ userId }, batchId, AddJobsRequest.parse(Array.from({ length: jobs }, () => ({}))), {
        queue_priority: 'MEDIUM',
      }),
    close: closeBatch(client, names, options),
    cancel: cancelBatch(client, names, options),
    cancelJob: cancelJob(client, names, options),
    batch: getBatch(client, names),
    job: getJob(client, names),
    jobRow: getJobRow(client, names),
    /** An operator sets the device. */
    set: (deviceType: string, settings: object) =>
      set({ operator: 'auth0|operator', deviceType, settings: DeviceSettingsRequest.parse(settings) }),
    retryAfter: async (deviceType: string) => {
      const claimed = await claim(deviceType, 'worker');
      return 'retry_after' in claimed ? claimed.retry_after : undefined;
    },
    claim: async (deviceType: string, worker: string) => {
      const claimed = await claim(deviceType, worker);
      return 'lease' in claimed ? claimed : undefined;
    },
    heartbeat: extendLease(client, names, options),
    uploadKey: getUploadKey(client, names, options),
    report: (lease: LeaseReference, jobId: string, content: object = { status: 'DONE' }) =>
      report(lease, jobId, ReportRequest.parse(content)),
    next: nextJob(client, names, options),
    release: releaseLease(client, names, options),
    putBack: putBackBatch(client, names, options),
    measure: measureQueue(client, names, options.now),
    // Anew at each call: places are kept for 10 s.
    queued: (userId: string, batchId: string) => getQueuedBatch(client, names, options.now)(userId, batchId),
    announce: workQueue(client, names).announce,
    rules: workQueue(client, names).rules,
    list: async (deviceType: string) => (await list(deviceType, { limit: 100, offset: 0 })).items,
    show: (device: Parameters<ReturnType<typeof showDevice>>[0]) => showDevice(client, names, options.now)(device),
    clockItem: (device_type: string) =>
      getItem(client, { table: names.DeviceQueue, key: { device_type, key: deviceClockKey }, consistent: true }),
  };
}

/** A device and a user that no other test has. */
export function newNames() {
  const mark = randomUUID();
  return { device: `DEVICE ${mark}`, user: `auth0|${mark}` };
}

/** What the text of a lease names. */
export function leaseFrom({ lease }: { readonly lease: string }): LeaseReference {
  return LeasePath.parse({ lease }).lease;
}
