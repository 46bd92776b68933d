import { batchList } from './batch-list.ts';
import { jobList } from './job-list.ts';
import { type ListDescription, withRowsPerBlock } from './list-description.ts';

/** Both lists of an owner; they are written and recounted together. */
export interface OwnerLists {
  readonly batch: ListDescription;
  readonly job: ListDescription;
}

/** `rowsPerBlock`: tests force many small blocks. */
export function ownerLists(rowsPerBlock?: number): OwnerLists {
  if (rowsPerBlock === undefined) return { batch: batchList, job: jobList };
  return { batch: withRowsPerBlock(batchList, rowsPerBlock), job: withRowsPerBlock(jobList, rowsPerBlock) };
}
