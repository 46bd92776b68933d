/**
 * Reads JSON schemas as far as Pulser's go (draft-07), and finds all faults of a value.
 *
 * An interpreter, because a compiled validator is eight times its size in a bundle: 290 KB against
 * 37. It also takes linear time to find every fault. A validator that tries each alternative to its
 * end takes time that doubles with every level of a nested expression.
 */

import { isObject } from '../values/json-text.ts';

interface Schema {
  readonly $ref?: string;
  readonly definitions?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  /** Of all items, or of each by its place. */
  readonly items?: Schema | readonly Schema[];
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface SchemaFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** `name`: the schema does not know the name, which a later one may. */
  readonly kind: 'type' | 'missing' | 'name' | 'length';
}

/** The schemas of a folder by their file names: `$ref` names them. */
export type Schemas = Readonly<Record<string, Schema>>;

/** Further faults are not looked for. */
const maxFaults = 1_000;

/**
 * The faults of a value by the schema of this file name, in the order of the value: after 1,000, no
 * further parts are looked at. Recursive: the caller bounds the depth of the value.
 */
export function schemaFaults(schemas: Schemas, file: string, value: unknown): SchemaFault[] {
  const found: SchemaFault[] = [];
  const schema = schemas[file];
  if (schema === undefined) throw new Error(`The schema ${file} is not loaded.`);
  check({ schemas, path: [], found }, { schema, file }, value);
  return found;
}

/** A schema, and the file that its references start from. */
interface Placed {
  readonly schema: Schema;
  readonly file: string;
}

interface Search {
  readonly schemas: Schemas;
  /** Of the value that is looked at. */
  readonly path: (string | number)[];
  readonly found: SchemaFault[];
}

function check(search: Search, placed: Placed, value: unknown): void {
  const { path, found } = search;
  if (found.length >= maxFaults) return;
  const { schema, file } = resolve(search.schemas, placed);
  if (schema.anyOf !== undefined) {
    checkAlternatives(search, { schema, file }, value);
    return;
  }
  for (const fault of faultsHere(schema, value)) found.push({ ...fault, path: [...path, ...fault.path] });
  const { items } = schema;
  if (items !== undefined && Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const item = 'length' in items ? items[at] : items;
      if (item !== undefined) checkPart(search, { schema: item, file }, { key: at, part: value[at] });
    }
  }
  if (!isObject(value)) return;
  const { properties = {}, additionalProperties: others } = schema;
  const other = typeof others === 'object' ? others : undefined;
  for (const [key, part] of Object.entries(value)) {
    const member = Object.hasOwn(properties, key) ? properties[key] : other;
    if (member !== undefined) checkPart(search, { schema: member, file }, { key, part });
  }
}

function checkPart(search: Search, placed: Placed, { key, part }: { key: string | number; part: unknown }): void {
  search.path.push(key);
  check(search, placed, part);
  search.path.pop();
}

/**
 * Of alternatives, those count that fit the value best, without a look at its parts. Where they fit
 * without a fault, the value needs to satisfy one of them.
 */
function checkAlternatives(search: Search, { schema, file }: Placed, value: unknown): void {
  const alternatives = (schema.anyOf ?? []).map((each) => ({ schema: each, file }));
  const misfits = alternatives.map((each) => misfitOf(search.schemas, each, value));
  const least = Math.min(...misfits);
  const fitting = alternatives.filter((_, at) => misfits[at] === least);
  let best: SchemaFault[] | undefined;
  for (const each of least === 0 ? fitting : fitting.slice(0, 1)) {
    const found: SchemaFault[] = [];
    check({ ...search, found }, each, value);
    if (found.length === 0) return;
    if (best === undefined || found.length < best.length) best = found;
  }
  search.found.push(...(best ?? []));
}

/**
 * How many faults the value has itself, and in members that must have one value; of another type,
 * many.
 */
function misfitOf(schemas: Schemas, placed: Placed, value: unknown): number {
  const { schema, file } = resolve(schemas, placed);
  if (schema.anyOf !== undefined) {
    return Math.min(...schema.anyOf.map((each) => misfitOf(schemas, { schema: each, file }, value)));
  }
  if (!hasType(schema, value)) return 1_000;
  const members = isObject(value)
    ? Object.entries(schema.properties ?? {}).filter(
        ([name, member]) => Object.hasOwn(value, name) && !isAllowed(member, value[name]),
      ).length
    : 0;
  return faultsHere(schema, value).length + members;
}

/** The faults of a value itself, and none of its parts. */
function faultsHere(schema: Schema, value: unknown): SchemaFault[] {
  if (!hasType(schema, value)) {
    const names = [schema.type].flat().map((type) => typeNames[String(type)] ?? type);
    return [{ path: [], kind: 'type', message: `Input should be a valid ${names.join(' or ')}` }];
  }
  if (!isAllowed(schema, value)) {
    const allowed = schema.enum ?? [schema.const];
    return [{ path: [], kind: 'name', message: `Input should be ${allowed.map(quoted).join(' or ')}` }];
  }
  if (Array.isArray(value)) {
    const { minItems = 0, maxItems = value.length } = schema;
    if (value.length >= minItems && value.length <= maxItems) return [];
    return [{ path: [], kind: 'length', message: `List should have ${minItems} items, not ${value.length}` }];
  }
  if (!isObject(value)) return [];
  const { required = [], properties = {}, additionalProperties } = schema;
  const missing = required.filter((name) => !Object.hasOwn(value, name));
  const unknown =
    additionalProperties === false ? Object.keys(value).filter((name) => !Object.hasOwn(properties, name)) : [];
  return [
    ...missing.map((name) => ({ path: [name], kind: 'missing', message: 'Field required' }) as const),
    ...unknown
      .slice(0, maxFaults)
      .map((name) => ({ path: [name], kind: 'name', message: 'Extra inputs are not permitted' }) as const),
  ];
}

/** The schema that a reference leads to, and its file. */
function resolve(schemas: Schemas, { schema, file }: Placed): Placed {
  let at = { schema, file };
  while (at.schema.$ref !== undefined) {
    const [name = '', definition = ''] = at.schema.$ref.split('#/definitions/');
    const target = name === '' ? at.file : name;
    const root = schemas[target] as Schema;
    at = { schema: definition === '' ? root : (root.definitions?.[definition] as Schema), file: target };
  }
  return at;
}

const typeNames: Readonly<Record<string, string>> = { object: 'dictionary', array: 'list' };

function hasType({ type }: Schema, value: unknown): boolean {
  if (type === undefined) return true;
  const actual = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return typeof type === 'string' ? type === actual : type.includes(actual);
}

/** All values that schemas name are scalars. */
function isAllowed(schema: Schema, value: unknown): boolean {
  if ('const' in schema && schema.const !== value) return false;
  return schema.enum === undefined || schema.enum.includes(value);
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}
