import { describe, expect, it } from 'vitest';
import { type Creation, creationChanges, maxJobsOfBatch } from '../../../../functions/data/lifecycle/creation.ts';
import type { Draft } from '../../../../functions/data/lifecycle/draft.ts';
import { firstPendingPosition } from '../../../../functions/data/lifecycle/pending-calls.ts';
import type { BatchRow } from '../../../../functions/schemas/batch.ts';
import type { NewBatch } from '../../../../functions/schemas/new-batch.ts';
import { applyAll, draftOf, headAfter, store, userId } from '../../../support/drafts.ts';
import { newBatch, newJob, uuid } from '../../../support/new-batch.ts';

const at = (second: number) => `2026-03-01T00:00:${String(second).padStart(2, '0')}.000000Z`;
const event = { id: 'e-1', digest: 'd', time: at(10) };
const jobsOf = (count: number, first = 0) => Array.from({ length: count }, (_, at) => newJob(first + at));

function creationOf({ jobs, ...create }: NewBatch, time = at(10)): Creation {
  return { batchId: create.id, create, jobs, time };
}

function create(draft: Draft, batch: NewBatch, time?: string): Draft {
  return applyAll(draft, creationChanges(userId, creationOf(batch, time)));
}

function add(draft: Draft, number: number, jobs: Creation['jobs'], time = at(20)): Draft {
  return applyAll(draft, creationChanges(userId, { batchId: newBatch(number).id, jobs, time }));
}

const batchesIn = (draft: Draft) => [...draft.batches.values()];
const jobsIn = (draft: Draft) => [...draft.jobs.values()];

describe('a batch', () => {
  const [row] = batchesIn(create(draftOf(), newBatch(1, { open: true }))) as [BatchRow];
  const { id } = row;
  const withJobsCount = (jobs_count: number) => draftOf({ batches: [{ ...row, jobs_count }] });

  it('takes 20,000 jobs, and no more: an addition is refused before it begins', () => {
    expect(batchesIn(add(withJobsCount(maxJobsOfBatch - 15), 1, jobsOf(15)))[0]?.jobs_count).toBe(20_000);
    const changes = creationChanges(userId, { batchId: id, jobs: jobsOf(16), time: at(20), callId: 'call' });
    expect(changes).toHaveLength(2);
    const full = 'has 19985 jobs and may have 20000: there is no room for 16 more.';
    expect(() => changes[0]?.apply(withJobsCount(maxJobsOfBatch - 15))).toThrow(full);
    expect(() => add(withJobsCount(maxJobsOfBatch - 15), 1, jobsOf(16))).toThrow(full);
  });

  it('takes no more than 20,000 from a call that others have overtaken', () => {
    const begun = applyAll(withJobsCount(100), [
      creationChanges(userId, { batchId: id, jobs: jobsOf(16), time: at(20), callId: 'call' })[0]!,
    ]);
    const batch = { ...batchesIn(begun)[0]!, jobs_count: maxJobsOfBatch - 5 };
    const later = { ...begun, batches: new Map([[id, batch]]) };
    const [, last] = creationChanges(userId, { batchId: id, jobs: jobsOf(16), time: at(20), callId: 'call' });
    expect(() => last?.apply(later)).toThrow('there is no room for 6 more');
  });
});

