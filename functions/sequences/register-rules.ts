/** Rules of atoms and traps. */

import { isMappable, qubitsOf } from '../pulser/qubits.ts';
import type { Layout, SequenceContent, Specification } from '../pulser/sequence-content.ts';
import { coordinateTolerance, type Finding, type Judged, type Rule } from './rule.ts';

const device = 'pulser/devices/_device_datacls.py';

/** Nearer places are the same, in µm, even where the device asks for no distance. */
const samePlace = 1e-7;
/** Pairs of more places are not looked at. */
const maxPlaces = 1_000;

/** Something with a position. */
interface Place {
  readonly path: readonly (string | number)[];
  readonly name: string;
  readonly position: readonly number[];
}

/** None where jobs place them. */
function atomsOf(content: SequenceContent): Place[] {
  return qubitsOf(content).flatMap(({ id, at, position }) =>
    position === undefined ? [] : [{ path: ['register', at], name: `'${id}'`, position }],
  );
}

function trapsOf({ layout }: SequenceContent): Place[] {
  return (layout?.coordinates ?? []).map((position, at) => ({
    path: ['layout', 'coordinates', at],
    name: `(${position.join(', ')})`,
    position,
  }));
}

/** A loop: of 1,000 places, half a million distances are looked at. */
function distance(a: readonly number[], b: readonly number[]): number {
  let square = 0;
  for (let axis = 0; axis < a.length; axis++) square += ((a[axis] as number) - (b[axis] ?? 0)) ** 2;
  return Math.sqrt(square);
}

function* tooClose(places: readonly Place[], { min_atom_distance: least }: Specification): Generator<Finding> {
  if (places.length > maxPlaces) return;
  for (const [at, place] of places.entries()) {
    const other = places
      .slice(0, at)
      .find(({ position }) => distance(position, place.position) < Math.max(least - coordinateTolerance, samePlace));
    if (other === undefined) continue;
    const found = distance(other.position, place.position).toFixed(3);
    yield { path: place.path, message: `The minimal distance is ${least} µm: ${other.name} is ${found} µm away.` };
  }
}

function* tooFar(places: readonly Place[], { max_radial_distance: radius }: Specification): Generator<Finding> {
  if (radius === null) return;
  for (const { path, position } of places) {
    const found = distance(position, []);
    if (found <= radius + coordinateTolerance) continue;
    yield { path, message: `It must be at most ${radius} µm away from the center, and is ${found.toFixed(3)} µm.` };
  }
}

const atoms: readonly Rule[] = [
  {
    type: 'sequence_too_many_atoms',
    refuses: 'more atoms than `max_atom_num`',
    source: `${device}: BaseDevice._validate_atom_number`,
    *find({ content, device: { max_atom_num: max } }) {
      const { length } = atomsOf(content);
      if (max === null || length <= max) return;
      yield {
        path: ['register'],
        message: `The number of atoms (${length}) must be at most that of the device (${max}).`,
      };
    },
  },
  {
    type: 'sequence_atoms_too_close',
    refuses: 'atoms nearer to each other than `min_atom_distance`',
    source: `${device}: BaseDevice._validate_atom_distance`,
    find: (judged) => tooClose(atomsOf(judged.content), judged.device),
  },
  {
    type: 'sequence_atom_too_far',
    refuses: 'atoms farther from the center than `max_radial_distance`',
    source: `${device}: BaseDevice._validate_radial_distance`,
    find: (judged) => tooFar(atomsOf(judged.content), judged.device),
  },
  {
    type: 'sequence_dimensions',
    refuses: 'a register or a layout in 3D on a device in 2D',
    source: `${device}: BaseDevice.validate_register, validate_layout`,
    *find({ content, device: { dimensions } }) {
      const isFlat = (places: Place[]) => places.every(({ position }) => position.length <= dimensions);
      const message = `All positions must be at most ${dimensions}D vectors.`;
      if (!isFlat(atomsOf(content))) yield { path: ['register'], message };
      if (!isFlat(trapsOf(content))) yield { path: ['layout'], message };
    },
  },
];

