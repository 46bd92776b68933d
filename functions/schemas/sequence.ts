/**
 * Pulser sequences, in their abstract representation: the JSON object that the clients send as a
 * text. Here the service looks at no more of it than every batch needs; `sequences/` judges it.
 */

import * as z from 'zod/mini';
import { escapedBytes, isObject, parseJson } from '../values/json-text.ts';
import { zlib } from '../values/zlib.ts';
import { reportFault } from './faults.ts';

/** As it is stored: gzipped, in an item of at most 400 KB. */
const maxGzippedBytes = 350 * 1024;

/** In an answer. The rest of one holds the ids of a batch's jobs, 20,000 at most. */
const maxEscapedBytes = 5 * 1024 * 1024;

/** A body holds no longer one, so no stored one is longer either. */
const maxBytes = 6 * 1024 * 1024;

/** What the service knows of a sequence. */
export interface SequenceFacts {
  /** Name of the device that it was made for; undefined where it names none. */
  readonly deviceName: string | undefined;
  /** Names of the values that a job may give it. */
  readonly variables: ReadonlySet<string>;
  /** The whole of it, parsed. A function, so that JSON of a sequence leaves it out. */
  readonly content: () => Readonly<Record<string, unknown>>;
}

export interface Sequence extends SequenceFacts {
  /** As it was sent. */
  readonly text: string;
  readonly gzipped: Uint8Array;
}

/** Reads the text of a sequence. It is parsed and gzipped once. */
export const SequenceText = z.pipe(
  z.string().register(z.globalRegistry, { description: 'A Pulser sequence in its abstract representation.' }),
  z.transform((text, context): Sequence => {
    const content = text.isWellFormed() ? jsonObject(text) : undefined;
    if (content === undefined) {
      return reportFault(context, { type: 'json_invalid', message: 'A sequence should be the JSON of an object' });
    }
    // No character takes more than seven bytes.
    if (text.length * 7 > maxEscapedBytes && escapedBytes(text) > maxEscapedBytes) {
      const message = `A sequence should have at most ${maxEscapedBytes} bytes of escaped JSON`;
      return reportFault(context, { type: 'bytes_too_long', message });
    }
    const gzipped = zlib().gzipSync(text);
    if (gzipped.length > maxGzippedBytes) {
      const message = `A sequence should have at most ${maxGzippedBytes} bytes once gzipped`;
      return reportFault(context, { type: 'bytes_too_long', message });
    }
    return { text, gzipped, ...factsOf(content) };
  }),
);

/** What the service knows of a stored sequence. Throws when the text is none. */
export function sequenceFacts(text: string): SequenceFacts {
  const content = jsonObject(text);
  if (content === undefined) throw new TypeError('A stored sequence is not the JSON of an object.');
  return factsOf(content);
}

/** The text of a stored sequence. Throws when the bytes are none. */
export function sequenceText(gzipped: Uint8Array): string {
  return zlib().gunzipSync(gzipped, { maxOutputLength: maxBytes }).toString();
}

/** The names among a job's variables that its sequence does not declare. */
export function undeclaredVariables(sequence: SequenceFacts, variables: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(variables).filter((name) => !sequence.variables.has(name));
}

function factsOf(content: Readonly<Record<string, unknown>>): SequenceFacts {
  const { variables, register, device } = content;
  const names = isObject(variables) ? Object.keys(variables) : [];
  // The ids of a mappable register's qubits are under `qid`; a job says under `qubits` which traps
  // they go to.
  const isMappable = Array.isArray(register) && isObject(register[0]) && 'qid' in register[0];
  const deviceName = isObject(device) ? device.name : undefined;
  return {
    deviceName: typeof deviceName === 'string' ? deviceName : undefined,
    variables: new Set(isMappable ? [...names, 'qubits'] : names),
    content: () => content,
  };
}

function jsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  const content = parseJson(text);
  return isObject(content) ? content : undefined;
}
