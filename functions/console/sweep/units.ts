/** The unit of a variable, where its program uses it directly. */

import { isObject, type JsonObject, readObject } from '../ui/json-object.ts';

/** By members of operations and waveforms. */
const membersOfUnits = {
  'rad/µs': ['amplitude', 'detuning'],
  ns: ['duration', 'time'],
  rad: ['phase', 'post_phase_shift', 'phi'],
} as const;

const unitOf = new Map(
  Object.entries(membersOfUnits).flatMap(([unit, names]) => names.map((name) => [name as string, unit])),
);

/** What of a waveform has the unit of the waveform. */
const levels = ['value', 'start', 'stop', 'values'];

/**
 * Units by the names of variables, and of their elements (`omega[1]`). A variable that is used for
 * two things has none.
 */
export function unitsOf(sequence: string | null): ReadonlyMap<string, string> {
  const found = new Map<string, string | undefined>();
  const operations = readObject(sequence ?? '')?.operations;
  const use = (term: unknown, unit: string) => {
    for (const name of namesOf(term)) found.set(name, !found.has(name) || found.get(name) === unit ? unit : undefined);
  };
  for (const operation of (Array.isArray(operations) ? operations : []).filter(isObject)) {
    for (const [name, value] of Object.entries(operation)) {
      const unit = unitOf.get(name);
      if (unit === undefined) continue;
      use(value, unit);
      if (!isObject(value) || isTerm(value)) continue;
      for (const level of levels) use(value[level], unit);
      use(value.duration, 'ns');
    }
  }
  return new Map([...found].filter((each): each is [string, string] => each[1] !== undefined));
}

function isTerm(value: JsonObject): boolean {
  return 'variable' in value || 'expression' in value;
}

/** A variable, or an element of it. The first has both names: a list of one number is a number. */
function namesOf(term: unknown): readonly string[] {
  if (!isObject(term)) return [];
  if (typeof term.variable === 'string') return [term.variable];
  const { expression, lhs, rhs } = term;
  if (expression !== 'index' || !isObject(lhs) || typeof lhs.variable !== 'string') return [];
  return rhs === 0 ? [lhs.variable, `${lhs.variable}[0]`] : [`${lhs.variable}[${rhs}]`];
}
