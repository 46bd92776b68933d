import { formatNumber } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';
import { ticksOf } from '../ui/ticks.ts';
import type { ChannelBounds } from './channel-bounds.ts';
import { rangeOf } from './qubit-places.ts';
import { lineOf, type Track } from './timeline.ts';
import { valueAt } from './value-at.ts';

const { pulses: words } = texts;

type Points = readonly (readonly [nanoseconds: number, value: number])[];
type Quantity = 'amplitude' | 'detuning' | 'phase';

/** In pixels: text and lines keep their size at any width. */
const titleHeight = 20;
const heights = { amplitude: 104, detuning: 104, phase: 48 } as const;
const gap = 12;
const axisHeight = 40;

/** Places of the curves across their width. */
const across = 1_000;

interface Props {
  readonly track: Track;
  /** The same channel with the values of other jobs: in pale lines. */
  readonly others: readonly Track[];
  /** Where the device's amplitudes end. */
  readonly bounds: ChannelBounds | undefined;
  /** How long the sequence is. */
  readonly nanoseconds: number;
  /** Where the guide is, in ns; undefined: there is none. */
  readonly time: number | undefined;
  readonly setTime: (time: number | undefined) => void;
}

/**
 * What one channel does: amplitude, detuning and phase against time. A quantity that is 0
 * throughout has no curve. The pointer or the arrow keys move a guide that names the values there.
 */
export function Curves({ track, others, bounds, nanoseconds, time, setTime }: Props) {
  const most = bounds?.amplitudes.get(track.id);
  const bound = most === undefined ? undefined : { at: most, label: labelOfBound(bounds!.device, most) };
  const rows = rowsOf({ track, others, bound }, nanoseconds);
  const bottom = rows.at(-1)!.bottom;
  const move = (next: number) => setTime(Math.round(Math.min(nanoseconds, Math.max(0, next))));
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, shiftKey } = event;
    const step = (nanoseconds / 100) * (shiftKey ? 10 : 1);
    const next = { ArrowLeft: (time ?? 0) - step, ArrowRight: (time ?? 0) + step, Home: 0, End: nanoseconds }[key];
    if (next === undefined) return;
    event.preventDefault();
    move(next);
  };
  return (
    <div>
      <p class="channel">
        <bdi>{track.name}</bdi> {track.name !== track.id && <span class="soft">{track.id}</span>}
      </p>
      <div
        class="plot pulses"
        role="slider"
        tabIndex={0}
        aria-label={labelOf(track, rows)}
        aria-valuemin={0}
        aria-valuemax={nanoseconds}
        aria-valuenow={time ?? 0}
        aria-valuetext={noteOf(track, time ?? 0, nanoseconds)}
        onKeyDown={onKeyDown}
        onBlur={() => setTime(undefined)}
        onPointerLeave={() => setTime(undefined)}
        onPointerMove={({ currentTarget, clientX }) => {
          const { left, width } = currentTarget.querySelector('svg')!.getBoundingClientRect();
          move(((clientX - left) / width) * nanoseconds);
        }}
      >
        <svg class="chart" height={bottom + axisHeight} aria-hidden="true">
          {rows.map((row) => (
            <Curve key={row.of} row={row} nanoseconds={nanoseconds} />
          ))}
          <TimeAxis nanoseconds={nanoseconds} y={bottom} />
          {time !== undefined && (
            <>
              <Guide x={`${(100 * time) / nanoseconds}%`} top={rows[0]!.top} bottom={bottom} />
              <text class="note" x="0" y={bottom + 36}>
                {noteOf(track, time, nanoseconds)}
              </text>
            </>
          )}
        </svg>
      </div>
    </div>
  );
}

/** Characters of a device's name above its bound. */
const maxDevice = 20;

/** In four digits: a value that is a little over the bound looks so. */
function labelOfBound(device: string, amplitude: number): string {
  return words.ends(device.slice(0, maxDevice), formatNumber(amplitude, 4));
}

interface Bound {
  readonly at: number;
  readonly label: string;
}

/** Points of a pale line. */
const palePoints = 200;

/** A bound that is higher than this multiple of the greatest value would flatten the curve. */
const maxBoundShare = 3;

interface Row {
  readonly of: Quantity;
  /** Between two of them there is nothing to draw. */
  readonly lines: readonly Points[];
  readonly pale: readonly Points[];
  readonly bound: Bound | undefined;
  readonly low: number;
  readonly high: number;
  /** Where its curve is; without height where it is 0 throughout. */
  readonly top: number;
  readonly bottom: number;
}

interface Shown {
  readonly track: Track;
  readonly others: readonly Track[];
  readonly bound: Bound | undefined;
}

function rowsOf({ track, others, bound }: Shown, nanoseconds: number): readonly Row[] {
  let y = 0;
  return (['amplitude', 'detuning', 'phase'] as const).map((of) => {
    const lines = linesOf(track, of, nanoseconds);
    const pale = of === 'phase' ? [] : others.flatMap((other) => linesOf(other, of, nanoseconds, palePoints));
    const values = [0, ...[...lines, ...pale].flat().map(([, value]) => value)];
    const isNear = of === 'amplitude' && bound !== undefined && bound.at <= maxBoundShare * Math.max(...values);
    const range = rangeOf(isNear ? [...values, bound.at] : values);
    const [low, high] = roundOf(range, ticksIn(heights[of]));
    const top = y + titleHeight;
    const bottom = top + (low === high ? 0 : heights[of]);
    y = bottom + gap;
    return { of, lines, pale, bound: isNear ? bound : undefined, low, high, top, bottom };
  });
}

