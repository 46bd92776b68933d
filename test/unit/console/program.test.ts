import { describe, expect, it } from 'vitest';
import { faultsAt, faultsElsewhere } from '../../../functions/console/client/fault-places.ts';
import { emptyDraft, readProgram, requestOf } from '../../../functions/console/views/program.ts';
import { exampleSequence } from '../../../functions/schemas/example-sequence.ts';

const omega = { name: 'omega', type: 'float', size: 1 } as const;
const times = { name: 'times', type: 'int', size: 3 } as const;
const program = readProgram(exampleSequence)!;
const mapping = { name: 'qubits', type: 'int', size: 2, qubits: ['a', 'b'] } as const;

describe('readProgram', () => {
  it('reads what a program declares', () => {
    expect(readProgram(exampleSequence)).toMatchObject({
      text: exampleSequence,
      name: 'two-atoms',
      deviceName: undefined,
      qubits: 2,
      operations: 1,
      variables: [omega],
    });
  });

  it('takes the text of a text', () => {
    expect(readProgram(JSON.stringify(exampleSequence))?.text).toBe(exampleSequence);
  });

  it('asks for the traps of a mappable register', () => {
    const register = [{ qid: 'a', default_trap: 0 }, { qid: 'b' }];
    const text = JSON.stringify({
      device: { name: 'FRESNEL' },
      register,
      variables: { times: { type: 'int', value: [0, 0, 0] } },
    });
    expect(readProgram(text)).toMatchObject({ deviceName: 'FRESNEL', variables: [mapping, times] });
  });

  it.each(['', 'no JSON', '[]', 'null', '7', '"text"'])('reads no program in %j', (text) => {
    expect(readProgram(text)).toBeUndefined();
  });

  it.each([
    '{}',
    '{"register":null,"variables":[1],"device":"MockDevice","operations":{}}',
    '{"variables":{"a":null}}',
  ])('reads an odd program, %s, without an error', (text) => {
    expect(readProgram(text)?.text).toBe(text);
  });
});

describe('the values of a variable', () => {
  it.each([
    ['4.4', omega, 4.4],
    [' -1e3 ', omega, -1000],
    ['[1.5]', omega, 1.5],
    ['1, 2,3', times, [1, 2, 3]],
    ['[1 2\t3]', times, [1, 2, 3]],
    ['4, 0', mapping, { a: 4, b: 0 }],
    ['', omega, undefined],
    ['1, 2', omega, undefined],
    ['a', omega, undefined],
    ['1e999', omega, undefined],
    ['1, 2, 3.5', times, undefined],
    ['1, 2', times, undefined],
    ['4', mapping, undefined],
  ] as const)('are read from %j, of %o, as %j', (text, variable, value) => {
    const jobs = [{ id: 1, runs: '1', values: { [variable.name]: text } }];
    const { body, faults } = requestOf({ ...emptyDraft, jobs }, { ...program, variables: [variable] });
    expect(body).toMatchObject({ jobs: [{ variables: { [variable.name]: value } }] });
    expect(faults).toHaveLength(value === undefined ? 1 : 0);
  });
});

describe('requestOf', () => {
  it('sends what was typed, and leaves out what was not', () => {
    const jobs = [
      { id: 1, runs: '100', values: { omega: '4.4', other: 'of another program' } },
      { id: 3, runs: '', values: { omega: '5' } },
    ];
    const draft = { ...emptyDraft, jobs, project_id: ' id ', tags: 'a\n\n b, c \na', open: true };
    expect(requestOf(draft, program)).toEqual({
      body: {
        sequence_builder: exampleSequence,
        jobs: [
          { runs: 100, variables: { omega: 4.4 } },
          { runs: null, variables: { omega: 5 } },
        ],
        open: true,
        tags: ['a', 'b, c'],
        project_id: 'id',
      },
      faults: [],
    });
  });

  it('finds what is missing, at its place', () => {
    expect(requestOf(emptyDraft, program).faults).toMatchObject([{ loc: ['body', 'jobs', 0, 'variables', 'omega'] }]);
    expect(requestOf(emptyDraft, undefined).faults).toMatchObject([{ loc: ['body', 'sequence_builder'] }]);
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
