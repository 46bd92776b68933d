import { describe, expect, it } from 'vitest';
import { numbersOf, readVariables } from '../../../functions/pulser/parameter-values.ts';

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
    expect(numbersOf(term, new Map([['x', [1, 3]]]))).toEqual([value].flat());
  });

  it.each([[op('index', { variable: 'x' }, 2)], [op('eval', 1, 1)], [op('toString', 1, 1)], ['1'], [null], [{}]])(
    '%j has no value',
    (term) => {
      expect(() => numbersOf(term, new Map([['x', [1, 3]]]))).toThrow();
    },
  );
});
