import { AlreadyExists, IllegalTransition, LimitExceeded, requireFound } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import type { NewBatch, NewJob } from '../../schemas/new-batch.ts';
import { JobStatus } from '../../schemas/values.ts';
import { isFinalBatchStatus } from '../../statuses.ts';
import { fromMicroseconds, toMicroseconds } from '../../values/timestamp.ts';
import { withTextsOf } from '../columns/facets.ts';
import type { Head } from '../columns/head.ts';
import type { ListDescription } from '../columns/list-description.ts';
import type { EffectiveLimits } from '../limits/limits-of-subjects.ts';
import {
  type Content,
  constantsId,
  hasMarker,
  holdsValue,
  leastApart,
  markConstants,
  packConstants,
} from '../rows/constants.ts';
import { withContributor } from './contributions.ts';
import { limitPriority, limitsJobs, limitsOfRow, withJobsToCome } from './counters.ts';
import {
  type Change,
  type Draft,
  type ProcessedCall,
  reportedBatch,
  reportedJob,
  type SourceCall,
  withJobs,
  withRows,
  withSequences,
} from './draft.ts';
import { requireContent } from './erase.ts';
import { isPending, withCall, withoutCall } from './pending-calls.ts';

/**
 * Jobs for a batch. With `create` the batch itself is created too; without it, the batch must
 * exist.
 */
export interface Creation {
  readonly batchId: string;
  readonly create?: NewBatchContent;
  readonly jobs: readonly NewJob[];
  /**
   * Gzipped sequences of the batch and of jobs with a sequence of their own, by the ids of batch
   * and jobs.
   */
  readonly sequences?: ReadonlyMap<string, Uint8Array> | undefined;
  /**
   * The id of a user's call, the same for its repetition; absent for an event. A user's call adds
   * nothing to a batch that has ended, and does not go on once it was given up. An event may report
   * jobs of a batch that has ended since.
   */
  readonly callId?: string;
  /** What the call's token calls the user. */
  readonly userName?: string | undefined;
  /** When it was asked for: rows are created then, or as soon after as their order demands. */
  readonly time: string;
}

type NewBatchContent = Omit<NewBatch, 'jobs'>;

/**
 * One answer holds this number of job ids and the largest sequence (schemas/sequence.ts). A call
 * that adds too many is refused before it begins. If other calls have added jobs meanwhile, a call
 * stops part-way.
 */
export const maxJobsOfBatch = 20_000;

/**
 * Jobs and sequences, and bytes of these, in one operation. The parts are small: a transaction
 * holds as many of them as it can, about 80 jobs.
 */
const maxItemsInChange = 10;
const maxSequenceBytesInChange = 400_000;

/**
 * The creation as operations in their order: several where one transaction would not hold it. The
 * event goes with the last.
 */
export function creationChanges(userId: string, creation: Creation, event?: SourceCall): Change[] {
  const parts = splitJobs(creation);
  const idempotencyRecord = creation.callId === undefined ? undefined : event && recordOfBeginning(event);
  return parts.map((jobs, at) => {
    const isLast = at === parts.length - 1;
    return creationOperation(userId, {
      ...creation,
      jobs,
      total: creation.jobs.length,
      isFirst: at === 0,
      isLast,
      event: isLast ? event : undefined,
      idempotencyRecord,
    });
  });
}

/** What the first of several transactions remembers of a call. */
export function recordOfBeginning({ id, ...call }: ProcessedCall): ProcessedCall {
  return { ...call, id: `${id}#claim` };
}

/**
 * The bytes by which usual rows grow in their lives; a job also by its user's id, which the key of
 * its results has once more. test/integration/row-sizes.test.ts finds what is left of 1 KB.
 */
const growth = { batch: 266, job: 300 };

/** The jobs in parts, at least one. */
function splitJobs({ jobs, sequences }: Creation): NewJob[][] {
  const parts: NewJob[][] = [[]];
  let items = 0;
  let bytes = 0;
  for (const job of jobs) {
    const sequence = sequences?.get(job.id);
    // At most: they may stay in the row, and are gzipped.
    const constants = jobContent(job).variables?.length ?? 0;
    const itemsOfJob = 1 + (sequence === undefined ? 0 : 1) + (constants < leastApart ? 0 : 1);
    const bytesOfJob = (sequence?.length ?? 0) + constants;
    items += itemsOfJob;
    bytes += bytesOfJob;
    if (items > maxItemsInChange || bytes > maxSequenceBytesInChange) {
      parts.push([]);
      items = itemsOfJob;
      bytes = bytesOfJob;
    }
    parts.at(-1)?.push(job);
  }
  return parts;
}

