import { describe, expect, it } from 'vitest';
import { type Api, CallFailed, type Query } from '../../../../functions/console/client/public-api.ts';
import { noSweep, readJobs, readResults, type Sweep } from '../../../../functions/console/sweep/sweep-source.ts';
import type { Job } from '../../../../functions/schemas/job.ts';

/** Jobs and documents as the service has them, with the calls that were made of it. */
function service(count: number) {
  const jobs = Array.from({ length: count }, (_, at) => ({
    ...{ id: `job-${at}`, creation_order: at, status: 'PENDING', updated_at: '2026-01-01T00:00:00Z' },
  })) as unknown as (Job & { status: string; updated_at: string })[];
  const documents = new Map<string, unknown>();
  const calls: string[] = [];
  let most = Number.POSITIVE_INFINITY;
  const listJobs = ({ order_by, offset, limit }: Query) => {
    const sorted = order_by === 'updated_at' ? jobs.toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1)) : jobs;
    const page = sorted.slice(Number(offset), Number(offset) + Number(limit));
    return { data: structuredClone(page), pagination: { total: jobs.length, start: 0, end: 0 } };
  };
  const readDocuments = ({ job_id }: Query) => {
    const found = [job_id as readonly string[]].flat().filter((id) => documents.has(id));
    if (found.length > most) {
      throw new CallFailed(422, { detail: [{ loc: [], msg: 'Too large.', type: 'results_too_large' }] });
    }
    return { data: Object.fromEntries(found.map((id) => [id, documents.get(id)])), pagination: undefined };
  };
  const api = {
    call: async (path: string, { query = {} }: { query?: Query } = {}) => {
      calls.push(path.includes('full_results') ? `results ${[query.job_id].flat().length}` : 'jobs');
      const answer = path.includes('full_results') ? readDocuments(query) : listJobs(query);
      return { ...answer, retryAfter: undefined };
    },
  } as Api;
  const source = { api, batch: { id: 'batch', user_id: 'user' }, signal: new AbortController().signal };
  return {
    ...{ source, jobs, documents, calls },
    finish(at: number, document: unknown, time = '2026-01-02T00:00:00Z') {
      jobs[at] = { ...jobs[at]!, status: 'DONE', updated_at: time } as (typeof jobs)[number];
      documents.set(`job-${at}`, document);
    },
    allowAtOnce(documents: number) {
      most = documents;
    },
    async look(known: Sweep = noSweep): Promise<Sweep> {
      let sweep: Sweep = { ...known, ...(await readJobs(source, known)), isWhole: false };
      await readResults(source, sweep, (next) => {
        sweep = next;
      });
      return sweep;
    },
  };
}

const counter = (count: number) => ({ counter: { '01': count } });

describe('a sweep', () => {
  it('has all jobs of all pages, in their order, and their counts', async () => {
    const { look, finish, calls } = service(230);
    for (let at = 0; at < 150; at++) finish(at, counter(at + 1));
    const sweep = await look();
    expect(sweep.jobs.map(({ creation_order }) => creation_order)).toEqual(Array.from({ length: 230 }, (_, at) => at));
    expect([sweep.total, sweep.counts.size, sweep.isWhole]).toEqual([230, 150, true]);
    expect(sweep.counts.get('job-149')).toEqual([{ bits: '01', count: 150 }]);
    expect(calls).toEqual(['jobs', 'jobs', 'jobs', 'results 100', 'results 50']);
  });

  it('asks later only for what has changed', async () => {
    const { look, finish, calls } = service(230);
    finish(0, counter(1));
    const first = await look();
    calls.length = 0;
    finish(1, counter(2), '2026-01-03T00:00:00Z');
    const second = await look(first);
    expect(calls).toEqual(['jobs', 'results 1']);
    expect([...second.counts.keys()]).toEqual(['job-0', 'job-1']);
    expect(second.jobs.filter(({ status }) => status === 'DONE')).toHaveLength(2);
    calls.length = 0;
    await look(second);
    expect(calls).toEqual(['jobs']);
  });

  it('finds jobs that were added', async () => {
    const { look, jobs } = service(120);
    const first = await look();
    jobs.push({ ...jobs[0]!, id: 'job-120', creation_order: 120, updated_at: '2026-01-03T00:00:00Z' });
    expect((await look(first)).jobs).toHaveLength(121);
  });

  it('says how many jobs there are where it reads the first 1,000', async () => {
    const sweep = await service(1_010).look();
    expect([sweep.jobs.length, sweep.total]).toEqual([1_000, 1_010]);
  });

  it('reads results in halves where they exceed one answer, and leaves out one that alone does', async () => {
    const { look, finish, allowAtOnce, calls } = service(4);
    for (let at = 0; at < 4; at++) finish(at, counter(1));
    allowAtOnce(2);
    expect((await look()).counts.size).toBe(4);
    expect(calls).toEqual(['jobs', 'results 4', 'results 2', 'results 2']);
    allowAtOnce(0);
    const none = await look();
    expect([none.counts.size, none.others.size, none.isWhole]).toEqual([0, 4, true]);
  });

  it('counts results that are no counters, and asks for them once', async () => {
    const { look, finish, calls } = service(2);
    finish(0, { state: 'a' });
    const sweep = await look();
    expect([...sweep.others]).toEqual(['job-0']);
    calls.length = 0;
    await look(sweep);
    expect(calls).toEqual(['jobs']);
  });

  it('throws what else refuses a call', async () => {
    const { source } = service(1);
    const failing = { ...source, api: { call: () => Promise.reject(new CallFailed(500, {})) } as Api };
    await expect(readJobs(failing, noSweep)).rejects.toThrow(CallFailed);
  });
});
