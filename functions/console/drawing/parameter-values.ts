/**
 * The values of parameters, once a job has given values to the variables. Times are in ns,
 * distances in µm, amplitudes and detunings in rad/µs.
 */

import { isObject, type JsonObject } from '../ui/json-object.ts';
import { texts } from '../ui/texts.ts';
import type { ReadableSequence } from './readable-sequence.ts';

const { sequence: words } = texts;

/** Something cannot be drawn as it is; the message says what. */
export class NotDrawn extends Error {}

/** A number, or an array of them, as an expression has it. */
type Value = number | readonly number[];

/** The values of variables by name. Variables without a value are left out. */
export type Variables = ReadonlyMap<string, readonly number[]>;

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'number');
}

/** The variables that a sequence declares and a job gives values to. */
export function readVariables({ variables = {} }: ReadableSequence, given: JsonObject): Variables {
  const values = new Map<string, readonly number[]>();
  for (const [name, { type, value: declared }] of Object.entries(variables)) {
    const value = Object.hasOwn(given, name) ? [given[name]].flat() : undefined;
    if (!isNumbers(value) || (declared ?? value).length !== value.length) continue;
    values.set(name, type === 'int' ? value.map(Math.trunc) : value);
  }
  return values;
}

const unary: Readonly<Record<string, (value: number) => number>> = {
  neg: (value) => -value,
  abs: Math.abs,
  floor: Math.floor,
  ceil: Math.ceil,
  round: roundToEven,
  sqrt: Math.sqrt,
  exp: Math.exp,
  log2: Math.log2,
  log: Math.log,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  tanh: Math.tanh,
};

const binary: Readonly<Record<string, (lhs: number, rhs: number) => number>> = {
  add: (lhs, rhs) => lhs + rhs,
  sub: (lhs, rhs) => lhs - rhs,
  mul: (lhs, rhs) => lhs * rhs,
  div: (lhs, rhs) => lhs / rhs,
  pow: (lhs, rhs) => lhs ** rhs,
  mod: modulo,
};

/** As Python has it: the result has the sign of the divisor. */
export function modulo(value: number, divisor: number): number {
  const rest = value % divisor;
  return rest !== 0 && rest < 0 !== divisor < 0 ? rest + divisor : rest;
}

function roundToEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

/** The value of a literal, a variable or an expression. Throws NotDrawn where it has none. */
function evaluate(term: unknown, variables: Variables): Value {
  if (typeof term === 'number' || isNumbers(term)) return term;
  if (!isObject(term)) throw new NotDrawn(words.noTerm);
  if (typeof term.variable === 'string') {
    const value = variables.get(term.variable);
    if (value === undefined) throw new NotDrawn(`${words.noValue} ${term.variable}.`);
    return value;
  }
  const name = String(term.expression);
  const lhs = evaluate(term.lhs, variables);
  if (Object.hasOwn(unary, name)) return typeof lhs === 'number' ? unary[name]!(lhs) : lhs.map(unary[name]!);
  const rhs = evaluate(term.rhs, variables);
  if (name === 'index' && typeof lhs !== 'number' && typeof rhs === 'number') {
    const value = lhs.at(rhs);
    if (value !== undefined) return value;
  }
  if (!Object.hasOwn(binary, name)) throw new NotDrawn(`${words.noExpression} ${name}.`);
  return eachPair(lhs, rhs, binary[name]!);
}

function eachPair(lhs: Value, rhs: Value, apply: (lhs: number, rhs: number) => number): Value {
  if (typeof lhs === 'number') return typeof rhs === 'number' ? apply(lhs, rhs) : rhs.map((each) => apply(lhs, each));
  if (typeof rhs === 'number') return lhs.map((each) => apply(each, rhs));
  const length = Math.max(lhs.length, rhs.length);
  if (lhs.length !== rhs.length && lhs.length !== 1 && rhs.length !== 1) throw new NotDrawn(words.noTerm);
  return Array.from({ length }, (_, at) => apply(lhs[at % lhs.length]!, rhs[at % rhs.length]!));
}

/** The finite number that a term means. */
export function numberOf(term: unknown, variables: Variables): number {
  const [value, ...others] = numbersOf(term, variables);
  if (value === undefined || others.length > 0) throw new NotDrawn(words.noTerm);
  return value;
}

/** The finite numbers that a term means. */
export function numbersOf(term: unknown, variables: Variables): readonly number[] {
  const value = [evaluate(term, variables)].flat();
  if (!value.every(Number.isFinite)) throw new NotDrawn(words.notFinite);
  return value;
}
