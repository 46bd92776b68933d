/**
 * What a sequence's device would refuse, found before the sequence waits in a queue. Pulser is the
 * judge: what it accepts is never refused here. What only Pulser can judge is left to the device.
 */

import { usesVariables } from '../pulser/parameters.ts';
import { isMappable, qubitsOf } from '../pulser/qubits.ts';
import type { SequenceContent, Specification } from '../pulser/sequence-content.ts';
import { type Fault, maxFaultsCounted } from '../schemas/faults.ts';
import { channelRules } from './channel-rules.ts';
import { judgedBy } from './judged.ts';
import { pulseRules } from './pulse-rules.ts';
import { registerRules } from './register-rules.ts';
import type { Rule } from './rule.ts';
import { hasNoForm, type ReadForm, readForm } from './sequence-form.ts';
import { type JudgedValues, judgeValues } from './value-faults.ts';

export const rules: readonly Rule[] = [...registerRules, ...channelRules, ...pulseRules];

const formTypes = {
  type: 'sequence_type',
  missing: 'sequence_missing',
  name: 'sequence_unknown',
  length: 'sequence_length',
} as const;

/** A sequence as it was judged: `content` is undefined where rules cannot judge it. */
export interface JudgedSequence extends Pick<ReadForm, 'content' | 'unjudged'> {
  readonly faults: readonly Fault[];
}

/**
 * Judges a parsed sequence by the form that Pulser reads, by the device that it was made for and by
 * the announced one, each fault once. An announced virtual device refuses nothing: emulators run
 * sequences on the device that they were made for.
 */
export function judgeSequence(value: Readonly<Record<string, unknown>>, announced?: Specification): JudgedSequence {
  const { content, faults, ...unjudged } = readForm(value);
  if (content === undefined) {
    if (announced?.is_virtual === false && hasNoForm(value)) return { content, faults: [noForm(announced)] };
    const ofForm = faults.map(({ path, message, kind }) => ({ path, message, type: formTypes[kind] }));
    return { content, faults: ofForm, ...unjudged };
  }
  const found = new Map<string, Fault>();
  for (const each of judgedBy(content, announced)) {
    for (const { type, find, judge } of rules) {
      if (judge !== undefined && (judge === 'own') !== each.isOwn) continue;
      for (const finding of find(each)) {
        if (found.size >= maxFaultsCounted) return { content, faults: [...found.values()] };
        const key = JSON.stringify([type, finding.path]);
        if (!found.has(key)) found.set(key, { type, ...finding });
      }
    }
  }
  return { content, faults: [...found.values()] };
}

function noForm({ name }: Specification): Fault {
  const message = `${name} runs Pulser's sequences, and this is none: it does not say "version": "1".`;
  return { type: 'sequence_form', path: [], message };
}

/** What a job gives to the sequence that it runs. */
interface JobInput {
  readonly variables: Readonly<Record<string, unknown>> | null;
}

const build = 'pulser/sequence/sequence.py: Sequence.build';

/** The rules of what jobs give: as the table above, for readers. */
export const jobRules: readonly Pick<Rule, 'type' | 'refuses' | 'source'>[] = [
  {
    type: 'sequence_variable_missing',
    refuses:
      'jobs without a value for each variable of a parametrized sequence, or without `qubits` for a mappable register',
    source: `${build}, _cross_check_vars`,
  },
  {
    type: 'sequence_variable_size',
    refuses: 'values of another size than the variable has',
    source: 'pulser/parametrized/variable.py: Variable._validate_value',
  },
  {
    type: 'sequence_qubits',
    refuses: '`qubits` that are not the first ones of the register, or not on traps of their own',
    source: 'pulser/register/mappable_reg.py: MappableRegister.build_register',
  },
  {
    type: 'sequence_runs',
    refuses: 'more runs than `max_runs` of a QPU',
    source: 'pulser/backend/remote.py: RemoteBackend.validate_job_params',
  },
];

/**
 * Judges what jobs give to this sequence: whether all is there, and by the rules of numbers what it
 * makes of the operations.
 */
export function judgeJobs(content: SequenceContent, announced?: Specification): (job: JobInput) => JudgedValues {
  const mappable = isMappable(content);
  // Pulser builds a parametrized sequence for each job, and asks for the values of all variables.
  const needsValues = mappable || content.operations.some(usesVariables);
  if (!needsValues) return () => ({ faults: [] });
  const places = new Map(qubitsOf(content).map(({ id }, place) => [id, place]));
  const sizes = Object.entries(content.variables).map(([name, { value = [] }]) => [name, value.length] as const);
  let valuesOf: ReturnType<typeof judgeValues> | undefined;
  return ({ variables: given }) => {
    const values = given ?? {};
    const missing = [...sizes.map(([name]) => name), ...(mappable ? ['qubits'] : [])].filter(
      (name) => !Object.hasOwn(values, name),
    );
    const wrong = sizes.filter(([name, size]) => Object.hasOwn(values, name) && !hasSize(values[name], size));
    const qubits =
      mappable && Object.hasOwn(values, 'qubits') ? qubitsFault(content, places, values.qubits) : undefined;
    // Jobs with a sequence of their own give none, and may be many.
    if (given !== null) valuesOf ??= judgeValues(content, announced);
    const ofValues: JudgedValues = valuesOf?.(values) ?? { faults: [] };
    return {
      ...ofValues,
      faults: [
        ...missing.map((name) => fault('sequence_variable_missing', name, 'Field required')),
        ...wrong.map(([name, size]) => fault('sequence_variable_size', name, `The variable has size ${size}.`)),
        ...(qubits === undefined ? [] : [fault('sequence_qubits', 'qubits', qubits)]),
        ...ofValues.faults,
      ],
    };
  };
}

function fault(type: string, name: string, message: string): Fault {
  return { type, path: ['variables', name], message };
}

const isNumber = (value: unknown) => typeof value === 'number' || JSON.isRawJSON(value);

/** Whether numbers are as many as a variable has; true of anything else, which NumPy may read. */
function hasSize(value: unknown, size: number): boolean {
  if (isNumber(value)) return size === 1;
  return !Array.isArray(value) || !value.every(isNumber) || value.length === size;
}

/**
 * Why a mapping of qubits to traps cannot be; undefined where it can, or where Pulser has to say.
 */
function qubitsFault(
  { layout }: SequenceContent,
  places: ReadonlyMap<string, number>,
  value: unknown,
): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const names = Object.keys(value);
  const traps = Object.values(value);
  if (!names.every((name) => (places.get(name) ?? names.length) < names.length))
    return `The first ${names.length} qubits of the register must be mapped.`;
  if (!traps.every((trap) => typeof trap === 'number')) return undefined;
  if (new Set(traps).size < traps.length) return 'Each qubit must have a trap of its own.';
  const { length } = layout?.coordinates ?? [];
  return traps.every((trap) => trap >= 0 && trap < length) ? undefined : `The layout has traps 0 to ${length - 1}.`;
}

/** More runs than an announced QPU takes; emulators take any number. */
export function runsFaults(runs: number | null, announced: Specification | undefined): Fault[] {
  const max = announced?.is_virtual === false ? announced.max_runs : undefined;
  if (runs === null || runs <= (max ?? runs)) return [];
  return [{ type: 'sequence_runs', path: ['runs'], message: `${announced?.name} takes at most ${max} runs.` }];
}
