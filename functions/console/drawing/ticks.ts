/**
 * Round numbers from `low` to `high`, at most `max`, in equal steps of 1, 2 or 5 times a power of
 * ten.
 */
export function ticksOf(low: number, high: number, max = 6): readonly number[] {
  const range = high - low;
  if (!(range > 0) || !Number.isFinite(range)) return [low];
  const rough = range / Math.max(1, max - 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find((each) => each * power >= rough * (1 - 1e-9)) ?? 10) * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  // Sums of 0.1 would not be round.
  return Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)) || 0);
}