describe('a creation of a new batch', () => {
  it('makes complete rows of the batch and its jobs', () => {
    const content = {
      parent_id: uuid('d', 1),
      configuration: { shots: 1 },
      backend_configuration: 'text',
      webhook: 'https://example.org/',
      device_status: 'UP',
    };
    const job = newJob(7, { parent_id: uuid('d', 2), runs: null, origin: 'AZURE', variables: { omega: [1] } });
    const draft = create(draftOf(), newBatch(1, { ...content, tags: ['a'], open: true, jobs: [newJob(6), job] }));
    expect(batchesIn(draft)).toEqual([
      {
        ...content,
        id: uuid('b', 1),
        user_id: userId,
        project_id: uuid('c', 1),
        device_type: 'FRESNEL',
        queue_priority: 'LOW',
        configuration: '{"shots":1}',
        tags: ['a'],
        erased_at: null,
        open: true,
        status: 'PENDING',
        jobs_count: 2,
        jobs_count_per_status: { PENDING: 2, RUNNING: 0, DONE: 0, ERROR: 0, CANCELED: 0, CANCELING: 0 },
        created_at: at(10),
        updated_at: at(10),
        start_datetime: null,
        end_datetime: null,
        seq: 0,
        rev: 0,
        written_at: {},
      },
    ]);
    const common = {
      user_id: userId,
      batch_id: uuid('b', 1),
      project_id: uuid('c', 1),
      status: 'PENDING',
      start_timestamp: null,
      end_timestamp: null,
      errors: null,
      results_key: null,
      rev: 0,
      written_at: {},
    };
    expect(jobsIn(draft)).toMatchObject([
      { ...common, id: uuid('a', 6), parent_id: null, runs: 100, variables: null, creation_order: 0, seq: 0 },
      { ...common, id: uuid('a', 7), parent_id: uuid('d', 2), runs: null, origin: 'AZURE', creation_order: 1, seq: 1 },
    ]);
    expect(jobsIn(draft)[1]).toMatchObject({
      variables: '{"omega":[1]}',
      created_at: '2026-03-01T00:00:10.000001Z',
      updated_at: '2026-03-01T00:00:10.000001Z',
    });
  });

  it('takes the next places of the heads, and adds its texts to their dictionaries', () => {
    const heads = { batch: headAfter(5, at(1)), job: headAfter(9, at(30)) };
    const draft = create(draftOf({ heads }), newBatch(1, { jobs: [newJob(1)] }));
    expect(batchesIn(draft)[0]).toMatchObject({ seq: 5, created_at: at(10) });
    expect(jobsIn(draft)[0]).toMatchObject({ seq: 9, created_at: '2026-03-01T00:00:30.000001Z' });
    expect(draft.heads.batch).toMatchObject({ next_seq: 6, last_created_at: at(10) });
    expect(Object.values(draft.heads.batch.dictionaries).flat()).toEqual(
      expect.arrayContaining(['FRESNEL', uuid('c', 1)]),
    );
    expect(draft.heads.job).toMatchObject({ next_seq: 10, last_created_at: '2026-03-01T00:00:30.000001Z' });
  });

  it('refuses a job of another batch', () => {
    const draft = store(create(draftOf(), newBatch(1, { jobs: [newJob(1)] })));
    expect(() => create(draft, newBatch(2, { jobs: [newJob(1)] }))).toThrow('exists with another batch_id');
  });
});

describe('a creation with more than 10 jobs', () => {
  const batch = newBatch(1, { jobs: jobsOf(24) });
  const operations = creationChanges(userId, creationOf(batch), event);

  it('is several operations, and the last one carries the event', () => {
    expect(operations.map(({ jobIds }) => jobIds.length)).toEqual([10, 10, 4]);
    expect(operations.flatMap(({ jobIds }) => jobIds)).toEqual(batch.jobs.map(({ id }) => id));
    expect(operations.map((operation) => [operation.batchIds, operation.event])).toEqual([
      [[batch.id], undefined],
      [[batch.id], undefined],
      [[batch.id], event],
    ]);
    expect(creationChanges(userId, creationOf({ ...batch, jobs: jobsOf(10) }), event)).toHaveLength(1);
  });

  it('leaves the batch incomplete until the last', () => {
    let draft = draftOf();
    const seen = operations.map((operation) => {
      draft = store(operation.apply(draft));
      const row = draft.stored.batches.get(batch.id)!;
      return [row.creating, row.jobs_count, row.jobs_count_per_status.PENDING, row.rev];
    });
    expect(seen).toEqual([
      [true, 10, 10, 0],
      [true, 20, 20, 1],
      [undefined, 24, 24, 2],
    ]);
    expect([...draft.stored.jobs.values()].map((row) => row.creation_order)).toEqual([...Array(24).keys()]);
  });

  it('does what is left when some of it was done', () => {
    const half = store(operations[0]!.apply(draftOf()));
    const draft = applyAll(half, operations);
    expect(jobsIn(draft).map(({ id }) => id)).toEqual(batch.jobs.slice(10).map(({ id }) => id));
    expect(batchesIn(draft)[0]).not.toHaveProperty('creating');
    expect(applyAll(store(draft), operations).batches.size).toBe(0);
  });

  it('lets others add jobs in between, and stays incomplete', () => {
    const half = store(operations[0]!.apply(draftOf()));
    const open = { ...half.stored.batches.get(batch.id)!, open: true };
    const grown = add(draftOf({ ...half.stored, batches: [open], jobs: [], heads: half.heads }), 1, [newJob(500)]);
    expect(batchesIn(grown)[0]).toMatchObject({ creating: true, jobs_count: 11 });
  });
});

