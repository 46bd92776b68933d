/** The samples of Pulser's waveforms, one for each ns, as pulser-core 1.9 computes them. */

import { numberOf, numbersOf, type Variables } from '../../pulser/parameter-values.ts';
import { isObject, type JsonObject } from '../ui/json-object.ts';
import { texts } from '../ui/texts.ts';
import { NotDrawn } from './not-drawn.ts';
import { rangeOf } from './qubit-places.ts';

const { sequence: words } = texts;

/** Sequences that last longer are not drawn. */
export const maxNanoseconds = 1_000_000;

/** The search for the duration of a window samples the window at each step. */
const maxSearchedNanoseconds = 20_000;

export interface Waveform {
  /** In ns. */
  readonly duration: number;
  /** Whether the value never changes. */
  readonly isConstant: boolean;
  /** For this duration, or for a longer one. Throws NotDrawn where it cannot be longer. */
  readonly sample: (duration: number) => Samples;
}

export type Samples = readonly number[];

/**
 * Reads a waveform. Throws NotDrawn where Pulser would refuse it, NoValue where it needs a missing
 * value.
 */
export function readWaveform(form: unknown, variables: Variables): Waveform {
  if (!isObject(form) || !Object.hasOwn(readers, String(form.kind))) throw new NotDrawn(words.noWaveform);
  const waveform = readers[String(form.kind)]!(form, variables);
  const { duration } = waveform;
  if (duration <= 0) throw new NotDrawn(words.noWaveform);
  if (duration > maxNanoseconds) throw new NotDrawn(words.tooLong);
  return waveform;
}

/** A waveform of any duration. */
function stretched(
  form: JsonObject,
  variables: Variables,
  sample: (duration: number) => Samples,
  duration = Math.trunc(numberOf(form.duration, variables)),
): Waveform {
  return { duration, isConstant: form.kind === 'constant', sample };
}

/** A waveform of one duration. */
function fixed(samples: Samples): Waveform {
  const sample = (duration: number) => {
    if (duration !== samples.length) throw new NotDrawn(words.noClock);
    return samples;
  };
  return { duration: samples.length, isConstant: false, sample };
}

const readers: Readonly<Record<string, (form: JsonObject, variables: Variables) => Waveform>> = {
  constant(form, variables) {
    const value = numberOf(form.value, variables);
    return stretched(form, variables, (duration) => Array<number>(duration).fill(value));
  },
  ramp(form, variables) {
    const [start, stop] = [numberOf(form.start, variables), numberOf(form.stop, variables)];
    return stretched(form, variables, (duration) => {
      if (duration === 1) throw new NotDrawn(words.noWaveform);
      return Array.from({ length: duration }, (_, at) => start + ((stop - start) / (duration - 1)) * at);
    });
  },
  blackman(form, variables) {
    const area = numberOf(form.area, variables);
    return stretched(form, variables, (duration) => scaled(blackman(duration), area));
  },
  blackman_max(form, variables) {
    const [max, area] = limited(form, variables);
    return stretched(
      form,
      variables,
      (duration) => scaled(blackman(duration), area),
      blackmanDuration(Math.abs(max), Math.abs(area)),
    );
  },
  kaiser(form, variables) {
    const [area, beta] = [numberOf(form.area, variables), numberOf(form.beta, variables)];
    return stretched(form, variables, (duration) => scaled(kaiser(duration, beta), area));
  },
  kaiser_max(form, variables) {
    const [max, area] = limited(form, variables);
    const beta = numberOf(form.beta, variables);
    return stretched(
      form,
      variables,
      (duration) => scaled(kaiser(duration, beta), area),
      kaiserDuration(Math.abs(max), Math.abs(area), beta),
    );
  },
  interpolated(form, variables) {
    const values = numbersOf(form.values, variables);
    const times = numbersOf(form.times, variables);
    const isOrdered = times.every((time, at) => time >= 0 && time <= 1 && (at === 0 || time > times[at - 1]!));
    if (!isOrdered || values.length !== times.length || values.length < 2) throw new NotDrawn(words.noWaveform);
    return stretched(form, variables, (duration) => interpolate(times, values, duration));
  },
  custom: (form, variables) => fixed(numbersOf(form.samples, variables)),
  composite(form, variables) {
    const parts = (Array.isArray(form.waveforms) ? form.waveforms : []).map((each) => readWaveform(each, variables));
    if (parts.reduce((sum, { duration }) => sum + duration, 0) > maxNanoseconds) throw new NotDrawn(words.tooLong);
    return fixed(parts.flatMap(({ duration, sample }) => sample(duration)));
  },
};

function limited(form: JsonObject, variables: Variables): [max: number, area: number] {
  const [max, area] = [numberOf(form.max_val, variables), numberOf(form.area, variables)];
  if (Math.sign(max) !== Math.sign(area) || max === 0) throw new NotDrawn(words.noWaveform);
  return [max, area];
}

function sum(samples: Samples): number {
  return samples.reduce((total, each) => total + each, 0);
}

