/** Reads the jobs of a batch and their counts, and later only what has changed. */

import type { Job } from '../../schemas/job.ts';
import { type Api, CallFailed } from '../client/public-api.ts';
import { type Count, readCounter } from '../parts/counter.ts';
import type { SweepSource } from './figure-data.ts';

/** More jobs than these are not read: the first by their order are. */
const maxJobs = 1_000;

/** A page of jobs, and the results of one call. */
const pageSize = 100;

/** Once the counters have more outcomes together, no more are read: a page's memory is bounded. */
const maxOutcomes = 400_000;

export interface Sweep {
  /** In the order of their numbers. */
  readonly jobs: readonly Job[];
  /** How many the batch has. */
  readonly total: number;
  /** By the ids of jobs. */
  readonly counts: ReadonlyMap<string, readonly Count[]>;
  /** Jobs whose results are there and are no counter, or are too large to be read here. */
  readonly others: ReadonlySet<string>;
  /** All results that there are have been read. */
  readonly isWhole: boolean;
}

/** A sweep as figures have it. */
export function sourceOf(name: string, link: string, { jobs, total, counts, others }: Sweep): SweepSource {
  return { name, link, jobs, total, counts, others: others.size };
}

export const noSweep: Sweep = { jobs: [], total: 0, counts: new Map(), others: new Set(), isWhole: false };

interface Source {
  readonly api: Api;
  readonly batch: { readonly id: string; readonly user_id: string };
  readonly signal: AbortSignal;
}

/**
 * The jobs now. Once they are known, only pages with the last changes are read. Throws CallFailed.
 */
export async function readJobs(source: Source, known: Sweep): Promise<Pick<Sweep, 'jobs' | 'total'>> {
  const jobs = new Map(known.jobs.map((job) => [job.id, job]));
  const isFirst = jobs.size === 0;
  let total = 0;
  for (let offset = 0; offset < maxJobs; offset += pageSize) {
    const page = await readPage(source, offset, isFirst);
    total = page.total;
    const changed = page.jobs.filter(({ id, updated_at }) => jobs.get(id)?.updated_at !== updated_at);
    for (const job of page.jobs) jobs.set(job.id, job);
    const isLast = page.jobs.length === 0 || offset + page.jobs.length >= total;
    const isKnown = !isFirst && changed.length < page.jobs.length && jobs.size >= Math.min(total, maxJobs);
    if (isLast || isKnown) break;
  }
  const sorted = [...jobs.values()].sort((a, b) => a.creation_order - b.creation_order);
  return { jobs: sorted.slice(0, maxJobs), total };
}

async function readPage({ api, batch, signal }: Source, offset: number, isFirst: boolean) {
  const order = isFirst
    ? { order_by: 'creation_order', order_by_direction: 'ASC' }
    : { order_by: 'updated_at', order_by_direction: 'DESC' };
  const query = { batch_id: batch.id, user_id: batch.user_id, limit: pageSize, offset, ...order };
  const { data, pagination } = await api.call<Job[]>('/api/v2/jobs', { query, signal });
  return { jobs: data, total: pagination?.total ?? data.length };
}

/**
 * Adds the results of jobs that are done and not known yet; `show` has them page by page. Results
 * never change once a job is done. Throws CallFailed.
 */
export async function readResults(source: Source, known: Sweep, show: (sweep: Sweep) => void): Promise<void> {
  const counts = new Map(known.counts);
  const others = new Set(known.others);
  const missing = known.jobs.filter(({ id, status }) => status === 'DONE' && !counts.has(id) && !others.has(id));
  let outcomes = Array.from(counts.values()).reduce((sum, { length }) => sum + length, 0);
  for (let at = 0; at < missing.length; at += pageSize) {
    const ids = missing.slice(at, at + pageSize).map(({ id }) => id);
    const documents = outcomes > maxOutcomes ? new Map<string, unknown>() : await readDocuments(source, ids);
    for (const id of ids) {
      const counter = readCounter(documents.get(id));
      if (counter === undefined) others.add(id);
      else counts.set(id, counter);
      outcomes += counter?.length ?? 0;
    }
    const isWhole = at + pageSize >= missing.length;
    show({ ...known, counts: new Map(counts), others: new Set(others), isWhole });
  }
  if (missing.length === 0) show({ ...known, isWhole: true });
}

/**
 * Documents by their jobs. Where they exceed one answer, they are read in halves. A document that
 * exceeds one alone is left out.
 */
async function readDocuments(source: Source, ids: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
  const { api, batch, signal } = source;
  try {
    const call = { query: { job_id: ids }, signal };
    const { data } = await api.call<Record<string, unknown>>(`/api/v1/batches/${batch.id}/full_results`, call);
    return new Map(Object.entries(data));
  } catch (error) {
    const isTooLarge = error instanceof CallFailed && error.faults.some(({ type }) => type === 'results_too_large');
    if (!isTooLarge) throw error;
    if (ids.length === 1) return new Map();
    const half = Math.ceil(ids.length / 2);
    const first = await readDocuments(source, ids.slice(0, half));
    return new Map([...first, ...(await readDocuments(source, ids.slice(half)))]);
  }
}
