import { isObject, type JsonObject } from '../ui/json-object.ts';
import type { ReadableSequence } from './readable-sequence.ts';

const angular = 'rad/µs';

/** Members of a waveform that have the unit of what it is for. */
const valueNames = ['value', 'start', 'stop', 'values'];

/**
 * The units of variables that a sequence uses as they are: as an amplitude, a detuning, a phase or
 * a duration. One that it only computes with, or uses as two things, has none.
 */
export function unitsOf({ operations = [] }: ReadableSequence): ReadonlyMap<string, string> {
  const units = new Map<string, Set<string>>();
  const note = (term: unknown, unit: string): void => {
    for (const each of Array.isArray(term) ? term : [term]) {
      const name = nameOf(each);
      if (name !== undefined) units.set(name, (units.get(name) ?? new Set()).add(unit));
    }
  };
  const noteWaveform = (form: unknown): void => {
    if (!isObject(form)) return;
    note(form.duration, 'ns');
    for (const name of valueNames) note(form[name], angular);
    if (Array.isArray(form.waveforms)) form.waveforms.forEach(noteWaveform);
  };
  for (const operation of operations) {
    for (const form of [operation.amplitude, operation.detuning, operation.waveform]) noteWaveform(form);
    for (const name of ['phase', 'post_phase_shift', 'phi']) note(operation[name], 'rad');
    note(operation.time, 'ns');
  }
  return new Map(
    [...units].flatMap(([name, [unit, ...others]]) => (unit && others.length === 0 ? [[name, unit]] : [])),
  );
}

/** The variable that a term is, alone or as an item of it. */
function nameOf(term: unknown): string | undefined {
  if (!isObject(term)) return undefined;
  const { variable, expression, lhs } = term as JsonObject;
  if (typeof variable === 'string') return variable;
  return expression === 'index' && isObject(lhs) && typeof lhs.variable === 'string' ? lhs.variable : undefined;
}