const layouts: readonly Rule[] = [
  {
    type: 'sequence_traps',
    refuses: 'layouts with fewer or more traps than `min_layout_traps` and `max_layout_traps`',
    source: `${device}: BaseDevice.validate_layout`,
    *find({ content, device: { min_layout_traps: min = 1, max_layout_traps: max } }) {
      if (content.layout === undefined) return;
      const { length } = content.layout.coordinates;
      if (length >= min && length <= (max ?? length)) return;
      const bounds = `at least ${min}${max ? ` and at most ${max}` : ''}`;
      yield { path: ['layout'], message: `The layout has ${length} traps: the device asks for ${bounds}.` };
    },
  },
  {
    type: 'sequence_trap_place',
    refuses: 'traps nearer to each other or farther from the center than atoms may be',
    source: `${device}: BaseDevice.validate_layout`,
    *find({ content, device: limits }) {
      yield* tooClose(trapsOf(content), limits);
      yield* tooFar(trapsOf(content), limits);
    },
  },
  {
    type: 'sequence_layout_filling',
    refuses: 'a share of filled traps outside `min_layout_filling` and `max_layout_filling`',
    source: `${device}: BaseDevice.validate_layout_filling`,
    find: fillingFaults,
  },
  {
    type: 'sequence_not_a_trap',
    refuses: 'atoms beside the traps of their layout',
    source: 'pulser/register/traps.py: Traps.get_traps_from_coordinates',
    judge: 'own',
    *find({ content }) {
      const [places, traps] = [atomsOf(content), trapsOf(content)];
      if (content.layout === undefined || places.length * traps.length > maxPlaces ** 2) return;
      for (const { path, position } of places) {
        const isTrap = traps.some((trap) => distance(trap.position, position) <= coordinateTolerance);
        if (!isTrap) yield { path, message: `The coordinate (${position.join(', ')}) is not a part of the layout.` };
      }
    },
  },
  {
    type: 'sequence_layout_required',
    refuses: 'registers without a layout where the device requires one',
    source: 'pulser/backend/abc.py: Backend.validate_sequence',
    judge: 'announced',
    *find({ content, device: { requires_layout = true } }) {
      if (requires_layout && content.layout === undefined) {
        yield { path: ['layout'], message: 'The device requires a register that is defined from a layout.' };
      }
    },
  },
  {
    type: 'sequence_new_layout',
    refuses: 'layouts that the device has not calibrated where `accepts_new_layouts` is false',
    source: 'pulser/backend/abc.py: Backend.validate_sequence',
    judge: 'announced',
    *find({ content: { layout }, device: limits }) {
      const { requires_layout = true, accepts_new_layouts = true, pre_calibrated_layouts = [] } = limits;
      if (!requires_layout || accepts_new_layouts || layout === undefined) return;
      if (pre_calibrated_layouts.some((each) => isSameLayout(each, layout))) return;
      yield { path: ['layout'], message: 'The device accepts none but its calibrated layouts.' };
    },
  },
];

export const registerRules: readonly Rule[] = [...atoms, ...layouts];

/**
 * Counts all qubits of a mappable register on its own device. On another device only the mapped
 * ones count, which the job knows.
 */
function* fillingFaults({ content, device: limits, isOwn }: Judged): Generator<Finding> {
  if (content.layout === undefined || (!isOwn && isMappable(content))) return;
  const { min_layout_traps = 1, min_layout_filling = 0, max_layout_filling = 0.5 } = limits;
  const traps = content.layout.coordinates.length;
  const qubits = qubitsOf(content).length;
  const [least, most] = [Math.ceil(traps * min_layout_filling), Math.trunc(traps * max_layout_filling)];
  if (qubits <= most && (qubits >= least || traps <= min_layout_traps)) return;
  const message = `The register has ${qubits} qubits: this layout must hold at least ${least} and at most ${most}.`;
  yield { path: ['register'], message };
}

/** Whether two layouts have the same traps, in any order. */
function isSameLayout({ coordinates: one }: Layout, { coordinates: other }: Layout): boolean {
  if (one.length !== other.length) return false;
  if (one.length > maxPlaces) return true;
  return one.every((trap) => other.some((each) => distance(trap, each) <= 2 * coordinateTolerance));
}