/** Between pulses there is no phase. */
function linesOf({ pulses }: Track, of: Quantity, nanoseconds: number, points?: number): readonly Points[] {
  if (of !== 'phase') return [lineOf(pulses, of, nanoseconds, points)];
  return pulses.map(({ from, to, phase }) => [[from, phase] as const, [to, phase] as const]);
}

function ticksIn(height: number): number {
  return height > 60 ? 4 : 3;
}

/** An axis ends at a tick where the next one is near. */
function roundOf([low, high]: readonly [number, number], ticks: number): readonly [number, number] {
  const [first = 0, second = 0] = ticksOf(low, high, ticks);
  const step = second - first;
  if (!(step > 0)) return [low, high];
  const room = 0.15 * (high - low);
  const [under, over] = [Math.floor(low / step) * step, Math.ceil(high / step) * step];
  return [low - under <= room ? under : low, over - high <= room ? over : high];
}

function Curve({
  row: { of, lines, pale, bound, low, high, top, bottom },
  nanoseconds,
}: {
  readonly row: Row;
  readonly nanoseconds: number;
}) {
  const { sign, name, unit } = words.quantities[of];
  const isFlat = low === high;
  const letter = of[0]!;
  const height = bottom - top;
  // The highest and the lowest part of a line keep their whole width.
  const pad = 3;
  const y = (value: number) => pad + ((high - value) / (high - low)) * (height - 2 * pad);
  const place = ([x, value]: Points[number]) => `${rounded((x / nanoseconds) * across)} ${rounded(y(value))}`;
  const pathOf = (each: readonly Points[]) => each.map((line) => `M${line.map(place).join('L')}`).join('');
  const path = pathOf(lines);
  return (
    <>
      <text class="title" x="0" y={top - 8}>
        <tspan class={`var f${letter}`}>{sign}</tspan> {name}{' '}
        <tspan class="unit">{isFlat ? words.flat : `(${unit})`}</tspan>
      </text>
      {!isFlat && (
        <>
          {ticksOf(low, high, ticksIn(height)).map((tick) => (
            <g key={tick}>
              <line class={tick === 0 ? 'axis' : 'grid'} x1="0" x2="100%" y1={top + y(tick)} y2={top + y(tick)} />
              <text class="end" x="-8" y={top + y(tick) + 4}>
                {number(tick)}
              </text>
            </g>
          ))}
          <svg
            viewBox={`0 0 ${across} ${height}`}
            preserveAspectRatio="none"
            x="0"
            y={top}
            width="100%"
            height={height}
            overflow="visible"
            aria-hidden="true"
          >
            {of !== 'phase' && (
              <path class={`f${letter}`} fill-opacity=".14" d={`${path}L${across} ${y(0)}L0 ${y(0)}Z`} />
            )}
            {pale.length > 0 && (
              <path class={`line pale k${letter}`} vector-effect="non-scaling-stroke" d={pathOf(pale)} />
            )}
            <path class={`line k${letter}`} vector-effect="non-scaling-stroke" d={path} />
          </svg>
          {bound !== undefined && (
            <>
              <line class="bound" x1="0" x2="100%" y1={top + y(bound.at)} y2={top + y(bound.at)} />
              <text class="bound end" x="100%" y={top - 8}>
                {bound.label}
              </text>
            </>
          )}
        </>
      )}
    </>
  );
}

function TimeAxis({ nanoseconds, y }: { readonly nanoseconds: number; readonly y: number }) {
  const { scale, unit } = timeUnit(nanoseconds);
  return (
    <>
      <line class="axis" x1="0" x2="100%" y1={y} y2={y} />
      {ticksOf(0, nanoseconds / scale, 6).map((tick) => {
        const x = `${rounded((100 * tick * scale) / nanoseconds)}%`;
        return (
          <g key={tick}>
            <line class="axis" x1={x} x2={x} y1={y} y2={y + 5} />
            <text class="mid" x={x} y={y + 18}>
              {number(tick)}
            </text>
          </g>
        );
      })}
      <text class="axis-title end" x="100%" y={y + 36}>
        {words.time} ({unit})
      </text>
    </>
  );
}

function Guide({ x, top, bottom }: { readonly x: string; readonly top: number; readonly bottom: number }) {
  return <line class="guide" x1={x} x2={x} y1={top} y2={bottom} />;
}

function timeUnit(nanoseconds: number): { readonly scale: number; readonly unit: string } {
  return nanoseconds >= 1_000 ? { scale: 1_000, unit: 'µs' } : { scale: 1, unit: 'ns' };
}

/** `1.60 µs: Ω 9.42, δ −0.05`, in rad/µs. */
function noteOf(track: Track, time: number, nanoseconds: number): string {
  const { amplitude, detuning, phase = 0 } = valueAt(track, time);
  const values = [`Ω ${number(amplitude)}`, `δ ${number(detuning)}`, ...(phase === 0 ? [] : [`φ ${number(phase)}`])];
  const { unit } = timeUnit(nanoseconds);
  return `${unit === 'ns' ? time : (time / 1_000).toFixed(2)} ${unit}: ${values.join(', ')}`;
}

function labelOf({ name }: Track, rows: readonly Row[]): string {
  const parts = rows.map(({ of, low, high }) => {
    const { name: quantity, unit } = words.quantities[of];
    return low === high ? `${quantity} ${words.flat}` : `${quantity} ${number(low)} … ${number(high)} ${unit}`;
  });
  return `${words.channel} ${name}: ${parts.join(', ')}`;
}

function rounded(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function number(value: number): string {
  return formatNumber(value, 3);
}
