import { type Axis, axisOf, indexOfLeast, placeOn } from '../ui/axis.ts';
import { cutMiddle } from '../ui/cut-text.ts';
import { type AxisTitle, type Guide, PlotFrame, percent } from '../ui/plot-frame.tsx';
import { PlotReach } from '../ui/plot-reach.tsx';
import { statusWord } from '../ui/status-looks.ts';
import { texts } from '../ui/texts.ts';
import type { Curve, Gap, Point } from './curves.ts';
import type { Estimate } from './measures.ts';

const { sweep: words } = texts;

/** Where a curve has fewer places, the errors are whiskers. */
const leastBand = 12;

/** More points would hide the curve below their halos. */
const maxHalos = 150;

/** Bitstrings may be long. */
const maxName = 24;

/** Failed jobs are named where they are few. */
const maxNamed = 4;

interface PlotProps {
  readonly curves: readonly Curve[];
  readonly gaps: readonly Gap[];
  readonly xTitle: AxisTitle;
  readonly yTitle: AxisTitle;
  /** Values are shares. */
  readonly isShare: boolean;
  /** The axis has numbers of jobs. */
  readonly isNumbered: boolean;
  readonly description: string;
  readonly marked: string | undefined;
  readonly mark: (jobId: string | undefined) => void;
  readonly open: (jobId: string) => void;
  /** Failed jobs are named by their numbers. */
  readonly areNamed: boolean;
  /** What a point is, in words: its job, and where. */
  readonly whereOf: (point: { readonly x: number; readonly job: Gap['job'] }) => string;
}

/** A value with its error. */
export function formatEstimate({ value, error }: Estimate, isShare: boolean): string {
  return isShare
    ? `${(100 * value).toFixed(1)} ± ${(100 * error).toFixed(1)} %`
    : `${value.toFixed(2)} ± ${error.toFixed(2)}`;
}

export function hasBand({ line }: Curve): boolean {
  return line.length >= leastBand;
}

/** Values from 0 to the highest, shares in percent. */
function valueAxis(values: readonly number[], isShare: boolean): Axis {
  const most = values.reduce((a, b) => Math.max(a, b), 1e-9);
  if (!isShare) return axisOf([0, most], 4);
  const { ticks, greatest } = axisOf([0, most > 0.6 ? 100 : most * 100], 4);
  return {
    least: 0,
    greatest: greatest / 100,
    ticks: ticks.map(({ value, label }) => ({ value: value / 100, label: value === 0 ? '0' : `${label} %` })),
  };
}

/** Curves over one variable. */
export function CurvePlot(props: PlotProps) {
  const { curves, gaps, xTitle, yTitle, isShare, isNumbered, description, marked, mark, open, whereOf, areNamed } =
    props;
  const points = curves.flatMap((curve) => curve.points);
  const x = axisOf(
    [...points, ...gaps].map((each) => each.x),
    5,
    isNumbered ? 1 : 0,
  );
  const y = valueAxis(
    points.map(({ value, error }) => value + error),
    isShare,
  );
  const stops = [...new Map([...points, ...gaps].map((each) => [each.job.id, each])).values()].sort(
    (a, b) => a.x - b.x || a.job.creation_order - b.job.creation_order,
  );
  const at = stops.findIndex(({ job }) => job.id === marked);
  const guide = guideOf(props, stops[at], x, y);
  const nearest = (left: number, top: number) => {
    const distance = (stop: (typeof stops)[number]) => {
      const own = points
        .filter(({ job }) => job.id === stop.job.id)
        .map((each) => Math.abs(1 - placeOn(y, each.value) - top));
      return Math.abs(placeOn(x, stop.x) - left) * 1_000 + Math.min(1, ...own);
    };
    return indexOfLeast(stops.map(distance));
  };
  return (
    <div class="sweep-plot">
      <PlotFrame {...{ x, xTitle, y, yTitle, description, guide }}>
        <Gaps gaps={gaps} x={x} whereOf={whereOf} areNamed={areNamed} />
        {curves.map((curve, at) => (
          <Drawn key={at} curve={curve} series={at + 1} x={x} y={y} marked={marked} />
        ))}
      </PlotFrame>
      <PlotReach
        label={words.guide}
        count={stops.length}
        at={at}
        text={guide === undefined ? words.unmarked : guide.lines.map(({ text }) => text).join(', ')}
        mark={(to) => mark(stops[to]?.job.id)}
        nearest={nearest}
        open={(to) => stops[to] !== undefined && open(stops[to].job.id)}
      />
    </div>
  );
}

