/**
 * What the console knows of a program before it is sent. A program is a Pulser sequence in its
 * abstract representation, or any other JSON object. The service and its devices judge whether it
 * is right.
 */

import { isMappable, qubitsOf } from '../../pulser/qubits.ts';
import { type ReadableSequence, readSequence } from '../drawing/readable-sequence.ts';
import { isObject, parseJson } from '../ui/json-object.ts';
import { texts } from '../ui/texts.ts';

/** What a job gives a value to: a column of the table of jobs. */
export interface Variable {
  readonly name: string;
  /** `json`: all variables of a job as the text of one object. */
  readonly type: 'int' | 'float' | 'json';
  /** How many numbers it holds. */
  readonly size: number;
  /** Of a mappable register: the ids of the qubits, one for each value, which is its trap. */
  readonly qubits?: readonly string[];
}

/** The only column of a program that declares its variables in no form known here. */
export const freeVariables: Variable = { name: 'variables', type: 'json', size: 1 };

export interface Program {
  /** As it is sent. */
  readonly text: string;
  /** Whether it says to be a sequence in Pulser's abstract representation. */
  readonly isPulser: boolean;
  readonly name: string | undefined;
  /** Undefined where it names no device that a service could find by its name. */
  readonly deviceName: string | undefined;
  /** Whether it was made for a virtual device. */
  readonly isVirtual: boolean;
  /** Ids of the channels that it uses, as its device names them. */
  readonly channels: readonly string[];
  readonly qubits: number | undefined;
  readonly operations: number | undefined;
  readonly variables: readonly Variable[];
}

/** Reads the text of a program; undefined where it is not the JSON of an object. */
export function readProgram(given: string): Program | undefined {
  const parsed = parseJson(given);
  // A file that was written with `json.dump` holds the text of the text.
  const [text, members] = typeof parsed === 'string' ? [parsed, parseJson(parsed)] : [given, parsed];
  const sequence = readSequence(text);
  if (sequence === undefined || !isObject(members)) return undefined;
  const { name, device, register = [], operations, channels = {} } = sequence;
  const isPulser = typeof members.version === 'string' && operations !== undefined;
  return {
    text,
    isPulser,
    name,
    deviceName: typeof device === 'object' && typeof device.name === 'string' ? device.name : undefined,
    isVirtual: typeof device === 'object' ? device.is_virtual === true : device === 'MockDevice',
    channels: Object.values(channels),
    qubits: sequence.register && qubitsOf({ register }).length,
    operations: operations?.length,
    variables: isPulser ? variablesOf(sequence) : [freeVariables],
  };
}

function variablesOf({ register = [], variables = {} }: ReadableSequence): readonly Variable[] {
  const ids = qubitsOf({ register }).map(({ id }) => id);
  const mapping: Variable = { name: 'qubits', type: 'int', size: ids.length, qubits: ids };
  const declared = Object.entries(variables).map(
    ([name, { type, value }]): Variable => ({ name, type: type === 'int' ? 'int' : 'float', size: value?.length ?? 1 }),
  );
  return isMappable({ register }) ? [mapping, ...declared] : declared;
}

/** The head of its column. */
export function labelOf({ name, type, qubits }: Variable): string {
  if (qubits !== undefined) return texts.newBatch.traps;
  return type === 'json' ? texts.newBatch.freeVariables : name;
}
