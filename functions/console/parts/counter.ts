/** The counter of a results document: how often each bitstring was measured. */

import { csvText } from '../ui/csv-text.ts';
import { isObject } from '../ui/json-object.ts';

export interface Count {
  readonly bits: string;
  readonly count: number;
}

/** The counts of a document, most frequent first; undefined where it has no counter. */
export function readCounter(document: unknown): readonly Count[] | undefined {
  const { counter } = (document ?? {}) as { readonly counter?: unknown };
  if (typeof counter !== 'object' || counter === null || Array.isArray(counter)) return undefined;
  const counts = Object.entries(counter).map(([bits, count]) => ({ bits, count }));
  if (counts.length === 0 || !counts.every(({ count }) => Number.isFinite(count) && count >= 0)) return undefined;
  return counts.sort((a, b) => b.count - a.count || compare(a.bits, b.bits));
}

/** Outcomes of as many bits are few enough to show all, those with no shots too. */
const maxBitsOfAll = 5;

/**
 * The outcomes to show, most frequent first: of up to 5 bits all that there could be, otherwise
 * what was measured.
 */
export function outcomesOf(counts: readonly Count[]): readonly Count[] {
  const length = lengthOf(counts);
  if (length === undefined || length > maxBitsOfAll) return counts;
  const measured = new Set(counts.map(({ bits }) => bits));
  const all = Array.from({ length: 2 ** length }, (_, value) => value.toString(2).padStart(length, '0'));
  return [...counts, ...all.filter((bits) => !measured.has(bits)).map((bits) => ({ bits, count: 0 }))];
}

/** How many bits each outcome has; undefined where they differ, or are no bits. */
export function lengthOf(counts: readonly Count[]): number | undefined {
  const length = counts[0]?.bits.length ?? 0;
  return length > 0 && counts.every(({ bits }) => bits.length === length && /^[01]+$/.test(bits)) ? length : undefined;
}

/** For each bit, in how large a share of the shots it was 1: undefined without bits or shots. */
export function excitationOf(counts: readonly Count[]): readonly number[] | undefined {
  const length = lengthOf(counts);
  const total = totalOf(counts);
  if (length === undefined || total === 0) return undefined;
  const sums = Array<number>(length).fill(0);
  for (const { bits, count } of counts) for (let at = 0; at < length; at++) if (bits[at] === '1') sums[at]! += count;
  return sums.map((sum) => sum / total);
}

/** The share of an outcome; 0 without shots. */
export function fractionOf(count: number, total: number): number {
  return total === 0 ? 0 : count / total;
}

/**
 * One standard deviation of the share of an outcome, as of a binomial distribution. What was seen
 * in no shot, or in all of them, is not certain: it has the deviation of once in one shot more.
 */
export function deviationOf(count: number, total: number): number {
  if (total === 0) return 0;
  const least = 1 / (total + 1);
  const share = Math.min(1 - least, Math.max(least, count / total));
  return Math.sqrt((share * (1 - share)) / total);
}

export function onesOf(bits: string): number {
  return bits.replaceAll(/[^1]/g, '').length;
}

export const orders = ['frequent', 'bits', 'ones'] as const;
export type Order = (typeof orders)[number];

/** Of counts with the most frequent first. */
export function order(counts: readonly Count[], by: Order): readonly Count[] {
  if (by === 'frequent') return counts;
  if (by === 'bits') return counts.toSorted((a, b) => compare(a.bits, b.bits));
  return counts.toSorted((a, b) => onesOf(b.bits) - onesOf(a.bits));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function totalOf(counts: readonly Count[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}

/** The most frequent counts, in an order, and the outcomes and shots that are left out. */
export function barsOf(
  counts: readonly Count[],
  by: Order,
  max: number,
): { readonly bars: readonly Count[]; readonly others: number; readonly shots: number } {
  const rest = counts.slice(max);
  return { bars: order(counts.slice(0, max), by), others: rest.length, shots: totalOf(rest) };
}

/** Its bitstrings are texts: spreadsheets keep the zeros at their beginning. */
export function csvOf(counts: readonly Count[], calibration: number | null): string {
  const rows = counts.map(({ bits, count }) => [bits, count, calibration ?? undefined]);
  return csvText([['bitstring', 'count', 'calibration'], ...rows]);
}

/** A results document with the number of the device's calibration, unless it has such a member. */
export function jsonOf(document: unknown, calibration: number | null): string {
  return JSON.stringify(isObject(document) ? { calibration, ...document } : document);
}
