/**
 * How the text of a query parameter becomes a value. The gateway hands over every parameter as the list of its values;
 * faults carry pydantic's type as `params.type`, and the schema behind each reader is what the OpenAPI document shows.
 */

import * as z from 'zod';
import { parseTimestamp } from '../timestamp.ts';
import { parseUuid, uuidPattern } from '../uuid.ts';

const maxValues = 100;
const maxCharacters = 256;

/** A parameter with one value; given several times, the last one counts. */
export function scalar<Value extends z.ZodType>(value: Value) {
  return z.preprocess((values, context) => bounded((values as string[] | undefined)?.at(-1), context), value);
}

/** A parameter that repeats: up to 100 values. */
export function list<Value extends z.ZodType>(value: Value) {
  return z.array(z.preprocess(bounded, value)).max(maxValues);
}

/** Any text, matched as it is. Its length, in code points, is checked wherever a value is read. */
export const Text = z.string().meta({ maxLength: maxCharacters });

/** Decimal digits with an optional sign; `bounds` then apply. */
export function integer(bounds: z.ZodNumber) {
  return z.preprocess(
    (text, context) => {
      const digits = String(text).trim();
      if (!/^[+-]?\d+$/.test(digits)) {
        return fault(context, 'int_parsing', 'Input should be a valid integer, unable to parse string as an integer');
      }
      return Number(digits) + 0; // no negative zero
    },
    bounds.meta({ type: 'integer' }),
  );
}

/** An integer of either sign that a number holds exactly. */
export const AnyInteger = integer(z.number().gte(Number.MIN_SAFE_INTEGER).lte(Number.MAX_SAFE_INTEGER));

const trueWords = new Set(['true', '1', 'yes', 'on', 't', 'y']);
const falseWords = new Set(['false', '0', 'no', 'off', 'f', 'n']);

export const BooleanText = z.preprocess((text, context) => {
  const word = String(text).toLowerCase();
  if (trueWords.has(word)) return true;
  if (falseWords.has(word)) return false;
  return fault(context, 'bool_parsing', 'Input should be a valid boolean, unable to interpret input');
}, z.boolean());

/** A UUID in any of its spellings; the value is canonical. */
export const UuidText = z
  .string()
  .meta({ pattern: uuidPattern, examples: ['5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a'] })
  .transform((text, context) => parseUuid(text) ?? fault(context, 'uuid_parsing', 'Input should be a valid UUID'));

/** An ISO 8601 time; the value is canonical. */
export const TimestampText = z
  .string()
  .meta({ format: 'date-time', examples: ['2026-11-21T02:59:36Z'] })
  .transform(
    (text, context) => parseTimestamp(text) ?? fault(context, 'datetime_parsing', 'Input should be a valid datetime'),
  );

/** First characters of a canonical id. */
export const IdPrefix = Text.transform((text) => text.toLowerCase());

/** The parameters that both lists share: order and page. */
export function orderAndPage<Field extends string>(fields: readonly [Field, ...Field[]], defaultField: NoInfer<Field>) {
  return {
    order_by: scalar(z.enum(fields))
      .default(defaultField as never)
      .describe('Field to order by. Times that are null come last in either direction; ties follow creation order.'),
    order_by_direction: scalar(z.enum(['ASC', 'DESC']))
      .default('DESC')
      .describe('Sort direction.'),
    limit: scalar(integer(z.number().gt(0).lt(101)))
      .default(100)
      .describe('Page size.'),
    offset: scalar(integer(z.number().gte(0).lte(Number.MAX_SAFE_INTEGER)))
      .default(0)
      .describe('Number of items to skip.'),
  };
}

function bounded(value: unknown, context: z.RefinementCtx) {
  const text = String(value);
  // Code points, as JSON Schema counts; a string has at most two units for each.
  if (text.length <= maxCharacters || [...text].length <= maxCharacters) return text;
  return fault(context, 'string_too_long', `String should have at most ${maxCharacters} characters`);
}

function fault(context: z.RefinementCtx, type: string, message: string): never {
  context.addIssue({ code: 'custom', params: { type }, message });
  return z.NEVER;
}
