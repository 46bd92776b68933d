import { isDeepStrictEqual } from 'node:util';
import { AlreadyExists, IllegalTransition, NotFound } from '../../errors.ts';
import type { BatchRow, NewBatch } from '../../schemas/batch.ts';
import type { JobRow, NewJob } from '../../schemas/job.ts';
import { JobStatus } from '../../schemas/values.ts';
import { fromMicroseconds, toMicroseconds } from '../../timestamp.ts';
import { withTextsOf } from '../columns/facets.ts';
import type { Head } from '../columns/head.ts';
import type { ListDescription } from '../columns/list-description.ts';
import type { OwnerLists } from '../columns/lists.ts';
import type { Event, Operation } from './draft.ts';
import { batchIn, type Draft, jobIn, withRows } from './draft.ts';

/** A batch and jobs that it shall have: to be created where `create` says what it is, else only to be added to. */
export interface Creation {
  readonly batchId: string;
  readonly create?: Omit<NewBatch, 'jobs'>;
  readonly jobs: readonly NewJob[];
  /** When it was asked for: rows are created then, or as soon after as their order demands. */
  readonly time: string;
}

/** As many as fit one transaction in nearly every case: few rows are read in vain, hardly any operation is halved. */
const jobsAtOnce = 50;

/** The creation as operations in their order; several where one transaction would not hold it. The event goes with the last. */
export function creationOperations(lists: OwnerLists, userId: string, creation: Creation, event?: Event): Operation[] {
  const { jobs } = creation;
  if (jobs.length <= jobsAtOnce) return [creationOperation(lists, userId, creation, true, event)];
  const part = { ...creation, jobs: jobs.slice(0, jobsAtOnce) };
  const rest = { ...creation, jobs: jobs.slice(jobsAtOnce) };
  return [creationOperation(lists, userId, part, false), ...creationOperations(lists, userId, rest, event)];
}

/** `isLast`: no further jobs of the same creation follow. */
function creationOperation(
  lists: OwnerLists,
  userId: string,
  creation: Creation,
  isLast: boolean,
  event?: Event,
): Operation {
  const { batchId, jobs } = creation;
  return {
    batchIds: [batchId],
    jobIds: jobs.map((job) => job.id),
    event,
    apply: (draft) => withCreation(lists, userId, draft, creation, isLast),
    halves() {
      if (jobs.length < 2) return undefined;
      const middle = jobs.length >> 1;
      return [
        creationOperation(lists, userId, { ...creation, jobs: jobs.slice(0, middle) }, false),
        creationOperation(lists, userId, { ...creation, jobs: jobs.slice(middle) }, isLast, event),
      ];
    },
  };
}

function withCreation(lists: OwnerLists, userId: string, draft: Draft, creation: Creation, isLast: boolean): Draft {
  const { batchId, create, time } = creation;
  const before = batchIn(draft, batchId);
  const missing = missingJobs(draft, creation, before);
  if (before !== undefined && missing.length === 0) return draft;
  const [batch, batchHead] =
    before === undefined
      ? numbered(draft.heads.batch, lists.batch, time, (place) => newBatchRow(userId, create, place))
      : [{ ...before, rev: before.rev + 1 }, draft.heads.batch];
  const { creating, ...settled } = batch;
  const isCreating = before === undefined ? !isLast : creating === true && !(isLast && create !== undefined);
  const grown: BatchRow = {
    ...settled,
    ...(isCreating && { creating: true }),
    jobs_count: batch.jobs_count + missing.length,
    jobs_count_per_status: {
      ...batch.jobs_count_per_status,
      PENDING: batch.jobs_count_per_status.PENDING + missing.length,
    },
  };
  const jobs: JobRow[] = [];
  let jobHead = draft.heads.job;
  for (const job of missing) {
    const order = batch.jobs_count + jobs.length;
    const [row, head] = numbered(jobHead, lists.job, time, (place) => newJobRow(grown, job, order, place));
    jobs.push(row);
    jobHead = head;
  }
  return withRows(lists, draft, { batches: [grown], jobs, heads: { batch: batchHead, job: jobHead } });
}

