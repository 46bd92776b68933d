import { describe, expect, it } from 'vitest';
import { readSequence } from '../../../functions/console/drawing/readable-sequence.ts';
import { exampleSequence } from '../../../functions/schemas/example-sequence.ts';

describe('readSequence', () => {
  it('reads all that is drawn', () => {
    const { name, register, layout, channels, variables, operations } = JSON.parse(exampleSequence);
    expect(readSequence(exampleSequence)).toMatchObject({ name, register, channels, variables, operations });
    expect(readSequence(exampleSequence)?.layout).toEqual(layout);
  });

  it.each([
    { register: [{ qid: 'a' }, 7] },
    { register: [{ x: 1, y: 2 }] },
    { layout: { coordinates: [[0, '0']] } },
    { channels: { g: 1 } },
    { variables: { a: null } },
    { operations: [{ op: 'pulse' }, 'pulse'] },
    { device: 1 },
  ])('leaves out a member of another form, as in %j', (members) => {
    expect(readSequence(JSON.stringify(members))).toEqual({});
  });

  it.each(['', '[1]', '{', '3', 'null'])('%j is no sequence', (text) => {
    expect(readSequence(text)).toBeUndefined();
  });
});
