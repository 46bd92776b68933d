import { JobOrigin, JobStatus } from '../../schemas/values.ts';
import type { ListDescription } from './list-description.ts';

export const jobList = {
  key: 'j',
  table: 'Jobs',
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
      members: {
        index: 'by_batch',
        column: 'creation_order',
        counter: { table: 'Batches', attribute: 'jobs_count' },
      },
    },
  },
} as const satisfies ListDescription;
