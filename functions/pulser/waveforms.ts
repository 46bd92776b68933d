import { constant } from './parameters.ts';
import type { Operation, Parameter, Waveform } from './sequence-content.ts';

/** Samples of a waveform that are certain. */
interface Extremes {
  readonly least: number;
  readonly greatest: number;
  /** Whether all samples lie between these. */
  readonly areOfAll: boolean;
}

/** The least and the greatest of the certain samples; undefined where none is certain. */
export function extremes(waveform: Waveform): Extremes | undefined {
  const { values, areOfAll } = certainSamples(waveform);
  let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  return values.length === 0 ? undefined : { least, greatest, areOfAll };
}

interface CertainSamples {
  readonly values: readonly number[];
  readonly areOfAll: boolean;
}

function certainSamples({ waveforms = [], ...waveform }: Waveform): CertainSamples {
  if (waveform.kind === 'custom') return { values: waveform.samples ?? [], areOfAll: true };
  if (waveform.kind === 'composite') {
    const parts = waveforms.map(certainSamples);
    return { values: parts.flatMap(({ values }) => values), areOfAll: parts.every(({ areOfAll }) => areOfAll) };
  }
  const ends = endsOf(waveform);
  const values = ends.filter((each) => each !== undefined);
  return { values, areOfAll: values.length > 0 && values.length === ends.length };
}

/** Samples between which all others lie; undefined in place of one that is not certain. */
function endsOf({ kind, duration, value, start, stop, area }: Waveform): readonly (number | undefined)[] {
  const length = Math.trunc(constant(duration) ?? 0);
  switch (kind) {
    case 'constant':
      return [constant(value)];
    case 'ramp':
      // A ramp of one sample has no slope.
      return length >= 2 ? [start, stop].map(constant) : [];
    case 'blackman':
      return blackmanEnds(length, constant(area));
    default:
      return [];
  }
}

/** The sum of a Blackman window of 4 samples or more is 0.42 for each step between them. */
function blackmanEnds(length: number, area: number | undefined): readonly (number | undefined)[] {
  if (length < 4 || area === undefined) return [];
  const angle = length % 2 === 1 ? 0 : Math.PI / (length - 1);
  const peak = 0.42 + 0.5 * Math.cos(angle) + 0.08 * Math.cos(2 * angle);
  return [0, (peak * area * 1_000) / (0.42 * (length - 1))];
}

/** In whole ns; undefined where it depends on variables, or follows from an area. */
function waveformDuration({ kind, duration, samples = [], waveforms = [] }: Waveform): number | undefined {
  if (kind === 'custom') return samples.length;
  if (kind !== 'composite') return typeof duration === 'number' ? Math.trunc(duration) : undefined;
  const durations = waveforms.map(waveformDuration);
  return durations.every((each) => each !== undefined) ? durations.reduce((sum, each) => sum + each, 0) : undefined;
}

/** One waveform of a pulse may be a constant of 0 ns: it lasts as long as the other. */
export function takesOthersDuration({ kind, duration }: Partial<Record<keyof Waveform, unknown>>): boolean {
  return kind === 'constant' && duration === 0;
}

/** The durations of a pulse's amplitude and detuning, where they are certain. */
export function pulseDurations({ amplitude, detuning }: Operation): number[] {
  return [amplitude, detuning].flatMap((waveform) => {
    if (waveform === undefined || takesOthersDuration(waveform)) return [];
    return waveformDuration(waveform) ?? [];
  });
}

/** How long an operation keeps its channel, in ns; undefined where that is not certain. */
export function operationDuration(operation: Operation): number | undefined {
  switch (operation.op) {
    case 'delay':
      return constant(operation.time);
    case 'add_eom_pulse':
      return typeof operation.duration === 'number' ? Math.trunc(operation.duration) : undefined;
    case 'pulse':
    case 'pulse_arbitrary_phase':
      return pulseDurations(operation)[0];
    default:
      return undefined;
  }
}

/** The terms that the duration of an operation, or the durations within it, follow from. */
export function durationTerms({ time, duration, amplitude, detuning, waveform }: Operation): unknown[] {
  const within = ({ duration: own, waveforms = [] }: Waveform): unknown[] => [own, ...waveforms.flatMap(within)];
  return [
    time,
    duration,
    ...[amplitude, detuning, waveform].flatMap((each) => (each === undefined ? [] : within(each))),
  ];
}

/** The terms that the samples of a waveform follow from, or a number itself. */
export function levelTerms(member: Waveform | Parameter | undefined): unknown {
  if (typeof member !== 'object' || !('kind' in member)) return member;
  const { duration, waveforms = [], ...levels } = member as Waveform;
  return [levels, levels.kind === 'blackman' && duration, waveforms.map(levelTerms)];
}
