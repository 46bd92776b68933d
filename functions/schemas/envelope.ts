/** What every response is wrapped in. http/reply.ts and http/error-reply.ts write it; the OpenAPI document and the tests read it here. */

import * as z from 'zod';

/** Success: around one value, or around a list with its place in the whole. */
export function SuccessOf<Data extends z.ZodType>(data: Data) {
  return z.strictObject({
    status: z.literal('success'),
    message: z.literal('OK.'),
    code: z.literal('200'),
    data,
  });
}

export const Pagination = z
  .strictObject({
    total: z.int().nonnegative().describe('Number of items that match, on all pages.'),
    start: z.int().nonnegative().describe('Offset of the page, from 0.'),
    end: z.int().nonnegative().describe('Offset of the next page: the end is exclusive.'),
  })
  .meta({ id: 'Pagination' });

export function PageOf<Item extends z.ZodType>(item: Item) {
  return SuccessOf(z.array(item)).extend({ pagination: Pagination });
}

const failure = {
  status: z.enum(['fail', 'error']).describe('`fail`: the request is at fault (4xx). `error`: the service is (5xx).'),
  message: z.string().describe('Name of the status.'),
  code: z.string().describe('The status.'),
};

export const ErrorBody = z
  .strictObject({ ...failure, data: z.strictObject({ description: z.string() }) })
  .meta({ id: 'Error' });

export const ValidationError = z
  .strictObject({
    loc: z
      .array(z.union([z.string(), z.int()]))
      .describe('Where: the part of the request, then names and indexes.')
      .meta({ examples: [['query', 'status', 0]] }),
    msg: z.string(),
    type: z
      .string()
      .describe('Kind of fault, in the words of pydantic 2.')
      .meta({ examples: ['enum'] }),
  })
  .meta({ id: 'ValidationError' });

export const ValidationErrorBody = z
  .strictObject({
    ...failure,
    data: z.strictObject({ description: z.array(ValidationError) }),
    detail: z.array(ValidationError).describe('Every fault of the request.'),
  })
  .meta({ id: 'HTTPValidationError' });
