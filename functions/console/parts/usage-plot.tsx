import { type Axis, axisOf } from '../ui/axis.ts';
import { cutMiddle } from '../ui/cut-text.ts';
import { PlotFrame, percent } from '../ui/plot-frame.tsx';
import { PlotReach } from '../ui/plot-reach.tsx';
import { texts } from '../ui/texts.ts';
import { shortPeriod } from './usage-periods.ts';
import { formatAmount, type Layer, type Measure, unitOfSeconds } from './usage-stack.ts';

const { usage: words } = texts;

interface Props {
  readonly layers: readonly Layer[];
  readonly periods: readonly string[];
  readonly measure: Measure;
  readonly nameOf: (key: string | undefined) => string;
  readonly description: string;
  readonly at: number;
  readonly mark: (at: number) => void;
  readonly open: (period: string) => void;
}

/** In pixels. */
const height = 260;

/** Numbers of periods between two dates below the axis: about eight of them fit. */
const steps = [1, 2, 7, 14, 28, 61];

/** What was used in each period, as bars of layers. The pointer or the arrow keys mark one. */
export function UsagePlot({ layers, periods, measure, nameOf, description, at, mark, open }: Props) {
  const count = periods.length;
  const sums = periods.map((_, place) => layers.reduce((sum, { values }) => sum + values[place]!, 0));
  const most = Math.max(0, ...sums);
  const [unit, size] = measure === 'device_seconds' ? unitOfSeconds(most) : [undefined, 1];
  const y = axisOf([0, most === 0 ? 1 : most / size], 4, measure === 'device_seconds' ? 0 : 1);
  const step = steps.find((each) => count / each <= 9) ?? 61;
  const x: Axis = {
    least: 0,
    greatest: count,
    ticks: periods.flatMap((period, place) =>
      place % step === 0 ? [{ value: place + 0.5, label: shortPeriod(period) }] : [],
    ),
  };
  const marked = periods[at];
  const guide = marked === undefined ? undefined : { x: (at + 0.5) / count, y: 0.15, lines: linesOf(at) };
  function linesOf(place: number) {
    const own = layers.map(({ key, values }) => ({ name: cutMiddle(nameOf(key), 28), value: values[place]!, key }));
    return [
      { text: `${shortPeriod(periods[place]!)}: ${formatAmount(measure, sums[place]!)}` },
      ...own.flatMap(({ name, value, key }, layer) =>
        value === 0 || name === ''
          ? []
          : [{ text: `${name}: ${formatAmount(measure, value)}`, look: lookOf(key, layer) }],
      ),
    ];
  }
  const isDay = periods[0]?.length === 10;
  const title = unit === undefined ? words.measures[measure] : words.deviceTime(unit);
  return (
    <div class="sweep-plot">
      <PlotFrame
        {...{ x, y, description, guide, height }}
        xTitle={{ symbol: words.zone }}
        yTitle={{ symbol: `${title} ${isDay ? words.aDay : words.aMonth}` }}
      >
        {periods.map((period, place) => (
          <Bar key={period} layers={layers} place={place} count={count} full={y.greatest * size} />
        ))}
      </PlotFrame>
      <PlotReach
        label={words.guide}
        count={count}
        at={at}
        text={guide === undefined ? words.unmarked : guide.lines.map(({ text }) => text).join(', ')}
        mark={mark}
        nearest={(left) => Math.min(count - 1, Math.max(0, Math.floor(left * count)))}
        open={(place) => open(periods[place]!)}
      />
    </div>
  );
}

/** The class of a layer's color. */
export function lookOf(key: string | undefined, at: number): string {
  return key === undefined ? 'f6' : `f${at + 1}`;
}

interface BarProps {
  readonly layers: readonly Layer[];
  readonly place: number;
  readonly count: number;
  /** What is as high as the figure. */
  readonly full: number;
}

function Bar({ layers, place, count, full }: BarProps) {
  let below = 0;
  // Many bars have no room between them.
  const gap = count > 120 ? 0 : 0.1;
  return layers.map(({ key, values }, at) => {
    const value = values[place]!;
    below += value;
    return (
      value > 0 && (
        <rect
          key={key}
          class={lookOf(key, at)}
          x={percent((place + gap) / count)}
          width={percent((1 - 2 * gap) / count)}
          y={percent(1 - below / full)}
          height={percent(value / full)}
        />
      )
    );
  });
}
