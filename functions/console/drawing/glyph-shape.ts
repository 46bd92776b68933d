import { project, type Register, rangeOf } from './qubit-places.ts';

/** Registers of more qubits are not seen as a shape in a row of text. */
const maxGlyphQubits = 25;

/** In pixels. */
const maxWidth = 60;
const height = 16;
const spacing = 6;

export interface Shape {
  /** Where each qubit is, in pixels from the top left, in the order of the register. */
  readonly spots: readonly (readonly [number, number])[];
  readonly radius: number;
  readonly width: number;
  readonly height: number;
}

/** The register so small that it fits into a row of text; undefined where it would be no shape. */
export function shapeOf({ qubits, is3D }: Register): Shape | undefined {
  if (qubits.length === 0 || qubits.length > maxGlyphQubits) return undefined;
  const places = qubits.map((qubit) => project(qubit, is3D));
  const [left, right] = rangeOf(places.map(([x]) => x));
  const [low, high] = rangeOf(places.map(([, y]) => y));
  const pairs = places.flatMap(([x, y], at) =>
    places.slice(at + 1).map((other) => Math.hypot(x - other[0], y - other[1])),
  );
  const nearest = Math.min(...pairs, Number.POSITIVE_INFINITY);
  if (nearest === 0) return undefined;
  const room = { x: maxWidth - spacing, y: height - 4 };
  const scale = Math.min(spacing / nearest, room.x / (right - left), room.y / (high - low));
  // A single qubit has neither a neighbor nor an extent.
  const step = Number.isFinite(scale) ? scale : 0;
  const margin = 3;
  const top = (height - (high - low) * step) / 2;
  return {
    spots: places.map(([x, y]) => [margin + (x - left) * step, top + (high - y) * step]),
    radius: Number.isFinite(nearest) ? Math.min(2.4, Math.max(0.8, 0.42 * nearest * step)) : 2.4,
    width: (right - left) * step + 2 * margin,
    height,
  };
}
