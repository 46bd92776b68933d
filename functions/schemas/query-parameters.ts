/**
 * Readers of query parameters. The gateway hands over each parameter as the list of its values.
 * Faults carry pydantic's type as `params.type`; the OpenAPI document shows the schema behind each
 * reader.
 */

import * as z from 'zod/mini';
import { reportFault } from './faults.ts';
import { idSpelling, TimestampText, UuidText } from './id-and-time-texts.ts';

const maxValues = 100;
const maxCharacters = 256;

/** Reads one text. */
type Reader = z.core.$ZodType<unknown, string>;

const lastText = z.transform((values: readonly string[] | undefined, context) => readText(values?.at(-1), context));
const eachText = z.transform(readText);

/** A parameter with one value. If it is repeated, the last value counts. */
function scalar<Value extends Reader>(value: Value) {
  return z.pipe(lastText, value);
}

/** A filter of one value. Filters may be left out. */
export function one<Value extends Reader>(value: Value) {
  return z.exactOptional(scalar(value));
}

/** A filter that repeats: up to 100 values. */
export function many<Value extends Reader>(value: Value) {
  return z.exactOptional(z.array(z.pipe(eachText, value)).check(z.maxLength(maxValues)));
}

/** Any text, matched exactly. The reader of values checks its length, in code points. */
export const Text = z.string().register(z.globalRegistry, { maxLength: maxCharacters });

/** Decimal digits with an optional sign; `bounds` then apply. */
function integer(...bounds: z.core.$ZodCheck<number>[]) {
  return z.pipe(
    z.transform((text: string, context) => {
      const digits = text.trim();
      if (!/^[+-]?\d+$/.test(digits)) {
        return reportFault(context, {
          type: 'int_parsing',
          message: 'Input should be a valid integer, unable to parse string as an integer',
        });
      }
      return Number(digits) + 0; // no negative zero
    }),
    z
      .number()
      .check(...bounds)
      .register(z.globalRegistry, { type: 'integer' }),
  );
}

const trueWords = new Set(['true', '1', 'yes', 'on', 't', 'y']);
const falseWords = new Set(['false', '0', 'no', 'off', 'f', 'n']);

export const BooleanText = z.pipe(
  z.transform((text: string, context) => {
    const word = text.toLowerCase();
    if (trueWords.has(word)) return true;
    if (falseWords.has(word)) return false;
    return reportFault(context, {
      type: 'bool_parsing',
      message: 'Input should be a valid boolean, unable to interpret input',
    });
  }),
  z.boolean(),
);

// Parameters that read alike share a schema: making schemas is most of what zod costs a cold start.
export const IdsFilter = many(UuidText);
export const TextsFilter = many(Text);
export const FlagFilter = one(BooleanText);
/** Any integer that a number holds exactly. */
export const IntegerFilter = one(integer(z.gte(Number.MIN_SAFE_INTEGER), z.lte(Number.MAX_SAFE_INTEGER)));
export const TimeFilter = one(TimestampText);

/** First characters of a canonical id. */
const IdPrefixFilter = one(
  z.pipe(
    Text,
    z.transform((text) => text.toLowerCase()),
  ),
);

/** The filters of batches and jobs alike. */
export const ownerFilters = {
  created_after: TimeFilter,
  created_before: TimeFilter,
  id: IdsFilter,
  id__starts_with: IdPrefixFilter,
  project_id: IdsFilter,
  user_id: TextsFilter,
  scope: one(z.enum(['project']).register(z.globalRegistry, { id: 'ListScope' })),
};

const SortDirection = z.enum(['ASC', 'DESC']).register(z.globalRegistry, { id: 'SortDirection' });

/** Which part of a list is answered. */
export const pageParameters = {
  limit: z._default(scalar(integer(z.gt(0), z.lt(101))), 100),
  offset: z._default(scalar(integer(z.gte(0), z.lte(Number.MAX_SAFE_INTEGER))), 0),
};

/** What the rows of a list are counted by, instead of being listed. */
export const CountBy = one(z.enum(['status']).register(z.globalRegistry, { id: 'CountBy' }));

/**
 * The parameters that all lists share: order and page. The OpenAPI document names the fields `id`.
 */
export function orderAndPage<Field extends string>(
  fields: readonly [Field, ...Field[]],
  { id, defaultField }: { readonly id: string; readonly defaultField: NoInfer<Field> },
) {
  return {
    order_by: z._default(scalar(z.enum(fields).register(z.globalRegistry, { id })), defaultField as never),
    order_by_direction: z._default(scalar(SortDirection), 'DESC'),
    ...pageParameters,
  };
}

/** What the OpenAPI document says of every list. */
export const listRules =
  'Items must pass all filters; a filter with several values accepts any of them. Repeat a parameter to give it several values. Unknown parameters are ignored, and the header `X-Unknown-Parameters` names them. The order is total, so pages never overlap: continue with `pagination.end` as `offset`.';

/** What the OpenAPI document says of these parameters. */
export const orderAndPageFields = {
  order_by:
    'Field to order by. Statuses and priorities sort as their enumerations list them, nulls last in either direction; ties follow creation order in the same direction.',
  order_by_direction: 'Sort direction.',
  limit: 'Page size.',
  offset: 'Number of items to skip.',
};

/** What the OpenAPI document says of ownerFilters, order and page, for a list of such things. */
export function listFields(singular: string, plural: string) {
  return {
    ...orderAndPageFields,
    created_after: `${plural} created at this time or later.`,
    created_before: `${plural} created at this time or earlier.`,
    id: `${singular} ids. ${idSpelling}`,
    id__starts_with: `First characters of the ${singular.toLowerCase()} id, with its hyphens, in upper or lower case.`,
    project_id: `Owner project. ${idSpelling}`,
    user_id: 'Owners. Of others there are only rows of projects that the caller may read.',
    scope:
      'By default the caller’s own rows, and what `user_id` asks for. `project`: the rows of all members of the projects in which the token gives a role.',
    count_by:
      'Count the items that pass the filters, by status: the numbers are in `pagination.counts`, and `data` is empty. Order and page have no effect.',
  };
}

/** The value as text, or a fault when it is too long. */
function readText(value: unknown, context: z.core.ParsePayload) {
  const text = String(value);
  // Code points, as JSON Schema counts; a string has at most two units for each.
  if (text.length <= maxCharacters || [...text].length <= maxCharacters) return text;
  return reportFault(context, {
    type: 'string_too_long',
    message: `String should have at most ${maxCharacters} characters`,
  });
}
