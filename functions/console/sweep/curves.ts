/** Curves over one axis, and maps over two, from the counts of jobs. */

import type { Count } from '../parts/counter.ts';
import { type Estimate, excitations, meanOnes, shareOf } from './measures.ts';
import type { Variable } from './variables.ts';

/** What is read of a job for a figure. */
export interface PlottedJob {
  readonly id: string;
  readonly creation_order: number;
  readonly status: string;
}

/** What a figure shows of each job: shares of outcomes, the mean number of 1s, or each atom. */
export const measures = ['bits', 'ones', 'atoms'] as const;
export type Measure = (typeof measures)[number];

export interface Point extends Estimate {
  readonly x: number;
  readonly job: PlottedJob;
}

export interface Curve {
  readonly name: string;
  /** By x, then by the job's number. */
  readonly points: readonly Point[];
  /** One place for each x: the mean of the jobs there. */
  readonly line: readonly (Estimate & { readonly x: number })[];
}

/** A job that has no point, at its place. */
export interface Gap {
  readonly x: number;
  readonly job: PlottedJob;
}

/** Where a job is on an axis: by a variable, or by its number without one. Undefined: nowhere. */
export function xOf(job: PlottedJob, variable: Variable | undefined): number | undefined {
  if (variable === undefined) return job.creation_order + 1;
  const value = variable.values.get(job.id);
  return typeof value === 'number' ? value : undefined;
}

type CountsOf = ReadonlyMap<string, readonly Count[]>;

/** One curve, of what `read` finds in each job's counts. */
export function curveOf(
  name: string,
  jobs: readonly PlottedJob[],
  counts: CountsOf,
  variable: Variable | undefined,
  read: (counts: readonly Count[]) => Estimate | undefined,
): Curve {
  const points = jobs.flatMap((job) => {
    const x = xOf(job, variable);
    const own = counts.get(job.id);
    const estimate = own === undefined || x === undefined ? undefined : read(own);
    return estimate === undefined ? [] : [{ ...estimate, x: x!, job }];
  });
  points.sort((a, b) => a.x - b.x || a.job.creation_order - b.job.creation_order);
  return { name, points, line: lineOf(points) };
}

function lineOf(points: readonly Point[]): Curve['line'] {
  const groups = Map.groupBy(points, ({ x }) => x);
  return Array.from(groups, ([x, group]) => ({ x, ...meanOf(group) }));
}

function meanOf(group: readonly Estimate[]): Estimate {
  return {
    value: group.reduce((sum, { value }) => sum + value, 0) / group.length,
    error: Math.sqrt(group.reduce((sum, { error }) => sum + error ** 2, 0)) / group.length,
  };
}

/** The jobs that failed or are not done, at their places. Canceled ones are none. */
export function gapsOf(jobs: readonly PlottedJob[], variable: Variable | undefined): readonly Gap[] {
  return jobs.flatMap((job) => {
    const x = job.status === 'DONE' || job.status === 'CANCELED' ? undefined : xOf(job, variable);
    return x === undefined ? [] : [{ x, job }];
  });
}

/** What a measure reads from counts, and how it is called. */
interface Reader {
  readonly name: string;
  readonly read: (counts: readonly Count[]) => Estimate | undefined;
}

/** The share of each outcome, or the mean number of 1s. */
export function readersOf(measure: Measure, outcomes: readonly (readonly string[])[], ones: string): readonly Reader[] {
  if (measure === 'ones') return [{ name: ones, read: meanOnes }];
  return outcomes.map((bits) => ({
    name: bits.join(' + '),
    // Of another number of atoms it says nothing.
    read: (counts) => (isComparable(counts, bits) ? shareOf(counts, bits) : undefined),
  }));
}

function isComparable(counts: readonly Count[], bits: readonly string[]): boolean {
  return counts.some((each) => bits.some(({ length }) => length === each.bits.length));
}

/** A field of a map: what is at its middle, and its sides from 0 to 1 of the range. */
export interface Field extends Estimate {
  readonly job: PlottedJob;
  readonly x: number;
  readonly y: number;
}

/** A map over two variables: a field for each job. */
export function fieldsOf(
  jobs: readonly PlottedJob[],
  counts: CountsOf,
  [across, up]: readonly [Variable | undefined, Variable],
  read: Reader['read'],
): readonly Field[] {
  return curveOf('', jobs, counts, across, read).points.flatMap((point) => {
    const y = xOf(point.job, up);
    return y === undefined ? [] : [{ ...point, y }];
  });
}

/** A map of atoms: each job a column, each atom a row, the first on top. */
export function atomFields(
  jobs: readonly PlottedJob[],
  counts: CountsOf,
  variable: Variable | undefined,
): readonly Field[] {
  return jobs.flatMap((job) => {
    const x = xOf(job, variable);
    const own = counts.get(job.id);
    const atoms = x === undefined || own === undefined ? [] : (excitations(own) ?? []);
    return atoms.map((estimate, at) => ({ ...estimate, job, x: x!, y: at }));
  });
}

/** One field for each place: the mean of the jobs there, and the last of them. */
export function placesOf(fields: readonly Field[]): readonly Field[] {
  const groups = Map.groupBy(fields, ({ x, y }) => `${x} ${y}`);
  return Array.from(groups.values(), (group) => ({ ...group.at(-1)!, ...meanOf(group) }));
}

/**
 * The sides of the fields around these middles, by the middle: half way to the neighbors. At the
 * ends as far as to the other side.
 */
export function sidesOf(middles: readonly number[]): ReadonlyMap<number, readonly [low: number, high: number]> {
  const sorted = [...new Set(middles)].sort((a, b) => a - b);
  const sides = sorted.map((each, at): readonly [number, number] => {
    const before = sorted[at - 1];
    const after = sorted[at + 1];
    const low = before === undefined ? undefined : (each + before) / 2;
    const high = after === undefined ? undefined : (each + after) / 2;
    return [low ?? 2 * each - (high ?? each + 0.5), high ?? 2 * each - (low ?? each - 0.5)];
  });
  return new Map(sorted.map((each, at) => [each, sides[at]!]));
}