/** Those that are not there yet. Throws where the creation contradicts what is. */
function missingJobs(draft: Draft, { batchId, create, jobs, time }: Creation, batch: BatchRow | undefined): NewJob[] {
  if (batch === undefined && create === undefined) throw new NotFound(`There is no batch ${batchId}.`);
  if (batch !== undefined && create !== undefined) requireSame(batch, batchContent(create));
  const missing = jobs.filter((job) => {
    const row = jobIn(draft, job.id);
    if (row !== undefined) requireSame(row, { batch_id: batchId, ...jobContent(job) });
    return row === undefined;
  });
  if (batch === undefined || missing.length === 0) return missing;
  if (create !== undefined && batch.creating !== true) {
    throw new AlreadyExists(`The batch ${batch.id} exists with other jobs.`);
  }
  const wasOpen = batch.open || toMicroseconds(time) <= (batch.written_at.open ?? Number.NEGATIVE_INFINITY);
  if (create === undefined && !wasOpen) throw new IllegalTransition(`The batch ${batch.id} is closed for jobs.`);
  return missing;
}

/** Batches and jobs that were created with an id never change in these respects. */
function requireSame(row: BatchRow | JobRow, content: Readonly<Record<string, unknown>>) {
  for (const [name, value] of Object.entries(content)) {
    if (!isDeepStrictEqual((row as Readonly<Record<string, unknown>>)[name], value)) {
      throw new AlreadyExists(`${row.id} exists with another ${name}.`);
    }
  }
}

interface NewPlace {
  readonly seq: number;
  readonly created_at: string;
}

/** A new row at the head's next place, and the head after it. */
function numbered<Row extends BatchRow | JobRow>(
  head: Head,
  list: ListDescription,
  time: string,
  make: (place: NewPlace) => Row,
): [Row, Head] {
  const earliest = head.last_created_at === null ? '' : fromMicroseconds(toMicroseconds(head.last_created_at) + 1);
  const row = make({ seq: head.next_seq, created_at: time > earliest ? time : earliest });
  const dictionaries = withTextsOf(Object.values(list.columns), row, head.dictionaries) as Head['dictionaries'];
  return [row, { ...head, next_seq: head.next_seq + 1, last_created_at: row.created_at, dictionaries }];
}

function newBatchRow(userId: string, create: Creation['create'], { seq, created_at }: NewPlace): BatchRow {
  if (create === undefined) throw new RangeError('Only a batch that is described can be created.');
  const noJobs = Object.fromEntries(JobStatus.options.map((status) => [status, 0]));
  return {
    user_id: userId,
    ...batchContent(create),
    status: 'PENDING',
    open: create.open,
    tags: create.tags,
    device_status: create.device_status,
    jobs_count: 0,
    jobs_count_per_status: noJobs as Record<JobStatus, number>,
    created_at,
    updated_at: created_at,
    start_datetime: null,
    end_datetime: null,
    seq,
    rev: 0,
    written_at: {},
  };
}

function newJobRow(batch: BatchRow, job: NewJob, creationOrder: number, { seq, created_at }: NewPlace): JobRow {
  return {
    user_id: batch.user_id,
    batch_id: batch.id,
    project_id: batch.project_id,
    ...jobContent(job),
    status: 'PENDING',
    creation_order: creationOrder,
    created_at,
    updated_at: created_at,
    start_timestamp: null,
    end_timestamp: null,
    errors: null,
    results_key: null,
    seq,
    rev: 0,
    written_at: {},
  };
}

/** What never changes once the batch is created. */
function batchContent(batch: Omit<NewBatch, 'jobs'>) {
  return {
    id: batch.id,
    project_id: batch.project_id,
    parent_id: batch.parent_id,
    device_type: batch.device_type,
    queue_priority: batch.queue_priority,
    webhook: batch.webhook,
    configuration: jsonText(batch.configuration),
    backend_configuration: batch.backend_configuration,
  };
}

function jobContent({ id, parent_id, runs, origin, variables }: NewJob) {
  return { id, parent_id, runs, origin, variables: jsonText(variables) };
}

function jsonText(value: Readonly<Record<string, unknown>> | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
