import { describe, expect, it } from 'vitest';
import type * as z from 'zod/mini';
import { BatchListQuery } from '../../../functions/schemas/batch-list-query.ts';
import { inputFaults } from '../../../functions/schemas/input-faults.ts';
import { JobListQuery } from '../../../functions/schemas/job-list-query.ts';
import { words } from '../../support/words.ts';

const id = '5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a';
const page = { order_by: 'created_at', order_by_direction: 'DESC', limit: 100, offset: 0 };

function faultsOf(schema: z.ZodMiniType, query: Record<string, string[]>) {
  const { error } = schema.safeParse(query);
  return error === undefined ? [] : inputFaults('query', error);
}

const lists = [
  ['BatchListQuery', BatchListQuery as z.ZodMiniType],
  ['JobListQuery', JobListQuery as z.ZodMiniType],
] as const;

describe.each(lists)('%s', (_, schema) => {
  it('asks for the newest 100 by default', () => {
    expect(schema.parse({})).toEqual(page);
  });

  it('ignores unknown parameters', () => {
    expect(schema.parse({ colour: ['x'], __proto__: ['y'], constructor: ['z'], 'limit[]': ['1'] })).toEqual(page);
  });

  it('takes the last value of a repeated scalar', () => {
    expect(schema.parse({ limit: ['x', '7'], order_by: ['nonsense', 'id'] })).toEqual({
      ...page,
      limit: 7,
      order_by: 'id',
    });
  });

  it('reads whole numbers', () => {
    // The last but one has a plus sign that was not percent-encoded.
    const limits = ['1', '100', '+5', ' 5', '007'].map((text) => schema.parse({ limit: [text] }));
    expect(limits).toEqual([1, 100, 5, 5, 7].map((limit) => ({ ...page, limit })));
  });

  it.each([
    ['limit', '0', 'greater_than', 'Input should be greater than 0'],
    ['limit', '-1', 'greater_than', 'Input should be greater than 0'],
    ['limit', '101', 'less_than', 'Input should be less than 101'],
    ['limit', '99999999999999999999999', 'less_than', 'Input should be less than 101'],
    ['limit', 'x', 'int_parsing', 'Input should be a valid integer, unable to parse string as an integer'],
    ['offset', '-1', 'greater_than_equal', 'Input should be greater than or equal to 0'],
    ['offset', '9007199254740992', 'less_than_equal', 'Input should be less than or equal to 9007199254740991'],
    ['order_by_direction', 'asc', 'enum', "Input should be 'ASC' or 'DESC'"],
    ['start_date', 'yesterday', 'datetime_parsing', 'Input should be a valid datetime'],
    ['created_after', '2026-02-30', 'datetime_parsing', 'Input should be a valid datetime'],
    ['id__starts_with', 'a'.repeat(257), 'string_too_long', 'String should have at most 256 characters'],
  ])('refuses %s=%.30s as %s', (name, text, type, msg) => {
    expect(faultsOf(schema, { [name]: [text] })).toEqual([{ loc: ['query', name], msg, type }]);
  });

  it('reads no integer from other texts', () => {
    for (const text of ['', ' ', '1.0', '1e2', '0x1', '1_000', '--1', '+', 'Infinity', 'NaN', '１', '1 2']) {
      const faults = faultsOf(schema, { limit: [text], offset: [text] });
      expect(faults.map(({ loc, type }) => [text, loc[1], type])).toEqual([
        [text, 'limit', 'int_parsing'],
        [text, 'offset', 'int_parsing'],
      ]);
    }
  });

  it('takes the largest offset that a number holds', () => {
    expect(schema.parse({ offset: [String(Number.MAX_SAFE_INTEGER)] })).toEqual({
      ...page,
      offset: Number.MAX_SAFE_INTEGER,
    });
    expect(schema.parse({ offset: ['-0'] })).toEqual(page);
  });

  it('names the place of a bad value in its array', () => {
    const query = { id: [id, 'x'], project_id: ['y'], status: ['DONE', 'DONE', 'done'] };
    expect(faultsOf(schema, query).map(({ loc, type }) => [...loc, type])).toEqual([
      ['query', 'id', 1, 'uuid_parsing'],
      ['query', 'project_id', 0, 'uuid_parsing'],
      ['query', 'status', 2, 'enum'],
    ]);
  });

  it('takes up to 100 values of a parameter', () => {
    const ids = Array.from({ length: 100 }, () => id);
    expect(schema.parse({ id: ids })).toEqual({ ...page, id: ids });
    expect(faultsOf(schema, { id: [...ids, id] })).toEqual([
      { loc: ['query', 'id'], msg: 'List should have at most 100 items', type: 'too_long' },
    ]);
  });

  it('takes up to 256 characters a value, however they are encoded', () => {
    expect(schema.parse({ user_id: ['𝄞'.repeat(256)] })).toEqual({ ...page, user_id: ['𝄞'.repeat(256)] });
    expect(faultsOf(schema, { user_id: ['x', '𝄞'.repeat(257)] })).toEqual([
      { loc: ['query', 'user_id', 1], msg: 'String should have at most 256 characters', type: 'string_too_long' },
    ]);
  });

  it('reads ids in every spelling and keeps the canonical one', () => {
    const spellings = [id.toUpperCase(), id.replaceAll('-', ''), `{${id}}`, `urn:uuid:${id}`];
    expect(schema.parse({ id: spellings, project_id: [id.toUpperCase()] })).toEqual({
      ...page,
      id: [id, id, id, id],
      project_id: [id],
    });
  });

  it('reads the first characters of an id in lower case', () => {
    expect(schema.parse({ id__starts_with: ['5D6A3F0E-'] })).toEqual({ ...page, id__starts_with: '5d6a3f0e-' });
  });

  it('reads times in any form', () => {
    const [start_date, end_date] = ['2026-11-21T00:00:00.000000Z', '2026-11-21T01:59:36.000000Z'];
    const query = { start_date: ['2026-11-21'], end_date: ['2026-11-21T02:59:36 01:00'] };
    expect(schema.parse(query)).toEqual({ ...page, start_date, end_date });
  });

  it('reports every fault of a query at once', () => {
    const faults = faultsOf(schema, { limit: ['0'], offset: ['x'], order_by: ['x'], status: ['x'], start_date: ['x'] });
    expect(faults.map(({ loc }) => loc[1])).toEqual(['order_by', 'limit', 'offset', 'status', 'start_date']);
  });
});