function guideOf(props: PlotProps, stop: Point | Gap | undefined, x: Axis, y: Axis): Guide | undefined {
  if (stop === undefined) return undefined;
  const { curves, isShare, whereOf } = props;
  const here = curves.flatMap(({ name, points }, at) => {
    const point = points.find(({ job }) => job.id === stop.job.id);
    return point === undefined
      ? []
      : [{ point, text: `${cutMiddle(name, maxName)}: ${formatEstimate(point, isShare)}`, look: `f${at + 1}` }];
  });
  const highest = Math.max(0, ...here.map(({ point }) => point.value));
  const none = here.length > 0 ? [] : [{ text: statusWord(stop.job.status) }];
  return {
    x: placeOn(x, stop.x),
    y: 1 - placeOn(y, highest),
    lines: [{ text: whereOf(stop) }, ...here.map(({ text, look }) => ({ text, look })), ...none],
  };
}

interface DrawnProps {
  readonly curve: Curve;
  readonly series: number;
  readonly x: Axis;
  readonly y: Axis;
  readonly marked: string | undefined;
}

function Drawn({ curve, series, x, y, marked }: DrawnProps) {
  const across = (value: number) => round(100 * placeOn(x, value));
  const down = (value: number) => round(100 * (1 - placeOn(y, value)));
  const { points, line } = curve;
  // No share is below 0 or above 1.
  const above = ({ value, error }: Estimate) => down(Math.min(y.greatest, value + error));
  const below = ({ value, error }: Estimate) => down(Math.max(y.least, value - error));
  const band = [
    ...line.map((each) => `${across(each.x)},${above(each)}`),
    ...line.toReversed().map((each) => `${across(each.x)},${below(each)}`),
  ];
  const radius = points.length > 400 ? 1.5 : points.length > 120 ? 2.5 : 3.75;
  return (
    <g>
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" width="100%" height="100%" aria-hidden="true">
        {hasBand(curve) && <polygon class={`f${series} band`} points={band.join(' ')} />}
        <polyline
          class={points.length > maxHalos ? `k${series} thin line` : `k${series} line`}
          points={line.map((each) => `${across(each.x)},${down(each.value)}`).join(' ')}
        />
      </svg>
      {!hasBand(curve) &&
        points.map((each) => (
          <line
            key={each.job.id}
            class={`k${series} whisker`}
            {...{ x1: `${across(each.x)}%`, x2: `${across(each.x)}%` }}
            {...{ y1: `${above(each)}%`, y2: `${below(each)}%` }}
          />
        ))}
      {points.map(({ job, x: place, value }) => (
        <circle
          key={job.id}
          class={points.length > maxHalos ? `f${series}` : `f${series} halo`}
          cx={`${across(place)}%`}
          cy={`${down(value)}%`}
          r={job.id === marked ? radius + 1.75 : radius}
        />
      ))}
    </g>
  );
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** A failed job is a red line over the whole height, one that is not done a ring on the axis. */
function Gaps({
  gaps,
  x,
  whereOf,
  areNamed,
}: {
  readonly gaps: readonly Gap[];
  readonly x: Axis;
  readonly whereOf: PlotProps['whereOf'];
  readonly areNamed: boolean;
}) {
  const failed = gaps.filter(({ job }) => job.status === 'ERROR');
  return (
    <>
      {gaps.map((gap) => {
        const place = percent(placeOn(x, gap.x));
        const title = <title>{`${whereOf(gap)}: ${statusWord(gap.job.status)}`}</title>;
        if (gap.job.status !== 'ERROR') {
          return (
            <circle key={gap.job.id} class="waits" cx={place} cy="100%" r="3">
              {title}
            </circle>
          );
        }
        return (
          <line key={gap.job.id} class="failed-line" x1={place} x2={place} y1="0" y2="100%">
            {title}
          </line>
        );
      })}
      {areNamed &&
        failed.length <= maxNamed &&
        failed.map(({ job, x: at }) => (
          <text key={job.id} class="failed-text mid" x={percent(placeOn(x, at))} y="-6">
            {words.jobFailed(job.creation_order + 1)}
          </text>
        ))}
    </>
  );
}
