import { describe, expect, it } from 'vitest';
import { readCell, readNumber } from '../../../../functions/console/entry/cell-values.ts';
import {
  asWritten,
  emptyDraft,
  jobsOf,
  placesOfForm,
  requestOf,
  tagsOf,
} from '../../../../functions/console/entry/draft.ts';
import { freeVariables, readProgram } from '../../../../functions/console/entry/program.ts';
import { exampleSequence } from '../../../../functions/schemas/example-sequence.ts';

const omega = { name: 'omega', type: 'float', size: 1 } as const;
const times = { name: 'times', type: 'int', size: 3 } as const;
const mapping = { name: 'qubits', type: 'int', size: 2, qubits: ['a', 'b'] } as const;
const program = readProgram(exampleSequence)!;

describe('a cell', () => {
  it.each([
    ['4.4', omega, 4.4],
    [' -1e3 ', omega, -1000],
    ['.5', omega, 0.5],
    ['[1.5]', omega, 1.5],
    ['0.30', omega, 0.3],
    ['1, 2,3', times, [1, 2, 3]],
    ['[1 2\t3]', times, [1, 2, 3]],
    ['4, 0', mapping, { a: 4, b: 0 }],
    ['{"a": [1, "x"]}', freeVariables, { a: [1, 'x'] }],
    ['', freeVariables, {}],
  ] as const)('%j of %o is %j', (text, variable, value) => {
    expect(readCell(text, variable)).toEqual({ value });
  });

  it.each([
    ['', omega, 'omega is missing'],
    ['1, 2', omega, 'omega is no number'],
    ['a', omega, 'omega is no number'],
    ['1e999', omega, 'omega is no number'],
    ['0x10', omega, 'omega is no number'],
    ['Infinity', omega, 'omega is no number'],
    ['1, 2, 3.5', times, 'times takes 3 whole numbers'],
    ['1, 2', times, 'times takes 3 whole numbers'],
    ['9007199254740993, 1, 1', times, 'times takes 3 whole numbers'],
    ['4', mapping, 'Traps of the qubits: the number of a trap for each of a, b'],
    ['[1]', freeVariables, 'Variables are no JSON object'],
    ['{a: 1}', freeVariables, 'Variables are no JSON object'],
  ] as const)('%j of %o is refused: %s', (text, variable, fault) => {
    expect(readCell(text, variable)).toEqual({ fault });
  });

  it('is read as a decimal number only', () => {
    expect(['1', '-1.25e-3', '+2.', '1_0', '', ' ', '1e', '--1'].map(readNumber)).toEqual([
      1,
      -0.00125,
      2,
      ...Array(5).fill(undefined),
    ]);
  });
});

describe('jobsOf', () => {
  it('names the row and the column of each text that is no value', () => {
    const rows = [
      { id: 1, runs: '100', values: { omega: '1' } },
      { id: 7, runs: '1.5', values: { omega: 'one' } },
    ];
    expect(jobsOf(rows, [omega])).toEqual({
      jobs: [
        { runs: 100, variables: { omega: 1 } },
        { runs: 1.5, variables: {} },
      ],
      faults: [
        { loc: ['body', 'jobs', 1, 'variables', 'omega'], msg: 'omega is no number', type: 'value_error' },
        { loc: ['body', 'jobs', 1, 'runs'], msg: 'Shots are no whole number', type: 'value_error' },
      ],
    });
  });

  it('takes any names of variables', () => {
    const names = ['constructor', '__proto__', 'runs', 'toString'];
    const variables = names.map((name) => ({ ...omega, name }));
    const values = Object.fromEntries(names.map((name, at) => [name, String(at)]));
    const { jobs, faults } = jobsOf([{ id: 1, runs: '7', values }], variables);
    expect(JSON.stringify(jobs)).toBe('[{"runs":7,"variables":{"constructor":0,"__proto__":1,"runs":2,"toString":3}}]');
    expect(faults).toEqual([]);
    expect(jobsOf([{ id: 1, runs: '7', values: {} }], variables).faults).toHaveLength(4);
  });

  it('sends free variables as they are written', () => {
    const rows = [{ id: 1, runs: '', values: { variables: '{"a": {"b": null}}' } }];
    expect(jobsOf(rows, [freeVariables])).toEqual({
      jobs: [{ runs: null, variables: { a: { b: null } } }],
      faults: [],
    });
  });
});

describe('requestOf', () => {
  it('sends what was typed, and leaves out what was not', () => {
    const jobs = [
      { id: 1, runs: '100', values: { omega: '4.4', other: 'of another program' } },
      { id: 3, runs: '', values: { omega: '5' } },
    ];
    const draft = { ...emptyDraft, jobs, project_id: ' id ', name: ' Rabi, ω ', tags: 'a, b\n"b, c" ,a', open: true };
    expect(requestOf(draft, program, 'FRESNEL')).toEqual({
      body: {
        sequence_builder: exampleSequence,
        jobs: [
          { runs: 100, variables: { omega: 4.4 } },
          { runs: null, variables: { omega: 5 } },
        ],
        open: true,
        tags: ['name:Rabi, ω', 'a', 'b', 'b, c'],
        project_id: 'id',
        device_type: 'FRESNEL',
      },
      faults: [],
    });
  });

  it.each([
    ['', 'FRESNEL', 'FRESNEL'],
    ['', '', undefined],
    ['EMU_SV', 'FRESNEL', 'EMU_SV'],
    [asWritten, 'FRESNEL', undefined],
  ])('names the device %j, where %j fits best, as %j', (device_type, best, sent) => {
    const { body } = requestOf({ ...emptyDraft, device_type }, program, best);
    expect((body as { device_type?: string }).device_type).toBe(sent);
  });

  it('finds what is missing, at its place', () => {
    expect(requestOf(emptyDraft, program, '').faults).toMatchObject([
      { loc: ['body', 'jobs', 0, 'variables', 'omega'] },
    ]);
    expect(requestOf(emptyDraft, undefined, '').faults).toMatchObject([{ loc: ['body', 'sequence_builder'] }]);
  });
});

describe('tagsOf', () => {
  it.each([
    ['', []],
    [' , ,\n', []],
    ['rabi, blockade', ['rabi', 'blockade']],
    ['one\ntwo', ['one', 'two']],
    ['"with, comma", "a"', ['with, comma', 'a']],
    ['a , "b, c" ,d', ['a', 'b, c', 'd']],
    ['"open, quote', ['"open', 'quote']],
    ['"a" b, c', ['"a" b', 'c']],
  ])('%j', (text, tags) => expect(tagsOf(text)).toEqual(tags));
});

describe('placesOfForm', () => {
  const at = (...loc: (string | number)[]) => ({ loc });

  it('knows which of the tags is the name', () => {
    const faults = [at('body', 'tags', 0), at('body', 'tags', 2), at('body', 'tags'), at('body', 'open')];
    expect(placesOfForm(faults, { name: 'x' }).map(({ loc }) => loc)).toEqual([
      ['body', 'name'],
      ['body', 'tags', 1],
      ['body', 'tags'],
      ['body', 'open'],
    ]);
    expect(placesOfForm(faults, { name: ' ' })).toEqual(faults);
  });

  it('puts jobs that are added where those of a new batch are', () => {
    expect(placesOfForm([at('body', 3, 'runs')], {})).toEqual([at('body', 'jobs', 3, 'runs')]);
  });
});
