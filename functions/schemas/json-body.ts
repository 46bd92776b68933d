/**
 * The one reader of JSON from outside: bodies of requests and of events.
 *
 * - The text must be there (`missing`) and must be JSON (`json_invalid`, with what JSON.parse says
 *   is wrong).
 * - It may be nested 100 levels deep (`too_deep`): deeper JSON can be parsed, but writing it
 *   overflows the stack.
 * - If an object names a member twice, the last value counts, as in JSON.parse.
 * - `__proto__` is a member like any other.
 * - Numbers are doubles, but users' own values keep their digits.
 *
 * The receiver of the text bounds its size.
 */

import * as z from 'zod/mini';
import { isObject, jsonDepth, jsonMembers, parseExactly, roundNumbers } from '../values/json-text.ts';
import { reportFault } from './faults.ts';

export const maxJsonDepth = 100;

/** Members that hold users' own values: their numbers are shown with the digits that were sent. */
const keptMembers = new Set(['variables', 'configuration', 'backend_configuration', 'document']);

/** Reads the text of a body: `schema` reads the parsed value. */
export function jsonBody<Schema extends z.ZodMiniType>(schema: Schema) {
  return z.pipe(
    z.transform((text, context): unknown => {
      const json = readJson(text, context);
      if (json === undefined) return z.NEVER;
      if (jsonDepth(json.text) <= maxJsonDepth) return roundNumbers(parseExactly(json.text, json.value), keptMembers);
      return reportTooDeep(context);
    }),
    schema,
  );
}

/**
 * As jsonBody, for a body with one large member of an object: `schema` reads that member as the
 * text that was sent, and all other numbers as doubles. So the member is neither written anew nor
 * parsed twice.
 */
export function jsonBodyWithText<Schema extends z.ZodMiniType>(schema: Schema, member: string) {
  return z.pipe(
    z.transform((body, context): unknown => {
      const json = readJson(body, context);
      if (json === undefined) return z.NEVER;
      if (jsonDepth(json.text) > maxJsonDepth) return reportTooDeep(context);
      const { text, value } = json;
      if (!isObject(value) || !Object.hasOwn(value, member) || value[member] === null) return value;
      return { ...value, [member]: jsonMembers(text).get(member) };
    }),
    schema,
  );
}

/**
 * Reads the text of a body whose schema keeps parts of the text as they are: `schema` reads the
 * text, which is JSON then, and bounds the depth of the parts itself.
 */
export function jsonTextBody<Output>(read: (text: string, context: z.core.ParsePayload) => Output) {
  return z.transform((text, context): Output => {
    const json = readJson(text, context);
    return json === undefined ? z.NEVER : read(json.text, context);
  });
}

function reportTooDeep(context: z.core.ParsePayload): never {
  const message = `The body should be nested at most ${maxJsonDepth} levels deep`;
  return reportFault(context, { type: 'too_deep', message });
}

/** The text and its value, or undefined and a fault. */
function readJson(text: unknown, context: z.core.ParsePayload): { text: string; value: unknown } | undefined {
  if (typeof text !== 'string') {
    reportFault(context, { type: 'missing', message: 'Field required' });
    return undefined;
  }
  try {
    return { text, value: JSON.parse(text) };
  } catch (error) {
    // Without the excerpt of the text that JSON.parse may add.
    const [reason] = (error as SyntaxError).message.split(', ', 1);
    reportFault(context, { type: 'json_invalid', message: `JSON decode error: ${reason}` });
    return undefined;
  }
}
