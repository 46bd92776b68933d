import { isDeepStrictEqual } from 'node:util';
import { AlreadyExists, IllegalTransition, NotFound } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch-row.ts';
import { JobStatus } from '../../schemas/job.ts';
import type { JobRow } from '../../schemas/job-row.ts';
import type { NewBatch, NewJob } from '../../schemas/lifecycle-event.ts';
import { fromMicroseconds, toMicroseconds } from '../../timestamp.ts';
import { emptyHead, type Head } from '../lists/column-items.ts';
import type { ListDescription } from '../lists/list-description.ts';
import type { OwnerLists } from '../lists/owner-lists.ts';
import { blockKeys, type RowChange, withTextsOfRow } from './change.ts';

/** A batch with the jobs that it shall have: to be created where `create` says what it is, else only to be added to. */
export interface Creation {
  readonly batchId: string;
  readonly create?: Omit<NewBatch, 'jobs'> | undefined;
  readonly jobs: readonly NewJob[];
  /** When it was asked for: rows are created then, or as soon after as their order demands. */
  readonly time: string;
}

/** A batch's share of what the next transaction may create: some of its jobs, from the first that may be missing on. */
export interface Portion {
  readonly creation: Creation;
  readonly jobs: readonly NewJob[];
  /** Whether these are the last of its jobs. */
  readonly last: boolean;
}

/** What is stored of the portions and of their owner. */
export interface Stored {
  readonly heads: { readonly batch: Head | undefined; readonly job: Head | undefined };
  readonly batches: ReadonlyMap<string, BatchRow>;
  readonly jobs: ReadonlyMap<string, JobRow>;
}

/** How far a creation has come: everything before this batch and, in it, this job is stored. */
export interface Place {
  readonly batch: number;
  readonly job: number;
}

export interface Draft {
  readonly rows: readonly RowChange[];
  readonly heads: { readonly batch: Head; readonly job: Head };
  /** Where to go on once it is written. */
  readonly next: Place;
}

/** DynamoDB's bounds on a transaction are 100 items and 4 MB; the rest is for the head items, an event's mark, blocks. */
const mostItems = 97;
const mostBytes = 3_000_000;
const mostRows = 90;

/** The portions of the next transaction: as many as could fit into it. */
export function portionsFrom(creations: readonly Creation[], place: Place): Portion[] {
  const portions: Portion[] = [];
  let room = mostRows;
  for (let at = place.batch; at < creations.length && room > 0; at++) {
    const creation = creations[at] as Creation;
    const from = at === place.batch ? place.job : 0;
    const jobs = creation.jobs.slice(from, from + room - 1);
    room -= 1 + jobs.length;
    portions.push({ creation, jobs, last: from + jobs.length === creation.jobs.length });
  }
  return portions;
}

/**
 * The largest draft that fits one transaction: whole batches in their order, or as many jobs of the first as fit. What is stored
 * already is left out. Throws AlreadyExists, NotFound and IllegalTransition as createBatches and addJobs say.
 */
export function draftOf(
  lists: OwnerLists,
  userId: string,
  portions: readonly Portion[],
  stored: Stored,
  place: Place,
): Draft {
  let draft: Sized = {
    rows: [],
    heads: { batch: stored.heads.batch ?? emptyHead, job: stored.heads.job ?? emptyHead },
    next: place,
    keys: new Set(),
    bytes: 0,
  };
  for (const portion of portions) {
    let missing: NewJob[];
    try {
      missing = missingJobs(portion, stored);
    } catch (error) {
      // What comes before is created; the next draft begins with this one and refuses it.
      if (draft.next === place) throw error;
      break;
    }
    if (repeatsIds(draft, portion, missing)) break;
    const whole = portion.last ? extended(lists, userId, draft, portion, missing, missing.length, stored) : undefined;
    if (whole !== undefined) {
      draft = { ...whole, next: { batch: draft.next.batch + 1, job: 0 } };
      continue;
    }
    // Only what stands first may be split: a batch is in as few transactions as can be.
    if (draft.rows.length > 0 || draft.next !== place) break;
    return partial(lists, userId, draft, portion, missing, stored);
  }
  return draft;
}

interface Sized extends Draft {
  readonly keys: ReadonlySet<string>;
  readonly bytes: number;
}

