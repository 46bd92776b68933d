/**
 * Measures queries in processes that do nothing else, in turns: what else the machine does meets
 * all of them alike.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import type { PreparedCase } from './list-cases.ts';
import { median } from './median.ts';
import type { AskedQuery, QueryRun, ReadOwner } from './query-process.ts';

export interface QueriesOfOwners {
  readonly size: number;
  readonly cases: readonly PreparedCase[];
  /**
   * The same rows in this checkout's columns, then in those of another one, where one is measured
   * beside it.
   */
  readonly owners: readonly ReadOwner[];
  /** Runs of each query. Times and memory are medians of them. */
  readonly runs: number;
}

export interface QueryTimes {
  readonly milliseconds: number;
  /** CPU time of a process that has answered every query before, the SDK included. */
  readonly cpuMilliseconds: number;
  /** Of the dearest run. */
  readonly mostCpuMilliseconds: number;
  /** How long the collection of garbage stopped the process in that run. */
  readonly garbageMilliseconds: number;
}

/** Of a process that answers this query alone, once: the medians of several. */
export interface MemoryResult {
  readonly name: string;
  readonly size: number;
  /** The peak. Most of it is Node, the SDK and what reads TypeScript. */
  readonly bytes: number;
  readonly besideBytes?: number;
}

const withMemory = new Set([
  'unfiltered, first page',
  'status, 85 % match',
  'three filters, 3 % match',
  'start_date and end_date, 1 % between',
  'status, 85 % match, start_date and end_date, 50 % between',
  'order_by updated_at',
  'order_by jobs_count',
  'order_by status',
  'order_by id',
  'order_by id, status',
]);

/** The compiler of Node takes as long as some queries; after so many rounds it has done most. */
const warmUps = 4;

/**
 * The times of every case, by its name, one owner after the other: one process for each owner
 * answers all of them in rounds, `runs` of which are measured. Throws when an answer is wrong.
 */
export async function measureTimes({
  cases,
  owners,
  runs,
}: QueriesOfOwners): Promise<ReadonlyMap<string, readonly QueryTimes[]>> {
  const processes = await Promise.all(owners.map(startQueries));
  const measured = new Map(cases.map(({ name }) => [name, owners.map((): QueryRun[] => [])]));
  try {
    for (let round = -warmUps; round < runs; round++) {
      for (const prepared of cases) {
        for (const [at, { ask }] of processes.entries()) {
          const run = await ask(prepared);
          if (round >= 0) measured.get(prepared.name)?.[at]?.push(run);
        }
      }
    }
  } finally {
    for (const { end } of processes) end();
  }
  return new Map(Array.from(measured, ([name, ofOwners]) => [name, ofOwners.map(timesOf)]));
}

function timesOf(runs: readonly QueryRun[]): QueryTimes {
  const dearest = runs.reduce((most, run) => (run.cpuMilliseconds > most.cpuMilliseconds ? run : most));
  return {
    milliseconds: median(runs.map(({ milliseconds }) => milliseconds)),
    cpuMilliseconds: median(runs.map(({ cpuMilliseconds }) => cpuMilliseconds)),
    mostCpuMilliseconds: dearest.cpuMilliseconds,
    garbageMilliseconds: dearest.garbageMilliseconds,
  };
}

export async function* measureMemory({ size, cases, owners, runs }: QueriesOfOwners): AsyncGenerator<MemoryResult> {
  const chosen = cases.filter(({ name }) => withMemory.has(name));
  const peaks = new Map(chosen.map(({ name }) => [name, owners.map((): number[] => [])]));
  for (let round = 0; round < runs; round++) {
    for (const prepared of chosen) {
      for (const [at, owner] of owners.entries()) {
        const { ask, end } = await startQueries(owner);
        try {
          peaks.get(prepared.name)?.[at]?.push((await ask(prepared)).peakBytes);
        } finally {
          end();
        }
      }
    }
  }
  for (const [name, [bytes = [], besideBytes]] of peaks) {
    yield { name, size, bytes: median(bytes), ...(besideBytes && { besideBytes: median(besideBytes) }) };
  }
}

async function startQueries(owner: ReadOwner) {
  const child = fork(`${import.meta.dirname}/query-process.ts`, [JSON.stringify(owner)]);
  const died = once(child, 'exit').then(() => {
    throw new Error('A process of queries has ended.');
  });
  // It may end while nobody waits for it.
  died.catch(() => {});
  const answer = () => Promise.race([once(child, 'message'), died]);
  await answer();
  return {
    async ask({ name, list, asked: query, expected }: PreparedCase): Promise<QueryRun> {
      child.send({ list, query } satisfies AskedQuery);
      const [run] = (await answer()) as [QueryRun];
      if (run.total !== expected.total || !isDeepStrictEqual(run.ids, expected.ids)) {
        throw new Error(`${name}: the answer of ${owner.root} is wrong.`);
      }
      return run;
    },
    end: () => child.kill(),
  };
}