describe('the halves of a creation', () => {
  it('are the same creation in two operations', () => {
    const [whole] = creationChanges(userId, creationOf(newBatch(1, { jobs: jobsOf(5) })), event);
    const [first, second] = whole!.split!()!;
    expect([first.jobIds.length, first.event, second.jobIds.length, second.event]).toEqual([2, undefined, 3, event]);
    const half = first.apply(draftOf());
    expect(batchesIn(half)[0]).toMatchObject({ creating: true, jobs_count: 2 });
    const both = second.apply(half);
    expect(batchesIn(both)[0]).toMatchObject({ jobs_count: 5 });
    expect(batchesIn(both)[0]).not.toHaveProperty('creating');
    expect(second.split!()![0].split!()).toBeUndefined();
  });
});

describe('a user’s call that adds jobs in several transactions', () => {
  const open = store(create(draftOf(), newBatch(1, { open: true })));
  const addition = { batchId: newBatch(1).id, jobs: jobsOf(10), callId: 'call', time: at(20) };
  const [whole] = creationChanges(userId, addition);
  const [first, second] = whole!.split!()!;
  const begun = store(first.apply(open));
  const withBatch = (draft: Draft, change: Partial<BatchRow>) => {
    const row = { ...draft.stored.batches.get(newBatch(1).id)!, ...change };
    return draftOf({ batches: [row], jobs: [...draft.stored.jobs.values()], heads: draft.heads });
  };

  it('is named by the batch while it is under way', () => {
    expect(batchesIn(first.apply(open))[0]).toMatchObject({
      pending_calls: [{ id: 'call', from: 0 }],
      jobs_count: 5,
    });
    const more = creationChanges(userId, { ...addition, jobs: jobsOf(30).slice(20), callId: 'another' })[0]!
      .split!()![0];
    const calls = batchesIn(more.apply(begun))[0]!.pending_calls!;
    expect(calls).toEqual([
      { id: 'call', from: 0 },
      { id: 'another', from: 5 },
    ]);
    const lowest = (pending_calls: typeof calls) =>
      firstPendingPosition({ ...batchesIn(first.apply(open))[0]!, pending_calls });
    expect([lowest(calls), lowest(calls.slice(1)), lowest(['a call that cancels jobs']), lowest([])]).toEqual([
      0,
      5,
      Number.POSITIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ]);
    const done = second.apply(begun);
    expect(batchesIn(done)[0]).not.toHaveProperty('pending_calls');
    expect(batchesIn(whole!.apply(open))[0]).not.toHaveProperty('pending_calls');
    expect(batchesIn(whole!.apply(begun))[0]).toMatchObject({ jobs_count: 10 });
  });

  it('goes on in a closed batch, but not in one that ends, nor once it was given up', () => {
    expect(batchesIn(second.apply(withBatch(begun, { open: false })))[0]).toMatchObject({ jobs_count: 10 });
    expect(() => whole!.apply(withBatch(open, { open: false }))).toThrow('is closed for jobs');
    expect(() => second.apply(withBatch(begun, { canceling: true }))).toThrow('was canceled or has ended');
    expect(() => second.apply(withBatch(begun, { status: 'TIMED_OUT' }))).toThrow(/^The batch \S+ timed out\.$/);
    for (const operation of [second, whole!]) {
      expect(() => operation.apply(withBatch(begun, { pending_calls: ['another'] }))).toThrow('timed out part-way');
    }
  });
});

