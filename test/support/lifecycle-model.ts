/** A model of the write side over plain objects, which shares no code with it. */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as fc from 'fast-check';
import { cancelBatch, cancelJob, cancelJobs } from '../../functions/data/batches/cancellations.ts';
import { rebatch } from '../../functions/data/batches/rebatches.ts';
import type { BatchRow } from '../../functions/schemas/batch.ts';
import { Claims } from '../../functions/schemas/claims.ts';
import type { JobRow } from '../../functions/schemas/job.ts';
import type { NewBatch, NewJob } from '../../functions/schemas/new-batch.ts';
import { BatchStatus, JobStatus } from '../../functions/schemas/values.ts';
import type { TableNames } from '../../functions/tables.ts';
import { derivedUuid } from '../../functions/values/uuid.ts';
import { newBatch, newJob, uuid } from './new-batch.ts';
import type { BatchesAndJobs } from './owner-rows.ts';
import { smallLists } from './small-lists.ts';
import { testDb } from './test-db.ts';
import { writeApi } from './write-api.ts';

interface ModelBatch {
  readonly device_type: string;
  /** As users see it: what was reported, or what follows from the jobs. */
  readonly status: string;
  readonly saidStatus: string;
  readonly open: boolean;
  readonly closedLater: boolean;
  readonly tags: readonly string[];
  readonly start: string | null;
  /** What is shown instead, a recount compares. */
  readonly saidEnd: string | null;
  /** In the order of their creation. */
  readonly jobs: readonly string[];
}

interface ModelJob {
  readonly batch: string;
  readonly runs: number | null;
  /** As users see it: what was reported, or what follows from the batch. */
  readonly status: string;
  readonly saidStatus: string;
  readonly saidErrors: readonly string[] | null;
  readonly start: string | null;
  /** What is shown instead, a recount compares. */
  readonly saidEnd: string | null;
  readonly errors: readonly string[] | null;
  readonly results: string | null;
}

/** By id, in the order of creation. */
export interface Model {
  readonly batches: readonly (readonly [string, ModelBatch])[];
  readonly jobs: readonly (readonly [string, ModelJob])[];
}

export const emptyModel: Model = { batches: [], jobs: [] };

/**
 * The time of every cancellation. All events are a second later: of equal times, the later arrival
 * wins, and nothing is added to what was closed.
 */
const now = '2026-03-03T00:00:00.000000Z';

/** Everything that writes. */
export function modelWriter(client: DynamoDBDocumentClient, tables: TableNames, rowsPerBlock: number) {
  const formats = smallLists(rowsPerBlock);
  const db = testDb(client, tables, { formats, now: () => Date.parse(now) });
  return { ...writeApi(testDb(client, tables, { formats, now: () => Date.parse(now) + 1000 })), db };
}

type Writer = ReturnType<typeof modelWriter>;
type Result = { readonly state: Model; readonly outcome: string };

export interface Change {
  perform(writer: Writer, userId: string): Promise<unknown>;
  apply(state: Model): Result;
  toString(): string;
}

/** The stored rows in the model's form. */
export function modelOf({ batches, jobs }: BatchesAndJobs): Model {
  return {
    batches: batches.map((row) => [row.id, modelBatch(row, jobs)]),
    jobs: jobs.map((row) => [row.id, modelJob(row)]),
  };
}

function modelBatch(row: BatchRow, jobs: readonly JobRow[]): ModelBatch {
  const ofBatch = jobs.filter((job) => job.batch_id === row.id).sort((a, b) => a.creation_order - b.creation_order);
  return {
    device_type: row.device_type,
    status: row.status,
    saidStatus: row.reported?.status ?? row.status,
    open: row.open,
    closedLater: row.written_at.open !== undefined,
    tags: row.tags,
    start: row.start_datetime,
    saidEnd: (row.reported ?? row).end_datetime,
    jobs: ofBatch.map((job) => job.id),
  };
}

