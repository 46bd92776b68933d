import { describe, expect, it } from 'vitest';
import { pageReply } from '../../../functions/http/reply.ts';
import { Batch } from '../../../functions/schemas/batch.ts';
import { Job } from '../../../functions/schemas/job.ts';
import { LifecycleEvent } from '../../../functions/schemas/lifecycle-event.ts';
import type { NewBatch, NewJob } from '../../../functions/schemas/new-batch.ts';
import { escapedBytes } from '../../../functions/values/json-text.ts';
import { uuid } from '../../support/new-batch.ts';

const event = (type: string, data: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  id: 'event-1',
  type,
  time: '2026-03-01T00:00:00Z',
  user_id: 'auth0|user',
  data,
  ...more,
});
const batch = { id: uuid('b', 1), project_id: uuid('c', 1), device_type: 'FRESNEL', queue_priority: 'HIGH' };
const job = { id: uuid('a', 1), runs: 100 };

const faultOf = (value: unknown) => {
  const parsed = LifecycleEvent.safeParse(value);
  return parsed.success ? undefined : parsed.error.issues[0]?.path.join('.');
};

describe('LifecycleEvent', () => {
  it('fills in what a batch.created leaves out', () => {
    expect(LifecycleEvent.parse(event('batch.created', { ...batch, jobs: [job] })).data).toEqual({
      ...batch,
      parent_id: null,
      open: false,
      tags: [],
      webhook: null,
      configuration: null,
      backend_configuration: null,
      device_status: null,
      jobs: [{ ...job, origin: 'UNKNOWN', parent_id: null, variables: null }],
    });
  });

  it('leaves out of an update what is not given', () => {
    const update = LifecycleEvent.parse(event('batch.updated', { batch_id: uuid('b', 1), status: 'DONE' }));
    expect(update.data).toEqual({ batch_id: uuid('b', 1), status: 'DONE' });
  });

  it('keeps every member of what the client configured', () => {
    const [configuration, variables] = ['{"__proto__":{"a":[1]},"constructor":null}', '{"__proto__":1}'].map((text) =>
      JSON.parse(text),
    );
    const created = event('batch.created', { ...batch, configuration, jobs: [{ ...job, variables }] });
    expect(JSON.stringify(LifecycleEvent.parse(created).data)).toContain(
      '"configuration":{"__proto__":{"a":[1]},"constructor":null}',
    );
    expect(JSON.stringify(LifecycleEvent.parse(created).data)).toContain('"variables":{"__proto__":1}');
  });

  it('makes ids and times canonical', () => {
    const parsed = LifecycleEvent.parse(
      event(
        'job.updated',
        { job_id: `urn:uuid:${uuid('a', 1).toUpperCase()}`, end_timestamp: '2026-03-01 01:00:00+01:00' },
        { time: '2026-03-01' },
      ),
    );
    expect(parsed).toMatchObject({
      time: '2026-03-01T00:00:00.000000Z',
      data: { job_id: uuid('a', 1), end_timestamp: '2026-03-01T00:00:00.000000Z' },
    });
  });

  it.each([
    ['type', event('batch.deleted', {})],
    ['id', event('batch.created', batch, { id: '' })],
    ['time', event('batch.created', batch, { time: '2256-01-01' })],
    ['user_id', event('batch.created', batch, { user_id: 'x'.repeat(257) })],
    ['', event('batch.created', batch, { source: 'qpu-1' })],
    ['data.id', event('batch.created', { ...batch, id: 'b1' })],
    ['data.tags.0', event('batch.created', { ...batch, tags: [''] })],
    ['data.tags', event('batch.created', { ...batch, tags: Array.from({ length: 21 }, String) })],
    ['data.device_type', event('batch.created', { ...batch, device_type: '\udc00' })],
    ['data.device_type', event('batch.created', { ...batch, device_type: '"'.repeat(97) })],
    ['data.webhook', event('batch.created', { ...batch, webhook: '\u0001'.repeat(878) })],
    ['data.tags.1', event('batch.created', { ...batch, tags: ['a', '"'.repeat(193)] })],
    ['data.device_status', event('batch.updated', { batch_id: uuid('b', 1), device_status: '\\'.repeat(193) })],
    ['data.configuration', event('batch.created', { ...batch, configuration: { text: 'é'.repeat(6_000) } })],
    ['data.jobs', event('batch.created', { ...batch, jobs: [job, job] })],
    ['data.jobs.0.runs', event('batch.created', { ...batch, jobs: [{ ...job, runs: -1 }] })],
    ['data.jobs.0.variables', event('batch.created', { ...batch, jobs: [{ ...job, variables: [] }] })],
    ['data.jobs', event('jobs.added', { batch_id: uuid('b', 1), jobs: [] })],
    ['data.open', event('batch.updated', { batch_id: uuid('b', 1), open: true })],
    ['data.status', event('job.updated', { job_id: uuid('a', 1), status: 'TIMED_OUT' })],
    ['data.end_timestamp', event('job.updated', { job_id: uuid('a', 1), end_timestamp: '1969-12-31' })],
    ['data', event('job.updated', { job_id: uuid('a', 1), result: {} })],
  ])('refuses a fault in "%s"', (place, value) => {
    expect(faultOf(value)).toBe(place);
  });

  it('takes the user ids that tokens may have, and no others', () => {
    const userId = (user_id: string) => faultOf(event('batch.created', batch, { user_id }));
    for (const id of ['x', 'x'.repeat(256), '漢'.repeat(256), '"'.repeat(192)]) expect(userId(id)).toBeUndefined();
    for (const id of ['', 'x'.repeat(257), '"'.repeat(193), '\ud800']) expect(userId(id)).toBe('user_id');
  });
});

