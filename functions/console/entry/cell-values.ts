/** Values of a job as they are typed, and as they are sent. */

import { isObject, type JsonObject, parseJson } from '../ui/json-object.ts';
import { texts } from '../ui/texts.ts';
import { freeVariables, labelOf, type Variable } from './program.ts';

const { newBatch: words } = texts;

/** A set of values, and how often the program runs with them. Texts are as they were typed. */
export interface JobDraft {
  /** Of the row in the table. */
  readonly id: number;
  readonly runs: string;
  readonly values: Readonly<Record<string, string>>;
}

/** The column of the shots: no variable has such a name. */
export const shotsColumn = '\0shots';

/** The text of a row in a column: a variable may be called `constructor`. */
export function textOf({ runs, values }: JobDraft, column: string): string {
  if (column === shotsColumn) return runs;
  return Object.hasOwn(values, column) ? values[column]! : '';
}

/** The number that a text says in decimal digits; undefined where it says none that is finite. */
export function readNumber(text: string): number | undefined {
  const number = /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}

/** The texts of the numbers in a cell: `[1, 2]`, `1 2` and `1; 2` are the same list. */
export function elementsOf(text: string): readonly string[] {
  return text.split(/[\s,;[\]]+/).filter((part) => part !== '');
}

/** The value of a cell as the service takes it, or what is wrong with its text. */
export type Read = { readonly value: unknown } | { readonly fault: string };

export function readCell(text: string, variable: Variable): Read {
  const { type, size, qubits } = variable;
  if (type === 'json') {
    const value = text.trim() === '' ? {} : parseJson(text);
    return isObject(value) ? { value } : { fault: words.noObject };
  }
  const label = labelOf(variable);
  const parts = elementsOf(text);
  if (parts.length === 0 && size > 0) return { fault: words.noValue(label) };
  const numbers = parts.map(readNumber);
  const isRight = (value: number | undefined) =>
    value !== undefined && (type === 'float' || Number.isSafeInteger(value));
  if (numbers.length !== size || !numbers.every(isRight)) return { fault: words.notA(label, variable) };
  if (qubits !== undefined) return { value: Object.fromEntries(qubits.map((id, at) => [id, numbers[at]])) };
  return { value: size === 1 ? numbers[0] : numbers };
}

/** Where texts of a row are no values: the name of the column, and what is wrong. */
interface CellFault {
  readonly column: string;
  readonly fault: string;
}

interface ReadJob {
  readonly job: { readonly runs: number | null; readonly variables: JsonObject };
  readonly faults: readonly CellFault[];
}

/** A job as it is sent. Values that cannot be read are left out. No shots are null. */
export function readJob(row: JobDraft, variables: readonly Variable[]): ReadJob {
  const faults: CellFault[] = [];
  const given: [name: string, value: unknown][] = [];
  for (const variable of variables) {
    const read = readCell(textOf(row, variable.name), variable);
    if ('fault' in read) faults.push({ column: variable.name, fault: read.fault });
    else if (variable === freeVariables) given.push(...Object.entries(read.value as JsonObject));
    else given.push([variable.name, read.value]);
  }
  const { runs } = row;
  const count = readNumber(runs);
  if (runs.trim() !== '' && !Number.isSafeInteger(count)) faults.push({ column: shotsColumn, fault: words.noRuns });
  return { job: { runs: count ?? null, variables: Object.fromEntries(given) }, faults };
}
