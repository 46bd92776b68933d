/** The values of stored rows that no answer shows in this form. */

import * as z from 'zod/mini';
import { isJsonObject } from '../json-text.ts';

/**
 * A JSON object, stored as its text: a DynamoDB map would refuse numbers beyond 38 digits or 1e126
 * and more than 32 levels, and the SDK returns whole numbers beyond 2^53 as BigInt.
 */
export const JsonText = z.pipe(
  z.string(),
  z.transform((text, context): Readonly<Record<string, unknown>> => {
    try {
      if (isJsonObject(text)) return JSON.parse(text);
    } catch {
      // Reported below.
    }
    context.issues.push({ code: 'custom', message: 'Not the JSON of an object.', input: text });
    return z.NEVER;
  }),
);

/**
 * When each attribute that events change was last set, in microseconds since 1970; absent until an
 * event sets it. An older event that arrives later changes nothing, so that the same events in any
 * order leave the same row.
 */
export const WrittenAt = z.record(z.string(), z.int());
export type WrittenAt = z.infer<typeof WrittenAt>;