function modelJob(row: JobRow): ModelJob {
  return {
    batch: row.batch_id,
    runs: row.runs,
    status: row.status,
    saidStatus: row.reported?.status ?? row.status,
    saidErrors: row.reported === undefined ? row.errors : row.reported.errors,
    start: row.start_timestamp,
    saidEnd: (row.reported ?? row).end_timestamp,
    errors: row.errors,
    results: row.results_key,
  };
}

const done = (state: Model): Result => ({ state: settle(endJobs(state)), outcome: 'done' });
const refuse = (state: Model, outcome: string): Result => ({ state, outcome });

// Written out, so that the product's record of statuses is compared with it; total, so that tsc
// names a status that is missing.
const batchMoves: Record<BatchStatus, readonly BatchStatus[]> = {
  PENDING: ['RUNNING', 'PAUSED', 'CANCELING', 'DONE', 'CANCELED', 'TIMED_OUT', 'ERROR'],
  RUNNING: ['PAUSED', 'CANCELING', 'DONE', 'CANCELED', 'TIMED_OUT', 'ERROR'],
  PAUSED: ['RUNNING', 'CANCELING', 'DONE', 'CANCELED', 'TIMED_OUT', 'ERROR'],
  CANCELING: ['DONE', 'CANCELED', 'TIMED_OUT', 'ERROR'],
  DONE: [],
  CANCELED: [],
  TIMED_OUT: [],
  ERROR: [],
};
const finalBatch: readonly string[] = BatchStatus.options.filter((status) => batchMoves[status].length === 0);
const jobMoves: Record<JobStatus, readonly JobStatus[]> = {
  PENDING: ['RUNNING', 'CANCELING', 'DONE', 'ERROR', 'CANCELED'],
  RUNNING: ['CANCELING', 'DONE', 'ERROR', 'CANCELED'],
  CANCELING: ['DONE', 'ERROR', 'CANCELED'],
  DONE: [],
  ERROR: [],
  CANCELED: [],
};
const finalJob: readonly string[] = JobStatus.options.filter((status) => jobMoves[status].length === 0);
/** What jobs say that their batch ends; undefined: it does not. */
const reasons: Record<BatchStatus, readonly string[] | undefined> = {
  PENDING: undefined,
  RUNNING: undefined,
  PAUSED: undefined,
  CANCELING: undefined,
  DONE: undefined,
  CANCELED: [],
  TIMED_OUT: ['The batch timed out.'],
  ERROR: ['The batch failed.'],
};

/**
 * Of a batch that was canceled, timed out or failed as a whole, the jobs that have not ended end
 * with it.
 */
function endJobs({ batches, jobs }: Model): Model {
  const saidStatus = new Map(batches.map(([id, batch]) => [id, batch.saidStatus]));
  return {
    batches,
    jobs: jobs.map(([id, job]) => {
      const errors = reasons[saidStatus.get(job.batch) as BatchStatus];
      const said = job.saidErrors;
      if (errors === undefined || finalJob.includes(job.saidStatus)) {
        return [id, { ...job, status: job.saidStatus, errors: said }];
      }
      return [id, { ...job, status: 'CANCELED', errors: said?.length || !errors.length ? said : errors }];
    }),
  };
}

function settle({ batches, jobs }: Model): Model {
  const statusOf = new Map(jobs.map(([id, { status }]) => [id, status]));
  const visible = (batch: ModelBatch) => {
    const statuses = batch.jobs.map((id) => statusOf.get(id)!);
    const isEmpty = statuses.length === 0;
    const isOver = isEmpty ? batch.closedLater : statuses.every((status) => finalJob.includes(status));
    if (batch.open || !isOver || finalBatch.includes(batch.saidStatus)) return batch.saidStatus;
    return !isEmpty && statuses.every((status) => status === 'CANCELED') ? 'CANCELED' : 'DONE';
  };
  return { batches: batches.map(([id, batch]) => [id, { ...batch, status: visible(batch) }]), jobs };
}

/** What an event with status `to` leads to; undefined: it is refused, for a second end. */
function statusAfter(moves: Record<string, readonly string[]>, from: string, to = from): string | undefined {
  if (from === to || moves[from]?.includes(to)) return to;
  return moves[to]?.length === 0 ? undefined : from;
}

