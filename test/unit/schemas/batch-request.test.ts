import { describe, expect, it } from 'vitest';
import type * as z from 'zod/mini';
import {
  AddJobsRequest,
  CancelBatchesRequest,
  CreateBatchRequest,
  TagsRequest,
} from '../../../functions/schemas/batch-request.ts';
import { inputFaults } from '../../../functions/schemas/input-faults.ts';
import { uuid } from '../../support/new-batch.ts';
import { sequenceText, sequenceWith } from '../../support/sequence-text.ts';

const project_id = uuid('c', 1);
const sequence = sequenceWith('omega');
const body = (content: Record<string, unknown> = {}) => ({
  project_id,
  sequence_builder: sequence,
  jobs: [{ runs: 100, variables: { omega: [1.5] } }],
  ...content,
});

const faultsOf = (schema: z.ZodMiniType, value: unknown) => {
  const parsed = schema.safeParse(value);
  return parsed.success ? [] : inputFaults('body', parsed.error).map(({ loc, type }) => [loc.slice(1).join('.'), type]);
};
const placesOf = (schema: z.ZodMiniType, value: unknown) => faultsOf(schema, value).map(([place]) => place);

describe('CreateBatchRequest', () => {
  it('fills in what is left out or null, and ignores what it does not know', () => {
    const expected = {
      project_id,
      sequence_builder: { text: sequence, deviceName: 'AnalogDevice', variables: new Set(['omega']) },
      jobs: [{ runs: 100, variables: { omega: [1.5] }, sequence: null }],
      open: false,
      device_type: null,
      queue_priority: null,
      webhook: null,
      configuration: null,
      backend_configuration: null,
      tags: [],
    };
    const nulls = Object.fromEntries(
      ['open', 'device_type', 'queue_priority', 'webhook', 'configuration', 'backend_configuration', 'tags'].map(
        (name) => [name, null],
      ),
    );
    expect(CreateBatchRequest.parse(body())).toMatchObject(expected);
    expect(CreateBatchRequest.parse(body({ ...nulls, hybrid: true }))).toMatchObject(expected);
    expect(CreateBatchRequest.parse(body({ hybrid: true }))).not.toHaveProperty('hybrid');
  });

  it('takes jobs without a number of runs', () => {
    const { jobs } = CreateBatchRequest.parse(body({ jobs: [{}, { runs: null }, { runs: 1 }] }));
    expect(jobs.map(({ runs }) => runs)).toEqual([null, null, 1]);
  });

  it('keeps a backend configuration that is no JSON', () => {
    const backend_configuration = '{"default_evaluation_times": Infinity, "a": 1.0}';
    expect(CreateBatchRequest.parse(body({ backend_configuration }))).toMatchObject({ backend_configuration });
  });

  it('takes an open batch without jobs, and without a sequence', () => {
    for (const jobs of [[], null, undefined]) {
      const request = { project_id, open: true, ...(jobs !== undefined && { jobs }) };
      expect(CreateBatchRequest.parse(request)).toMatchObject({ jobs: [], open: true, sequence_builder: null });
    }
  });

  it('takes jobs with sequences of their own beside jobs with the batch’s', () => {
    const jobs = [
      { sequence: sequenceText() },
      { variables: { omega: 1 } },
      { sequence: sequenceText(), variables: {} },
    ];
    expect(faultsOf(CreateBatchRequest, body({ jobs }))).toEqual([]);
    expect(faultsOf(CreateBatchRequest, { project_id, jobs: [{ sequence }] })).toEqual([]);
  });

  it.each([
    ['no project', 'project_id', body({ project_id: undefined })],
    ['a project that is no UUID', 'project_id', body({ project_id: 'mine' })],
    ['a sequence that is no JSON', 'sequence_builder', body({ sequence_builder: '{' })],
    ['a sequence that is an object', 'sequence_builder', body({ sequence_builder: {} })],
    ['jobs that are none', 'jobs', body({ jobs: {} })],
    ['a job that is none', 'jobs.0', body({ jobs: [7] })],
    ['too many jobs', 'jobs', body({ jobs: Array.from({ length: 5_001 }, () => ({})) })],
    ['no runs', 'jobs.0.runs', body({ jobs: [{ runs: 0 }] })],
    ['runs that are no whole number', 'jobs.0.runs', body({ jobs: [{ runs: 1.5 }] })],
    ['variables that are none', 'jobs.0.variables', body({ jobs: [{ variables: [] }] })],
    [
      'variables that are too large',
      'jobs.0.variables',
      body({ jobs: [{ variables: { omega: 'x'.repeat(32_000) } }] }),
    ],
    ['a priority that is none', 'queue_priority', body({ queue_priority: 'SOON' })],
    ['a configuration that is a text', 'configuration', body({ configuration: '{}' })],
    ['a backend configuration that is an object', 'backend_configuration', body({ backend_configuration: {} })],
    ['too many tags', 'tags', body({ tags: Array.from({ length: 21 }, String) })],
    ['an answer that is no flag', 'open', body({ open: 'yes' })],
  ])('refuses %s', (_, place, value) => {
    expect(placesOf(CreateBatchRequest, value)).toEqual([place]);
  });

  it.each([
    ['no jobs in a closed batch', body({ jobs: [] }), [['jobs', 'too_short']]],
    ['no jobs in a closed batch, by leaving them out', { project_id }, [['jobs', 'too_short']]],
    [
      'jobs without any sequence',
      { project_id, jobs: [{}, { sequence }, { runs: 5 }] },
      [
        ['jobs.0.sequence', 'missing'],
        ['jobs.2.sequence', 'missing'],
      ],
    ],
    [
      'variables of a job with its own sequence',
      body({ jobs: [{ sequence, variables: { omega: 1 } }] }),
      [['jobs.0.variables', 'value_error']],
    ],
    [
      'variables that the sequence does not declare',
      body({ jobs: [{ variables: { omega: 1, delta: 2, __proto: 3 } }] }),
      [
        ['jobs.0.variables.delta', 'extra_forbidden'],
        ['jobs.0.variables.__proto', 'extra_forbidden'],
      ],
    ],
  ])('refuses %s', (_, value, faults) => {
    expect(faultsOf(CreateBatchRequest, value)).toEqual(faults);
  });

  it.each([null, 7, [], 'text'])('refuses %j, which is no object', (value) => {
    expect(placesOf(CreateBatchRequest, value)).toEqual(['']);
  });

  it('reports the faults of all parts at once', () => {
    const jobs = [
      { runs: 0 },
      { variables: { delta: 1 } },
      { sequence: '[]' },
      { sequence: '{', variables: { a: 1 } },
      7,
    ];
    const value = body({ project_id: 'mine', jobs, tags: [''], webhook: 7 });
    expect(placesOf(CreateBatchRequest, value).sort()).toEqual([
      'jobs.0.runs',
      'jobs.1.variables.delta',
      'jobs.2.sequence',
      'jobs.3.sequence',
      'jobs.3.variables',
      'jobs.4',
      'project_id',
      'tags.0',
      'webhook',
    ]);
  });

  it('says nothing of what depends on a sequence that has faults of its own', () => {
    const value = body({ sequence_builder: '{', jobs: [{ variables: { delta: 1 } }, {}] });
    expect(placesOf(CreateBatchRequest, value)).toEqual(['sequence_builder']);
  });

  it('reports at most 10,000 faults between jobs and sequences, and no long names', () => {
    const variables = Object.fromEntries(Array.from({ length: 80 }, (_, n) => [`${'x'.repeat(300)}${n}`, 1]));
    const parsed = CreateBatchRequest.safeParse(body({ jobs: Array.from({ length: 200 }, () => ({ variables })) }));
    const issues = parsed.error?.issues ?? [];
    expect(issues).toHaveLength(10_000);
    expect(Math.max(...issues.map(({ path }) => String(path.at(-1)).length))).toBe(256);
  });
});

