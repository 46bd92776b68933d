/** Faults of many jobs, in few words. */

import type { Fault } from '../client/fault-places.ts';
import { texts } from '../ui/texts.ts';
import { shotsColumn } from './cell-values.ts';

/** Faults of the same kind at the same column. */
interface FaultGroup {
  /** Name of a variable, `shotsColumn`, or empty: the job as a whole. */
  readonly column: string;
  /** Places of the jobs, from 0. */
  readonly jobs: readonly number[];
  readonly msg: string;
}

/** A remark about a place in jobs. */
type Remark = Pick<Fault, 'loc' | 'msg'>;

/** The column that a fault of a job is about: see FaultGroup. */
export function columnOf({ loc }: Pick<Fault, 'loc'>): string {
  const [, , , member, name] = loc;
  if (member === 'runs') return shotsColumn;
  return member === 'variables' && name !== undefined ? String(name) : '';
}

/** The place of the job that it is about; undefined where it is about no job. */
export function jobOf({ loc }: Pick<Fault, 'loc'>): number | undefined {
  return loc[1] === 'jobs' && typeof loc[2] === 'number' ? loc[2] : undefined;
}

/**
 * The faults of jobs in groups: faults of one group differ by their numbers only. Its message is
 * the first one.
 */
export function groupFaults(faults: readonly Remark[]): readonly FaultGroup[] {
  const groups = new Map<string, FaultGroup & { readonly jobs: number[] }>();
  for (const fault of faults) {
    const job = jobOf(fault);
    if (job === undefined) continue;
    const column = columnOf(fault);
    const key = `${column}\n${fault.msg.replace(/\d[\d.,]*/g, '0')}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { column, jobs: [job], msg: fault.msg });
    else if (group.jobs.at(-1) !== job) group.jobs.push(job);
  }
  return [...groups.values()];
}

/** More parts of a list are counted only. */
const maxParts = 4;

/** `job 3`, `jobs 51 to 54`, `jobs 1, 3 and 5 to 9`: of places from 0, in order. */
export function nameJobs(jobs: readonly number[]): string {
  const runs: [first: number, last: number][] = [];
  for (const job of jobs) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === job - 1) run[1] = job;
    else runs.push([job, job]);
  }
  const parts = runs.map(([first, last]) => {
    if (first === last) return `${first + 1}`;
    return last === first + 1 ? `${first + 1}, ${last + 1}` : `${first + 1} ${texts.newBatch.upTo} ${last + 1}`;
  });
  return texts.newBatch.jobsNamed(
    jobs.length,
    parts.length > maxParts ? parts.slice(0, maxParts) : parts,
    parts.length,
  );
}