const batchNumbers = fc.integer({ min: 0, max: 5 });
const jobNumbers = fc.integer({ min: 0, max: 9 });
const severalJobs = fc.uniqueArray(jobNumbers, { maxLength: 3 });
const times = fc.constantFrom(
  '2026-03-01T00:00:00.000000Z',
  '2026-03-01T00:00:01.000001Z',
  '2026-03-02T00:00:00.500000Z',
);
const someTags = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 });
const optional = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined });
/** Without the keys whose value is undefined. */
const given = <Value extends object>(value: Value) =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as {
    [Key in keyof Value]?: Exclude<Value[Key], undefined>;
  };

const create = fc
  .record({ number: batchNumbers, jobs: severalJobs, open: fc.boolean(), tags: someTags, other: fc.nat(9) })
  .map(({ number, jobs, open, tags, other }): Change => {
    const batch = newBatch(number, {
      jobs: jobs.map((job) => newJob(job)),
      open,
      tags,
      // Enough different projects for texts to leave the heads time and again.
      project_id: uuid('c', number),
      ...(other === 0 && { device_type: 'OTHER' }),
    });
    return {
      perform: (writer, userId) => writer.createBatch(userId, batch),
      apply: (state) => createIn(state, batch),
      toString: () =>
        `create(${number}, jobs ${jobs}, ${open ? 'open' : 'closed'}, tags ${tags}, ${batch.device_type})`,
    };
  });

function createIn(state: Model, batch: NewBatch): Result {
  const batches = new Map(state.batches);
  const jobs = new Map(state.jobs);
  const stored = batches.get(batch.id);
  if (stored !== undefined) {
    const same =
      stored.device_type === batch.device_type && batch.jobs.every((job) => jobs.get(job.id)?.batch === batch.id);
    return same ? done(state) : refuse(state, 'AlreadyExists');
  }
  if (batch.jobs.some((job) => jobs.has(job.id))) return refuse(state, 'AlreadyExists');
  const { device_type, open, tags } = batch;
  const status = { status: 'PENDING', saidStatus: 'PENDING' };
  batches.set(batch.id, {
    device_type,
    ...status,
    open,
    closedLater: false,
    tags,
    start: null,
    saidEnd: null,
    jobs: [],
  });
  return withJobs({ batches: [...batches], jobs: state.jobs }, batch.id, batch.jobs);
}

function withJobs(state: Model, batchId: string, added: readonly Pick<NewJob, 'id' | 'runs'>[]): Result {
  const batches = new Map(state.batches);
  const batch = batches.get(batchId)!;
  batches.set(batchId, { ...batch, jobs: [...batch.jobs, ...added.map((job) => job.id)] });
  const jobs = added.map(
    ({ id, runs }) =>
      [
        id,
        {
          ...{ batch: batchId, runs, status: 'PENDING', saidStatus: 'PENDING' },
          ...{ start: null, saidEnd: null, errors: null, saidErrors: null, results: null },
        },
      ] as const,
  );
  return done({ batches: [...batches], jobs: [...state.jobs, ...jobs] });
}

const add = fc.record({ number: batchNumbers, jobs: severalJobs }).map(({ number, jobs }): Change => {
  const batchId = newBatch(number).id;
  const added = jobs.map((job) => newJob(job));
  return {
    perform: (writer, userId) => writer.addJobs(userId, batchId, added),
    apply: (state) => {
      const batch = new Map(state.batches).get(batchId);
      if (batch === undefined) return refuse(state, 'NotFound');
      const stored = new Map(state.jobs);
      if (added.some((job) => (stored.get(job.id)?.batch ?? batchId) !== batchId))
        return refuse(state, 'AlreadyExists');
      const missing = added.filter((job) => !stored.has(job.id));
      if (missing.length > 0 && !batch.open) return refuse(state, 'IllegalTransition');
      return withJobs(state, batchId, missing);
    },
    toString: () => `add(${number}, jobs ${jobs})`,
  };
});

