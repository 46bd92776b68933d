import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { maxJobsOfBatch } from '../../../functions/data/lifecycle/creation.ts';
import { InvalidInput } from '../../../functions/errors.ts';
import type { Operation } from '../../../functions/http/operation.ts';
import { fitsOneAnswer, success } from '../../../functions/http/reply.ts';
import { type Route, type RouteName, routes } from '../../../functions/routes.ts';
import type { BatchDetails } from '../../../functions/schemas/batch.ts';
import { inputFaults } from '../../../functions/schemas/input-faults.ts';
import { jsonBody } from '../../../functions/schemas/json-body.ts';
import { LifecycleEvent } from '../../../functions/schemas/lifecycle-event.ts';
import { NewBatch } from '../../../functions/schemas/new-batch.ts';
import { SequenceText } from '../../../functions/schemas/sequence.ts';
import { escapedBytes } from '../../../functions/values/json-text.ts';
import { loadOperation } from '../../../infra/openapi/load-operation.ts';
import { deep } from '../../support/depth.ts';

const operations = await Promise.all(
  Object.entries<Route>(routes)
    .filter(([, { page }]) => page !== true)
    .map(async ([name]) => [name, (await loadOperation(name as RouteName)) as Operation] as const),
);
const bodies = operations.flatMap(([name, { body }]) => (body === undefined ? [] : [[name, body] as const]));
const bodyOf = new Map<string, z.ZodMiniType>([...bodies, ['an event', jsonBody(LifecycleEvent)]]);

/** Of a schema: what it reads, and the schemas within it. */
type Definition = z.core.$ZodTypeDef &
  Partial<Record<'in' | 'out' | 'innerType' | 'element', z.core.$ZodType>> & {
    readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
    readonly options?: readonly z.core.$ZodType[];
  };

interface List {
  readonly path: readonly (string | number)[];
  readonly schema: z.core.$ZodType;
}

/** The lists within a schema. Throws at any other value without a bound on its parts. */
function listsIn(schema: z.core.$ZodType, path: List['path'] = []): List[] {
  const definition = schema._zod.def as Definition;
  if (['record', 'map', 'set', 'lazy'].includes(definition.type))
    throw new Error(`${path.join('.')}: ${definition.type}`);
  const { in: before, out, innerType, element, shape = {}, options = [] } = definition;
  return [
    ...(element === undefined ? [] : [{ path, schema }, ...listsIn(element, [...path, 0])]),
    ...[before, out, innerType, ...options].flatMap((inner) => (inner === undefined ? [] : listsIn(inner, path))),
    ...Object.entries(shape).flatMap(([name, member]) => listsIn(member, [...path, name])),
  ];
}

function maxLengthOf({ _zod: { def } }: z.core.$ZodType): number {
  const checks = (def.checks ?? []).map((check) => check._zod.def as { check: string; maximum?: number });
  return checks.find(({ check }) => check === 'max_length')?.maximum ?? Number.POSITIVE_INFINITY;
}

/** More than the bound of any list. */
const many = deep ? 100_000 : 20_000;
const manyNames = Object.fromEntries(Array.from({ length: many }, (_, at) => [`a name of a member ${at}`, at]));
const wrong = Array.from({ length: many }, () => null);

/** A value that has `content` at this path, and one item in each list on the way. */
function valueAt(path: List['path'], content: unknown, around: object = {}): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return content;
  const inner = valueAt(rest, content);
  return typeof first === 'number' ? [inner] : { ...around, [first]: inner };
}

const faultsOf = (name: string, content: unknown) => {
  const { error } = bodyOf.get(name)!.safeParse(JSON.stringify(content));
  return new InvalidInput(error === undefined ? [] : inputFaults('body', error));
};

