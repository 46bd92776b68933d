/**
 * The two lists as they are stored. Every line of a description decides stored bytes: read
 * list-description.ts before you change one.
 */

import { BatchStatus, JobOrigin, JobStatus, QueuePriority } from '../../schemas/values.ts';
import type { ListDescription } from './list-description.ts';

export const batchList = {
  key: 'b',
  table: 'Batches',
  rowsInTail: 16,
  textsPerBlock: 24,
  rowsPerSegment: 4_608,
  rowsPerTimeEntry: 32,
  columns: {
    id: { kind: 'uuid', key: 'i', attribute: 'id', rowsPerBlock: 56 },
    facets: {
      kind: 'facets',
      key: 'f',
      rowsPerBlock: 192,
      facets: {
        status: { kind: 'values', attribute: 'status', values: BatchStatus.options },
        open: { kind: 'values', attribute: 'open', values: [false, true] },
        queue_priority: { kind: 'values', attribute: 'queue_priority', values: QueuePriority.options },
        started: { kind: 'presence', attribute: 'start_datetime' },
        ended: { kind: 'presence', attribute: 'end_datetime' },
        has_errors: { kind: 'counted', attribute: 'jobs_count_per_status', member: 'ERROR' },
        device_type: { kind: 'dictionary', attribute: 'device_type', capacity: 256 },
        project_id: { kind: 'dictionary', attribute: 'project_id', capacity: 4_096 },
      },
    },
    jobs_count: { kind: 'integer', key: 'n', attribute: 'jobs_count', rowsPerBlock: 256 },
    updated_at: { kind: 'time', key: 'u', attribute: 'updated_at', rowsPerBlock: 144 },
    start_datetime: { kind: 'time', key: 's', attribute: 'start_datetime', rowsPerBlock: 144 },
    end_datetime: { kind: 'time', key: 'e', attribute: 'end_datetime', rowsPerBlock: 144 },
  },
  sets: { tag: { key: 't', attribute: 'tags', rowsPerBlock: 4096 } },
  rowDefaults: {},
} as const satisfies ListDescription;

export const jobList = {
  key: 'j',
  table: 'Jobs',
  rowsInTail: 16,
  textsPerBlock: 24,
  rowsPerSegment: 4_608,
  rowsPerTimeEntry: 32,
  columns: {
    id: { kind: 'uuid', key: 'i', attribute: 'id', rowsPerBlock: 56 },
    batch_id: { kind: 'uuid', key: 'b', attribute: 'batch_id', rowsPerBlock: 56 },
    facets: {
      kind: 'facets',
      key: 'f',
      rowsPerBlock: 256,
      facets: {
        status: { kind: 'values', attribute: 'status', values: JobStatus.options },
        origin: { kind: 'values', attribute: 'origin', values: JobOrigin.options },
        errors: { kind: 'presence', attribute: 'errors' },
        started: { kind: 'presence', attribute: 'start_timestamp' },
        ended: { kind: 'presence', attribute: 'end_timestamp' },
        project_id: { kind: 'dictionary', attribute: 'project_id', capacity: 4_096 },
      },
    },
    creation_order: { kind: 'integer', key: 'o', attribute: 'creation_order', rowsPerBlock: 256 },
    runs: { kind: 'integer', key: 'r', attribute: 'runs', rowsPerBlock: 256 },
    updated_at: { kind: 'time', key: 'u', attribute: 'updated_at', rowsPerBlock: 144 },
    start_timestamp: { kind: 'time', key: 's', attribute: 'start_timestamp', rowsPerBlock: 144 },
    end_timestamp: { kind: 'time', key: 'e', attribute: 'end_timestamp', rowsPerBlock: 144 },
  },
  sets: {
    batch: {
      key: 'B',
      attribute: 'batch_id',
      rowsPerBlock: 4096,
      numberedBy: 'creation_order',
    },
  },
  rowDefaults: {},
} as const satisfies ListDescription;

/** The formats of both lists of an owner, which are written and recounted together. */
export interface OwnerFormats {
  readonly batch: ListDescription & { readonly table: 'Batches' };
  readonly job: ListDescription & { readonly table: 'Jobs' };
}

export const ownerFormats: OwnerFormats = { batch: batchList, job: jobList };

/** The formats in which a database's lists are stored: this release's formats, except in tests. */
export function formatsOf({ formats = ownerFormats }: { readonly formats?: OwnerFormats | undefined }): OwnerFormats {
  return formats;
}
