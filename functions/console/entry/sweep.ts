/** Rows of jobs from ranges and lists of values. */

import { texts } from '../ui/texts.ts';
import { elementsOf, type JobDraft, readNumber, textOf } from './cell-values.ts';
import type { Variable } from './program.ts';

const { newBatch: words } = texts;

/** The most jobs that one call takes. */
export const maxJobs = 5_000;

/** Elements of longer arrays are not offered one by one. */
const maxElements = 16;

/** What a sweep can vary: a variable of one number, or one element of an array. */
export interface Swept {
  readonly label: string;
  readonly variable: Variable;
  /** Of the array. */
  readonly element: number;
}

export function sweptOf(variables: readonly Variable[]): readonly Swept[] {
  return variables.flatMap((variable): readonly Swept[] => {
    if (variable.type === 'json' || variable.qubits !== undefined || variable.size > maxElements) return [];
    if (variable.size === 1) return [{ label: variable.name, variable, element: 0 }];
    return Array.from({ length: variable.size }, (_, element) => ({
      label: `${variable.name}[${element}]`,
      variable,
      element,
    }));
  });
}

/** A range in steps, or a list where `list` is a text. Texts are as they were typed. */
export interface Axis {
  /** Label of what varies. */
  readonly of: string;
  readonly from: string;
  readonly to: string;
  readonly steps: string;
  readonly list: string | undefined;
}

export const emptyAxis: Axis = { of: '', from: '', to: '', steps: '', list: undefined };

type Values = { readonly values: readonly string[] } | { readonly problem: string };

/**
 * The texts of an axis' values, ends included. They have as many digits as they need: what sums of
 * binary fractions add is rounded off. Whole numbers are rounded, and each is there once.
 */
export function axisValues({ from, to, steps, list }: Axis, type: Variable['type']): Values {
  if (list !== undefined) {
    const parts = elementsOf(list);
    const isRight = (part: string) => {
      const value = readNumber(part);
      return value !== undefined && (type !== 'int' || Number.isSafeInteger(value));
    };
    const wrong = parts.find((part) => !isRight(part));
    if (wrong !== undefined) return { problem: words.sweep.noNumber(wrong) };
    return parts.length === 0 ? { problem: words.sweep.noList } : { values: parts };
  }
  const [first, last, count] = [readNumber(from), readNumber(to), readNumber(steps)];
  if (first === undefined || last === undefined) return { problem: words.sweep.noRange };
  if (!Number.isSafeInteger(count) || count! < 1 || count! > maxJobs) return { problem: words.sweep.noSteps };
  if (count === 1 && first !== last) return { problem: words.sweep.oneStep };
  return { values: rangeOf(first, last, count!, type === 'int') };
}

/** How many digits of a value are kept: beyond them, doubles hold no decimal fraction exactly. */
const digits = 12;

function rangeOf(first: number, last: number, count: number, isWhole: boolean): readonly string[] {
  const greatest = Math.max(Math.abs(first), Math.abs(last));
  const decimals = isWhole || greatest === 0 ? 0 : digits - 1 - Math.floor(Math.log10(greatest));
  // `toFixed` takes up to 100.
  const places = Math.min(100, Math.max(0, decimals));
  const values = Array.from({ length: count }, (_, at) => {
    if (at === 0) return first;
    if (at === count - 1) return last;
    const share = at / (count - 1);
    return Number((first * (1 - share) + last * share).toFixed(places));
  });
  if (isWhole) return [...new Set(values.map(Math.round).map(String))];
  return alignDecimals(values.map(String));
}

/** More decimals than these are not filled up. */
const maxAligned = 6;

/** `0.5` below `0.25` becomes `0.50`. */
function alignDecimals(values: readonly string[]): readonly string[] {
  const decimals = values.map((value) => (value.includes('e') ? 99 : (value.split('.')[1]?.length ?? 0)));
  const most = Math.max(...decimals);
  return most > maxAligned ? values : values.map((value) => Number(value).toFixed(most));
}

/** A row for each combination of the axes' values; the last axis varies first. */
export function sweepRows(
  base: JobDraft,
  axes: readonly { readonly swept: Swept; readonly values: readonly string[] }[],
): readonly JobDraft[] {
  const rows = axes.reduce<readonly JobDraft[]>(
    (before, { swept, values }) => before.flatMap((row) => values.map((value) => withValue(row, swept, value))),
    [base],
  );
  return rows.map((row, at) => ({ ...row, id: at + 1 }));
}

function withValue(row: JobDraft, { variable: { name, size }, element }: Swept, value: string): JobDraft {
  const others = elementsOf(textOf(row, name));
  const parts = Array.from({ length: size }, (_, at) => (at === element ? value : (others[at] ?? '0')));
  return { ...row, values: { ...row.values, [name]: size === 1 ? value : `[${parts.join(', ')}]` } };
}
