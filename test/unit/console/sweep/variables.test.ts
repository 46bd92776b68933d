import { describe, expect, it } from 'vitest';
import { firstAxes, readVariables, symbolOf } from '../../../../functions/console/sweep/variables.ts';

function jobs(...variables: (Record<string, unknown> | null)[]) {
  return variables.map((each, at) => ({ id: String(at), runs: 100, variables: each }));
}

function names(...variables: (Record<string, unknown> | null)[]) {
  const { differing, constant } = readVariables(jobs(...variables));
  return { differing: differing.map(({ name }) => name), constant: constant.map(({ name }) => name) };
}

describe('readVariables', () => {
  it('separates what differs from what all jobs share', () => {
    expect(names({ omega: 1, t: 660 }, { omega: 2, t: 660 })).toEqual({
      differing: ['omega'],
      constant: ['t', 'runs'],
    });
  });

  it('takes elements of lists as variables, and a list of one number as that number', () => {
    expect(names({ w: [1, 5], t: [3] }, { w: [1, 6], t: [4] })).toEqual({
      differing: ['w[1]', 't'],
      constant: ['w[0]', 'runs'],
    });
  });

  it('takes a variable that some jobs lack as one that differs', () => {
    expect(names({ omega: 1 }, null).differing).toEqual(['omega']);
  });

  it('has the number of runs, under another name where a variable is called so', () => {
    const runs = [10, 20].map((each) => ({ id: String(each), runs: each, variables: { runs: each } }));
    expect(readVariables(runs).differing.map(({ name }) => name)).toEqual(['runs', 'runs of the job']);
  });

  it('knows values that are no numbers, and names that objects have of their own', () => {
    const { differing } = readVariables(jobs({ __proto__: null, constructor: 'a' }, { constructor: { b: 1 } }));
    expect(differing.map(({ name, isNumeric }) => [name, isNumeric])).toEqual([['constructor', false]]);
    expect([...differing[0]!.values.values()]).toEqual(['"a"', '{"b":1}']);
  });

  it('keeps numbers exactly', () => {
    const [variable] = readVariables(jobs({ x: 3.4000000000000004 }, { x: 3.4 })).differing;
    expect([...variable!.values.values()]).toEqual([3.4000000000000004, 3.4]);
  });

  it('finds nothing in one job that could be an axis', () => {
    expect(names({ omega: 1 })).toEqual({ differing: [], constant: ['omega', 'runs'] });
  });
});

describe('firstAxes', () => {
  const axes = (...variables: Record<string, number>[]) => {
    const { x, y } = firstAxes(readVariables(jobs(...variables)).differing);
    return [x?.name, y?.name];
  };

  it('takes the variable with the most values', () => {
    expect(axes({ a: 1, b: 1 }, { a: 1, b: 2 }, { a: 1, b: 3 }, { a: 2, b: 4 })).toEqual(['b', undefined]);
  });

  it('takes two where jobs are a grid over them', () => {
    const grid = [1, 2, 3].flatMap((a) => [1, 2].map((b) => ({ a, b })));
    expect(axes(...grid)).toEqual(['a', 'b']);
  });

  it('takes one of two that change together', () => {
    expect(axes({ a: 1, b: 2 }, { a: 2, b: 4 }, { a: 3, b: 6 })).toEqual(['a', undefined]);
  });

  it('takes none where nothing differs', () => {
    expect(axes({ a: 1 }, { a: 1 })).toEqual([undefined, undefined]);
  });
});

describe('symbolOf', () => {
  it.each([
    ['omega', 'ω'],
    ['delta_0', 'δ_0'],
    ['phi[1]', 'φ[1]'],
    ['omegas', 'omegas'],
    ['t', 't'],
    ['constructor', 'constructor'],
  ])('writes %s as %s', (name, symbol) => {
    expect(symbolOf(name)).toBe(symbol);
  });
});
