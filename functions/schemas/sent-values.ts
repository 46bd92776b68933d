/**
 * Values as senders of events and writers of rows give them. Ids and times are accepted in any form
 * that the API accepts and come out canonical.
 *
 * The bounds keep 100 of the largest rows within one answer of a Lambda function (6 MB), which
 * escapes its body once more: so JSON is measured as the text of a text.
 */

import * as z from 'zod/mini';
import { escapedBytes, isObject } from '../values/json-text.ts';
import { toMicroseconds } from '../values/timestamp.ts';
import { TimestampText } from './id-and-time-texts.ts';

/** A text of 1 to `most` characters, and of at most three bytes of escaped JSON for each. */
export function boundedText(most: number) {
  return z.string().check(
    z.minLength(1),
    z.maxLength(most),
    z.refine((value: string) => value.isWellFormed(), 'Lone surrogates cannot be stored.'),
    atMostBytes(3 * most),
  );
}

/** A device as it is named by calls. Paths name devices, and what they name has no percent sign. */
export const deviceName = boundedText(128).check(z.regex(/^[^%]*$/));

/** A time that the columns can hold: microseconds since 1970, up to 2^53. */
export const Time = TimestampText.check(
  z.refine((time: string) => {
    const microseconds = toMicroseconds(time);
    return microseconds >= 0 && microseconds <= Number.MAX_SAFE_INTEGER;
  }, 'Times lie between 1970 and 2255.'),
);

/**
 * A JSON object of at most `most` bytes, taken as it is: `z.record` would leave out a member named
 * `__proto__`.
 */
export function jsonObject(most: number) {
  return z
    .custom<Readonly<Record<string, unknown>>>(isObject, {
      message: 'Input should be a valid dictionary',
      params: { type: 'dict_type' },
    })
    .check(atMostBytes(most))
    .register(z.globalRegistry, { type: 'object' });
}

/** A serialized JSON value of at most `most` bytes; an object is serialized. */
export function jsonText(most: number) {
  const object = z.pipe(
    jsonObject(most),
    z.transform((value) => JSON.stringify(value)),
  );
  return z.union([boundedText(most), object]).check(atMostBytes(most));
}

/**
 * What went wrong: texts of at most 10,000 characters each. 16,000 bytes hold 1,600 texts. Of a
 * longer list, zod reads no item.
 */
export const ErrorTexts = z.array(boundedText(10_000)).check(z.maxLength(1_600), atMostBytes(16_000));

/** Up to 20 tags, each once. */
export const Tags = z.pipe(
  z.array(boundedText(256)).check(z.maxLength(20)),
  z.transform((tags) => [...new Set(tags)]),
);

/** Up to `most` items of different ids. */
export function distinctItems<Item extends z.ZodMiniType<{ readonly id: string }>>(item: Item, most: number) {
  return z.array(item).check(
    z.maxLength(most),
    z.refine((items) => new Set(items.map(({ id }) => id)).size === items.length, 'Each id only once.'),
  );
}

/** A value that is null when it is left out. */
export function orNull<Value extends z.ZodMiniType>(value: Value) {
  return z._default(z.nullable(value), null);
}

function atMostBytes(most: number) {
  return z.refine((value: unknown) => escapedBytes(value) <= most, `At most ${most} bytes of escaped JSON.`);
}
