import { en } from 'zod/locales';
import * as z from 'zod/mini';
import type { InputFault } from '../errors.ts';

// By itself zod/mini says no more than that an input is invalid.
z.config(en());

/** The faults of one part of a request (`path`, `query`, `body`) in pydantic's words. Readers name theirs in `params.type`. */
export function inputFaults(part: string, error: z.core.$ZodError): InputFault[] {
  return error.issues.map((issue) => ({ loc: [part, ...(issue.path as (string | number)[])], ...fault(issue) }));
}

function fault(issue: z.core.$ZodIssue): Pick<InputFault, 'msg' | 'type'> {
  switch (issue.code) {
    case 'custom':
      return { msg: issue.message, type: String(issue.params?.type ?? 'value_error') };
    case 'invalid_value':
      return {
        msg: `Input should be ${alternatives(issue.values.map((value) => `'${String(value)}'`))}`,
        type: 'enum',
      };
    case 'too_small':
      return issue.inclusive
        ? { msg: `Input should be greater than or equal to ${issue.minimum}`, type: 'greater_than_equal' }
        : { msg: `Input should be greater than ${issue.minimum}`, type: 'greater_than' };
    case 'too_big':
      if (issue.origin === 'array') {
        return { msg: `List should have at most ${issue.maximum} items`, type: 'too_long' };
      }
      return issue.inclusive
        ? { msg: `Input should be less than or equal to ${issue.maximum}`, type: 'less_than_equal' }
        : { msg: `Input should be less than ${issue.maximum}`, type: 'less_than' };
    default:
      return { msg: issue.message, type: 'value_error' };
  }
}

function alternatives(values: readonly string[]): string {
  return values.length < 2 ? values.join() : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
}