describe('AddJobsRequest', () => {
  it('takes jobs whose sequence is the batch’s', () => {
    expect(AddJobsRequest.parse([{ runs: 5, variables: { delta: 1 } }])).toEqual([
      { runs: 5, variables: { delta: 1 }, sequence: null },
    ]);
  });

  it.each([
    ['no jobs', [], [['', 'too_short']]],
    ['variables of a job with its own sequence', [{ sequence, variables: { a: 1 } }], [['0.variables', 'value_error']]],
  ])('refuses %s', (_, value, faults) => {
    expect(faultsOf(AddJobsRequest, value)).toEqual(faults);
  });

  it.each([[{ jobs: [{}] }], [null], ['[]']])('refuses %j', (value) => {
    expect(placesOf(AddJobsRequest, value)).toEqual(['']);
  });
});

describe('CancelBatchesRequest', () => {
  it('takes up to 100 ids in any spelling, each once', () => {
    const batch_ids = Array.from({ length: 100 }, (_, n) => uuid('b', n));
    expect(CancelBatchesRequest.parse({ batch_ids })).toEqual({ batch_ids });
    const spellings = [uuid('b', 1), uuid('b', 1).toUpperCase(), uuid('b', 1).replaceAll('-', '')];
    expect(CancelBatchesRequest.parse({ batch_ids: spellings })).toEqual({ batch_ids: [uuid('b', 1)] });
    expect(placesOf(CancelBatchesRequest, { batch_ids: [...batch_ids, uuid('b', 100)] })).toEqual(['batch_ids']);
    expect(placesOf(CancelBatchesRequest, { batch_ids: ['b1', uuid('b', 1), 7] })).toEqual([
      'batch_ids.0',
      'batch_ids.2',
    ]);
    expect(placesOf(CancelBatchesRequest, {})).toEqual(['batch_ids']);
  });
});

describe('TagsRequest', () => {
  it('takes texts, each once', () => {
    expect(TagsRequest.parse(['b', 'a', 'b'])).toEqual(['b', 'a']);
    expect(TagsRequest.parse([])).toEqual([]);
    expect(placesOf(TagsRequest, ['a', 7])).toEqual(['1']);
    expect(placesOf(TagsRequest, 'a')).toEqual(['']);
  });
});