describe('BatchListQuery', () => {
  it('reads every filter', () => {
    const query = {
      order_by: ['jobs_count'],
      order_by_direction: ['ASC'],
      limit: ['3'],
      offset: ['6'],
      id: [id],
      id__starts_with: ['5d'],
      project_id: [id],
      user_id: ['auth0|1', 'me'],
      device_type: ['EMU_FREE', 'a new one'],
      status: ['PENDING', 'TIMED_OUT'],
      open: ['True'],
      min_jobs: ['-3'],
      max_jobs: ['12'],
      start_date: ['2026-01-01'],
      end_date: ['2026-02-01'],
      queue_priority: ['CRITICAL', 'FREE'],
      tag: ['a tag'],
    };
    expect(BatchListQuery.parse(query)).toEqual({
      order_by: 'jobs_count',
      order_by_direction: 'ASC',
      limit: 3,
      offset: 6,
      id: [id],
      id__starts_with: '5d',
      project_id: [id],
      user_id: ['auth0|1', 'me'],
      device_type: ['EMU_FREE', 'a new one'],
      status: ['PENDING', 'TIMED_OUT'],
      open: true,
      min_jobs: -3,
      max_jobs: 12,
      start_date: '2026-01-01T00:00:00.000000Z',
      end_date: '2026-02-01T00:00:00.000000Z',
      queue_priority: ['CRITICAL', 'FREE'],
      tag: ['a tag'],
    });
  });

  it('orders by any of its columns', () => {
    const columns = words(`
      created_at updated_at start_datetime end_datetime id status device_type project_id
      queue_priority jobs_count open complete start_date end_date user_id
    `);
    const orderOf = (order_by: string) => BatchListQuery.parse({ order_by: [order_by] });
    expect(columns.map(orderOf)).toEqual(columns.map((order_by) => ({ ...page, order_by })));
  });

  it('orders by nothing else', () => {
    for (const order_by of ['creation_order', 'ordered_id', 'CREATED_AT', '', 'jobs', 'seq', 'tag']) {
      expect(faultsOf(BatchListQuery, { order_by: [order_by] })).toMatchObject([
        { loc: ['query', 'order_by'], type: 'enum' },
      ]);
    }
  });

  it('reads booleans in many spellings', () => {
    const open = (text: string) => BatchListQuery.parse({ open: [text] }).open;
    const complete = (text: string) => BatchListQuery.parse({ complete: [text] }).open;
    const [yes, no] = [words('true True TRUE 1 yes on t Y'), words('false False FALSE 0 no off f N')];
    expect([...yes.map(open), ...no.map(complete)]).toEqual(Array(16).fill(true));
    expect([...no.map(open), ...yes.map(complete)]).toEqual(Array(16).fill(false));
    for (const text of ['', '2', 'tru', 'null', ' true']) {
      const faults = faultsOf(BatchListQuery, { open: [text], complete: [text] });
      expect(faults.map(({ loc, type }) => [loc[1], type])).toEqual([
        ['complete', 'bool_parsing'],
        ['open', 'bool_parsing'],
      ]);
    }
  });

  it('says what is no boolean', () => {
    expect(faultsOf(BatchListQuery, { open: ['maybe'] })).toEqual([
      {
        loc: ['query', 'open'],
        msg: 'Input should be a valid boolean, unable to interpret input',
        type: 'bool_parsing',
      },
    ]);
  });

  it('holds both complete and open: filters that contradict each other match nothing', () => {
    expect(BatchListQuery.parse({ complete: ['1'], open: ['0'] })).toEqual({ ...page, open: false });
    expect(BatchListQuery.parse({ complete: ['0'], open: ['1'] })).toEqual({ ...page, open: true });
    expect(BatchListQuery.parse({ complete: ['1'], open: ['1'], id: [id] })).toEqual({ ...page, open: true, id: [] });
    expect(BatchListQuery.parse({ complete: ['0'], open: ['0'] })).toEqual({ ...page, open: false, id: [] });
  });

  it('refuses unknown statuses and priorities', () => {
    expect(faultsOf(BatchListQuery, { status: ['WAITING'], queue_priority: ['LOW', 'low'] })).toEqual([
      {
        loc: ['query', 'status', 0],
        msg: "Input should be 'PENDING', 'RUNNING', 'DONE', 'CANCELED', 'CANCELING', 'TIMED_OUT', 'ERROR' or 'PAUSED'",
        type: 'enum',
      },
      {
        loc: ['query', 'queue_priority', 1],
        msg: "Input should be 'CRITICAL', 'HIGH', 'MEDIUM', 'LOW' or 'FREE'",
        type: 'enum',
      },
    ]);
  });

  it('bounds the number of jobs by whole numbers', () => {
    expect(
      faultsOf(BatchListQuery, { min_jobs: ['1.5'], max_jobs: ['9'.repeat(30)] }).map(({ loc, type }) => [
        ...loc,
        type,
      ]),
    ).toEqual([
      ['query', 'min_jobs', 'int_parsing'],
      ['query', 'max_jobs', 'less_than_equal'],
    ]);
  });
});

