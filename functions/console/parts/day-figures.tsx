import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { DeviceMinutes } from '../../schemas/device-minutes.ts';
import { devicePath } from '../client/device-path.ts';
import { type Loaded, useCall } from '../client/use-call.ts';
import { type Axis, axisOf, indexOfLeast, placeOn } from '../ui/axis.ts';
import { Shown } from '../ui/basics.tsx';
import { formatCount, formatNumber, formatPercent, formatSeconds, formatTimeOfDay } from '../ui/format.ts';
import { type AxisTitle, PlotFrame, percent } from '../ui/plot-frame.tsx';
import { PlotReach } from '../ui/plot-reach.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import {
  beginOf,
  dayMilliseconds,
  type Hour,
  hourMilliseconds,
  hoursOf,
  runsOf,
  timeAxis,
  unitOf,
} from './device-day.ts';

const { day: words } = texts;

/** Seconds between two looks at the day. */
const lookSeconds = 60;

/** What was measured of a device in the last 24 hours. */
export function useDay(deviceType: string): Loaded<DeviceMinutes> {
  return useCall<DeviceMinutes>(devicePath(deviceType, '/minutes'), { again: () => lookSeconds });
}

/** The queue, the waits and the work of a device in the last 24 hours: three plots, and a table. */
export function DayFigures({ day }: { readonly day: Loaded<DeviceMinutes> }) {
  return (
    <section class="card">
      <h2>{words.title}</h2>
      <Shown loaded={day}>
        {(data) =>
          data.minutes.length === 0 ? (
            <p class="aside">{words.none}</p>
          ) : (
            <>
              <Plots data={data} />
              <details>
                <summary>{words.table}</summary>
                <Table label={words.title} columns={columns} rows={hoursOf(data).toReversed()} keyOf={({ at }) => at} />
              </details>
            </>
          )
        }
      </Shown>
    </section>
  );
}

function Plots({ data }: { readonly data: DeviceMinutes }) {
  const [at, mark] = useState(-1);
  const { minutes, step } = data;
  const [x, hours] = useMemo(() => {
    const end = Math.max(Date.now(), beginOf(minutes.at(-1)!) + step * 1_000);
    return [timeAxis(end - dayMilliseconds, end), hoursOf(data)];
  }, [data]);
  const marked = minutes[at];
  const middles = minutes.map((each) => beginOf(each) + step * 500);
  const place = marked === undefined ? undefined : placeOn(x, middles[at]!);
  const hour = hours.find((each) => marked !== undefined && beginOf(marked) - each.at < hourMilliseconds);
  const texts = marked === undefined || hour === undefined ? undefined : textsAt(marked, step, hour);
  const guide = (lines: readonly string[] | undefined) =>
    lines && place !== undefined ? { x: place, y: 0.15, lines: lines.map((text) => ({ text })) } : undefined;
  const nearest = (left: number) => indexOfLeast(middles.map((each) => Math.abs(placeOn(x, each) - left)));
  const most = Math.max(...minutes.map((each) => each.longest_queue));
  const now = minutes.at(-1)!;
  const waits = hours.map(({ waited }) => waited ?? 0);
  const [unit, unitSeconds] = unitOf(Math.max(...waits));
  return (
    <div class="day-plots">
      <DayPlot
        x={x}
        y={axisOf([0, Math.max(1, ...minutes.map((each) => each.queue_length))], 3, 1)}
        title={{ symbol: words.queue }}
        description={words.queueIs(formatCount(most), formatNumber(now.queue_length, 2))}
        guide={guide(texts?.queue)}
      >
        {(y) => <QueueLine data={data} x={x} y={y} />}
      </DayPlot>
      <DayPlot
        x={x}
        y={axisOf([0, Math.max(1, ...waits) / unitSeconds], 2)}
        title={{ symbol: words.waits, unit }}
        description={words.waitsAre(formatSeconds(Math.max(...waits)))}
        guide={guide(texts?.waits)}
      >
        {(y) => <HourBars hours={hours} x={x} y={y} look="f3" value={({ waited = 0 }) => waited / unitSeconds} />}
      </DayPlot>
      <DayPlot
        x={x}
        y={shares}
        title={{ symbol: words.busy }}
        description={words.busyIs(formatSeconds(hours.reduce((sum, { busySeconds }) => sum + busySeconds, 0)))}
        guide={guide(texts?.busy)}
        isLast
      >
        {(y) => <HourBars hours={hours} x={x} y={y} look="f2" value={({ busyShare }) => busyShare} />}
      </DayPlot>
      <PlotReach
        label={words.guide}
        count={minutes.length}
        at={at}
        text={texts === undefined ? words.unmarked : [texts.queue, texts.waits, texts.busy].flat().join(', ')}
        mark={mark}
        nearest={nearest}
        open={() => mark(-1)}
      />
    </div>
  );
}