const recordBatch = fc
  .record({
    number: batchNumbers,
    status: optional(fc.constantFrom(...BatchStatus.options)),
    start: optional(times),
    end: optional(times),
  })
  .map(({ number, status, start, end }): Change => {
    const { id } = newBatch(number);
    return {
      perform: (writer, userId) =>
        writer.recordBatchStatus(userId, id, given({ status, start_datetime: start, end_datetime: end })),
      apply: (state) =>
        changeBatch(state, id, (batch) => {
          const saidStatus = statusAfter(batchMoves, batch.saidStatus, status);
          if (saidStatus === undefined) return undefined;
          const after = { ...batch, saidStatus, ...given({ start, saidEnd: end }) };
          return batch.open && finalBatch.includes(status ?? '') ? { ...after, open: false, closedLater: true } : after;
        }),
      toString: () => `recordBatch(${number}, ${status}, ${start}, ${end})`,
    };
  });

function changeBatch(state: Model, id: string, change: (batch: ModelBatch) => ModelBatch | undefined): Result {
  const batches = new Map(state.batches);
  const batch = batches.get(id);
  if (batch === undefined) return refuse(state, 'NotFound');
  const next = change(batch);
  if (next === undefined) return refuse(state, 'IllegalTransition');
  return done({ ...state, batches: [...batches.set(id, next)] });
}

const tag = fc.record({ number: batchNumbers, tags: someTags }).map(({ number, tags }): Change => {
  const { id } = newBatch(number);
  return {
    perform: (writer, userId) => writer.setTags(userId, id, tags),
    apply: (state) => changeBatch(state, id, (batch) => ({ ...batch, tags })),
    toString: () => `tag(${number}, ${tags})`,
  };
});

const close = batchNumbers.map((number): Change => {
  const { id } = newBatch(number);
  return {
    perform: (writer, userId) => writer.closeBatch(userId, id),
    apply: (state) =>
      changeBatch(state, id, (batch) => (batch.open ? { ...batch, open: false, closedLater: true } : batch)),
    toString: () => `close(${number})`,
  };
});

const recordJob = fc
  .record({
    number: jobNumbers,
    status: optional(fc.constantFrom(...JobStatus.options)),
    start: optional(times),
    end: optional(times),
    errors: optional(fc.constantFrom<string[]>(['timeout'], [])),
    result: optional(fc.constantFrom('x', 'y')),
  })
  .map(({ number, status, start, end, errors, result }): Change => {
    const { id } = newJob(number);
    const key = (userId: string) => (result === undefined ? undefined : `results/${userId}/${result}.json`);
    let owner = '';
    return {
      perform: (writer, userId) => {
        owner = userId;
        const update = { status, start_timestamp: start, end_timestamp: end, errors, results_key: key(userId) };
        return writer.recordJobStatus(userId, id, given(update));
      },
      apply: (state) => {
        const jobs = new Map(state.jobs);
        const job = jobs.get(id);
        if (job === undefined) return refuse(state, 'NotFound');
        const saidStatus = statusAfter(jobMoves, job.saidStatus, status);
        if (saidStatus === undefined) return refuse(state, 'IllegalTransition');
        jobs.set(id, {
          ...job,
          saidStatus,
          ...given({ saidErrors: errors, start, saidEnd: end, results: key(owner) }),
        });
        return done({ ...state, jobs: [...jobs] });
      },
      toString: () => `recordJob(${number}, ${status}, ${start}, ${end}, ${errors}, ${result})`,
    };
  });

function cancel(job: ModelJob): ModelJob {
  return finalJob.includes(job.status) ? job : { ...job, status: 'CANCELED', saidStatus: 'CANCELED', saidEnd: now };
}

