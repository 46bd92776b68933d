/** Where the qubits of a sequence are, and where they are on its drawing. */

import { isMappable, qubitsOf } from '../../pulser/qubits.ts';
import { isObject, type JsonObject } from '../ui/json-object.ts';
import type { ReadableSequence } from './readable-sequence.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

export interface Register {
  readonly qubits: readonly (Point & { readonly id: string })[];
  /** Where qubits could be, where the sequence has a layout. */
  readonly traps: readonly Point[];
  readonly is3D: boolean;
  /** The job decides where the qubits are, and has not done so. */
  readonly isUnmapped: boolean;
}

/** The qubits of a sequence and its layout; undefined where it has none that can be read. */
export function readRegister({ register = [], layout }: ReadableSequence, given: JsonObject): Register | undefined {
  const traps = (layout?.coordinates ?? []).map(pointOf);
  const places = isObject(given.qubits) ? given.qubits : {};
  const qubits = qubitsOf({ register }).flatMap(({ id, position }) => {
    const point = position === undefined ? traps[Number(places[id])] : pointOf(position);
    return point === undefined ? [] : [{ id, ...point }];
  });
  const points = [...qubits, ...traps];
  if (points.length === 0 || !points.every(({ x, y, z }) => [x, y, z].every(Number.isFinite))) return undefined;
  const isUnmapped = isMappable({ register }) && qubits.length === 0;
  return { qubits, traps, is3D: points.some(({ z }) => z !== 0), isUnmapped };
}

function pointOf([x = 0, y = 0, z = 0]: readonly number[]): Point {
  return { x, y, z };
}

/**
 * How far the view of a register in space is turned, and from how far above it is seen, in rad: so
 * that sites of cubic lattices do not cover each other.
 */
const turn = 0.3;
const rise = 0.45;

/** Where a point is on the drawing, in µm: to the right and upward. */
export function project({ x, y, z }: Point, is3D: boolean): readonly [right: number, up: number] {
  if (!is3D) return [x, y];
  const right = x * Math.cos(turn) - y * Math.sin(turn);
  const away = x * Math.sin(turn) + y * Math.cos(turn);
  return [right, z * Math.cos(rise) + away * Math.sin(rise)];
}

/** Of any number of values: arguments of a call are limited. */
export function rangeOf(values: readonly number[]): readonly [least: number, greatest: number] {
  return values.reduce(([least, greatest], each) => [Math.min(least, each), Math.max(greatest, each)] as const, [
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ] as const);
}