function missingJobs({ creation, jobs }: Portion, stored: Stored): NewJob[] {
  const batch = stored.batches.get(creation.batchId);
  if (batch === undefined && creation.create === undefined)
    throw new NotFound(`There is no batch ${creation.batchId}.`);
  if (batch !== undefined && creation.create !== undefined) requireSame(batch, batchContent(creation.create));
  const missing = jobs.filter((job) => {
    const row = stored.jobs.get(job.id);
    if (row !== undefined) requireSame(row, { batch_id: creation.batchId, ...jobContent(job) });
    return row === undefined;
  });
  if (batch !== undefined && missing.length > 0) requireRoom(batch, creation);
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

function requireRoom(batch: BatchRow, { create, time }: Creation) {
  if (create !== undefined) {
    if (batch.creating !== true) throw new AlreadyExists(`The batch ${batch.id} exists with other jobs.`);
  } else if (!batch.open && toMicroseconds(time) > (batch.written_at.open ?? Number.NEGATIVE_INFINITY)) {
    throw new IllegalTransition(`The batch ${batch.id} is closed: it takes no more jobs.`);
  }
}

/** Whether an id comes a second time: the portion then waits for the next transaction, which finds the first one stored. */
function repeatsIds(draft: Draft, { creation }: Portion, jobs: readonly NewJob[]): boolean {
  const drafted = new Set(draft.rows.map(({ after }) => after.id));
  return drafted.has(creation.batchId) || jobs.some((job) => drafted.has(job.id));
}

/** The most jobs of the portion that fit, found by bisection: more jobs never take less room. */
function partial(
  lists: OwnerLists,
  userId: string,
  draft: Sized,
  portion: Portion,
  missing: readonly NewJob[],
  stored: Stored,
): Draft {
  const attempt = (count: number) => extended(lists, userId, draft, portion, missing, count, stored);
  let fitting = 0;
  let tooMany = missing.length + (portion.last ? 0 : 1);
  while (tooMany - fitting > 1) {
    const middle = (fitting + tooMany) >> 1;
    if (attempt(middle) === undefined) tooMany = middle;
    else fitting = middle;
  }
  const most = attempt(fitting);
  const rest = missing[fitting];
  if (most === undefined || (fitting === 0 && missing.length > 0 && most.rows.length === 0)) {
    throw new RangeError(`The batch ${portion.creation.batchId} fits no transaction.`);
  }
  const reached = rest === undefined ? portion.jobs.length : portion.jobs.indexOf(rest);
  return { ...most, next: { batch: draft.next.batch, job: draft.next.job + reached } };
}

/** The draft with the first `count` of the missing jobs, and their batch; undefined when that is more than fits. */
function extended(
  lists: OwnerLists,
  userId: string,
  draft: Sized,
  { creation, last }: Portion,
  missing: readonly NewJob[],
  count: number,
  stored: Stored,
): Sized | undefined {
  const before = stored.batches.get(creation.batchId);
  const jobs = missing.slice(0, count);
  if (before !== undefined && jobs.length === 0) return draft;
  const complete = last && count === missing.length;
  const [batch, batchHead] =
    before === undefined
      ? numbered(draft.heads.batch, lists.batch, creation.time, (place) => newBatchRow(userId, creation, place))
      : [{ ...before, rev: before.rev + 1 }, draft.heads.batch];
  const { creating, ...settled } = batch;
  const isCreating =
    before === undefined ? !complete : creating === true && !(complete && creation.create !== undefined);
  const after: BatchRow = {
    ...settled,
    ...(isCreating && { creating: true }),
    jobs_count: batch.jobs_count + jobs.length,
    jobs_count_per_status: {
      ...batch.jobs_count_per_status,
      PENDING: batch.jobs_count_per_status.PENDING + jobs.length,
    },
  };
  let jobHead = draft.heads.job;
  const rows: RowChange[] = [{ list: lists.batch, before, after }];
  jobs.forEach((job, index) => {
    const order = batch.jobs_count + index;
    const [row, head] = numbered(jobHead, lists.job, creation.time, (place) => newJobRow(after, job, order, place));
    jobHead = head;
    rows.push({ list: lists.job, before: undefined, after: row });
  });
  const keys = draft.keys.union(new Set(rows.flatMap(blockKeys)));
  const bytes = draft.bytes + rows.reduce((sum, row) => sum + Buffer.byteLength(JSON.stringify(row.after)), 0);
  const all = [...draft.rows, ...rows];
  if (all.length + keys.size > mostItems || bytes > mostBytes) return undefined;
  return { rows: all, heads: { batch: batchHead, job: jobHead }, next: draft.next, keys, bytes };
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
  return [
    row,
    {
      next_seq: head.next_seq + 1,
      last_created_at: row.created_at,
      dictionaries: withTextsOfRow(list, row, head.dictionaries) as Head['dictionaries'],
    },
  ];
}

function newBatchRow(userId: string, { create }: Creation, { seq, created_at }: NewPlace): BatchRow {
  if (create === undefined) throw new RangeError('Only a batch that is described can be created.');
  return {
    user_id: userId,
    ...batchContent(create),
    status: 'PENDING',
    open: create.open,
    tags: create.tags,
    device_status: create.device_status,
    jobs_count: 0,
    jobs_count_per_status: Object.fromEntries(JobStatus.options.map((status) => [status, 0])) as Record<
      JobStatus,
      number
    >,
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
    backend_configuration: jsonText(batch.backend_configuration),
  };
}

function jobContent({ id, parent_id, runs, origin, variables }: NewJob) {
  return { id, parent_id, runs, origin, variables: jsonText(variables) };
}

function jsonText(value: Readonly<Record<string, unknown>> | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
