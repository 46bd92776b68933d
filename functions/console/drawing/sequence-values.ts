/**
 * What a sequence in Pulser's abstract representation says, with the values that a job gives its
 * variables. Times are in ns, distances in µm, amplitudes and detunings in rad/µs.
 */

import { texts } from '../ui/texts.ts';

const { sequence: words } = texts;

export type Item = Readonly<Record<string, unknown>>;

/** Something cannot be drawn as it is; the message says what. */
export class NotDrawn extends Error {}

/** A number, or an array of them, as an expression has it. */
type Value = number | readonly number[];

/** The values of variables by name: those that have one. */
export type Variables = ReadonlyMap<string, readonly number[]>;

export function isItem(value: unknown): value is Item {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'number');
}

/** The object that a text holds; undefined where it holds none. */
export function readSequence(text: string | null | undefined): Item | undefined {
  try {
    const content: unknown = JSON.parse(text ?? '');
    return isItem(content) ? content : undefined;
  } catch {
    return undefined;
  }
}

/** The variables that a sequence declares and a job gives values to. */
export function readVariables(sequence: Item, given: Item): Variables {
  const variables = new Map<string, readonly number[]>();
  for (const [name, declared] of Object.entries(isItem(sequence.variables) ? sequence.variables : {})) {
    const value = Object.hasOwn(given, name) ? [given[name]].flat() : undefined;
    if (!isNumbers(value) || !isItem(declared)) continue;
    if (Array.isArray(declared.value) && declared.value.length !== value.length) continue;
    variables.set(name, declared.type === 'int' ? value.map(Math.trunc) : value);
  }
  return variables;
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
export function evaluate(term: unknown, variables: Variables): Value {
  if (typeof term === 'number' || isNumbers(term)) return term;
  if (!isItem(term)) throw new NotDrawn(words.noTerm);
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

export interface Point {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

export interface Register {
  readonly qubits: readonly (Point & { readonly id: string })[];
  /** Where qubits could be, where the sequence has a layout. */
  readonly traps: readonly Point[];
  readonly is3D: boolean;
  /** The job decides where the qubits are, and has not done so. */
  readonly isUnmapped: boolean;
}

/** The qubits of a sequence and its layout; undefined where it has none that can be read. */
export function readRegister(sequence: Item, given: Item): Register | undefined {
  const listed = Array.isArray(sequence.register) ? sequence.register.filter(isItem) : [];
  const { coordinates } = isItem(sequence.layout) ? sequence.layout : {};
  const traps = (Array.isArray(coordinates) ? coordinates : []).filter(isNumbers).map(pointOf);
  const places = isItem(given.qubits) ? given.qubits : undefined;
  const qubits = listed.flatMap(({ qid, name, x, y, z = 0 }) => {
    const point = qid === undefined ? pointOf([x, y, z] as number[]) : traps[Number(places?.[String(qid)])];
    return point === undefined ? [] : [{ id: String(qid ?? name), ...point }];
  });
  const points = [...qubits, ...traps];
  if (points.length === 0 || !points.every(({ x, y, z }) => [x, y, z].every(Number.isFinite))) return undefined;
  const isMappable = listed.some(({ qid }) => qid !== undefined);
  return { qubits, traps, is3D: points.some(({ z }) => z !== 0), isUnmapped: isMappable && qubits.length === 0 };
}

function pointOf([x = 0, y = 0, z = 0]: readonly number[]): Point {
  return { x, y, z };
}

/**
 * How far the view of a register in space is turned, and from how far above it is seen, in rad: so
 * that sites of cubic lattices do not cover each other.
 */
const turn = 0.3;
const rise = 0.45;

/** Where a point is on the drawing, in µm: to the right and upward. */
export function project({ x, y, z }: Point, is3D: boolean): readonly [right: number, up: number] {
  if (!is3D) return [x, y];
  const right = x * Math.cos(turn) - y * Math.sin(turn);
  const away = x * Math.sin(turn) + y * Math.cos(turn);
  return [right, z * Math.cos(rise) + away * Math.sin(rise)];
}

/** Of any number of values: arguments of a call are limited. */
export function least(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
}

export function greatest(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
}