/** A creation, or some of its jobs. */
interface CreationPart extends Creation {
  /** Jobs of the whole creation. */
  readonly total: number;
  /** No jobs of the same creation come before. */
  readonly isFirst: boolean;
  /** No further jobs of the same creation follow. */
  readonly isLast: boolean;
  readonly event?: SourceCall | undefined;
  readonly idempotencyRecord?: ProcessedCall | undefined;
}

function creationOperation(userId: string, part: CreationPart): Change {
  const { batchId, create, jobs, event, idempotencyRecord } = part;
  return {
    batchIds: [batchId],
    jobIds: jobs.map((job) => job.id),
    ...(part.callId !== undefined && {
      newIds: [...(part.isFirst && create !== undefined ? [batchId] : []), ...jobs.map((job) => job.id)],
    }),
    event,
    idempotencyRecord,
    apply(draft) {
      const batch = reportedBatch(draft, batchId);
      if (batch !== undefined && part.callId !== undefined) requireContent(batch);
      if (batch !== undefined && batch.erased_at !== null) return draft;
      if (create === undefined) return growBatch({ draft, part, batch: requireFound(batch, 'batch') });
      return batch === undefined
        ? startBatch(userId, { draft, part, create })
        : continueBatch({ draft, part, create, batch });
    },
    split() {
      // The batch goes first, alone, where its sequence and that of its first job are too large.
      const isSplit = jobs.length > 1 || (jobs.length === 1 && part.isFirst && create !== undefined);
      if (!isSplit) return undefined;
      const middle = jobs.length >> 1;
      return [
        creationOperation(userId, { ...part, jobs: jobs.slice(0, middle), isLast: false, event: undefined }),
        creationOperation(userId, { ...part, jobs: jobs.slice(middle), isFirst: false }),
      ];
    },
  };
}

interface Step {
  readonly draft: Draft;
  readonly part: CreationPart;
}

/**
 * The batch is new: it is created with these jobs, and counts as incomplete (`creating`) while
 * further jobs are to follow.
 */
function startBatch(userId: string, { draft, part, create }: Step & { readonly create: NewBatchContent }): Draft {
  const jobs = findMissingJobs(draft, part);
  const { limits = [] } = draft.stored;
  const limited = { ...create, queue_priority: limitPriority(limits, create.queue_priority) };
  const named = withContributor(draft, { userId, projectId: create.project_id, userName: part.userName });
  const [batch, head] = placeRow({
    head: named.heads.batch,
    list: draft.formats.batch,
    time: part.time,
    make: (place) => newBatchRow(userId, limited, place),
  });
  // Batches of users are for the workers of a device; machines that report by events have their own
  // work.
  const ofCall = part.callId !== undefined && { queue_key: null, ...limitsOfRow(limits) };
  const owned = markConstants<BatchRow>({ ...batch, ...ofCall }, growth.batch);
  const started: BatchRow = part.isLast ? owned : afterPart({ ...owned, creating: true }, { limits, part, jobs });
  const begun = part.callId !== undefined && { begun: { batchId: part.batchId, jobs: part.total } };
  const placed = { ...named, ...begun, heads: { ...draft.heads, batch: head } };
  const described = withItemsBeside(placed, [[started, batchContent(create)]], part.sequences);
  return withNewJobs(described, { batch: started, jobs, part });
}

/**
 * The same creation came before: an incomplete batch gets its missing jobs, a complete one must
 * have all of them. For a user's call, the idempotency record decides whether it is the same. The
 * batch then keeps what was derived from the token or the devices.
 */
function continueBatch({
  draft,
  part,
  create,
  batch,
}: Step & { readonly create: NewBatchContent; readonly batch: BatchRow }): Draft {
  if (part.callId === undefined) requireSame(batch, batchContent(create));
  const jobs = findMissingJobs(draft, part);
  const isStopped = batch.canceling === true || isFinalBatchStatus(batch.status);
  const isComplete = batch.creating !== true || !part.isLast || isStopped;
  if (jobs.length === 0 && isComplete) return draft;
  if (part.callId !== undefined && isStopped) throw batchEnded(batch);
  if (batch.creating !== true)
    throw new AlreadyExists('already_exists', `The batch ${batch.id} exists with other jobs.`);
  const { creating, ...complete } = batch;
  const after = part.isLast ? withJobsToCome(complete, part.callId ?? '', 0) : afterPart(batch, { part, jobs });
  const continued = { ...after, rev: batch.rev + 1 };
  return withNewJobs(draft, { batch: continued, jobs, part });
}

