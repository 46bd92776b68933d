/**
 * A trace of batches, run through a queue on a simulated clock: when each starts, and what was
 * estimated of that while it waited.
 */

import type { EstimatedStart } from '../../functions/schemas/estimate.ts';
import { randomNumbers } from '../../infra/local/demo/seeded-random.ts';

/** A batch of a trace. Times are seconds. */
export interface TracedBatch {
  readonly at: number;
  readonly user: string;
  /** How long each of its jobs takes. */
  readonly jobs: readonly number[];
}

export interface Trace {
  readonly batches: readonly TracedBatch[];
  readonly workers: number;
  readonly windows: readonly (readonly [start: number, end: number])[];
}

/** What runs the trace. A worker is its number. */
export interface ReplayedQueue {
  create(at: number): Promise<string>;
  /** The batch's id, and how many jobs it has had; undefined: there is none. */
  claim(worker: number): Promise<{ id: string; done: number } | undefined>;
  /** Whether the batch has a further job for the worker. */
  report(worker: number): Promise<boolean>;
  /** The heartbeats that workers with a job have sent since. */
  heartbeats(workers: readonly number[]): Promise<void>;
  estimate(id: string): Promise<{ estimated_start: EstimatedStart | null; queue_position: number | null }>;
}

/** What was estimated of a batch at a time, and what became of it. Milliseconds since 1970. */
export interface Judged {
  readonly at: number;
  readonly earliest: number;
  readonly likely: number;
  readonly latest: number;
  /** By its position and the mean time of the batches so far, spread over all workers. */
  readonly simple: number;
  readonly start: number;
}

/** A trace with heavy tails: bursts of several users, job times lognormal or Pareto. */
export function randomTrace(seed: number, count: number): Trace {
  const random = randomNumbers(seed);
  const pick = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)] as Value;
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const [workers, users, load] = [pick([1, 1, 2, 4]), pick([2, 5, 12]), pick([0.7, 0.95, 1.2])];
  const [isPareto, sigma, alike] = [random() < 0.4, 0.4 + random(), random() < 0.5];
  // Users differ in half of the traces.
  const differ = pick([0, 0.7]);
  const scales = Array.from({ length: users }, () => Math.exp(differ * normal() - differ ** 2 / 2));
  // Both have a mean of about 30 s.
  const draw = (user: number) => {
    const drawn = isPareto ? 10 / (1 - random()) ** (1 / 1.5) : 30 * Math.exp(sigma * normal() - sigma ** 2 / 2);
    return Math.min(1_800, drawn * (scales[user] as number));
  };
  const maxJobs = pick([1, 1, 4]);
  const batches: TracedBatch[] = [];
  let at = 0;
  while (batches.length < count) {
    const user = Math.floor(random() ** 2 * users);
    const burst = random() < 0.2 ? 1 + Math.floor(random() * 8) : 1;
    let work = 0;
    for (let more = 0; more < burst && batches.length < count; more++) {
      const common = draw(user);
      const jobs = Array.from({ length: 1 + Math.floor(random() * maxJobs) }, () => (alike ? common : draw(user)));
      work += jobs.length * 30;
      batches.push({ at: at + more, user: `auth0|user ${user}`, jobs });
    }
    at += (-Math.log(1 - random()) * work) / (load * workers);
  }
  const windows = random() < 0.4 ? [[at * 0.4, at * 0.4 + 300 + random() * 600] as const] : [];
  return { batches, workers, windows };
}

/**
 * The first jobs of a log in the Standard Workload Format, each as a batch of one job. Its fields
 * 2, 4 and 12 are the time of submission, the run time and the user. There are as many workers as
 * are busy nine tenths of the time. Jobs that never ran are left out.
 */
export function traceOfLog(text: string, count: number): Trace {
  const rows = text.split('\n').flatMap((line) => {
    const [, submit = -1, , run = -1, , , , , , , , user = -1] = line.trim().split(/\s+/).map(Number);
    return line.trim() === '' || line.startsWith(';') || run <= 0 ? [] : { submit, run, user };
  });
  const jobs = rows.sort((a, b) => a.submit - b.submit).slice(0, count);
  const begin = jobs[0]?.submit ?? 0;
  const batches = jobs.map(({ submit, run, user }) => ({ at: submit - begin, user: `auth0|${user}`, jobs: [run] }));
  const work = jobs.reduce((sum, { run }) => sum + run, 0);
  return { batches, workers: Math.max(1, Math.round(work / 0.9 / (batches.at(-1)?.at || work))), windows: [] };
}