const cancelWhole = batchNumbers.map((number): Change => {
  const { id } = newBatch(number);
  return {
    perform: ({ db }, userId) => cancelBatch(db, { userId, batchId: id }),
    apply: (state) => {
      const batch = new Map(state.batches).get(id);
      if (batch === undefined) return refuse(state, 'NotFound');
      if (batch.status === 'CANCELED') return done(state);
      if (finalBatch.includes(batch.status)) return refuse(state, 'IllegalTransition');
      const jobs = state.jobs.map(([id, job]) => [id, batch.jobs.includes(id) ? cancel(job) : job] as const);
      return changeBatch({ ...state, jobs }, id, (each) => ({
        ...each,
        ...(each.open && { open: false, closedLater: true }),
        saidStatus: 'CANCELED',
        saidEnd: now,
      }));
    },
    toString: () => `cancel(${number})`,
  };
});

const cancelOne = jobNumbers.map((number): Change => {
  const { id } = newJob(number);
  return {
    perform: ({ db }, userId) => cancelJob(db, userId, id),
    apply: (state) => {
      const jobs = new Map(state.jobs);
      const job = jobs.get(id);
      if (job === undefined) return refuse(state, 'NotFound');
      if (job.status === 'CANCELED') return done(state);
      if (finalJob.includes(job.status)) return refuse(state, 'IllegalTransition');
      return done({ ...state, jobs: [...jobs.set(id, cancel(job))] });
    },
    toString: () => `cancelJob(${number})`,
  };
});

const cancelSome = fc
  .record({ number: batchNumbers, chosen: optional(severalJobs) })
  .map(({ number, chosen }): Change => {
    const { id } = newBatch(number);
    const ids = chosen?.map((job) => newJob(job).id);
    return {
      perform: ({ db }, userId) => cancelJobs(db, { userId, batchId: id }, given({ id: ids })),
      apply: (state) => {
        const batch = new Map(state.batches).get(id);
        if (batch === undefined) return refuse(state, 'NotFound');
        const isChosen = (job: string) => batch.jobs.includes(job) && (ids?.includes(job) ?? true);
        return done({ ...state, jobs: state.jobs.map(([id, job]) => [id, isChosen(id) ? cancel(job) : job]) });
      },
      toString: () => `cancelJobs(${number}, ${chosen})`,
    };
  });

const repeat = fc.record({ number: batchNumbers, key: fc.nat(2) }).map(({ number, key }): Change => {
  const { id: source } = newBatch(number);
  let owner = '';
  const idempotencyKey = `${number} ${key}`;
  return {
    perform: (writer, userId) => {
      owner = userId;
      return rebatch(writer.db, { userId, idempotencyKey, claims: Claims.parse({}) }, { batchId: source, query: {} });
    },
    apply: (state) => {
      const batches = new Map(state.batches);
      const jobs = new Map(state.jobs);
      const repeated = batches.get(source);
      if (repeated === undefined) return refuse(state, 'NotFound');
      if (repeated.open) return refuse(state, 'IllegalTransition');
      const id = derivedUuid(['rebatch', owner, idempotencyKey]);
      if (batches.has(id)) return done(state);
      if (repeated.jobs.length === 0) return refuse(state, 'InvalidInput');
      const { device_type, tags } = repeated;
      const content = { device_type, status: 'PENDING', saidStatus: 'PENDING', open: false, closedLater: false, tags };
      batches.set(id, { ...content, start: null, saidEnd: null, jobs: [] });
      const again = repeated.jobs.map((job) => ({ id: derivedUuid([id, job]), runs: jobs.get(job)!.runs }));
      return withJobs({ batches: [...batches], jobs: state.jobs }, id, again);
    },
    toString: () => `repeat(${number}, ${key})`,
  };
});

/**
 * Any operation, on so few batches and jobs that they meet. Creations are frequent, so that the
 * others find something.
 */
export const operations: fc.Arbitrary<Change> = fc.oneof(
  { weight: 4, arbitrary: create },
  { weight: 2, arbitrary: add },
  { weight: 2, arbitrary: recordBatch },
  { weight: 3, arbitrary: recordJob },
  { weight: 1, arbitrary: tag },
  { weight: 1, arbitrary: close },
  { weight: 1, arbitrary: cancelWhole },
  { weight: 1, arbitrary: cancelOne },
  { weight: 1, arbitrary: cancelSome },
  { weight: 1, arbitrary: repeat },
);
