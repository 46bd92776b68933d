/** What is read from the counts of one job, each with the standard error of its shots. */

import { type Count, deviationOf, excitationOf, fractionOf, lengthOf, onesOf, totalOf } from '../parts/counter.ts';

export interface Estimate {
  readonly value: number;
  /** One standard error. */
  readonly error: number;
}

type Counts = readonly Count[];

/** The share of shots that gave one of these bitstrings. The error is binomial. */
export function shareOf(counts: Counts, bits: readonly string[]): Estimate {
  const chosen = counts.reduce((sum, each) => (bits.includes(each.bits) ? sum + each.count : sum), 0);
  const total = totalOf(counts);
  return { value: fractionOf(chosen, total), error: deviationOf(chosen, total) };
}

/**
 * The mean number of 1s in a bitstring; undefined where they are no bits. The error is that of the
 * sample.
 */
export function meanOnes(counts: Counts): Estimate | undefined {
  const total = totalOf(counts);
  if (total === 0 || lengthOf(counts) === undefined) return undefined;
  const value = counts.reduce((sum, { bits, count }) => sum + onesOf(bits) * count, 0) / total;
  const squares = counts.reduce((sum, { bits, count }) => sum + (onesOf(bits) - value) ** 2 * count, 0);
  return { value, error: total > 1 ? Math.sqrt(squares / (total - 1) / total) : 0 };
}

/** How often each atom was excited, in the order of the bits; undefined where they are no bits. */
export function excitations(counts: Counts): readonly Estimate[] | undefined {
  const total = totalOf(counts);
  return excitationOf(counts)?.map((value) => ({ value, error: deviationOf(value * total, total) }));
}

/** How many curves a figure has at most. */
export const maxCurves = 5;

/** An outcome belongs in a figure if some job has at least this share of it. */
const leastPeak = 0.1;

/**
 * Bitstrings by the highest share that a job has of them, highest first; of one peak, in their
 * order.
 */
export type Peaks = readonly { readonly bits: string; readonly peak: number }[];

export function peaksOf(all: Iterable<Counts>): Peaks {
  const peaks = new Map<string, number>();
  for (const counts of all) {
    const total = totalOf(counts);
    if (total === 0) continue;
    for (const { bits, count } of counts) peaks.set(bits, Math.max(peaks.get(bits) ?? 0, count / total));
  }
  const found = Array.from(peaks, ([bits, peak]) => ({ bits, peak }));
  return found.sort((a, b) => b.peak - a.peak || (a.bits < b.bits ? -1 : 1));
}

/**
 * The outcomes that a figure begins with, each a sum of bitstrings, and frequent in some job. All
 * bitstrings with one number of 1s are a sum where they are alike, as behind a blockade. Their
 * order is not that of their shares: while jobs run, another one may come to lead, and curves keep
 * their colors.
 */
export function firstOutcomes(peaks: Peaks): readonly (readonly string[])[] {
  const frequent = peaks.slice(0, 32).filter(({ peak }) => peak >= leastPeak);
  const groups: string[][] = [];
  for (const { bits, peak } of frequent) {
    if (groups.flat().includes(bits)) continue;
    const others = frequent.filter((each) => !groups.flat().includes(each.bits));
    const alike = others.filter(
      (each) => each.bits.length === bits.length && onesOf(each.bits) === onesOf(bits) && each.peak >= peak * 0.7,
    );
    const isWhole = /^[01]+$/.test(bits) && alike.length > 1 && alike.length === choose(bits.length, onesOf(bits));
    groups.push(
      isWhole
        ? alike
            .map((each) => each.bits)
            .sort()
            .reverse()
        : [bits],
    );
  }
  const rarest = peaks[0] === undefined ? [] : [[peaks[0].bits]];
  return (groups.length === 0 ? rarest : groups).slice(0, 3).toSorted(byOnes);
}

function byOnes([one = '']: readonly string[], [other = '']: readonly string[]): number {
  return onesOf(one) - onesOf(other) || (one > other ? -1 : 1);
}

function choose(from: number, chosen: number): number {
  let result = 1;
  for (let at = 1; at <= chosen; at++) result = (result * (from - chosen + at)) / at;
  return result;
}

/** The bitstrings that a person typed: `100 + 010`. Undefined where one of them is no bitstring. */
export function readOutcome(text: string): readonly string[] | undefined {
  const parts = [...new Set(text.split(/[\s+,]+/).filter(Boolean))];
  return parts.length > 0 && parts.every((each) => /^[01]{1,200}$/.test(each)) ? parts : undefined;
}
