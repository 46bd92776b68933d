import { type Count, totalOf } from '../parts/counter.ts';

/** In pixels. */
const height = 18;
const bar = 9;
const gap = 2;
const maxBars = 8;

/** The bitstrings that all sparks of a table have a bar of: the same place in each row. */
export function sparkBits(peaks: readonly { readonly bits: string }[]): readonly string[] {
  return peaks
    .slice(0, maxBars)
    .map(({ bits }) => bits)
    .sort();
}

/** The shares of some bitstrings in a job as small bars; `lookOf` is the class of a bar. */
export function Spark({
  counts,
  bits,
  lookOf,
}: {
  readonly counts: readonly Count[];
  readonly bits: readonly string[];
  readonly lookOf: (bits: string) => string;
}) {
  const total = totalOf(counts);
  const own = new Map(counts.map((each) => [each.bits, each.count]));
  const width = bits.length * (bar + gap);
  const label = counts.slice(0, 3).map((each) => `${each.bits} ${each.count}`);
  return (
    <svg class="spark" width={width} height={height} role="img" aria-label={label.join(', ')}>
      <title>{label.join(', ')}</title>
      <line class="base" x1="0" x2={width - gap} y1={height - 0.5} y2={height - 0.5} />
      {bits.map((each, at) => {
        const count = own.get(each) ?? 0;
        const size = count === 0 ? 0 : Math.max(1, (count / total) * (height - 1));
        return (
          <rect key={each} class={lookOf(each)} x={at * (bar + gap)} y={height - 1 - size} width={bar} height={size} />
        );
      })}
    </svg>
  );
}
