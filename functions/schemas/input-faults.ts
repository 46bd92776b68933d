import * as z from 'zod/mini';
import type { InputFault } from '../errors.ts';
import { printable } from './faults.ts';

/**
 * The faults of one part of a request (`path`, `query`, `body`) in pydantic's words. A schema names
 * its own in `params.type`.
 */
export function inputFaults(part: string, error: z.core.$ZodError): InputFault[] {
  return error.issues.flatMap((issue) => {
    const loc = [part, ...(issue.path as (string | number)[])];
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({ loc: [...loc, printable(key)], msg: issue.message, type: 'extra_forbidden' }));
    }
    return [{ loc, msg: issue.message, type: typeOf(issue) }];
  });
}

const required = 'Field required';

const typeNames: Readonly<Record<string, { readonly type: string; readonly name: string }>> = {
  string: { type: 'string_type', name: 'string' },
  number: { type: 'float_type', name: 'number' },
  int: { type: 'int_type', name: 'integer' },
  boolean: { type: 'bool_type', name: 'boolean' },
  array: { type: 'list_type', name: 'list' },
  object: { type: 'dict_type', name: 'dictionary' },
  record: { type: 'dict_type', name: 'dictionary' },
};

function typeOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'custom':
      return String(issue.params?.type ?? 'value_error');
    case 'invalid_value':
      return issue.message === required ? 'missing' : 'enum';
    case 'invalid_type':
      return issue.message === required ? 'missing' : (typeNames[issue.expected]?.type ?? 'value_error');
    case 'too_small':
      if (issue.origin === 'string') return 'string_too_short';
      if (issue.origin === 'array') return 'too_short';
      return issue.inclusive ? 'greater_than_equal' : 'greater_than';
    case 'too_big':
      if (issue.origin === 'string') return 'string_too_long';
      if (issue.origin === 'array') return 'too_long';
      return issue.inclusive ? 'less_than_equal' : 'less_than';
    default:
      return 'value_error';
  }
}

// By itself zod/mini only says that an input is invalid.
z.config({ localeError: messageOf });

function messageOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_value':
      if (issue.input === undefined) return required;
      return `Input should be ${alternatives(issue.values.map((value) => `'${String(value)}'`))}`;
    case 'invalid_type':
      if (issue.input === undefined) return required;
      return `Input should be a valid ${typeNames[issue.expected]?.name ?? issue.expected}`;
    case 'unrecognized_keys':
      return 'Extra inputs are not permitted';
    case 'too_small':
      if (issue.origin === 'string') return `String should have at least ${countOf(issue.minimum, 'character')}`;
      if (issue.origin === 'array') return `List should have at least ${countOf(issue.minimum, 'item')}`;
      return `Input should be greater than ${issue.inclusive ? 'or equal to ' : ''}${issue.minimum}`;
    case 'too_big':
      if (issue.origin === 'string') return `String should have at most ${countOf(issue.maximum, 'character')}`;
      if (issue.origin === 'array') return `List should have at most ${countOf(issue.maximum, 'item')}`;
      return `Input should be less than ${issue.inclusive ? 'or equal to ' : ''}${issue.maximum}`;
    default:
      return 'Input is not valid';
  }
}

function countOf(number: number | bigint, noun: string): string {
  return `${number} ${noun}${Number(number) === 1 ? '' : 's'}`;
}

function alternatives(values: readonly string[]): string {
  return values.length < 2 ? values.join() : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
}
