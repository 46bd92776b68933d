/** What every response is wrapped in. http/reply.ts and http/error-reply.ts write it; the OpenAPI document and the tests read it here. */

import * as z from 'zod/mini';
import { Count } from './values.ts';

/** Success: around one value, or around a list with its place in the whole. */
export function SuccessOf<Data extends z.ZodMiniType>(data: Data) {
  return z.strictObject({
    status: z.literal('success'),
    message: z.literal('OK.'),
    code: z.literal('200'),
    data,
  });
}

export const Pagination = z.strictObject({
  total: Count.check(z.describe('Number of items that match, on all pages.')),
  start: Count.check(z.describe('Offset of the page, from 0.')),
  end: Count.check(z.describe('Offset of the next page: the end is exclusive.')),
});

export function PageOf<Item extends z.ZodMiniType>(item: Item) {
  return z.extend(SuccessOf(z.array(item)), { pagination: Pagination });
}

const failure = {
  status: z
    .enum(['fail', 'error'])
    .check(z.describe('`fail`: the request is at fault (4xx). `error`: the service is (5xx).')),
  message: z.string().check(z.describe('Name of the status.')),
  code: z.string().check(z.describe('The status.')),
};

export const ErrorBody = z.strictObject({ ...failure, data: z.strictObject({ description: z.string() }) });

export const ValidationError = z.strictObject({
  loc: z
    .array(z.union([z.string(), z.int()]))
    .check(
      z.describe('Where: the part of the request, then names and indexes.'),
      z.meta({ examples: [['query', 'status', 0]] }),
    ),
  msg: z.string(),
  type: z.string().check(z.describe('Kind of fault, in the words of pydantic 2.'), z.meta({ examples: ['enum'] })),
});

export const ValidationErrorBody = z.strictObject({
  ...failure,
  data: z.strictObject({ description: z.array(ValidationError) }),
  detail: z.array(ValidationError).check(z.describe('Every fault of the request.')),
});
