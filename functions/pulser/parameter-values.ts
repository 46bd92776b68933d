/**
 * The values of parameters, once a job has given values to the variables: as Pulser computes them,
 * whose numbers are NumPy's (pulser/parametrized/paramobj.py, pulser/math).
 */

import { usesVariables } from './parameters.ts';
import type { SequenceContent } from './sequence-content.ts';

/** A term has no value here. `subject` is the variable or the expression that lacks one. */
export class NoValue extends Error {
  readonly reason: 'noTerm' | 'noValue' | 'noExpression' | 'notFinite';
  readonly subject: string | undefined;

  constructor(reason: NoValue['reason'], subject?: string) {
    super(reason);
    this.reason = reason;
    this.subject = subject;
  }
}

/** A number, and how far Pulser's may be from it. */
interface Approximate {
  readonly value: number;
  readonly error: number;
}

/** One number, or an array of them, as an expression has it. */
type Value = Approximate | readonly Approximate[];

/** The values of variables by name. Variables without a value are left out. */
export type Variables = ReadonlyMap<string, readonly number[]>;

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'number');
}

/** The variables that a sequence declares and a job gives values to. */
export function readVariables(
  { variables = {} }: Partial<Pick<SequenceContent, 'variables'>>,
  given: Readonly<Record<string, unknown>>,
): Variables {
  const values = new Map<string, readonly number[]>();
  for (const [name, { type, value: declared }] of Object.entries(variables)) {
    const value = Object.hasOwn(given, name) ? [given[name]].flat() : undefined;
    if (!isNumbers(value) || (declared ?? value).length !== value.length) continue;
    const whole = value.map(Math.trunc);
    if (type !== 'int') values.set(name, value);
    // Of larger ones, the last digits are lost here, and not in Pulser.
    else if (whole.every(Number.isSafeInteger)) values.set(name, whole);
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

/** Libraries compute these differently, in the last digits. */
const inexact = new Set(['exp', 'log2', 'log', 'sin', 'cos', 'tan', 'tanh', 'pow']);

/** By how much they may differ, as a share of the result, or of 1 where that is more. */
const inexactShare = 4e-15;

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

const exactly = (value: number): Approximate => ({ value, error: 0 });

/** A number as a sequence has it. Pulser reads whole numbers of any size exactly. */
const literal = (value: number): Approximate =>
  Math.abs(value) <= Number.MAX_SAFE_INTEGER ? exactly(value) : { value, error: Number.POSITIVE_INFINITY };

/** A result with the error that its operands bring. */
function result(name: string, value: number, error: number): Approximate {
  const rounding = inexact.has(name) ? inexactShare * Math.max(1, Math.abs(value)) : 0;
  const total = error + (error > 0 ? Math.abs(value) * Number.EPSILON : 0) + rounding;
  // NumPy's whole numbers wrap around; a NaN is no bound either.
  const isBounded = Math.abs(value) <= Number.MAX_SAFE_INTEGER && total >= 0;
  return { value, error: isBounded ? total : Number.POSITIVE_INFINITY };
}

function applyUnary(name: string, { value, error }: Approximate): Approximate {
  const apply = unary[name]!;
  const spread = error === 0 ? 0 : Math.abs(apply(value + error) - apply(value - error)) + error;
  return result(name, apply(value), spread);
}

function applyBinary(name: string, lhs: Approximate, rhs: Approximate): Approximate {
  const apply = binary[name]!;
  const value = apply(lhs.value, rhs.value);
  if (lhs.error === 0 && rhs.error === 0) return result(name, value, 0);
  const mayBeZero = ({ value: each, error }: Approximate) => Math.abs(each) <= error;
  const jumps = name === 'mod' || (name === 'div' && mayBeZero(rhs)) || (name === 'pow' && mayBeZero(lhs));
  if (jumps) return result(name, value, Number.POSITIVE_INFINITY);
  const ends = ({ value: each, error }: Approximate) => [each - error, each + error];
  const far = ends(lhs).flatMap((left) => ends(rhs).map((right) => Math.abs(apply(left, right) - value)));
  return result(name, value, Math.max(...far));
}

/** The value of a literal, a variable or an expression. Throws NoValue where it has none. */
function evaluate(term: unknown, variables: Variables): Value {
  if (typeof term === 'number') return literal(term);
  if (isNumbers(term)) return term.map(literal);
  if (typeof term !== 'object' || term === null) throw new NoValue('noTerm');
  const { variable, expression, lhs: left, rhs: right } = term as Readonly<Record<string, unknown>>;
  if (typeof variable === 'string') {
    const value = variables.get(variable);
    if (value === undefined) throw new NoValue('noValue', variable);
    return value.map(exactly);
  }
  const name = String(expression);
  const lhs = evaluate(left, variables);
  if (Object.hasOwn(unary, name)) {
    return 'value' in lhs ? applyUnary(name, lhs) : lhs.map((each) => applyUnary(name, each));
  }
  const rhs = evaluate(right, variables);
  if (name === 'index' && !('value' in lhs)) {
    const at = (index: Approximate) => (Number.isInteger(index.value) ? lhs.at(index.value) : undefined);
    const items = 'value' in rhs ? at(rhs) : rhs.map(at);
    if (items !== undefined && !(Array.isArray(items) && items.includes(undefined))) return items as Value;
  }
  if (!Object.hasOwn(binary, name)) throw new NoValue('noExpression', name);
  // Python's own lists have another sum and product than arrays.
  if ((Array.isArray(left) || Array.isArray(right)) && !usesVariables(term)) throw new NoValue('noTerm');
  return eachPair(name, lhs, rhs);
}

function eachPair(name: string, lhs: Value, rhs: Value): Value {
  if ('value' in lhs && 'value' in rhs) return applyBinary(name, lhs, rhs);
  const [left, right] = [lhs, rhs].map((each) => ('value' in each ? [each] : each)) as [Approximate[], Approximate[]];
  // An empty array and one number make an empty array.
  const length = Math.min(left.length, right.length) && Math.max(left.length, right.length);
  if (left.length !== right.length && left.length !== 1 && right.length !== 1) throw new NoValue('noTerm');
  return Array.from({ length }, (_, at) => applyBinary(name, left[at % left.length]!, right[at % right.length]!));
}

/** The finite number that a term means. */
export function numberOf(term: unknown, variables: Variables): number {
  const [value, ...others] = numbersOf(term, variables);
  if (value === undefined || others.length > 0) throw new NoValue('noTerm');
  return value;
}

/** The finite numbers that a term means. */
export function numbersOf(term: unknown, variables: Variables): readonly number[] {
  return valuesOf(term, variables).map(({ value }) => value);
}

function valuesOf(term: unknown, variables: Variables): readonly Approximate[] {
  const values = [evaluate(term, variables)].flat();
  if (!values.every(({ value }) => Number.isFinite(value))) throw new NoValue('notFinite');
  return values;
}

/**
 * The finite numbers that a term certainly means in Pulser, too: bit by bit if `isExact`, otherwise
 * to 11 digits. Undefined where that is not certain.
 */
export function certainNumbersOf(term: unknown, variables: Variables, isExact: boolean): readonly number[] | undefined {
  try {
    const values = valuesOf(term, variables);
    const isCertain = values.every(({ value, error }) => error <= (isExact ? 0 : Math.abs(value) * 1e-11));
    return isCertain ? values.map(({ value }) => value) : undefined;
  } catch (error) {
    if (error instanceof NoValue) return undefined;
    throw error;
  }
}
