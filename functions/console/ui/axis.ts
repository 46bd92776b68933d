/** Round numbers along an axis. */

import { roundStep } from './ticks.ts';

export interface Axis {
  readonly least: number;
  readonly greatest: number;
  /** In their order, with what is written beside each. */
  readonly ticks: readonly { readonly value: number; readonly label: string }[];
}

const steps = [1, 2, 2.5, 5];

/**
 * An axis from a round number to a round one around these values, of about `count` steps. One value
 * has room at both sides.
 */
export function axisOf(values: readonly number[], count = 5, leastStep = 0): Axis {
  let least = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  let greatest = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  if (values.length === 0) [least, greatest] = [0, 1];
  // Numbers so large, or so near to each other, that no step between them can be written.
  const finest = Math.max(Math.abs(least), Math.abs(greatest), 1e-288) * 1e-12;
  if (!(greatest - least > finest)) {
    const room = Math.abs(least) / 2 || 0.5;
    [least, greatest] = [least - room, greatest + room];
  }
  const step = Math.max(leastStep, roundStep(greatest / count - least / count, steps));
  const first = Math.floor(least / step + 1e-9);
  const last = Math.ceil(greatest / step - 1e-9);
  const ends = [first * step, last * step];
  if (!ends.every(Number.isFinite)) {
    return {
      least,
      greatest,
      ticks: [least, greatest].map((value) => ({ value, label: labelOf(value, Math.abs(value)) })),
    };
  }
  const ticks = Array.from({ length: last - first + 1 }, (_, at) => (first + at) * step);
  return {
    least: first * step,
    greatest: last * step,
    ticks: ticks.map((value) => ({ value, label: labelOf(value, step) })),
  };
}

/** A tick, with as many digits as its step needs. */
function labelOf(value: number, step: number): string {
  if (Math.abs(value) < step / 2) return '0';
  const digits = Math.floor(Math.log10(Math.abs(value))) - Math.floor(Math.log10(step)) + 2;
  const exact = Number(value.toPrecision(Math.min(15, Math.max(1, digits))));
  const isFar = Math.abs(exact) >= 1e6 || Math.abs(exact) < 1e-4;
  return (isFar ? exact.toExponential().replace('e+', 'e') : String(exact)).replaceAll('-', '−');
}

/** The index of the least of these numbers; -1 of none. */
export function indexOfLeast(numbers: readonly number[]): number {
  return numbers.indexOf(Math.min(...numbers));
}

/** Where a value is on its axis, from 0 to 1. */
export function placeOn({ least, greatest }: Axis, value: number): number {
  return (value / 2 - least / 2) / (greatest / 2 - least / 2);
}
