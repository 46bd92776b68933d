/**
 * A trace of batches, run through a queue on a simulated clock: when each starts, and what was
 * estimated of that while it waited.
 */

import type { EstimatedStart } from '../../functions/schemas/estimate.ts';
import { randomNumbers } from '../../infra/local/demo/seeded-random.ts';

/** A batch of a trace. Times are seconds. */
interface TracedBatch {
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
 * Runs the trace, from `clock.now` on. Between two visible events, nothing happens but heartbeats.
 */
export async function replay(trace: Trace, queue: ReplayedQueue, options: ReplayOptions): Promise<Judged[]> {
  const run = new Replay(trace, queue, options);
  const { batches } = trace;
  const between = (batches.at(-1) as TracedBatch).at / options.estimates;
  let look = between;
  for (let next = 0; next < batches.length || run.isBusy(); ) {
    const worker = run.nextWorker();
    const arrival = batches[next]?.at ?? Infinity;
    const time = Math.min(worker.next, arrival, look);
    await run.goOnUntil(time);
    if (time === look) {
      look += between * (0.5 + run.random());
      await run.estimate();
    } else if (time === arrival) await run.arrive(next++, time);
    else if (isBusy(worker)) await run.report(worker, time);
    else await run.claim(worker, time);
  }
  return run.judged();
}

interface ReplayOptions {
  readonly clock: { now: number };
  readonly seed: number;
  readonly estimates: number;
}

interface Worker {
  readonly worker: number;
  /** When it does something next, in seconds of the trace. */
  next: number;
  /** The batch that it runs; empty where it has none. */
  id: string;
  /** Jobs of the batch. */
  done: number;
}

const isBusy = ({ id }: Worker) => id !== '';

/** What has happened to the trace's batches so far. */
class Replay {
  readonly random: () => number;
  readonly #trace: Trace;
  readonly #queue: ReplayedQueue;
  readonly #clock: { now: number };
  readonly #begin: number;
  readonly #waiting = new Set<string>();
  /** By id of the batch, its place in the trace and when it started. */
  readonly #numbers = new Map<string, number>();
  readonly #starts = new Map<string, number>();
  readonly #estimates: (Omit<Judged, 'start'> & { readonly id: string })[] = [];
  readonly #workers: readonly Worker[];
  readonly #ended = { batches: 0, seconds: 0 };

  constructor(trace: Trace, queue: ReplayedQueue, { clock, seed }: ReplayOptions) {
    this.random = randomNumbers(seed ^ 0x5bd1e995);
    this.#trace = trace;
    this.#queue = queue;
    this.#clock = clock;
    this.#begin = clock.now;
    this.#workers = Array.from({ length: trace.workers }, (_, worker) => ({ worker, next: Infinity, id: '', done: 0 }));
  }

  isBusy(): boolean {
    return this.#waiting.size > 0 || this.#workers.some(isBusy);
  }

  nextWorker(): Worker {
    return this.#workers.reduce((first, each) => (each.next < first.next ? each : first));
  }

  async goOnUntil(time: number) {
    this.#clock.now = this.#begin + Math.round(time * 1_000);
    await this.#queue.heartbeats(this.#workers.filter(isBusy).map((each) => each.worker));
  }

  async arrive(number: number, time: number) {
    const id = await this.#queue.create(number);
    this.#numbers.set(id, number);
    this.#waiting.add(id);
    for (const each of this.#workers) if (!isBusy(each) && each.next === Infinity) each.next = this.#awake(time);
  }

  /** A worker asks; where there is nothing, it asks again once a batch comes. */
  async claim(each: Worker, time: number) {
    each.next = Infinity;
    const claimed = await this.#queue.claim(each.worker);
    if (claimed === undefined) {
      if (this.#waiting.size > 0) each.next = Math.max(time + 1, this.#awake(time));
      return;
    }
    Object.assign(each, claimed);
    if (!this.#starts.has(each.id)) this.#starts.set(each.id, this.#clock.now);
    this.#waiting.delete(each.id);
    this.#runJob(each, time);
  }

  async report(each: Worker, time: number) {
    const goesOn = await this.#queue.report(each.worker);
    each.done += 1;
    if (goesOn) return this.#runJob(each, time);
    const { jobs } = this.#batchOf(each);
    if (each.done >= jobs.length) {
      this.#ended.batches += 1;
      this.#ended.seconds += jobs.reduce((sum, job) => sum + job, 0);
    } else this.#waiting.add(each.id);
    each.id = '';
    await this.claim(each, time);
  }

  /** Asks for the start of one of the batches that wait. */
  async estimate() {
    const ids = [...this.#waiting];
    const id = ids[Math.floor(this.random() * ids.length)];
    if (id === undefined || this.#starts.has(id)) return;
    const { estimated_start: times, queue_position } = await this.#queue.estimate(id);
    if (times === null || this.#ended.batches === 0) return;
    const [earliest, likely, latest] = [times.earliest, times.likely, times.latest].map((time) => Date.parse(time));
    const at = this.#clock.now;
    const mean = (this.#ended.seconds / this.#ended.batches) * 1_000;
    const simple = at + ((queue_position ?? 0) * mean) / this.#trace.workers;
    this.#estimates.push({ id, at, earliest: earliest!, likely: likely!, latest: latest!, simple });
  }

  judged(): Judged[] {
    return this.#estimates.map(({ id, ...each }) => ({ ...each, start: this.#starts.get(id) as number }));
  }

  #batchOf({ id }: Worker): TracedBatch {
    return this.#trace.batches[this.#numbers.get(id) as number] as TracedBatch;
  }

  #runJob(each: Worker, time: number) {
    each.next = time + (this.#batchOf(each).jobs[each.done] as number);
  }

  /** When a worker that waits at this time asks again: not while a window is closed. */
  #awake(time: number): number {
    const window = this.#trace.windows.find(([start, end]) => start <= time && time < end);
    return (window === undefined ? time : window[1]) + this.random() * 3;
  }
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
