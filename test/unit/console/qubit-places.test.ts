import { describe, expect, it } from 'vitest';
import { project, readRegister } from '../../../functions/console/drawing/qubit-places.ts';
import { readSequence } from '../../../functions/console/drawing/readable-sequence.ts';

const read = (sequence: object) => readSequence(JSON.stringify(sequence))!;
const q = (name: string, x: number) => ({ name, x, y: 0 });

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
    [
      'two of one name, which are one qubit',
      { register: [q('a', 1), q('b', 2), q('a', 3)] },
      {},
      ['a 3 0 0', 'b 2 0 0'],
      {},
    ],
  ])('%s', (_, sequence, given, qubits, changed) => {
    const register = readRegister(read(sequence), given)!;
    expect(register).toMatchObject({ is3D: false, isUnmapped: false, ...changed });
    expect(register.qubits.map(({ id, x, y, z }) => `${id} ${x} ${y} ${z}`)).toEqual(qubits);
  });

  it.each([[{}], [{ register: [{ name: 'a', x: '1', y: null }] }], [{ register: 'x', layout: [] }]])(
    '%j has none',
    (sequence) => {
      expect(readRegister(read(sequence), {})).toBeUndefined();
    },
  );

  it('shows height as height', () => {
    const [low, high] = [project({ x: 1, y: 1, z: 0 }, true), project({ x: 1, y: 1, z: 2 }, true)];
    expect(high[0]).toBe(low[0]);
    expect(high[1]).toBeGreaterThan(low[1]);
  });
});
