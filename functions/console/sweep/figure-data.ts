/** What a figure of one or several sweeps draws, from the data and from what a person chose. */

import type { Count } from '../parts/counter.ts';
import {
  atomFields,
  type Curve,
  curveOf,
  type Field,
  fieldsOf,
  type Gap,
  gapsOf,
  type PlottedJob,
  readersOf,
  xOf,
} from './curves.ts';
import { byNumber, type FigureChoice, noSecond } from './figure-address.ts';
import { firstOutcomes, maxCurves, type Peaks } from './measures.ts';
import { firstAxes, readVariables, type Variable, type Variables, type Varied } from './variables.ts';

export interface SweepSource {
  readonly name: string;
  readonly link: string;
  readonly jobs: readonly (PlottedJob & Varied)[];
  /** How many jobs the batch has, also jobs that are not read. */
  readonly total: number;
  readonly counts: ReadonlyMap<string, readonly Count[]>;
  /** Results that are no counters. */
  readonly others: number;
}

export interface FigureData {
  readonly variables: Variables;
  /** The differing ones that can be an axis. */
  readonly numeric: readonly Variable[];
  readonly axes: { readonly x?: Variable | undefined; readonly y?: Variable | undefined };
  readonly isMap: boolean;
  readonly outcomes: readonly (readonly string[])[];
  readonly curves: readonly Curve[];
  readonly gaps: readonly Gap[];
  readonly fields: readonly Field[];
  readonly empty: readonly (Gap & { readonly y: number })[];
  /** How many values it draws. */
  readonly count: number;
}

/**
 * The curves of one sweep are outcomes. Where several sweeps are compared, each is a curve, of one
 * outcome. Only a single sweep has a map.
 */
export function figureOf(
  sources: readonly SweepSource[],
  choice: FigureChoice,
  peaks: Peaks,
  atoms: readonly string[],
): FigureData {
  const jobs = sources.flatMap((source) => source.jobs);
  const variables = readVariables(jobs);
  // Sweeps that are compared share their axis.
  const read = sources.filter((source) => source.jobs.length > 0);
  const isShared = ({ values }: Variable) => read.every((source) => source.jobs.some(({ id }) => values.has(id)));
  const numeric = variables.differing.filter((each) => each.isNumeric && isShared(each));
  const isOne = sources.length === 1;
  const axes = axesOf(numeric, choice, firstAxes(numeric), isOne);
  const outcomes = choice.outcomes ?? firstOutcomes(peaks);
  const isAtoms = choice.show === 'atoms' && isOne;
  const shown = { variables, numeric, axes, outcomes: outcomes.slice(0, maxCurves) };
  const none = { curves: [], gaps: [], fields: [], empty: [] };
  const readers = readersOf(choice.show === 'atoms' ? 'ones' : choice.show, shown.outcomes, '');
  if (isOne && (isAtoms || axes.y !== undefined)) {
    const { counts } = sources[0]!;
    const read = readers[0]?.read ?? (() => undefined);
    const fields = isAtoms ? atomFields(jobs, counts, axes.x) : fieldsOf(jobs, counts, [axes.x, axes.y!], read);
    const gaps = gapsOf(jobs, axes.x);
    const rows = isAtoms ? atoms.map((_, at) => at) : [];
    const empty = isAtoms
      ? gaps.flatMap((gap) => rows.map((y) => ({ ...gap, y })))
      : gaps.flatMap((gap) => [xOf(gap.job, axes.y)].flatMap((y) => (y === undefined ? [] : [{ ...gap, y }])));
    return { ...shown, ...none, isMap: true, fields, empty, count: fields.length };
  }
  const curves = isOne
    ? readers.map(({ name, read }) => curveOf(name, jobs, sources[0]!.counts, axes.x, read))
    : sources.map((source) =>
        curveOf(source.name, source.jobs, source.counts, axes.x, readers[0]?.read ?? (() => undefined)),
      );
  const count = curves.reduce((sum, { points }) => sum + points.length, 0);
  return { ...shown, ...none, isMap: false, curves, gaps: gapsOf(jobs, axes.x), count };
}

function axesOf(
  numeric: readonly Variable[],
  { x: chosen, over, show }: FigureChoice,
  first: ReturnType<typeof firstAxes>,
  isOne: boolean,
): FigureData['axes'] {
  if (chosen === byNumber) return {};
  const x = numeric.find(({ name }) => name === chosen) ?? first.x;
  if (!isOne || show === 'atoms' || over === noSecond) return { x };
  const named = numeric.find(({ name }) => name === over);
  const y = named ?? (chosen === undefined || chosen === first.x?.name ? first.y : undefined);
  return { x, y: y === x ? undefined : y };
}
