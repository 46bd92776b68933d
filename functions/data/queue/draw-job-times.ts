/** How long jobs may take: draws from a device's last reports. */

import type { JobTime } from './job-times.ts';
import type { FrontItem } from './queue-item.ts';

/** The least spread of the proportion between future and past job times. */
const drift = 0.2;

export type Random = () => number;

/** What is to be drawn, in seconds. */
interface Bounds {
  /** The job has taken so long already. */
  readonly longerThan?: number;
  /** A job that takes longer is ended then. */
  readonly atMost?: number | undefined;
}

/** The seconds that a job of the batch takes, on average of its jobs. */
export type Draw = (item?: Pick<FrontItem, 'jobs_left' | 'job_shots'>, bounds?: Bounds) => number;

export type Sample = ReturnType<typeof sampleOf>;

/**
 * Draws job times. One factor makes all times of a play shorter or longer: how far the sample may
 * be off. If seconds by shot vary less than seconds by job, they are used for batches with known
 * shots.
 */
export function jobTimes({ seconds, perShot, spread }: Sample, random: Random): Draw {
  const factor = Math.exp(normal(random) * spread);
  return ({ jobs_left, job_shots } = { jobs_left: 1 }, { longerThan = 0, atMost = Number.POSITIVE_INFINITY } = {}) => {
    const [sample, unit] =
      perShot === undefined || job_shots === undefined ? [seconds, factor] : [perShot, factor * job_shots];
    if (longerThan > 0) return drawLonger(sample, { unit, longerThan }, random);
    const pick = () => Math.min(atMost, (sample[Math.floor(random() * sample.length)] ?? 0) * unit);
    if (jobs_left < 2) return pick();
    // Jobs of one batch are alike, by an unknown part.
    const picks = Math.min(8, jobs_left);
    let sum = 0;
    for (let picked = 0; picked < picks; picked++) sum += pick();
    return (sum / picks + pick()) / 2;
  };
}

/** One of the longer times of the sample; beyond all of them, the tail is a heavy one. */
function drawLonger(
  sample: readonly number[],
  { unit, longerThan }: { readonly unit: number; readonly longerThan: number },
  random: Random,
): number {
  const first = sample.findIndex((each) => each * unit > longerThan);
  const longer = first < 0 ? 0 : sample.length - first;
  // The sample's own tail counts as one more.
  const at = Math.floor(random() * (longer + 1));
  if (at < longer) return (sample[first + at] as number) * unit;
  return longerThan / Math.max(0.03, 1 - random());
}

/** The sample in ascending order, and how far the logarithm of its times may be off. */
export function sampleOf(jobs: readonly JobTime[]) {
  const ascending = (values: readonly number[]) => values.toSorted((a, b) => a - b);
  const known = jobs.flatMap(({ seconds, shots }) => (shots === undefined ? [] : { seconds, each: seconds / shots }));
  const seconds = ascending(jobs.map((each) => each.seconds));
  const perShot = ascending(known.map(({ each }) => each));
  const isByShot = known.length > 1 && varianceOfLogs(perShot) < varianceOfLogs(known.map((each) => each.seconds));
  const variance = varianceOfLogs(isByShot ? perShot : seconds);
  const spread = Math.sqrt(drift ** 2 + (variance + 0.5) / Math.max(1, jobs.length));
  return { seconds, perShot: isByShot ? perShot : undefined, spread };
}

function varianceOfLogs(values: readonly number[]): number {
  const logs = values.map((each) => Math.log(Math.max(1e-6, each)));
  const mean = logs.reduce((sum, each) => sum + each, 0) / Math.max(1, logs.length);
  return logs.reduce((sum, each) => sum + (each - mean) ** 2, 0) / Math.max(1, logs.length - 1);
}

/** A number of the standard normal distribution, nearly: the sum of twelve of the uniform one. */
function normal(random: Random): number {
  return Array.from({ length: 12 }, random).reduce((sum, each) => sum + each, -6);
}

/** The same numbers for each answer: it changes only if its input does. */
export function randomNumbers(): Random {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
