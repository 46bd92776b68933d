/** The unit of a variable, where a program uses it directly as a quantity that has one. */

import { isObject } from '../ui/json-object.ts';

/** By the member that holds the variable. Members of a waveform have the waveform's own unit. */
const units: Readonly<Record<string, string>> = {
  ...{ amplitude: 'rad/µs', detuning: 'rad/µs', amp_on: 'rad/µs', detuning_on: 'rad/µs' },
  ...{ duration: 'ns', time: 'ns', phase: 'rad', post_phase_shift: 'rad' },
};

const inherited: readonly string[] = ['value', 'values', 'start', 'stop', 'waveforms'];

/** Units by name. A variable in an expression has none here, and one with two has none either. */
export function unitsOfVariables(operations: readonly unknown[]): ReadonlyMap<string, string> {
  const found = new Map<string, Set<string>>();
  const read = (value: unknown, unit: string | undefined): void => {
    if (Array.isArray(value)) {
      for (const each of value) read(each, unit);
      return;
    }
    if (!isObject(value)) return;
    const name = variableOf(value);
    if (name !== undefined) {
      found.set(name, (found.get(name) ?? new Set()).add(unit ?? ''));
      return;
    }
    const isTerm = 'expression' in value;
    for (const [member, inner] of Object.entries(value)) {
      read(inner, isTerm ? undefined : (units[member] ?? (inherited.includes(member) ? unit : undefined)));
    }
  };
  read(operations, undefined);
  return new Map(
    [...found].flatMap(([name, [unit = '', ...others]]) => (unit === '' || others.length > 0 ? [] : [[name, unit]])),
  );
}

/** The variable that a term is, or is an element of. */
function variableOf({ variable, expression, lhs }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof variable === 'string') return variable;
  return expression === 'index' && isObject(lhs) && typeof lhs.variable === 'string' ? lhs.variable : undefined;
}
