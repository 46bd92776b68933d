import { BatchStatus, QueuePriority } from '../../schemas/values.ts';
import type { ListDescription } from './list-description.ts';

export const batchList = {
  key: 'b',
  table: 'Batches',
  columns: {
    id: { kind: 'uuid', key: 'i', attribute: 'id', rowsPerBlock: 56 },
    facets: {
      kind: 'facets',
      key: 'f',
      rowsPerBlock: 256,
      facets: {
        status: { kind: 'values', attribute: 'status', values: BatchStatus.options },
        open: { kind: 'values', attribute: 'open', values: [false, true] },
        queue_priority: { kind: 'values', attribute: 'queue_priority', values: QueuePriority.options },
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
} as const satisfies ListDescription;
