import { useState } from 'preact/hooks';
import { Wide } from '../ui/basics.tsx';
import { formatCount } from '../ui/format.ts';
import { Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import { barsOf, type Count, type Order, order, orders, totalOf } from './counter.ts';

const { histogram: words } = texts;

/** In pixels: text would shrink with a drawing that fits the screen. */
const plotHeight = 180;
const axisWidth = 64;
const top = 20;
const bottom = top + plotHeight;

const maxLabelLength = 64;

/** Rows of a page of the table. */
const pageRows = 50;

/** The counts of a job: the most frequent as bars, all of them as a table. */
export function Histogram({ counts }: { readonly counts: readonly Count[] }) {
  const [by, setBy] = useState<Order>('frequent');
  const { bars, others } = barsOf(counts, by);
  return (
    <>
      <div class="actions">
        <label>
          {words.order}
          <select value={by} onChange={({ currentTarget }) => setBy(currentTarget.value as Order)}>
            {orders.map((each) => (
              <option key={each} value={each}>
                {words.orders[each]}
              </option>
            ))}
          </select>
        </label>
        <p class="aside">
          {formatCount(totalOf(counts))} {words.shots}, {formatCount(counts.length)} {words.bitstrings}.
          {others > 0 && ` ${words.most} ${formatCount(bars.length)}.`}
        </p>
      </div>
      <Bars bars={bars} others={others} total={totalOf(counts)} />
      <details>
        <summary>{words.table}</summary>
        <CountTable counts={order(counts, by)} total={totalOf(counts)} />
      </details>
    </>
  );
}

function Bars({
  bars,
  others,
  total,
}: {
  readonly bars: readonly Count[];
  readonly others: number;
  readonly total: number;
}) {
  const shown = others > 0 ? [...bars, { bits: words.others, count: others }] : bars;
  const labels = shown.map(({ bits }) =>
    bits.length > maxLabelLength ? `${bits.slice(0, 31)}…${bits.slice(-31)}` : bits,
  );
  const longest = Math.max(...labels.map(({ length }) => length)) * 6.7;
  const column = Math.min(64, Math.max(16, Math.floor(1_080 / shown.length)));
  const isFlat = longest + 6 <= column;
  const most = Math.max(1, ...bars.map(({ count }) => count));
  const width = axisWidth + shown.length * column + 8;
  return (
    <Wide label={words.title}>
      <svg
        class="chart histogram"
        role="img"
        aria-label={`${words.title}: ${formatCount(shown.length)} ${words.bars}`}
        width={width}
        height={bottom + (isFlat ? 22 : longest + 14)}
      >
        {[0, most].map((count) => {
          const y = bottom - (count / most) * plotHeight;
          return (
            <g key={count}>
              <line class="axis" x1={axisWidth} x2={width} y1={y} y2={y} />
              <text x={axisWidth - 8} y={y + 4} text-anchor="end">
                {formatCount(count)}
              </text>
            </g>
          );
        })}
        {shown.map((each, at) => (
          <Bar
            key={each.bits}
            {...each}
            label={labels[at]!}
            share={shareOf(each.count, total)}
            height={Math.min(1, each.count / most) * plotHeight}
            middle={axisWidth + (at + 0.5) * column}
            width={column * 0.8}
            isFlat={isFlat}
            isOthers={at >= bars.length}
          />
        ))}
      </svg>
    </Wide>
  );
}

interface BarProps extends Count {
  readonly label: string;
  readonly share: string;
  readonly height: number;
  /** From the left. */
  readonly middle: number;
  readonly width: number;
  /** The label fits below the bar as it is. */
  readonly isFlat: boolean;
  /** The sum of the others may be far higher than the bars: it is cut, and its number says so. */
  readonly isOthers: boolean;
}

function Bar({ bits, count, label, share, height, middle, width, isFlat, isOthers }: BarProps) {
  return (
    <g>
      <title>{`${bits}: ${formatCount(count)} (${share})`}</title>
      <rect
        class={isOthers ? 'others' : 'bar'}
        x={middle - width / 2}
        y={bottom - height}
        width={width}
        height={height}
      />
      {isOthers && (
        <text x={middle + width / 2} y={bottom - height - 4} text-anchor="end">
          {formatCount(count)}
        </text>
      )}
      <text
        x={middle}
        y={bottom + 16}
        text-anchor={isFlat ? 'middle' : 'end'}
        transform={isFlat ? undefined : `rotate(-90 ${middle} ${bottom + 8}) translate(0 -4)`}
      >
        {label}
      </text>
    </g>
  );
}

function shareOf(count: number, total: number): string {
  return total === 0 ? '' : `${((100 * count) / total).toFixed(1)} %`;
}

function CountTable({ counts, total }: { readonly counts: readonly Count[]; readonly total: number }) {
  const [page, setPage] = useState(0);
  const pages = Math.ceil(counts.length / pageRows);
  const start = Math.min(page, pages - 1) * pageRows;
  return (
    <>
      <Table
        label={words.table}
        columns={[
          [words.bitstring, ({ bits }) => <code>{bits}</code>],
          [words.count, ({ count }) => formatCount(count), 'number'],
          [words.share, ({ count }) => shareOf(count, total), 'number'],
        ]}
        rows={counts.slice(start, start + pageRows)}
        keyOf={({ bits }) => bits}
      />
      {pages > 1 && (
        <div class="pager">
          <button type="button" disabled={start === 0} onClick={() => setPage(page - 1)}>
            {texts.common.less}
          </button>
          <span>
            {formatCount(start + 1)} to {formatCount(Math.min(start + pageRows, counts.length))} of{' '}
            <strong>{formatCount(counts.length)}</strong>
          </span>
          <button type="button" disabled={page + 1 >= pages} onClick={() => setPage(page + 1)}>
            {texts.common.more}
          </button>
        </div>
      )}
    </>
  );
}
