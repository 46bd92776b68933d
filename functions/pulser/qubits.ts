import type { SequenceContent } from './sequence-content.ts';

interface Qubit {
  readonly id: string;
  /** Where the register lists it. */
  readonly at: number;
  /** In µm; undefined where a job chooses its trap. */
  readonly position: readonly number[] | undefined;
}

/**
 * The qubits in the order in which operations count them. Of two with the same name the later place
 * counts, as in a Python dictionary.
 */
export function qubitsOf({ register }: Pick<SequenceContent, 'register'>): readonly Qubit[] {
  const qubits = register.map((qubit, at): Qubit => {
    if ('qid' in qubit) return { id: qubit.qid, at, position: undefined };
    const { name, x, y, z } = qubit;
    return { id: name, at, position: z === undefined ? [x, y] : [x, y, z] };
  });
  return [...new Map(qubits.map((qubit) => [qubit.id, qubit])).values()];
}

/** Whether jobs choose the traps of the qubits. */
export function isMappable({ register }: Pick<SequenceContent, 'register'>): boolean {
  return register.some((qubit) => 'qid' in qubit);
}
