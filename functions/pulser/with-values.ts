import { certainNumbersOf, type Variables } from './parameter-values.ts';
import { usesVariables } from './parameters.ts';
import type { Operation } from './sequence-content.ts';

/** The values of one job, and whether a term was met that they do not make certain. */
export interface Filling {
  readonly variables: Variables;
  isUncertain: boolean;
}

/** Makes a member once there are values. */
type Filler = (filling: Filling) => unknown;

const numbers =
  (isExact: boolean, isOne: boolean) =>
  (term: unknown): Filler =>
  (filling) => {
    const values = certainNumbersOf(term, filling.variables, isExact);
    if (values !== undefined && !isOne) return values;
    if (values?.length === 1) return values[0];
    filling.isUncertain = true;
    return term;
  };

const [whole, level] = [numbers(true, true), numbers(false, true)];

const each =
  (read: (term: unknown) => Filler) =>
  (terms: unknown): Filler => {
    const fillers = (terms as readonly unknown[]).map((term) => (usesVariables(term) ? read(term) : () => term));
    return (filling) => fillers.map((fill) => fill(filling));
  };

/** The members that rules look at, of operations and of waveforms. */
const readers: Readonly<Record<string, (term: unknown) => Filler>> = {
  time: whole,
  duration: whole,
  target: numbers(true, false),
  targets: each(whole),
  amp_on: level,
  detuning_on: level,
  value: level,
  area: level,
  start: level,
  stop: level,
  amplitude: fillMembers,
  detuning: fillMembers,
  waveform: fillMembers,
  waveforms: each(fillMembers),
};

/**
 * Makes the operation with numbers in place of the terms that rules look at, as far as the values
 * of variables make them certain. Undefined where no such term uses variables.
 */
export function withValues(operation: Operation): ((filling: Filling) => Operation) | undefined {
  const isChanging = Object.entries(operation).some(
    ([name, member]) => Object.hasOwn(readers, name) && usesVariables(member),
  );
  return isChanging ? (fillMembers(operation) as (filling: Filling) => Operation) : undefined;
}

function fillMembers(members: unknown): Filler {
  const fillers = Object.entries(members as object).flatMap(([name, member]) =>
    Object.hasOwn(readers, name) && usesVariables(member) ? [[name, readers[name]!(member)] as const] : [],
  );
  return (filling) => {
    const filled: Record<string, unknown> = { ...(members as object) };
    for (const [name, fill] of fillers) filled[name] = fill(filling);
    return filled;
  };
}
