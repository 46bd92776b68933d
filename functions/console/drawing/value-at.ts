import type { Track } from './timeline.ts';

interface Value {
  /** In rad/µs. */
  readonly amplitude: number;
  readonly detuning: number;
  /** In rad; undefined between pulses. */
  readonly phase: number | undefined;
}

/** What a channel does at a time, in ns. */
export function valueAt({ pulses }: Pick<Track, 'pulses'>, nanoseconds: number): Value {
  // The end of the last pulse belongs to it, so that the end of a drawing has its values.
  const pulse =
    pulses.find(({ from, to }) => from <= nanoseconds && nanoseconds < to) ??
    pulses.find(({ to }) => to === nanoseconds);
  if (pulse === undefined) return { amplitude: 0, detuning: 0, phase: undefined };
  const { from, amplitude, detuning, phase } = pulse;
  const at = Math.min(amplitude.length - 1, Math.floor(nanoseconds - from));
  return { amplitude: amplitude[at] ?? 0, detuning: detuning[at] ?? 0, phase };
}