/**
 * For each kind of character, the longest text of it that fits `characters` characters and three
 * bytes for each.
 */
const longest = (character: string, characters: number) => {
  const bytes = escapedBytes(character);
  return character.repeat(Math.floor(Math.min(characters / character.length, (3 * characters) / bytes)));
};
const jsonOf = (character: string, bytes: number) => {
  const empty = escapedBytes({ a: '' });
  return { a: character.repeat(Math.floor((bytes - empty) / escapedBytes(character))) };
};

describe.each(['"', '\\', '\u0001', '\n', '漢', 'é', 'x', '😀'])('the largest rows of %j', (character) => {
  const user_id = longest(character, 256);
  const times = { created_at: '2026-03-01T00:00:00.000000Z', updated_at: '2026-03-01T00:00:00.000000Z' };

  it('are accepted, and 100 of them fit into one answer: batches', () => {
    const tags = Array.from({ length: 20 }, (_, at) => longest(character, 256 - character.length - 2) + String(at));
    const { data } = LifecycleEvent.parse(
      event(
        'batch.created',
        {
          ...batch,
          parent_id: uuid('b', 2),
          device_type: longest(character, 128),
          tags,
          webhook: longest(character, 2_048),
          configuration: jsonOf(character, 12_000),
          backend_configuration: character.repeat(Math.floor(24_000 / escapedBytes(character))),
          device_status: longest(character, 256),
        },
        { user_id },
      ),
    );
    const { jobs, ...row } = data as NewBatch;
    const statuses = { PENDING: 5_000, RUNNING: 5_000, DONE: 5_000, ERROR: 5_000, CANCELED: 5_000, CANCELING: 5_000 };
    const item = {
      ...row,
      user_id,
      ...times,
      start_datetime: times.created_at,
      end_datetime: times.created_at,
      erased_at: times.created_at,
      status: 'CANCELING',
      complete: true,
      jobs_count: 30_000,
      jobs_count_per_status: statuses,
    };
    expect(Object.keys(item).sort()).toEqual(Object.keys(Batch().shape).sort());
    expect(() => pageReply({ offset: 0, limit: 100 }, { items: Array(100).fill(item), total: 1e9 })).not.toThrow();
  });

  it('are accepted, and 100 of them fit into one answer: jobs', () => {
    const added = { batch_id: uuid('b', 1), jobs: [{ ...job, variables: jsonOf(character, 32_000) }] };
    const { data } = LifecycleEvent.parse(event('jobs.added', added, { user_id }));
    const errors = [jsonOf(character, 15_000).a];
    LifecycleEvent.parse(event('job.updated', { job_id: job.id, errors: errors.map((text) => text.slice(0, 10_000)) }));
    const [row] = (data as { jobs: NewJob[] }).jobs;
    const item = {
      ...row,
      user_id,
      ...times,
      batch_id: uuid('b', 1),
      project_id: uuid('c', 1),
      status: 'CANCELING',
      creation_order: 1e9,
      start_timestamp: times.created_at,
      end_timestamp: times.created_at,
      errors: [jsonOf(character, 16_000).a],
      calibration: 999_999_999,
    };
    expect(Object.keys(item).sort()).toEqual(Object.keys(Job().shape).sort());
    expect(() => pageReply({ offset: 0, limit: 100 }, { items: Array(100).fill(item), total: 1e9 })).not.toThrow();
  });
});
