/** The calibrations of a device over time, for the plots of its numbers. */

import type { ListedCalibration } from '../../schemas/calibration.ts';
import { type Axis, placeOn } from '../ui/axis.ts';
import { formatSeconds, timeOf } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';

const { calibration: words } = texts;

/** One number: from each time on it had this value. */
export interface Steps {
  readonly name: string;
  readonly points: readonly { readonly at: number; readonly value: number }[];
}

/** By the time from which on they hold; of equal times the higher number comes last. */
export function inOrder(calibrations: readonly ListedCalibration[]): readonly ListedCalibration[] {
  return calibrations.toSorted(
    (one, other) => timeOf(one.valid_from) - timeOf(other.valid_from) || one.number - other.number,
  );
}

/** Every number that one of them has, in the order in which they first come. */
export function stepsOf(ordered: readonly ListedCalibration[]): readonly Steps[] {
  const names = new Set(ordered.flatMap(({ numbers }) => Object.keys(numbers)));
  return Array.from(names, (name) => ({
    name,
    points: ordered.flatMap(({ numbers, valid_from }) =>
      Object.hasOwn(numbers, name) ? [{ at: timeOf(valid_from), value: numbers[name]! }] : [],
    ),
  }));
}

/** The corners of the line through these steps, to the end of the axis, in percent of the plot. */
export function cornersOf({ points }: Steps, x: Axis, y: Axis): string {
  const place = (at: number, value: number) => `${round(100 * placeOn(x, at))},${round(100 * (1 - placeOn(y, value)))}`;
  return points
    .flatMap(({ at, value }, index) => [place(at, value), place(points[index + 1]?.at ?? x.greatest, value)])
    .join(' ');
}

/** `5 h 52 min before it ran`. */
export function ageOf({ valid_from }: Pick<ListedCalibration, 'valid_from'>, started: string | null): string {
  const seconds = started === null ? 0 : (timeOf(started) - timeOf(valid_from)) / 1_000;
  return seconds < 1 ? words.asItRan : words.before(formatSeconds(seconds));
}

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
const steps = [5 * minute, hour, 6 * hour, day, 2 * day, 7 * day, 14 * day, 28 * day, 56 * day, 91 * day, 365 * day];

/** An axis of time in the reader's zone, with at most seven dates, or times of day. */
export function timeAxis(least: number, end: number): Axis {
  // One that holds from now on has room.
  const greatest = Math.max(end, least + hour);
  const step = steps.find((each) => (greatest - least) / each <= 6) ?? (greatest - least) / 5;
  const format = step < day ? clock : date;
  const offset = offsetAt(least);
  const first = Math.ceil((least - offset) / step) * step;
  const ticks: { value: number; label: string }[] = [];
  for (let local = first; local + offset <= greatest; local += step) {
    // Clocks are set forward and back: the offset is that of the tick.
    const value = local + offsetAt(local + offset);
    if (value >= least && value <= greatest) ticks.push({ value, label: format.format(value) });
  }
  return { least, greatest, ticks };
}

/** How far the clock of the reader is behind UTC at a time. */
function offsetAt(time: number): number {
  return new Date(time).getTimezoneOffset() * minute;
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