/** A window with an area, in rad. */
function scaled(window: Samples, area: number): Samples {
  const factor = (area / sum(window)) * 1_000;
  if (!Number.isFinite(factor)) throw new NotDrawn(words.notFinite);
  return window.map((each) => each * factor);
}

function blackman(duration: number): Samples {
  if (duration === 1) return [1];
  return Array.from({ length: duration }, (_, at) => {
    const angle = (Math.PI * (2 * at + 1 - duration)) / (duration - 1);
    return Math.max(0, 0.42 + 0.5 * Math.cos(angle) + 0.08 * Math.cos(2 * angle));
  });
}

function kaiser(duration: number, beta: number): Samples {
  if (duration === 1) return [1];
  const middle = (duration - 1) / 2;
  return Array.from({ length: duration }, (_, at) => {
    const share = Math.max(0, 1 - ((at - middle) / middle) ** 2);
    return Math.max(0, bessel(beta * Math.sqrt(share)) / bessel(beta));
  });
}

/** The modified Bessel function of the first kind and order 0. */
function bessel(value: number): number {
  let term = 1;
  let total = 1;
  for (let at = 1; term > total * 1e-17; at++) {
    term *= (value / 2 / at) ** 2;
    total += term;
  }
  return total;
}

/** The duration whose greatest value comes closest to `max` from below: as `from_max_val`. */
function blackmanDuration(max: number, area: number): number {
  let duration = Math.ceil((area / (0.42 * max)) * 1_000);
  if (duration > maxSearchedNanoseconds) throw new NotDrawn(words.tooLong);
  const factor = () => (area / sum(blackman(duration))) * 1_000;
  let wasLonger = false;
  while (factor() > max) {
    duration++;
    wasLonger = true;
  }
  const peak = (length: number) => Math.max(...scaled(blackman(length), area));
  const isBetterBefore =
    wasLonger && duration % 2 === 1 && peak(duration) < peak(duration - 1) && peak(duration - 1) <= max;
  return isBetterBefore ? duration - 1 : duration;
}

function kaiserDuration(max: number, area: number, beta: number): number {
  const ratio = (max * sum(kaiser(100, beta))) / 100;
  const guess = Math.trunc((area * 1_000) / ratio);
  if (!(guess <= maxSearchedNanoseconds)) throw new NotDrawn(words.tooLong);
  const peak = (duration: number) => Math.max(...scaled(kaiser(duration, beta), area));
  if (guess < 11) {
    let [best, bestPeak] = [0, 0];
    for (let duration = 1; duration < 16; duration++) {
      const each = peak(duration);
      if (bestPeak < each && each <= max) [best, bestPeak] = [duration, each];
    }
    return best;
  }
  const step = peak(guess) >= max ? 1 : -1;
  let duration = guess;
  while (Math.sign(peak(duration) - max) === step) duration += step;
  return step === 1 ? duration : duration + 1;
}

/** Piecewise cubic interpolation that keeps monotonic stretches monotonic, as SciPy's Pchip. */
function interpolate(times: Samples, values: Samples, duration: number): Samples {
  const xs = times.map((time) => time * (duration - 1));
  const widths = xs.slice(1).map((x, at) => x - xs[at]!);
  const slopes = widths.map((width, at) => (values[at + 1]! - values[at]!) / width);
  const ends = widths.length === 1 ? [slopes[0]!, slopes[0]!] : undefined;
  const tangents = xs.map((_, at) => {
    if (ends !== undefined) return ends[at]!;
    if (at === 0) return edgeTangent(widths[0]!, widths[1]!, slopes[0]!, slopes[1]!);
    if (at === xs.length - 1) return edgeTangent(widths.at(-1)!, widths.at(-2)!, slopes.at(-1)!, slopes.at(-2)!);
    const [before, after] = [slopes[at - 1]!, slopes[at]!];
    if (before * after <= 0) return 0;
    const [first, second] = [2 * widths[at]! + widths[at - 1]!, widths[at]! + 2 * widths[at - 1]!];
    return (first + second) / (first / before + second / after);
  });
  const [low, high] = rangeOf(values);
  let piece = 0;
  return Array.from({ length: duration }, (_, x) => {
    while (piece < widths.length - 1 && x >= xs[piece + 1]!) piece++;
    const width = widths[piece]!;
    const part = (x - xs[piece]!) / width;
    const value =
      values[piece]! * (1 + 2 * part) * (1 - part) ** 2 +
      width * tangents[piece]! * part * (1 - part) ** 2 +
      values[piece + 1]! * part ** 2 * (3 - 2 * part) +
      width * tangents[piece + 1]! * part ** 2 * (part - 1);
    return Math.min(high, Math.max(low, value));
  });
}

function edgeTangent(width: number, nextWidth: number, slope: number, nextSlope: number): number {
  const tangent = ((2 * width + nextWidth) * slope - width * nextSlope) / (width + nextWidth);
  if (Math.sign(tangent) !== Math.sign(slope)) return 0;
  const isSteep = Math.sign(slope) !== Math.sign(nextSlope) && Math.abs(tangent) > 3 * Math.abs(slope);
  return isSteep ? 3 * slope : tangent;
}