describe('JobListQuery', () => {
  it('reads every filter', () => {
    const query = {
      order_by: ['runs'],
      order_by_direction: ['ASC'],
      id: [id],
      id__starts_with: ['5D'],
      batch_id: [id.toUpperCase()],
      project_id: [id],
      user_id: ['me'],
      status: ['PENDING', 'CANCELING'],
      origin: ['CLIENT', 'OVH'],
      min_runs: ['1'],
      max_runs: ['+1000'],
      errors: ['False'],
      start_date: ['2026-01-01'],
      end_date: ['2026-02-01'],
    };
    expect(JobListQuery.parse(query)).toEqual({
      ...page,
      order_by: 'runs',
      order_by_direction: 'ASC',
      id: [id],
      id__starts_with: '5d',
      batch_id: [id],
      project_id: [id],
      user_id: ['me'],
      status: ['PENDING', 'CANCELING'],
      origin: ['CLIENT', 'OVH'],
      min_runs: 1,
      max_runs: 1000,
      errors: false,
      start_date: '2026-01-01T00:00:00.000000Z',
      end_date: '2026-02-01T00:00:00.000000Z',
    });
  });

  it('orders by any of its columns', () => {
    const columns = words(`
      created_at updated_at creation_order start_timestamp end_timestamp id batch_id project_id
      status runs origin ordered_id start_date end_date user_id
    `);
    const orderOf = (order_by: string) => JobListQuery.parse({ order_by: [order_by] });
    expect(columns.map(orderOf)).toEqual(columns.map((order_by) => ({ ...page, order_by })));
  });

  it('refuses what it does not know', () => {
    const query = {
      order_by: ['start_datetime'],
      batch_id: ['x'],
      status: ['PAUSED'],
      origin: ['client'],
      errors: ['none'],
    };
    expect(faultsOf(JobListQuery, query).map(({ loc, type }) => [...loc, type])).toEqual([
      ['query', 'order_by', 'enum'],
      ['query', 'batch_id', 0, 'uuid_parsing'],
      ['query', 'status', 0, 'enum'],
      ['query', 'origin', 0, 'enum'],
      ['query', 'errors', 'bool_parsing'],
    ]);
  });
});