describe('every list in a body', () => {
  const lists = [...bodyOf].flatMap(([name, body]) => listsIn(body).map((list) => ({ name, ...list })));

  it('is found by this test', () => {
    const found = new Set(lists.map(({ name, path }) => `${name}: ${path.join('.')}`));
    for (const place of [
      'createBatch: jobs',
      'createBatch: tags',
      'addJobs: ',
      'cancelBatches: batch_ids',
      'setTags: ',
      'reportJob: errors',
      'an event: data.jobs',
      'an event: data.tags',
      'an event: data.errors',
    ]) {
      expect(found).toContain(place);
    }
  });

  it.each(lists)('has a bound, and no item of a longer one is read: $name $path', ({ schema }) => {
    const maximum = maxLengthOf(schema);
    expect(maximum).toBeLessThanOrEqual(5_000);
    const tooLong = Array.from({ length: maximum + 1 }, () => null);
    expect(z.safeParse(schema, tooLong).error?.issues).toHaveLength(1);
  });

  it.each(lists)('is one fault where it has $name $path of very many wrong items', ({ name, path }) => {
    const events = ['batch.created', 'jobs.added', 'batch.updated', 'job.updated'].map((type) => ({ type }));
    for (const around of name === 'an event' ? events : [{}]) {
      const { faults } = faultsOf(name, valueAt(path, wrong, around));
      expect(faults.length).toBeGreaterThan(0);
      expect(faults.length).toBeLessThan(15);
    }
  });
});

describe('the largest batch', () => {
  const id = randomUUID();
  const text = (characters: number) => '€'.repeat(characters);
  /** The largest text with this begin and end that a schema takes. */
  const largest = (takes: (content: string) => boolean, most: number, begin = '', end = '') => {
    let [fits, tooLarge] = [0, most];
    while (tooLarge - fits > 1) {
      const middle = (fits + tooLarge) >> 1;
      if (takes(begin + 'x'.repeat(middle) + end)) fits = middle;
      else tooLarge = middle;
    }
    return begin + 'x'.repeat(fits) + end;
  };
  const fields = {
    id,
    project_id: id,
    device_type: text(128),
    queue_priority: 'CRITICAL',
    tags: Array.from({ length: 20 }, (_, at) => text(255) + String.fromCharCode(0x20a0 + at)),
    webhook: text(2_048),
    device_status: text(256),
  };
  const takes = (more: object) => NewBatch.safeParse({ ...fields, ...more }).success;
  const configuration = { a: largest((a) => takes({ configuration: { a } }), 20_000) };
  const backend_configuration = largest((content) => takes({ backend_configuration: content }), 40_000);

  it('fits into an answer with the largest sequence and the ids of its jobs', () => {
    expect(takes({ configuration, backend_configuration })).toBe(true);
    const sequence = largest((content) => SequenceText.safeParse(content).success, 6_000_000, '{"a":"', '"}');
    expect(escapedBytes(sequence)).toBe(5 * 1024 * 1024);
    expect(SequenceText.safeParse(`${sequence.slice(0, -2)}x"}`).success).toBe(false);
    const counts = { PENDING: 20_000, RUNNING: 0, DONE: 0, ERROR: 0, CANCELED: 0, CANCELING: 0 };
    const time = '2026-11-18T12:54:00.000387Z';
    const details = {
      ...{ ...fields, configuration, backend_configuration, parent_id: id, user_id: text(256) },
      ...{ status: 'CANCELING', open: false, complete: true, jobs_count: 20_000, jobs_count_per_status: counts },
      ...{ created_at: time, updated_at: time, start_datetime: time, end_datetime: time, erased_at: time },
      sequence_builder: sequence,
      job_ids: Array.from({ length: maxJobsOfBatch }, () => id),
    } satisfies Record<keyof Omit<BatchDetails, 'jobs'>, unknown>;
    expect(fitsOneAnswer(success(details))).toBe(true);
    const more = Array.from({ length: maxJobsOfBatch * 1.3 }, () => id);
    expect(fitsOneAnswer(success({ ...details, job_ids: more }))).toBe(false);
  });
});

describe('a body that is wrong in very many places', () => {
  it.each([...bodyOf.keys()])('has at most 100 faults, in few words: %s', (name) => {
    for (const content of [wrong, manyNames, { data: manyNames }, { data: {}, type: 'job.updated', ...manyNames }]) {
      const { faults, message } = faultsOf(name, content);
      expect(faults.length).toBeLessThanOrEqual(100);
      expect(message.length).toBeLessThan(20_000);
    }
  });

  it('counts the faults that it does not list', () => {
    const jobs = Array.from({ length: 5_000 }, () => ({ runs: 0 }));
    const { faults } = faultsOf('addJobs', jobs);
    expect(faults).toHaveLength(100);
    expect(faults[98]).toMatchObject({ loc: ['body', 98, 'runs'], type: 'greater_than_equal' });
    const msg = 'At least 4901 more faults, from here on';
    expect(faults[99]).toEqual({ loc: ['body', 99, 'runs'], msg, type: 'more_faults' });
    expect(faultsOf('addJobs', jobs.slice(0, 100)).faults).toHaveLength(100);
  });
});