/**
 * Jobs are added to a batch that exists and was open at that time. A user's call must find it open,
 * too: a closed batch may have ended by its jobs, and stays so. What has begun goes on, until
 * the batch ends or the call is given up. An incomplete batch stays incomplete.
 */
function growBatch({ draft, part, batch }: Step & { readonly batch: BatchRow }): Draft {
  const jobs = findMissingJobs(draft, part);
  if (jobs.length === 0) return draft;
  const begins = part.isFirst && jobs.length === part.jobs.length;
  requireRoom(batch, begins ? part.total : jobs.length);
  const { callId } = part;
  if (callId === undefined) {
    const closedAt = batch.written_at.open ?? Number.NEGATIVE_INFINITY;
    if (!batch.open && toMicroseconds(part.time) > closedAt) throw closedForJobs(batch);
    return withNewJobs(draft, { batch: { ...batch, rev: batch.rev + 1 }, jobs, part });
  }
  if (batch.canceling || isFinalBatchStatus(batch.status)) throw batchEnded(batch);
  if (!begins && !isPending(batch, callId)) {
    const message = 'The request timed out part-way; the jobs it had added were canceled.';
    throw new IllegalTransition('call_timed_out', message);
  }
  if (begins && !batch.open) throw closedForJobs(batch);
  const { limits = [] } = draft.stored;
  const begun = begins ? withCall({ ...batch, ...limitsOfRow(limits) }, { id: callId, from: batch.jobs_count }) : batch;
  const grown = part.isLast
    ? withoutCall(begun, callId)
    : { ...afterPart(begun, { part, jobs, ...(begins && { limits }) }), rev: begun.rev + 1 };
  if (!begins) return withNewJobs(draft, { batch: grown, jobs, part });
  const named = withContributor(draft, { userId: batch.user_id, projectId: batch.project_id, userName: part.userName });
  const checked = { ...named, begun: { batchId: batch.id, jobs: part.total } };
  return withNewJobs(checked, { batch: grown, jobs, part });
}

/**
 * The batch after some jobs of a call that is to add more: what the call has announced is counted
 * where unfinished jobs are limited. `limits` are given with its first jobs.
 */
function afterPart(
  batch: BatchRow,
  { part, jobs, limits = [] }: { part: CreationPart; jobs: readonly NewJob[]; limits?: readonly EffectiveLimits[] },
): BatchRow {
  const { callId = '', total } = part;
  const before = limitsJobs(limits) ? total : batch.jobs_to_come?.[callId];
  return before === undefined ? batch : withJobsToCome(batch, callId, before - jobs.length);
}

function requireRoom({ id, jobs_count }: BatchRow, added: number): void {
  if (jobs_count + added <= maxJobsOfBatch) return;
  throw new LimitExceeded(
    `The batch ${id} has ${jobs_count} jobs and may have ${maxJobsOfBatch}: there is no room for ${added} more.`,
  );
}

const noJobCame = 'No job came for';

/** The text of a batch whose device waited in vain for this time. */
export function whyTimedOut(seconds: number): string {
  return `${noJobCame} ${seconds} s.`;
}

function batchEnded({ id, status, device_status }: BatchRow): IllegalTransition {
  const why = device_status?.startsWith(noJobCame) ? ` ${device_status}` : '';
  const message = status === 'TIMED_OUT' ? `timed out.${why}` : 'was canceled or has ended.';
  return new IllegalTransition('batch_ended', `The batch ${id} ${message}`);
}

function closedForJobs({ id }: BatchRow): IllegalTransition {
  return new IllegalTransition('batch_closed', `The batch ${id} is closed for jobs.`);
}

/**
 * The jobs that do not exist yet. Throws AlreadyExists when a job exists with other content or in
 * another batch.
 */
