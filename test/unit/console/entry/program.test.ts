import { describe, expect, it } from 'vitest';
import { faultsAt, faultsElsewhere } from '../../../../functions/console/client/fault-places.ts';
import { freeVariables, readProgram } from '../../../../functions/console/entry/program.ts';
import { exampleSequence } from '../../../../functions/schemas/example-sequence.ts';

describe('readProgram', () => {
  it('reads what a program declares', () => {
    expect(readProgram(exampleSequence)).toMatchObject({
      text: exampleSequence,
      isPulser: true,
      name: 'two-atoms',
      deviceName: undefined,
      isVirtual: true,
      channels: ['rydberg_global'],
      qubits: 2,
      operations: 1,
      variables: [{ name: 'omega', type: 'float', size: 1 }],
    });
  });

  it('takes the text of a text', () => {
    expect(readProgram(JSON.stringify(exampleSequence))).toMatchObject({ text: exampleSequence, isPulser: true });
  });

  it('asks for the traps of a mappable register', () => {
    const text = JSON.stringify({
      version: '1',
      device: { name: 'FRESNEL' },
      register: [{ qid: 'a', default_trap: 0 }, { qid: 'b' }],
      variables: { times: { type: 'int', value: [0, 0, 0] } },
      operations: [],
    });
    expect(readProgram(text)).toMatchObject({
      deviceName: 'FRESNEL',
      variables: [
        { name: 'qubits', type: 'int', size: 2, qubits: ['a', 'b'] },
        { name: 'times', type: 'int', size: 3 },
      ],
    });
  });

  it.each(['', 'no JSON', '[]', 'null', '7', '"text"'])('reads no program in %j', (text) => {
    expect(readProgram(text)).toBeUndefined();
  });

  it.each([
    '{}',
    '{"a":1}',
    '{"register":null,"variables":[1],"device":"MockDevice","operations":{}}',
    '{"variables":{"a":null}}',
    '{"operations":[],"variables":{"a":{"type":"str"}}}',
  ])('takes any variables for a program that is no Pulser sequence, %s', (text) => {
    expect(readProgram(text)).toMatchObject({ text, isPulser: false, variables: [freeVariables] });
  });
});

describe('faults of a form', () => {
  const at = (...loc: (string | number)[]) => ({ loc, msg: loc.join(), type: 'value_error' });
  const faults = [at('body', 'jobs', 1, 'runs'), at('body', 'jobs', 10), at('body', 'tags', 0), at('header')];

  it('are shown once: at their field, or together', () => {
    expect(faultsAt(faults, ['body', 'jobs', 1])).toEqual([faults[0]]);
    expect(
      faultsElsewhere(faults, [
        ['body', 'jobs', 1],
        ['body', 'tags'],
      ]),
    ).toEqual([faults[1], faults[3]]);
  });
});
