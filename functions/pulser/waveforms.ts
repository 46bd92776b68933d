import { constant } from './parameters.ts';
import type { Operation, Waveform } from './sequence-content.ts';

/** The least and the greatest of the certain samples; undefined where none is certain. */
export function extremes(waveform: Waveform): { readonly least: number; readonly greatest: number } | undefined {
  const values = certainSamples(waveform);
  let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  return values.length === 0 ? undefined : { least, greatest };
}

function certainSamples({
  kind,
  duration,
  value,
  start,
  stop,
  samples = [],
  waveforms = [],
}: Waveform): readonly number[] {
  switch (kind) {
    case 'constant':
      return [constant(value) ?? []].flat();
    case 'ramp':
      // A ramp of one sample has no slope.
      return (constant(duration) ?? 0) >= 2 ? [start, stop].flatMap((each) => constant(each) ?? []) : [];
    case 'custom':
      return samples;
    case 'composite':
      return waveforms.flatMap(certainSamples);
    default:
      return [];
  }
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