/**
 * Runs the trace, from `clock.now` on. Between two events that somebody sees, nothing happens but
 * heartbeats.
 */
export async function replay(
  trace: Trace,
  queue: ReplayedQueue,
  { clock, seed, estimates }: { clock: { now: number }; seed: number; estimates: number },
): Promise<Judged[]> {
  const random = randomNumbers(seed ^ 0x5bd1e995);
  const begin = clock.now;
  const { batches } = trace;
  const waiting = new Map<string, number>();
  const numbers = new Map<string, number>();
  const starts = new Map<string, number>();
  const judged: (Omit<Judged, 'start'> & { readonly id: string })[] = [];
  const workers = Array.from({ length: trace.workers }, (_, worker) => ({ worker, next: Infinity, id: '', done: 0 }));
  const ended = { batches: 0, seconds: 0 };
  const awake = (time: number) => {
    const window = trace.windows.find(([start, end]) => start <= time && time < end);
    return (window === undefined ? time : window[1]) + random() * 3;
  };
  const isBusy = ({ id }: { readonly id: string }) => id !== '';
  const run = (each: (typeof workers)[number], time: number) => {
    each.next = time + (batches[numbers.get(each.id) as number]?.jobs[each.done] as number);
  };
  /** A worker asks; where there is nothing, it asks again once a batch comes. */
  const claim = async (each: (typeof workers)[number], time: number) => {
    each.next = Infinity;
    const claimed = await queue.claim(each.worker);
    if (claimed === undefined) {
      if (waiting.size > 0) each.next = Math.max(time + 1, awake(time));
      return;
    }
    Object.assign(each, claimed);
    if (!starts.has(each.id)) starts.set(each.id, clock.now);
    waiting.delete(each.id);
    run(each, time);
  };
  const report = async (each: (typeof workers)[number], time: number) => {
    const goesOn = await queue.report(each.worker);
    each.done += 1;
    if (goesOn) return run(each, time);
    const { jobs } = batches[numbers.get(each.id) as number] as TracedBatch;
    if (each.done >= jobs.length) {
      ended.batches += 1;
      ended.seconds += jobs.reduce((sum, job) => sum + job, 0);
    } else waiting.set(each.id, 0);
    each.id = '';
    await claim(each, time);
  };
  const estimate = async () => {
    const [...ids] = waiting.keys();
    const id = ids[Math.floor(random() * ids.length)];
    if (id === undefined || starts.has(id)) return;
    const { estimated_start: times, queue_position } = await queue.estimate(id);
    if (times === null || ended.batches === 0) return;
    const [earliest, likely, latest] = [times.earliest, times.likely, times.latest].map((time) => Date.parse(time));
    const mean = (ended.seconds / ended.batches) * 1_000;
    const simple = clock.now + ((queue_position ?? 0) * mean) / trace.workers;
    judged.push({ id, at: clock.now, earliest: earliest!, likely: likely!, latest: latest!, simple });
  };
  const between = (batches.at(-1) as TracedBatch).at / estimates;
  for (let next = 0, look = between; next < batches.length || waiting.size > 0 || workers.some(isBusy); ) {
    const worker = workers.reduce((first, each) => (each.next < first.next ? each : first));
    const arrival = batches[next]?.at ?? Infinity;
    const time = Math.min(worker.next, arrival, look);
    clock.now = begin + Math.round(time * 1_000);
    await queue.heartbeats(workers.filter(isBusy).map((each) => each.worker));
    if (time === look) {
      look += between * (0.5 + random());
      await estimate();
    } else if (time === arrival) {
      const id = await queue.create(next);
      numbers.set(id, next++);
      waiting.set(id, time);
      for (const each of workers) if (!isBusy(each) && each.next === Infinity) each.next = awake(time);
    } else if (isBusy(worker)) await report(worker, time);
    else await claim(worker, time);
  }
  return judged.map(({ id, ...each }) => ({ ...each, start: starts.get(id) as number }));
}

/** The share of starts within the range, and the median errors in seconds. */
export function judge(judged: readonly Judged[]) {
  const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
  const inRange = judged.filter(({ earliest, latest, start }) => earliest <= start && start <= latest);
  return {
    estimates: judged.length,
    covered: inRange.length / judged.length,
    error: median(judged.map(({ likely, start }) => Math.abs(likely - start) / 1_000)),
    simpleError: median(judged.map(({ simple, start }) => Math.abs(simple - start) / 1_000)),
    wait: median(judged.map(({ at, start }) => (start - at) / 1_000)),
    range: median(judged.map(({ earliest, latest }) => (latest - earliest) / 1_000)),
  };
}