/** What the guide says in each plot. */
function textsAt(step: DeviceMinutes['minutes'][number], seconds: number, hour: Hour) {
  const [from, to] = [beginOf(step), beginOf(step) + seconds * 1_000].map((at) => formatTimeOfDay(new Date(at)));
  const hours = [hour.at, hour.at + hourMilliseconds].map((at) => formatTimeOfDay(new Date(at))).join('–');
  return {
    queue: [`${from}–${to}`, words.inQueue(formatNumber(step.queue_length, 2), formatCount(step.longest_queue))],
    waits: [
      hours,
      hour.waited === undefined ? words.noneStarted : words.startedAfter(hour.started, formatSeconds(hour.waited)),
    ],
    busy: [hours, words.busyFor(formatPercent(hour.busyShare), hour.workers)],
  };
}

const shares: Axis = {
  least: 0,
  greatest: 1,
  ticks: [0, 0.5, 1].map((value) => ({ value, label: value === 0 ? '0' : `${value * 100} %` })),
};

interface PlotProps {
  readonly x: Axis;
  readonly y: Axis;
  readonly title: AxisTitle;
  readonly description: string;
  readonly guide: Parameters<typeof PlotFrame>[0]['guide'];
  /** It has the times below it. */
  readonly isLast?: boolean;
  readonly children: (y: Axis) => ComponentChildren;
}

function DayPlot({ x, y, title, description, guide, isLast = false, children }: PlotProps) {
  const ticks = isLast ? x.ticks : x.ticks.map(({ value }) => ({ value, label: '' }));
  return (
    <PlotFrame
      x={{ ...x, ticks }}
      xTitle={{ symbol: '' }}
      y={y}
      yTitle={title}
      description={description}
      guide={guide}
      height={96}
    >
      {children(y)}
    </PlotFrame>
  );
}

/** Steps of the mean, filled to the ground. Where nothing was measured there is nothing. */
function QueueLine({ data, x, y }: { readonly data: DeviceMinutes; readonly x: Axis; readonly y: Axis }) {
  const round = (share: number) => Math.round(share * 10_000) / 100;
  return (
    <svg viewBox="0 0 100 100" preserveAspectRatio="none" width="100%" height="100%" aria-hidden="true">
      {runsOf(data).map((run) => {
        const points = run.flatMap((each) => {
          const begin = beginOf(each);
          const down = round(1 - placeOn(y, each.queue_length));
          return [begin, begin + data.step * 1_000].map((at) => `${round(Math.max(0, placeOn(x, at)))},${down}`);
        });
        const [left, right] = [points[0], points.at(-1)].map((point) => `${point!.split(',')[0]},100`);
        return (
          <g key={run[0]!.at}>
            <polygon class="f1 band" points={[left, ...points, right].join(' ')} />
            <polyline class="k1 line" points={points.join(' ')} />
          </g>
        );
      })}
    </svg>
  );
}

interface BarsProps {
  readonly hours: readonly Hour[];
  readonly x: Axis;
  readonly y: Axis;
  readonly look: string;
  readonly value: (hour: Hour) => number;
}

function HourBars({ hours, x, y, look, value }: BarsProps) {
  return hours.map((hour) => {
    const left = Math.max(0, placeOn(x, hour.at));
    const right = Math.min(1, placeOn(x, hour.at + hourMilliseconds));
    const top = 1 - placeOn(y, value(hour));
    return (
      <rect
        key={hour.at}
        class={look}
        x={percent(left + 0.002)}
        width={percent(Math.max(0.002, right - left - 0.004))}
        y={percent(top)}
        height={percent(1 - top)}
      />
    );
  });
}

const columns: readonly Column<Hour>[] = [
  [words.columns.hour, ({ at }) => formatTimeOfDay(new Date(at))],
  [words.columns.queue, ({ queue }) => formatNumber(queue, 2), 'number'],
  [words.columns.longest, ({ longest }) => formatCount(longest), 'number'],
  [words.columns.started, ({ started }) => formatCount(started), 'number'],
  [words.columns.waited, ({ waited }) => (waited === undefined ? '' : formatSeconds(waited)), 'number'],
  [words.columns.busy, ({ busyShare }) => formatPercent(busyShare), 'number'],
  [words.columns.workers, ({ workers }) => formatCount(workers), 'number'],
];
