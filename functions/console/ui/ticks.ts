/**
 * Round numbers from `low` to `high`, at most `max`, in equal steps of 1, 2 or 5 times a power of
 * ten.
 */
export function ticksOf(low: number, high: number, max = 6): readonly number[] {
  const range = high - low;
  if (!(range > 0) || !Number.isFinite(range)) return [low];
  const step = roundStep(range / Math.max(1, max - 1), [1, 2, 5]);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  // Sums of 0.1 would not be round.
  return Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)) || 0);
}

/** The least step that is as large as `least`: one of these, or 10, times a power of ten. */
export function roundStep(least: number, steps: readonly number[]): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * (steps.find((each) => each * power >= least * (1 - 1e-9)) ?? 10);
}
