import { Glyph } from '../drawing/glyph.tsx';
import type { Shape } from '../drawing/glyph-shape.ts';
import { type Count, deviationOf, fractionOf, totalOf } from '../parts/counter.ts';
import { cutMiddle } from '../ui/cut-text.ts';
import { formatCount, formatShare } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';
import { ticksOf } from '../ui/ticks.ts';

const { histogram: words } = texts;

/** In pixels: text keeps its size at any width. */
const rowHeights = { usual: 26, many: 18 } as const;
const manyRows = 16;
const characterWidth = 8.6;
const maxLabel = 16;

/** The margin at the left has one of a few widths, since a class sets it: steps of pixels. */
const marginStep = 24;

interface Props {
  /** The outcomes that are drawn, from the top down. */
  readonly bars: readonly Count[];
  /** All outcomes. */
  readonly counts: readonly Count[];
  /** The shape of the register, where each bit is one of its qubits. */
  readonly shape: Shape | undefined;
}

/** Outcomes as bars: their share of all shots, with one standard deviation, and their counts. */
export function Histogram({ bars, counts, shape }: Props) {
  const total = totalOf(counts);
  const rowHeight = bars.length > manyRows ? rowHeights.many : rowHeights.usual;
  const height = bars.length * rowHeight;
  const labels = bars.map(({ bits }) => cutMiddle(bits, maxLabel));
  const textWidth = Math.max(...labels.map(({ length }) => length)) * characterWidth;
  const margin = textWidth + (shape === undefined ? 0 : shape.width + 6) + 10;
  const above = (count: number) => Math.min(1, fractionOf(count, total) + deviationOf(count, total));
  const highest = Math.max(...bars.map(({ count }) => above(count)), 0.01);
  const most = highest * 1.02;
  const place = (share: number) => `${rounded((100 * share) / most)}%`;
  return (
    <div class={`plot hist margin-${Math.ceil(margin / marginStep)}`}>
      <svg class="chart histogram" height={height} role="img" aria-label={labelOf(bars, counts.length, total)}>
        {ticksOf(0, most, 6).map((tick, at) => (
          <g key={tick}>
            <line class={tick === 0 ? 'axis' : 'grid'} x1={place(tick)} x2={place(tick)} y1="0" y2={height} />
            <text class={at % 2 === 1 ? 'mid minor' : 'mid'} x={place(tick)} y={height + 18}>
              {tick === 0 ? '0' : `${rounded(100 * tick)} %`}
            </text>
          </g>
        ))}
        {bars.map(({ bits, count }, at) => {
          const share = fractionOf(count, total);
          const deviation = deviationOf(count, total);
          const middle = rowHeight / 2;
          const end = place(above(count));
          return (
            <g key={bits} transform={`translate(0 ${at * rowHeight})`}>
              <title>{`${bits}: ${formatCount(count)}, ${formatShare(share)} ± ${formatShare(deviation)}`}</title>
              {shape !== undefined && (
                <g transform={`translate(${-(textWidth + 14 + shape.width)} ${middle - shape.height / 2})`}>
                  <Glyph bits={bits} shape={shape} />
                </g>
              )}
              <text class="bits end" x="-8" y={middle + 4}>
                {labels[at]}
              </text>
              <rect class={`fx ${at === 0 ? '' : 'less'}`} y="3" width={place(share)} height={rowHeight - 6} rx="2" />
              {count > 0 && <line class="whisker" x1={place(share - deviation)} x2={end} y1={middle} y2={middle} />}
              <svg x={end} overflow="visible" aria-hidden="true">
                <text class="note" x="7" y={middle + 4}>
                  {formatCount(count)}
                </text>
              </svg>
            </g>
          );
        })}
      </svg>
    </div>
  );
}

function labelOf(bars: readonly Count[], outcomes: number, total: number): string {
  const [first, ...rest] = bars.toSorted((a, b) => b.count - a.count);
  const most = first === undefined ? '' : words.most(first.bits, formatCount(first.count), formatCount(total));
  return `${words.drawn(formatCount(rest.length + 1), formatCount(outcomes))} ${most}`;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
