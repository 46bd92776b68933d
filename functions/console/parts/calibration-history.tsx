import { useState } from 'preact/hooks';
import type { ListedCalibration } from '../../schemas/calibration.ts';
import type { Job } from '../../schemas/job.ts';
import { devicePath } from '../client/device-path.ts';
import { useCall } from '../client/use-call.ts';
import { type Axis, axisOf, indexOfLeast, placeOn } from '../ui/axis.ts';
import { Time } from '../ui/basics.tsx';
import { formatMoment, formatNumber, timeOf } from '../ui/format.ts';
import { PlotFrame, percent } from '../ui/plot-frame.tsx';
import { PlotReach } from '../ui/plot-reach.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import { labelOf, numberText } from './calibration-names.ts';
import { cornersOf, inOrder, type Steps, stepsOf, timeAxis } from './calibration-steps.ts';

const { calibration: words } = texts;

/** The newest calibrations, batches and jobs that are read. */
const maxRows = 100;
const maxBatches = 50;

/** In pixels. */
const height = 110;

/**
 * What a device has reported of itself: each number over time, with the starts of the reader's jobs
 * on it, and a table. Nothing where it has reported none.
 */
export function CalibrationHistory({ deviceType }: { readonly deviceType: string }) {
  const path = devicePath(deviceType, '/calibrations');
  const list = useCall<ListedCalibration[]>(path, { query: { limit: maxRows } });
  const newest = list.answer?.data ?? [];
  const starts = useOwnStarts(newest.length > 0 ? deviceType : undefined);
  const [at, mark] = useState(-1);
  if (newest.length === 0) return null;
  const ordered = inOrder(newest);
  const times = ordered.map(({ valid_from }) => timeOf(valid_from));
  const [first, last] = [times[0]!, Math.max(Date.now(), times.at(-1)!)];
  const shown = starts.filter((start) => start >= first);
  const x = timeAxis(first, last);
  const marked = ordered[at];
  return (
    <section class="card sweep" aria-label={words.history}>
      <h2>
        {words.history} <span class="soft">{marked && words.from(marked.number, formatMoment(marked.valid_from))}</span>
      </h2>
      <div class="calibrations">
        {stepsOf(ordered).map((steps) => (
          <NumberPlot key={steps.name} {...{ steps, ordered, x, starts: shown, at, mark }} />
        ))}
      </div>
      {shown.length > 0 && <p class="aside">{words.ownJobs}</p>}
      <details>
        <summary>{words.table}</summary>
        <Table label={words.table} columns={columnsOf(stepsOf(ordered))} rows={newest} keyOf={({ number }) => number} />
      </details>
    </section>
  );
}

/** When the newest jobs of the reader's newest batches on a device started. */
function useOwnStarts(deviceType: string | undefined): readonly number[] {
  const newestFirst = { order_by_direction: 'DESC' };
  const batches = useCall<{ readonly id: string }[]>(deviceType === undefined ? null : '/api/v1/batches', {
    query: { device_type: deviceType, limit: maxBatches, order_by: 'start_datetime', ...newestFirst },
  });
  const ids = batches.answer?.data.map(({ id }) => id) ?? [];
  const jobs = useCall<Pick<Job, 'start_timestamp'>[]>(ids.length === 0 ? null : '/api/v2/jobs', {
    query: { batch_id: ids, limit: maxRows, order_by: 'start_timestamp', ...newestFirst },
  });
  return (
    jobs.answer?.data.flatMap(({ start_timestamp }) => (start_timestamp === null ? [] : [timeOf(start_timestamp)])) ??
    []
  );
}

interface PlotProps {
  readonly steps: Steps;
  readonly ordered: readonly ListedCalibration[];
  readonly x: Axis;
  readonly starts: readonly number[];
  /** The calibration that is marked, in all plots. */
  readonly at: number;
  readonly mark: (at: number) => void;
}

/** One number over time. The pointer or the arrow keys go from calibration to calibration. */
function NumberPlot({ steps, ordered, x, starts, at, mark }: PlotProps) {
  const { name, points } = steps;
  const [label, unit] = labelOf(name);
  const y = axisOf(
    points.map(({ value }) => value),
    3,
  );
  const marked = ordered[at];
  const value = marked && Object.hasOwn(marked.numbers, name) ? marked.numbers[name] : undefined;
  const text = value === undefined ? words.notReported : numberText(name, value);
  const guide = marked && { x: placeOn(x, timeOf(marked.valid_from)), y: 0, lines: [] };
  const nearest = (left: number) =>
    indexOfLeast(ordered.map(({ valid_from }) => Math.abs(placeOn(x, timeOf(valid_from)) - left)));
  return (
    <div class="sweep-plot" title={name}>
      <PlotFrame
        {...{ x, y, guide, height }}
        xTitle={{ symbol: '' }}
        yTitle={marked === undefined ? { symbol: label, unit } : { symbol: text }}
        description={`${numberText(name, points.at(-1)!.value)}; ${words.count(points.length)}`}
      >
        <svg viewBox="0 0 100 100" preserveAspectRatio="none" width="100%" height="100%" aria-hidden="true">
          <polyline class="k1 line" points={cornersOf(steps, x, y)} />
        </svg>
        {starts.map((start) => (
          <line
            key={start}
            class="own-job"
            {...{ x1: percent(placeOn(x, start)), x2: percent(placeOn(x, start)), y1: '94%', y2: '100%' }}
          />
        ))}
      </PlotFrame>
      <PlotReach
        label={`${label}: ${words.guide}`}
        count={ordered.length}
        at={at}
        text={
          marked === undefined
            ? words.unmarked
            : `${words.from(marked.number, formatMoment(marked.valid_from))}, ${text}`
        }
        mark={mark}
        nearest={nearest}
        open={() => undefined}
      />
    </div>
  );
}

function columnsOf(all: readonly Steps[]): readonly Column<ListedCalibration>[] {
  return [
    [words.number, ({ number }) => number, 'number'],
    [words.validFrom, ({ valid_from }) => <Time time={valid_from} />],
    [words.reported, ({ created_at }) => <Time time={created_at} />],
    ...all.map(({ name }): Column<ListedCalibration> => {
      const [label, unit] = labelOf(name);
      return [
        unit === undefined ? label : `${label} (${unit})`,
        ({ numbers }) => (Object.hasOwn(numbers, name) ? formatNumber(numbers[name]!) : texts.common.none),
        'number',
      ];
    }),
  ];
}
