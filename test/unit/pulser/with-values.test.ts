import { describe, expect, it } from 'vitest';
import { certainNumbersOf, readVariables } from '../../../functions/pulser/parameter-values.ts';
import { withValues } from '../../../functions/pulser/with-values.ts';

const op = (expression: string, lhs: unknown, rhs?: unknown) => ({
  expression,
  lhs,
  ...(rhs === undefined ? {} : { rhs }),
});
const x = { variable: 'x' };
const variables = readVariables(
  {
    variables: {
      x: { type: 'float', value: [0] },
      many: { type: 'int', value: [0, 0] },
      large: { type: 'int', value: [0] },
    },
  },
  { x: 3, many: [1, 2], large: 2 ** 53 + 2 },
);

describe('numbers that are certain in Pulser, too', () => {
  it.each([
    ['of exact operations', op('mul', op('add', x, 0.1), 2), 6.2],
    ['of a function of some library', op('mul', 2, op('exp', x)), 2 * Math.exp(3)],
    ['of several items', op('index', { variable: 'many' }, [1, 0]), [2, 1]],
  ])('%s', (_, term, value) => {
    expect(certainNumbersOf(term, variables, false)).toEqual([value].flat());
  });

  it.each([
    ['a step after a function', op('floor', op('exp', op('log', x)))],
    ['a remainder after a function', op('mod', op('exp', op('log', x)), 3)],
    ['a difference of nearly equal ones', op('sub', op('exp', op('mul', x, 7)), Math.exp(21) - 1e-3)],
    ['a quotient by nearly nothing', op('div', 1, op('sin', op('mul', x, Math.PI)))],
    ['a power of nearly nothing', op('pow', op('sin', op('mul', x, Math.PI)), -1)],
    ['a difference of whole numbers that no double holds', op('sub', op('add', x, 2 ** 53 - 3), 2 ** 53 + 2)],
    ['a variable that no double holds', op('sub', { variable: 'large' }, 5)],
    ['an array without an item', op('index', op('add', x, []), 0)],
    ['whole numbers that wrap around', op('sub', op('mul', x, 1e18), 3e18)],
    ['lists of Python', op('mul', [1, 2], 2)],
    ['a missing variable', { variable: 'y' }],
    ['no number', op('div', x, 0)],
  ])('%s is not', (_, term) => {
    expect(certainNumbersOf(term, variables, false)).toBeUndefined();
  });

  it('are none of an empty array', () => {
    expect(certainNumbersOf(op('add', x, []), variables, true)).toEqual([]);
  });

  it('are bit by bit the same where that is asked', () => {
    const [sum, power] = [op('add', x, 0.1), op('exp', x)];
    expect([sum, power].map((term) => certainNumbersOf(term, variables, true) !== undefined)).toEqual([true, false]);
  });
});

describe('an operation with values', () => {
  const fill = (operation: object) => {
    const filling = { variables, isUncertain: false };
    return { operation: withValues(operation as never)?.(filling), isUncertain: filling.isUncertain };
  };
  const waveform = (duration: unknown, value: unknown) => ({ kind: 'constant', duration, value });

  it('has numbers where rules look', () => {
    const pulse = {
      op: 'pulse',
      amplitude: { kind: 'composite', waveforms: [waveform(op('mul', x, 10), x), waveform(30, op('neg', x))] },
      detuning: waveform(9, 9),
      phase: x,
    };
    const amplitude = { kind: 'composite', waveforms: [waveform(30, 3), waveform(30, -3)] };
    expect(fill(pulse)).toEqual({ operation: { ...pulse, amplitude }, isUncertain: false });
  });

  it.each([
    [
      { op: 'target', target: { variable: 'many' } },
      { op: 'target', target: [1, 2] },
    ],
    [
      { op: 'phase_shift', targets: [x, 1] },
      { op: 'phase_shift', targets: [3, 1] },
    ],
    [
      { op: 'delay', time: op('mul', x, 100) },
      { op: 'delay', time: 300 },
    ],
  ])('%j', (operation, changed) => {
    expect(fill(operation)).toEqual({ operation: changed, isUncertain: false });
  });

  it.each([
    { op: 'enable_eom_mode', amp_on: { variable: 'many' } },
    { op: 'pulse', detuning: waveform(op('exp', x), 1) },
    { op: 'pulse', detuning: waveform(1, { variable: 'y' }) },
  ])('keeps what is not certain: %j', (operation) => {
    expect(fill(operation)).toEqual({ operation, isUncertain: true });
  });

  it('is not made where no rule would see it', () => {
    expect(withValues({ op: 'pulse', phase: x, amplitude: waveform(9, 9) } as never)).toBeUndefined();
  });
});
