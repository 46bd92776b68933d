import { describe, expect, it } from 'vitest';
import {
  evaluate,
  project,
  readRegister,
  readSequence,
  readVariables,
} from '../../../functions/console/drawing/sequence-values.ts';

const op = (expression: string, lhs: unknown, rhs?: unknown) => ({ expression, lhs, rhs });

describe('variables and expressions', () => {
  it('takes the values of the variables that are declared, if they fit', () => {
    const variables = { a: { type: 'int', value: [0] }, b: { type: 'float', value: [0, 0] }, c: { type: 'float' } };
    const given = { a: 2.9, b: [1], c: ['1'], constructor: 3 };
    expect([...readVariables({ variables }, given)]).toEqual([['a', [2]]]);
    expect([...readVariables({ variables: { constructor: { type: 'int' } } }, {})]).toEqual([]);
  });

  it.each([
    [op('add', op('mul', 2, { variable: 'x' }), [1, 1]), [3, 7]],
    [op('index', { variable: 'x' }, -1), 3],
    [op('mod', -7, 3), 2],
    [op('mod', 7, -3), -2],
    [op('round', 2.5), 2],
    [op('round', op('neg', 3.5)), -4],
    [op('pow', op('sqrt', 4), 3), 8],
  ])('%j', (term, value) => {
    expect(evaluate(term, new Map([['x', [1, 3]]]))).toEqual(value);
  });

  it.each([[op('index', { variable: 'x' }, 2)], [op('eval', 1, 1)], [op('toString', 1, 1)], ['1'], [null], [{}]])(
    '%j has no value',
    (term) => {
      expect(() => evaluate(term, new Map([['x', [1, 3]]]))).toThrow();
    },
  );
});

describe('registers', () => {
  const layout = {
    coordinates: [
      [0, 0],
      [5, 0],
      [0, 5],
    ],
  };

  it.each([
    ['qubits', { register: [{ name: 'a', x: 1, y: 2 }] }, {}, ['a 1 2 0'], {}],
    ['qubits in space', { register: [{ name: 'a', x: 1, y: 2, z: 3 }] }, {}, ['a 1 2 3'], { is3D: true }],
    [
      'qubits that a job places',
      { register: [{ qid: 'a' }, { qid: 'b' }], layout },
      { qubits: { b: 2 } },
      ['b 0 5 0'],
      {},
    ],
    ['qubits without places', { register: [{ qid: 'a' }], layout }, {}, [], { isUnmapped: true }],
  ])('%s', (_, sequence, given, qubits, changed) => {
    const register = readRegister(sequence, given)!;
    expect(register).toMatchObject({ is3D: false, isUnmapped: false, ...changed });
    expect(register.qubits.map(({ id, x, y, z }) => `${id} ${x} ${y} ${z}`)).toEqual(qubits);
  });

  it.each([[{}], [{ register: [{ name: 'a', x: '1', y: null }] }], [{ register: 'x', layout: [] }]])(
    '%j has none',
    (sequence) => {
      expect(readRegister(sequence, {})).toBeUndefined();
    },
  );

  it('shows height as height', () => {
    const [low, high] = [project({ x: 1, y: 1, z: 0 }, true), project({ x: 1, y: 1, z: 2 }, true)];
    expect(high[0]).toBe(low[0]);
    expect(high[1]).toBeGreaterThan(low[1]);
  });
});

describe('texts', () => {
  it.each([[null], [''], ['[1]'], ['{'], ['3']])('%j is no sequence', (text) => {
    expect(readSequence(text)).toBeUndefined();
  });
});