describe('a creation that was made before', () => {
  const batch = newBatch(1, { jobs: [newJob(1)], tags: ['a'] });
  const before = store(create(draftOf(), batch));

  it('changes nothing, also with other tags and openness', () => {
    expect(create(before, { ...batch, tags: ['b'], open: true, device_status: 'UP' })).toBe(before);
  });

  it.each<[string, Partial<NewBatch>]>([
    ['project_id', { project_id: uuid('c', 9) }],
    ['parent_id', { parent_id: uuid('c', 9) }],
    ['device_type', { device_type: 'OTHER' }],
    ['queue_priority', { queue_priority: 'FREE' }],
    ['webhook', { webhook: 'https://example.org/' }],
    ['configuration', { configuration: {} }],
    ['backend_configuration', { backend_configuration: 'x' }],
    ['parent_id', { jobs: [newJob(1, { parent_id: uuid('c', 9) })] }],
    ['runs', { jobs: [newJob(1, { runs: 5 })] }],
    ['origin', { jobs: [newJob(1, { origin: 'OVH' })] }],
    ['variables', { jobs: [newJob(1, { variables: {} })] }],
  ])('is refused with another %s: %j', (name, content) => {
    expect(() => create(before, { ...batch, ...content })).toThrow(`exists with another ${name}.`);
  });

  it('is refused with further jobs', () => {
    expect(() => create(before, { ...batch, jobs: jobsOf(3) })).toThrow('exists with other jobs');
  });
});

describe('an addition of jobs', () => {
  const open = store(create(draftOf(), newBatch(1, { open: true, jobs: [newJob(1)] })));
  const closedAt = (second: number) => {
    const row = open.stored.batches.get(newBatch(1).id)!;
    const written_at = { open: Date.parse(at(second)) * 1000 };
    return draftOf({ batches: [{ ...row, open: false, written_at }], heads: open.heads });
  };

  it('adds missing jobs behind the others, and counts them', () => {
    const draft = add(open, 1, [newJob(1), newJob(2), newJob(3)]);
    expect(jobsIn(draft)).toMatchObject([
      { id: uuid('a', 2), creation_order: 1, seq: 1, created_at: at(20) },
      { id: uuid('a', 3), creation_order: 2, seq: 2 },
    ]);
    expect(batchesIn(draft)).toMatchObject([
      { jobs_count: 3, jobs_count_per_status: { PENDING: 3 }, rev: 1, updated_at: at(10) },
    ]);
    expect(batchesIn(draft)[0]).not.toHaveProperty('creating');
  });

  it('changes nothing when all are there, even in a closed batch', () => {
    expect(add(open, 1, [newJob(1)])).toBe(open);
    const closed = draftOf({
      ...open.stored,
      batches: [...closedAt(5).stored.batches.values()],
      jobs: [...open.stored.jobs.values()],
      heads: open.heads,
    });
    expect(add(closed, 1, [newJob(1)])).toBe(closed);
  });

  it('is refused without the batch, and in one that was closed before', () => {
    expect(() => add(open, 2, [newJob(2)])).toThrow('There is no such batch.');
    expect(() => add(closedAt(19), 1, [newJob(2)])).toThrow('is closed for jobs');
    expect(batchesIn(add(closedAt(20), 1, [newJob(2)]))[0]).toMatchObject({ jobs_count: 2, open: false });
    const born = store(create(draftOf(), newBatch(1)));
    expect(() => add(born, 1, [newJob(2)])).toThrow('is closed for jobs');
  });
});
