/**
 * What the form of a new batch knows of a program, and the request that it sends. A program is a
 * Pulser sequence in its abstract representation. The service judges whether it is right.
 */

import { isMappable, qubitsOf } from '../../pulser/qubits.ts';
import type { Fault } from '../client/fault-places.ts';
import { readSequence } from '../drawing/readable-sequence.ts';
import { parseJson } from '../ui/json-object.ts';
import { texts } from '../ui/texts.ts';

const { newBatch: words } = texts;

interface Variable {
  readonly name: string;
  readonly type: 'int' | 'float';
  readonly size: number;
  /** Of a mappable register: the ids of the qubits, one for each value, which is its trap. */
  readonly qubits?: readonly string[];
}

export interface Program {
  /** As it is sent. */
  readonly text: string;
  readonly name: string | undefined;
  /** Undefined where it names no device that a service could find by its name. */
  readonly deviceName: string | undefined;
  readonly qubits: number | undefined;
  readonly operations: number | undefined;
  readonly variables: readonly Variable[];
}

/** Reads the text of a program; undefined where it is not the JSON of an object. */
export function readProgram(given: string): Program | undefined {
  // A file that was written with `json.dump` holds the text of the text.
  const inner = parseJson(given);
  const text = typeof inner === 'string' ? inner : given;
  const sequence = readSequence(text);
  if (sequence === undefined) return undefined;
  const { name, device, register = [], operations, variables = {} } = sequence;
  const ids = qubitsOf({ register }).map(({ id }) => id);
  const mapping: Variable = { name: 'qubits', type: 'int', size: ids.length, qubits: ids };
  const declared = Object.entries(variables).map(
    ([each, { type, value }]): Variable => ({
      name: each,
      type: type === 'int' ? 'int' : 'float',
      size: value?.length ?? 1,
    }),
  );
  return {
    text,
    name,
    deviceName: typeof device === 'object' && typeof device.name === 'string' ? device.name : undefined,
    qubits: sequence.register && ids.length,
    operations: operations?.length,
    variables: isMappable({ register }) ? [mapping, ...declared] : declared,
  };
}

/** A set of values, and how often the program runs with them. Texts are as they were typed. */
export interface JobDraft {
  /** Of the row in the form. */
  readonly id: number;
  readonly runs: string;
  readonly values: Readonly<Record<string, string>>;
}

export interface Draft {
  /**
   * Its batch is created under this key, however often it is sent: another one with each change of
   * the draft.
   */
  readonly key: string;
  readonly text: string;
  readonly fileName: string | undefined;
  readonly jobs: readonly JobDraft[];
  readonly project_id: string;
  /** Empty: the program's own. */
  readonly device_type: string;
  /** Empty: as the account has it. */
  readonly queue_priority: string;
  /** One a line. */
  readonly tags: string;
  readonly webhook: string;
  readonly open: boolean;
}

export const emptyDraft: Draft = {
  key: '',
  text: '',
  fileName: undefined,
  jobs: [{ id: 1, runs: '100', values: {} }],
  project_id: '',
  device_type: '',
  queue_priority: '',
  tags: '',
  webhook: '',
  open: false,
};

/** The body that creates a draft's batch, and what keeps it from being sent. */
export function requestOf(draft: Draft, program: Program | undefined): { body: object; faults: readonly Fault[] } {
  const faults: Fault[] = [];
  if (program === undefined) {
    faults.push({ loc: ['body', 'sequence_builder'], msg: words.noProgram, type: 'missing' });
  }
  const variables = program?.variables ?? [];
  const jobs = draft.jobs.map(({ runs, values }, at) => ({
    runs: runs === '' ? null : Number(runs),
    variables: Object.fromEntries(
      variables.map((variable) => {
        const read = readValues(values[variable.name] ?? '', variable);
        if (read === undefined) {
          const loc = ['body', 'jobs', at, 'variables', variable.name];
          faults.push({ loc, msg: words.needs(variable), type: 'value_error' });
        }
        return [variable.name, read];
      }),
    ),
  }));
  const { open, tags, project_id, device_type, queue_priority, webhook } = draft;
  const tagList = [...new Set(tags.split('\n').map((tag) => tag.trim()))].filter((tag) => tag !== '');
  const given = { project_id, device_type, queue_priority, webhook };
  const texts = Object.entries(given).map(([name, value]) => [name, value.trim()] as const);
  const body = {
    sequence_builder: program?.text,
    jobs,
    open,
    tags: tagList,
    ...Object.fromEntries(texts.filter(([, value]) => value !== '')),
  };
  return { body, faults };
}

/** Reads values as the service takes them; undefined where the text has others than it needs. */
function readValues(text: string, { type, size, qubits }: Variable): unknown {
  const parts = text.split(/[\s,;[\]]+/).filter((part) => part !== '');
  const numbers = parts.map(Number);
  const isRight = (value: number) => (type === 'int' ? Number.isSafeInteger(value) : Number.isFinite(value));
  if (numbers.length !== size || !numbers.every(isRight)) return undefined;
  if (qubits !== undefined) return Object.fromEntries(qubits.map((id, at) => [id, numbers[at]]));
  return size === 1 ? numbers[0] : numbers;
}
