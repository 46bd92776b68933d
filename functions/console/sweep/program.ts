import { qubitsOf } from '../../pulser/qubits.ts';
import { readSequence } from '../drawing/readable-sequence.ts';
import { unitsOf } from '../drawing/variable-units.ts';

/** What a figure takes from the program: units of variables, and atoms in the order of bits. */
export function programOf(sequence: string | null): {
  readonly units: ReadonlyMap<string, string>;
  readonly atoms: readonly string[];
} {
  const read = readSequence(sequence ?? '') ?? {};
  const atoms = qubitsOf({ register: read.register ?? [] }).map(({ id }) => id);
  return { units: unitsOf(read), atoms };
}

/** The unit of a variable, or of an element of one: it has the unit of its list. */
export function unitOf(units: ReadonlyMap<string, string>, name: string): string | undefined {
  return units.get(name) ?? units.get(name.replace(/\[\d+\]$/, ''));
}
