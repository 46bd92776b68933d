import { isObject, type JsonObject } from '../ui/json-object.ts';
import { type Register, readRegister } from './qubit-places.ts';
import { readSequence } from './readable-sequence.ts';
import { schedule, type Timeline } from './timeline.ts';
import { unitsOf } from './variable-units.ts';

export interface Drawing {
  readonly register: Register | undefined;
  readonly timeline: Timeline;
  /** The variables that it declares. */
  readonly variables: readonly string[];
  /** Units of the variables that it uses as they are. */
  readonly units: ReadonlyMap<string, string>;
  /** The variables without a given value. */
  readonly missing: readonly string[];
}

/**
 * What can be drawn of a sequence with a job's values; undefined where the text is none: it is no
 * object, or has neither a register nor operations that can be read.
 */
export function drawSequence(text: string, given: JsonObject): Drawing | undefined {
  const sequence = readSequence(text);
  if (sequence === undefined || (sequence.register === undefined && sequence.operations === undefined))
    return undefined;
  const variables = Object.keys(isObject(sequence.variables) ? sequence.variables : {});
  return {
    register: readRegister(sequence, given),
    timeline: schedule(sequence, given),
    variables,
    units: unitsOf(sequence),
    missing: variables.filter((name) => !Object.hasOwn(given, name)),
  };
}
