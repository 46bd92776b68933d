import { describe, expect, it } from 'vitest';
import { creationChanges } from '../../../../functions/data/lifecycle/creation.ts';
import { eventChanges } from '../../../../functions/data/lifecycle/event-changes.ts';
import { requireOwnResults, updateBatch, updateJob } from '../../../../functions/data/lifecycle/update.ts';
import { CorruptData, InvalidInput, NotFound } from '../../../../functions/errors.ts';
import { LifecycleEvent } from '../../../../functions/schemas/lifecycle-event.ts';
import { applyAll, draftOf, store, userId } from '../../../support/drafts.ts';
import { newBatch, newJob, uuid } from '../../../support/new-batch.ts';

const now = Date.parse('2026-03-01T00:00:00Z');
const time = '2026-03-01T00:00:00.000000Z';
const { jobs, ...create } = newBatch(1, { jobs: [newJob(1), newJob(2)] });
const before = store(
  applyAll(
    draftOf(),
    creationChanges(userId, { batchId: create.id, create, jobs, time: '2026-02-01T00:00:00.000000Z' }),
  ),
);
const event = { id: 'e-1', digest: 'd', time };

describe('updateBatch', () => {
  it('changes the batch, at the event’s time or now', () => {
    const operation = updateBatch({ id: create.id, update: { status: 'RUNNING' }, event });
    expect(operation).toMatchObject({ batchIds: [create.id], jobIds: [], event });
    expect([...operation.apply(before).batches.values()]).toMatchObject([
      { status: 'RUNNING', updated_at: time, rev: 1 },
    ]);
    const direct = updateBatch({ id: create.id, update: { tags: ['x'] }, now: time });
    expect([...direct.apply(before).batches.values()]).toMatchObject([{ tags: ['x'], updated_at: time }]);
  });

  it('returns the same draft when nothing changes, and throws without the batch', () => {
    expect(updateBatch({ id: create.id, update: { tags: [] }, now: time }).apply(before)).toBe(before);
    const missing = updateBatch({ id: uuid('b', 9), update: {}, now: time });
    expect(() => missing.apply(before)).toThrow(NotFound);
  });
});

describe('updateJob', () => {
  const update = (content: Parameters<typeof updateJob>[0]['update'], id = newJob(1).id) =>
    updateJob({ id, update: content, event });

  it('moves the counts of the job’s batch with its status, and not the batch’s updated_at', () => {
    const operation = update({ status: 'ERROR', errors: ['lost'] });
    expect(operation).toMatchObject({ batchIds: [], jobIds: [newJob(1).id], event });
    const draft = operation.apply(before);
    expect([...draft.jobs.values()]).toMatchObject([{ status: 'ERROR', errors: ['lost'], updated_at: time, rev: 1 }]);
    expect([...draft.batches.values()]).toMatchObject([
      {
        jobs_count: 2,
        jobs_count_per_status: { PENDING: 1, RUNNING: 0, DONE: 0, ERROR: 1, CANCELED: 0, CANCELING: 0 },
        updated_at: '2026-02-01T00:00:00.000000Z',
        rev: 1,
      },
    ]);
  });

  it('keeps the time of its jobs’ latest update on the batch', () => {
    const draft = update({ start_timestamp: time }).apply(before);
    expect([...draft.batches.values()]).toMatchObject([
      { jobs_updated_at: time, updated_at: '2026-02-01T00:00:00.000000Z' },
    ]);
  });

  it('leaves the batch alone when neither status nor that time moves, and all when nothing changes', () => {
    const other = updateJob({ id: newJob(2).id, update: { start_timestamp: time }, event });
    const draft = update({ start_timestamp: time }).apply(store(other.apply(before)));
    expect([draft.jobs.size, draft.batches.size]).toEqual([1, 0]);
    const repeated = store(update({ status: 'PENDING' }).apply(before));
    expect(update({ status: 'PENDING' }).apply(repeated)).toBe(repeated);
  });

  it('throws without the job, and without its batch', () => {
    expect(() => update({}, uuid('a', 9)).apply(before)).toThrow(NotFound);
    const orphan = draftOf({ jobs: [...before.stored.jobs.values()] });
    expect(() => update({ status: 'DONE' }).apply(orphan)).toThrow(CorruptData);
  });
});

describe('requireOwnResults', () => {
  it('takes the owner’s keys, and no key', () => {
    for (const key of ['results/ada/1', null, undefined]) expect(requireOwnResults('ada', key, [])).toBeUndefined();
  });

  it('names the place of another key', () => {
    const faultsOf = () => requireOwnResults('ada', 'results/bob/1', ['body', 'results_key']);
    expect(faultsOf).toThrow(InvalidInput);
    expect(faultsOf).toThrow('body.results_key: Input should be a key below results/ada/');
  });
});

describe('eventChanges', () => {
  const eventOf = (type: string, data: unknown, at = time) =>
    LifecycleEvent.parse({ id: 'e-1', type, time: at, user_id: userId, data });
  const operationsOf = (type: string, data: unknown) => eventChanges(userId, eventOf(type, data), now);

  it.each([
    ['batch.created', newBatch(5, { jobs: [newJob(5)] }), [newBatch(5).id], [newJob(5).id]],
    ['jobs.added', { batch_id: newBatch(1).id, jobs: [newJob(5)] }, [newBatch(1).id], [newJob(5).id]],
    ['batch.updated', { batch_id: newBatch(1).id, tags: ['x'] }, [newBatch(1).id], []],
    ['job.updated', { job_id: newJob(1).id, status: 'DONE' }, [], [newJob(1).id]],
  ])('makes of %s an operation on what it names, that is processed once', (type, data, batchIds, jobIds) => {
    const [operation, ...others] = operationsOf(type, data);
    expect(others).toEqual([]);
    expect(operation).toMatchObject({ batchIds, jobIds, event: { id: 'e-1', time } });
    const draft = operation!.apply(type === 'jobs.added' ? openBatch() : before);
    expect(draft.batches.size + draft.jobs.size).toBeGreaterThan(0);
  });

  const openBatch = () => {
    const row = before.stored.batches.get(create.id)!;
    return draftOf({ batches: [{ ...row, open: true }], heads: before.heads });
  };

  it('distinguishes events of one id by their content', () => {
    const digestOf = (tags: string[]) => operationsOf('batch.updated', { batch_id: create.id, tags })[0]!.event!.digest;
    expect(digestOf(['a'])).toBe(digestOf(['a']));
    expect(digestOf(['a'])).not.toBe(digestOf(['b']));
    expect(digestOf(['a'])).toHaveLength(43);
  });

  it('takes an event of the next 5 minutes, and none from later', () => {
    const ahead = (at: string) => () =>
      eventChanges(userId, eventOf('batch.updated', { batch_id: create.id }, at), now);
    expect(ahead('2026-03-01T00:05:00Z')()).toHaveLength(1);
    expect(ahead('2026-03-01T00:05:00.000001Z')).toThrow('body.time: Input should be at most 300 s in the future');
  });

  it('names the place of results that are not the owner’s', () => {
    const data = { job_id: newJob(1).id, results_key: 'results/bob/1' };
    expect(() => operationsOf('job.updated', data)).toThrow(/^body\.data\.results_key: /);
  });
});
