import { readSequence } from '../drawing/readable-sequence.ts';
import { unitsOf } from './units.ts';

/** What a figure takes from the program: units of variables, and atoms in the order of bits. */
export function programOf(sequence: string | null): {
  readonly units: ReadonlyMap<string, string>;
  readonly atoms: readonly string[];
} {
  const register = readSequence(sequence ?? '')?.register ?? [];
  const atoms = register.map((each) => String('qid' in each ? each.qid : 'name' in each ? each.name : ''));
  return { units: unitsOf(sequence), atoms };
}
