import { describe, expect, it } from 'vitest';
import { drawSequence } from '../../../functions/console/drawing/draw-sequence.ts';
import { shapeOf } from '../../../functions/console/drawing/glyph-shape.ts';
import { valueAt } from '../../../functions/console/drawing/value-at.ts';
import { sequenceText } from '../../support/sequence-text.ts';

const item = (variable: string) => ({ expression: 'index', lhs: { variable }, rhs: 0 });
const constant = (duration: unknown, value: unknown) => ({ kind: 'constant', duration, value });
const pulse = (amplitude: object, detuning: object, phase: unknown = 0) => ({
  ...{ op: 'pulse', channel: 'ising', protocol: 'min-delay', amplitude, detuning, phase, post_phase_shift: 0 },
});
const variable = { type: 'float', value: [0] };

const program = sequenceText({
  variables: { omega: variable, delta: variable, twice: variable, both: variable, phi: variable },
  operations: [
    pulse(
      constant(100, item('omega')),
      { kind: 'ramp', duration: 100, start: item('both'), stop: { variable: 'delta' } },
      item('phi'),
    ),
    pulse(constant(50, { expression: 'mul', lhs: item('twice'), rhs: 2 }), constant(50, 0), item('both')),
  ],
});
const given = { omega: [3], delta: [4], twice: [5], both: [0], phi: [1] };

describe('what is drawn of a sequence', () => {
  it('has the values of a job', () => {
    const { timeline, missing } = drawSequence(program, given)!;
    expect([timeline.problem, missing]).toEqual([undefined, []]);
    const [track] = timeline.tracks;
    expect(valueAt(track!, 0)).toEqual({ amplitude: 3, detuning: 0, phase: 1 });
    expect(valueAt(track!, 100)).toEqual({ amplitude: 10, detuning: 0, phase: 0 });
    expect(valueAt(track!, 150)).toEqual({ amplitude: 10, detuning: 0, phase: 0 });
    expect(valueAt(track!, 151)).toEqual({ amplitude: 0, detuning: 0, phase: undefined });
  });

  it('names the variables without a value', () => {
    expect(drawSequence(program, { omega: [3], phi: [0] })!.missing).toEqual(['delta', 'twice', 'both']);
  });

  it('has units of variables that are used as they are, for one thing', () => {
    expect(Object.fromEntries(drawSequence(program, {})!.units)).toEqual({
      ...{ omega: 'rad/µs', delta: 'rad/µs', phi: 'rad' },
    });
  });

  it.each([['{"a":1}'], ['[]'], ['no JSON'], ['{"register":"q0"}']])('%s is no sequence', (text) => {
    expect(drawSequence(text, {})).toBeUndefined();
  });
});

describe('the shape of a register in a row of text', () => {
  const register = (places: readonly (readonly [number, number])[]) => ({
    ...{ traps: [], is3D: false, isUnmapped: false },
    qubits: places.map(([x, y], at) => ({ id: `q${at}`, x, y, z: 0 })),
  });

  it('is in the order of the register, and upright', () => {
    const { spots } = shapeOf(
      register([
        [0, 0],
        [5, 0],
        [0, 5],
      ]),
    )!;
    const [[x0, y0], [x1, y1], [x2, y2]] = spots as readonly [number, number][] as [
      [number, number],
      [number, number],
      [number, number],
    ];
    expect([x1 > x0, y1 === y0, x2 === x0, y2 < y0]).toEqual([true, true, true, true]);
  });

  it.each([
    ['a single qubit', [[3, 4]]],
    ['a line of 25', Array.from({ length: 25 }, (_, at) => [5 * at, 0])],
    ['a column of 25', Array.from({ length: 25 }, (_, at) => [0, 5 * at])],
    ['a square of 25', Array.from({ length: 25 }, (_, at) => [5 * (at % 5), 5 * Math.floor(at / 5)])],
  ])('of %s fits', (_, places) => {
    const { spots, width, height, radius } = shapeOf(register(places as [number, number][]))!;
    for (const [x, y] of spots) {
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x).toBeLessThanOrEqual(width);
      expect(y).toBeGreaterThanOrEqual(0);
      expect(y).toBeLessThanOrEqual(height);
    }
    expect(radius).toBeGreaterThan(0);
    expect(width).toBeLessThanOrEqual(60);
  });

  it('is none of no qubit, of 26, or of two at one place', () => {
    expect(shapeOf(register([]))).toBeUndefined();
    expect(shapeOf(register(Array.from({ length: 26 }, (_, at) => [at, 0] as const)))).toBeUndefined();
    expect(
      shapeOf(
        register([
          [1, 1],
          [1, 1],
        ]),
      ),
    ).toBeUndefined();
  });
});
