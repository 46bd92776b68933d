import type { Job } from '../../schemas/job.ts';

/** The value that rows are sorted by, for what the service does not sort by. */
export type SortValue = (job: Job) => number | string | undefined;

interface Asked {
  readonly status: readonly string[];
  readonly by: string;
  readonly direction: string;
  readonly offset: number;
  readonly limit: number;
}

/** A page of jobs that are all here: filtered by status and sorted, jobs without the value last. */
export function pageOfJobs(
  jobs: readonly Job[],
  sortValues: ReadonlyMap<string, SortValue>,
  { status, by, direction, offset, limit }: Asked,
): { readonly jobs: readonly Job[]; readonly total: number } {
  const value = sortValues.get(by) ?? ((job: Job) => job.creation_order);
  const sign = direction === 'DESC' ? -1 : 1;
  const chosen = jobs.filter((job) => status.length === 0 || status.includes(job.status));
  const sorted = chosen.toSorted((a, b) => {
    const one = value(a);
    const other = value(b);
    if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
    if (one === other) return a.creation_order - b.creation_order;
    // Numbers come before texts.
    if (typeof one !== typeof other) return typeof one === 'number' ? -1 : 1;
    return (one < other ? -1 : 1) * sign;
  });
  return { jobs: sorted.slice(offset, offset + limit), total: sorted.length };
}
