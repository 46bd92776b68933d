/**
 * Cuts JSON into the texts of its parts, so that a part can be passed on exactly as it was sent:
 * JSON.parse would reorder keys that look like integers, and round numbers. Every function takes
 * text that JSON.parse accepts.
 */

declare global {
  /** What TypeScript does not know of JSON yet (ECMAScript's JSON.parse source text access). */
  interface JSON {
    rawJSON(text: string): object;
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
  }
}

/**
 * The text of each member's value by its name. If a name occurs twice, its first place and its last
 * value count, as in JSON.parse.
 */
export function jsonMembers(object: string): Map<string, string> {
  return new Map(memberTexts(object).map(({ name, value }) => [JSON.parse(name), value]));
}

/** Whether an object has two members of one name. */
export function hasDuplicateMembers(object: string): boolean {
  return jsonMembers(object).size < memberTexts(object).length;
}

/** The text of each element. */
export function jsonElements(array: string): string[] {
  const elements: string[] = [];
  for (let at = firstPart(array); array[at] !== ']'; at = nextPart(array, at)) {
    const start = at;
    at = valueEnd(array, at);
    elements.push(array.slice(start, at));
  }
  return elements;
}

/** How deep objects and arrays are nested: 0 for a scalar, 1 for `{}`. */
export function jsonDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = stringEnd(text, at) - 1;
    else if (character === '{' || character === '[') deepest = Math.max(deepest, ++depth);
    else if (character === '}' || character === ']') depth--;
  }
  return deepest;
}

/**
 * The bytes that a value takes in an answer of a Lambda function, which is a JSON text in a JSON
 * string: a quotation mark takes four, a control character up to seven. The quotation marks around
 * a text are not counted.
 */
export function escapedBytes(value: unknown): number {
  const bytes = Buffer.byteLength(JSON.stringify(JSON.stringify(value))) - 2;
  return typeof value === 'string' ? bytes - 4 : bytes;
}

/** The value of a text; undefined when it is not JSON. */
export function parseJson(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a parsed value is an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

/**
 * As JSON.parse, but JSON.stringify writes each number with the digits that it has here: numbers
 * that a double would alter (`1e400`, `9007199254740993`, `1.0`) become raw JSON. `value` is the
 * result of JSON.parse, if it is known. Throws SyntaxError.
 */
export function parseExactly(text: string, value: unknown = JSON.parse(text)): unknown {
  // A reviver makes parsing fifteen times slower.
  return JSON.stringify(value) === text ? value : JSON.parse(text, keepDigits);
}

/** The object that is stored as this text, with its digits. */
export function parseStoredObject(text: string | null): Record<string, unknown> | null {
  return text === null ? null : (parseExactly(text) as Record<string, unknown>);
}

function keepDigits(_: string, value: unknown, { source }: { source?: string } = {}): unknown {
  return typeof value !== 'number' || source === undefined || String(value) === source ? value : JSON.rawJSON(source);
}

/** The same value with doubles in place of raw numbers, but for the members of these names. */
export function roundNumbers(value: unknown, except: ReadonlySet<string>): unknown {
  if (JSON.isRawJSON(value)) return Number(value.rawJSON);
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, unknown>;
  for (const [name, member] of Object.entries(members)) {
    if (!except.has(name)) members[name] = roundNumbers(member, except);
  }
  return value;
}

/** Whether this text, which is JSON, is an object's. */
export function isJsonObject(text: string): boolean {
  return text[skipSpace(text, 0)] === '{';
}

export function isJsonArray(text: string): boolean {
  return text[skipSpace(text, 0)] === '[';
}

function memberTexts(object: string): { name: string; value: string }[] {
  const members: { name: string; value: string }[] = [];
  for (let at = firstPart(object); object[at] !== '}'; at = nextPart(object, at)) {
    const nameEnd = stringEnd(object, at);
    const name = object.slice(at, nameEnd);
    const start = skipSpace(object, skipSpace(object, nameEnd) + 1);
    at = valueEnd(object, start);
    members.push({ name, value: object.slice(start, at) });
  }
  return members;
}

/** Where the first part begins, or the closing bracket. */
function firstPart(text: string): number {
  return skipSpace(text, skipSpace(text, 0) + 1);
}

/** Behind a value: where the next part begins, or the closing bracket. */
function nextPart(text: string, end: number): number {
  const at = skipSpace(text, end);
  return text[at] === ',' ? skipSpace(text, at + 1) : at;
}

function valueEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; ; at++) {
    const character = text[at];
    if (character === '{' || character === '[') depth++;
    else if (character === '"') {
      at = stringEnd(text, at) - 1;
      if (depth === 0) return at + 1;
    } else if (character === '}' || character === ']') {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (depth === 0 && (character === undefined || character === ',' || isSpace(character))) return at;
  }
}

/** Behind the closing quote of the string that begins at `start`. */
function stringEnd(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text[at])) at++;
  return at;
}

function isSpace(character: string | undefined): boolean {
  return character === ' ' || character === '\n' || character === '\r' || character === '\t';
}