function findMissingJobs(draft: Draft, { batchId, jobs }: Creation): NewJob[] {
  return jobs.filter((job) => {
    const row = reportedJob(draft, job.id);
    if (row !== undefined) requireSame(row, { batch_id: batchId, ...jobContent(job) });
    return row === undefined;
  });
}

/** The draft with this batch, which these jobs are added to and counted in. */
function withNewJobs(
  draft: Draft,
  { batch, jobs, part }: { readonly batch: BatchRow; readonly jobs: readonly NewJob[]; readonly part: CreationPart },
): Draft {
  const { time, sequences } = part;
  const rows: JobRow[] = [];
  let head = draft.heads.job;
  for (const job of jobs) {
    const creation_order = batch.jobs_count + rows.length;
    const make = (place: NewPlace) => newJobRow(batch, job, { ...place, creation_order });
    const [row, headAfter] = placeRow({ head, list: draft.formats.job, time, make });
    rows.push(row);
    head = headAfter;
  }
  const heads = { ...draft.heads, job: head };
  const written =
    rows.length === 0 ? withRows(draft, { batches: [batch] }) : withJobs(draft, { batch, jobs: rows, heads });
  return withItemsBeside(
    written,
    rows.map((row, at) => [row, jobContent(jobs[at]!)]),
    sequences,
  );
}

/** The draft with what lies beside these new rows: sequences, and long constants. */
function withItemsBeside(
  draft: Draft,
  rows: readonly (readonly [row: BatchRow | JobRow, content: Content])[],
  sequences: Creation['sequences'],
): Draft {
  const apart = rows.filter(([row]) => hasMarker(row));
  const constants = new Map(apart.map(([row, content]) => [constantsId(row), packConstants(content)]));
  const described = withSequences(
    draft,
    rows.map(([{ id }]) => id),
    sequences,
  );
  return withSequences(described, [...constants.keys()], constants);
}

/**
 * Throws AlreadyExists where the row differs from this content, which never changes once it is
 * created.
 */
function requireSame(row: BatchRow | JobRow, content: Readonly<Record<string, unknown>>) {
  for (const [name, value] of Object.entries(content)) {
    const stored = (row as Readonly<Record<string, unknown>>)[name];
    if (!holdsValue({ name, stored }, value)) {
      throw new AlreadyExists('already_exists', `${row.id} exists with another ${name}.`);
    }
  }
}

interface NewPlace {
  readonly seq: number;
  readonly created_at: string;
}

/** A new row at the head's next place, and the head after it. */
function placeRow<Row extends BatchRow | JobRow>({ head, list, time, make }: Placement<Row>): [Row, Head] {
  const earliest = head.last_created_at === null ? '' : fromMicroseconds(toMicroseconds(head.last_created_at) + 1);
  const row = make({ seq: head.next_seq, created_at: time > earliest ? time : earliest });
  const dictionaries = withTextsOf(Object.values(list.columns), row, head.dictionaries);
  return [row, { ...head, next_seq: head.next_seq + 1, last_created_at: row.created_at, dictionaries }];
}

interface Placement<Row> {
  readonly head: Head;
  readonly list: ListDescription;
  readonly time: string;
  readonly make: (place: NewPlace) => Row;
}

function newBatchRow(userId: string, create: NewBatchContent, { seq, created_at }: NewPlace): BatchRow {
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
    erased_at: null,
    seq,
    rev: 0,
    written_at: {},
  };
}

function newJobRow(batch: BatchRow, job: NewJob, place: NewPlace & Pick<JobRow, 'creation_order'>): JobRow {
  const row: JobRow = {
    user_id: batch.user_id,
    batch_id: batch.id,
    project_id: batch.project_id,
    ...jobContent(job),
    status: 'PENDING',
    ...place,
    updated_at: place.created_at,
    start_timestamp: null,
    end_timestamp: null,
    errors: null,
    results_key: null,
    ...(batch.webhook !== null && { has_webhook: true }),
    rev: 0,
    written_at: {},
  };
  return markConstants(row, growth.job + Buffer.byteLength(row.user_id));
}

/** What never changes once the batch is created. */
export function batchContent(batch: NewBatchContent) {
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

/** What never changes once the job is created, and is sent with it. */
export function jobContent({ id, parent_id, runs, origin, variables }: NewJob) {
  return { id, parent_id, runs, origin, variables: jsonText(variables) };
}

function jsonText(value: Readonly<Record<string, unknown>> | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
