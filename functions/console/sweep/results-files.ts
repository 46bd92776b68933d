/** All results of a batch as files. */

import type { Count } from '../parts/counter.ts';
import { csvText } from '../ui/csv-text.ts';
import { readVariables } from './variables.ts';

interface TakenJob {
  readonly id: string;
  readonly creation_order: number;
  readonly status: string;
  readonly runs: number | null;
  /** The number of the device's calibration under which it ran. */
  readonly calibration: number | null;
  readonly variables: Readonly<Record<string, unknown>> | null;
}

type CountsOf = ReadonlyMap<string, readonly Count[]>;

/** An array of jobs in their order, each with its counts; null where it has none. */
export function jsonOfJobs(jobs: readonly TakenJob[], counts: CountsOf): string {
  const all = jobs.map(({ id, creation_order, variables, runs, calibration, status }) => {
    const own = counts.get(id);
    return {
      job_id: id,
      number: creation_order + 1,
      variables,
      runs,
      calibration,
      status,
      counts: own === undefined ? null : Object.fromEntries(own.map(({ bits, count }) => [bits, count])),
    };
  });
  return JSON.stringify(all, null, 1);
}

/** A row for each job and outcome, and one for a job without counts. Variables are columns. */
export function csvOfJobs(jobs: readonly TakenJob[], counts: CountsOf): string {
  const { differing, constant } = readVariables(jobs.map((job) => ({ ...job, runs: null })));
  const variables = [...differing, ...constant];
  const head = [
    'job_id',
    'number',
    'status',
    'runs',
    ...variables.map(({ name }) => name),
    'bitstring',
    'count',
    'calibration',
  ];
  const rows = jobs.flatMap((job) => {
    const own = counts.get(job.id) ?? [];
    const values = variables.map(({ values }) => values.get(job.id));
    const start = [job.id, job.creation_order + 1, job.status, job.runs ?? undefined, ...values];
    const end = job.calibration ?? undefined;
    if (own.length === 0) return [[...start, undefined, undefined, end]];
    return own.map(({ bits, count }) => [...start, bits, count, end]);
  });
  return csvText([head, ...rows]);
}
