import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as fc from 'fast-check';
import { batchList, jobList } from '../../functions/data/columns/lists.ts';
import type { TableNames } from '../../functions/tables.ts';
import { derivedUuid } from '../../functions/values/uuid.ts';
import { loadList } from './load-list.ts';
import { batchRows, countJobs, jobRows } from './random-rows.ts';
import type { ResultsStore } from './results-store.ts';
import { leaseFirstBatch, putFirstLease } from './route-cases.ts';

interface Options {
  readonly batches?: number;
  readonly jobs?: number;
  /** Worlds of the same seed have the same ids. */
  readonly seed?: number;
  /** Whether a device has the first batch, and runs its first job. */
  readonly leased?: boolean;
  /** If given, ids, project, device, tag and errors carry it, and no other user's do. */
  readonly mark?: string;
}

type World = ReturnType<typeof world>;

/**
 * What a user has, as route cases need it: batches, jobs of the first two, all with results. The
 * first batch is open and runs.
 */
export function world(
  userId: string,
  { batches: batchCount = 30, jobs: jobCount = 40, seed = 3, leased = false, mark }: Options = {},
) {
  const sample = <Value>(rows: fc.Arbitrary<Value>, seed: number) => fc.sample(rows, { numRuns: 1, seed })[0] as Value;
  const project = mark !== undefined && { project_id: derivedUuid(['project', mark]) };
  const idOf = (id: string) => (mark === undefined ? id : derivedUuid([mark, id]));
  const batchMarks = project && { ...project, device_type: `DEVICE_${mark}`, tags: [`tag-${mark}`] };
  const plainBatches = sample(batchRows(userId, batchCount), seed).map((row) => ({
    ...row,
    ...batchMarks,
    id: idOf(row.id),
  }));
  const firstTwo = plainBatches.slice(0, 2).map(({ id }) => id);
  const plainJobs = sample(jobRows(userId, firstTwo, jobCount), -seed).map((row) => ({
    ...row,
    ...(project && { ...project, errors: [`error of ${mark}`] }),
    id: idOf(row.id),
    results_key: `results/${userId}/${idOf(row.id)}.json`,
  }));
  const plain = { batches: plainBatches, jobs: plainJobs };
  const { batches, jobs } = leased ? leaseFirstBatch(plain) : plain;
  return { userId, leased, batches: countJobs(batches, jobs), jobs };
}

/** Stores rows, columns, results and the lease of a world. */
export async function storeWorld(
  { client, names, results }: { client: DynamoDBDocumentClient; names: TableNames; results: ResultsStore },
  { userId, leased, batches, jobs }: World,
) {
  await loadList(client, names, { list: batchList, userId, rows: batches });
  await loadList(client, names, { list: jobList, userId, rows: jobs });
  if (leased) await putFirstLease(client, names, { batches, jobs });
  for (const { id, results_key } of jobs) await results.put(results_key, { counter: { [id]: 1 } });
}
