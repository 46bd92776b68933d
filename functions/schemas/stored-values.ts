/** The values of stored rows that no answer shows in this form. */

import * as z from 'zod/mini';
import { isObject, parseExactly, parseJson } from '../values/json-text.ts';
import { reportFault } from './faults.ts';
import { onDemand } from './on-demand.ts';

/**
 * A JSON object, stored as its text: a DynamoDB map would refuse numbers beyond 38 digits or 1e126
 * and more than 32 levels, and the SDK returns whole numbers beyond 2^53 as BigInt. Its numbers
 * keep their digits.
 */
export const JsonText = z.pipe(
  z.string(),
  z.transform((text, context): Readonly<Record<string, unknown>> => {
    const value = parseJson(text, parseExactly);
    if (isObject(value)) return value;
    return reportFault(context, { type: 'json_invalid', message: 'Not the JSON of an object.' });
  }),
);

/**
 * When each attribute that events change was last set, in microseconds since 1970; absent until an
 * event sets it. An older event that arrives later changes nothing, so that the same events in any
 * order leave the same row.
 */
export const WrittenAt = onDemand(() => z.record(z.string(), z.int()));
export type WrittenAt = z.infer<ReturnType<typeof WrittenAt>>;
