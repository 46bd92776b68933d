import { describe, expect, it } from 'vitest';
import { LifecycleEvent } from '../../../functions/schemas/lifecycle-event.ts';
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
});
