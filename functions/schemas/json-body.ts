/**
 * The one reader of JSON from outside: bodies of requests and of events.
 *
 * - The text must be there (`missing`) and must be JSON (`json_invalid`, with what JSON.parse says
 *   is wrong).
 * - It may be nested 100 levels deep (`too_deep`): deeper JSON can be parsed, but writing it
 *   overflows the stack.
 * - If an object names a member twice, the last value counts, as in JSON.parse.
 * - `__proto__` is a member like any other.
 *
 * Whoever receives the text bounds its size.
 */

import * as z from 'zod/mini';
import { jsonDepth } from '../json-text.ts';

export const maxJsonDepth = 100;

/** Reads the text of a body: `schema` reads the parsed value. */
export function jsonBody<Schema extends z.ZodMiniType>(schema: Schema) {
  return z.pipe(
    z.transform((text, context): unknown => {
      const json = parseJson(text, context);
      if (json === undefined) return z.NEVER;
      if (jsonDepth(json.text) <= maxJsonDepth) return json.value;
      addFault(context, 'too_deep', `The body should be nested at most ${maxJsonDepth} levels deep`);
      return z.NEVER;
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
    const json = parseJson(text, context);
    return json === undefined ? z.NEVER : read(json.text, context);
  });
}

/** The text and its value, or undefined and a fault. */
function parseJson(text: unknown, context: z.core.ParsePayload): { text: string; value: unknown } | undefined {
  if (typeof text !== 'string') {
    addFault(context, 'missing', 'Field required');
    return undefined;
  }
  try {
    return { text, value: JSON.parse(text) };
  } catch (error) {
    addFault(context, 'json_invalid', `JSON decode error: ${reasonOf(error as SyntaxError)}`);
    return undefined;
  }
}

/**
 * What JSON.parse says is wrong, such as `Unexpected token 'N'` for a NaN, without the excerpt of
 * the text that it may add.
 */
function reasonOf({ message }: SyntaxError): string {
  return message.split(', ', 1).join();
}

function addFault(context: z.core.ParsePayload, type: string, message: string) {
  context.issues.push({ code: 'custom', params: { type }, message, input: context.value });
}
