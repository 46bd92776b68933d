import { describe, expect, it } from 'vitest';
import { unitsOf } from '../../../../functions/console/sweep/units.ts';

const item = (variable: string, at = 0) => ({ expression: 'index', lhs: { variable }, rhs: at });
const units = (...operations: object[]) => Object.fromEntries(unitsOf(JSON.stringify({ operations })));

describe('unitsOf', () => {
  it('finds amplitudes, detunings, durations and phases', () => {
    const amplitude = { kind: 'ramp', duration: item('t'), start: item('w'), stop: item('w', 1) };
    const detuning = { kind: 'constant', duration: item('t'), value: { variable: 'd' } };
    expect(units({ op: 'pulse', amplitude, detuning, phase: item('p') }, { op: 'delay', time: item('t') })).toEqual({
      ...{
        t: 'ns',
        't[0]': 'ns',
        w: 'rad/µs',
        'w[0]': 'rad/µs',
        'w[1]': 'rad/µs',
        d: 'rad/µs',
        p: 'rad',
        'p[0]': 'rad',
      },
    });
  });

  it('gives none to what is computed with, or is used as two things', () => {
    const twice = { expression: 'mul', lhs: item('w'), rhs: 2 };
    expect(units({ amplitude: { value: twice } }, { time: item('x'), phase: item('x') })).toEqual({});
  });

  it.each([null, 'no JSON', '[]', '{"operations":[1,{"amplitude":3}]}'])('finds nothing in %j', (text) => {
    expect(unitsOf(text).size).toBe(0);
  });
});
