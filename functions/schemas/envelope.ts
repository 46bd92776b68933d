/**
 * The envelope of every success, as the OpenAPI document and the tests read it; http/reply.ts
 * writes it.
 */

import * as z from 'zod/mini';
import { type SuccessStatus, successNames } from '../http-statuses.ts';
import { Count } from './values.ts';

/** Success: around one value, or around a list with its place in the whole. */
export function SuccessOf<Data extends z.ZodMiniType>(data: Data, status: SuccessStatus = 200) {
  return z.strictObject({
    status: z.literal('success'),
    message: z.literal(successNames[status]),
    code: z.literal(String(status)),
    data,
  });
}

export const Pagination = z
  .strictObject({
    total: Count.check(z.describe('Number of items that match, on all pages.')),
    start: Count.check(z.describe('Offset of the page, from 0.')),
    end: Count.check(z.describe('Offset of the next page: the end is exclusive.')),
    counts: z.exactOptional(
      z
        .record(z.string(), Count)
        .check(z.describe('With `count_by`: the number of items with each value, zeros included. Otherwise absent.')),
    ),
  })
  .register(z.globalRegistry, { id: 'Pagination', examples: [{ total: 1, start: 0, end: 1 }] });

export function PageOf<Item extends z.ZodMiniType>(item: Item, status: SuccessStatus = 200) {
  return z.extend(SuccessOf(z.array(item), status), { pagination: Pagination });
}
