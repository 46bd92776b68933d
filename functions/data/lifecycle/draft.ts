import { createHash } from 'node:crypto';
import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import type { LeaseReference } from '../../schemas/lease.ts';
import { laterOf } from '../../values/timestamp.ts';
import type { BlockEdit } from '../columns/column-items.ts';
import { emptyHead, type Head } from '../columns/head.ts';
import type { OwnerLists } from '../columns/lists.ts';
import { columnChanges } from '../columns/tail.ts';
import type { Write } from '../dynamodb/write-units.ts';
import type { EffectiveLimits } from '../limits/limits.ts';
import { usageChanges } from '../limits/usage-sums.ts';
import type { Pause } from '../queue/device-rules.ts';
import type { QueueItem } from '../queue/queue-item.ts';
import { countedSubjects } from './counters.ts';
import { batchAsReported, deriveBatch, deriveJob, jobAsReported } from './derive-status.ts';

/** Whose rows are written, and how they are listed. */
export interface Owner {
  readonly userId: string;
  readonly lists: OwnerLists;
}

/**
 * An event or a user's call as it is remembered, in the transaction that carries it out: so it is
 * carried out once.
 */
export interface ProcessedCall {
  readonly id: string;
  /** Of the content: another event or call of the same id has another one. */
  readonly digest: string;
  /** What the call chose, where a repetition could choose otherwise: some 6 KB at most. */
  readonly choice?: Uint8Array | undefined;
  /** The batch that a user's call is about: with its content, the memory of it is erased. */
  readonly batchId?: string | undefined;
}

/**
 * A digest of a JSON value, with JSON.stringify's `replacer`. Digests are stored: they never
 * change.
 */
export function digestOf(
  content: unknown,
  replacer?: (this: Readonly<Record<string, unknown>>, name: string, value: unknown) => unknown,
): string {
  return createHash('sha256').update(JSON.stringify(content, replacer)).digest('base64url');
}

/** The same call was made with another choice: repeat it with that one. */
export class OtherChoice extends Error {}

/** The event or call that asks for a change. */
export interface SourceCall extends ProcessedCall {
  readonly time: string;
}

/** A change of one owner's rows that is made in full or not at all. */
export interface Change {
  /** The rows that it needs: read before. */
  readonly batchIds: readonly string[];
  readonly jobIds: readonly string[];
  /**
   * Those of these ids that the call has made up: the first attempt does not read their rows,
   * unless it finds that the same call has begun before.
   */
  readonly newIds?: readonly string[];
  /** Absent: the change is asked for by a direct call. */
  readonly event?: SourceCall | undefined;
  /**
   * Of a call that may take several changes. The first of them stores it, unless it is the last one
   * too. Each is refused if it is stored with another digest or choice: no call goes on with what
   * another one has begun.
   */
  readonly idempotencyRecord?: ProcessedCall | undefined;
  /**
   * The lease under which a device asks for it: the item of the queue is read. All operations of a
   * task have the same.
   */
  readonly lease?: LeaseReference | undefined;
  /** It may start jobs under the lease: the rules of the device are read with it. */
  readonly startsJobs?: true;
  /**
   * It may end jobs that devices run, without their leases: for how long they ran is read, where
   * batches have such jobs.
   */
  readonly endsJobs?: true;
  /**
   * The draft with the change; the same draft when there is nothing to change. Throws when the
   * change is not allowed.
   */
  apply(draft: Draft): Draft;
  /**
   * The operation as two that follow each other, for when no transaction holds it; undefined when
   * it cannot be split.
   */
  halves?(): readonly [Change, Change] | undefined;
}

/** What an attempt has read of an owner. */
export interface Stored {
  /** Undefined where the owner has no row yet. */
  readonly heads: { readonly batch: Head | undefined; readonly job: Head | undefined };
  readonly batches: ReadonlyMap<string, BatchRow>;
  readonly jobs: ReadonlyMap<string, JobRow>;
  /** The events and calls that have been carried out or begun, by their ids. */
  readonly processedCalls: ReadonlyMap<string, ProcessedCall>;
  /**
   * The batch of the operations' lease, as it is in its device's queue; undefined when it has left
   * the queue.
   */
  readonly leased?: QueueItem | undefined;
  /** What the operator lets the lease's device do, at the time of the read and until the next. */
  readonly device?: {
    readonly pause: Pause | undefined;
    readonly until: number;
    readonly max_job_seconds?: number | undefined;
  };
  /** By id of their batch, the leases under which jobs run that may be ended. */
  readonly running?: ReadonlyMap<string, QueueItem>;
  /** The limits of a user's creation. */
  readonly limits?: readonly EffectiveLimits[];
}

/** What one transaction is to change, on top of what is stored. Immutable. */
export interface Draft {
  readonly stored: Stored;
  readonly heads: { readonly batch: Head; readonly job: Head };
  /** The rows that differ from those stored. */
  readonly batches: ReadonlyMap<string, BatchRow>;
  readonly jobs: ReadonlyMap<string, JobRow>;
  /** The gzipped sequences of new rows, by the ids of their rows. */
  readonly sequences: ReadonlyMap<string, Uint8Array>;
  readonly processedCalls: readonly ProcessedCall[];
  /**
   * What becomes of the lease under which all this is done: the transaction is conditional on its
   * fence.
   */
  readonly lease?: LeaseUpdate | undefined;
  /** What a user's call begins to create with it. */
  readonly begun?: Begun;
  /** What goes with it into tables that are not the owner's. */
  readonly writes: readonly Write[];
  /** What the rows change in the blocks of both lists; several may be of one block. */
  readonly edits: readonly BlockEdit[];
  /** Size of rows. */
  readonly bytes: number;
}

/** What a lease knows of the job that runs under it: removed where the next item has none. */
export const ofLeasedJob = ['job_id', 'job_since', 'job_spent', 'job_until', 'max_job_seconds'] as const;

/** What a user's call begins to create in a transaction. */
export interface Begun {
  readonly batchId: string;
  /** Jobs of the whole call. */
  readonly jobs: number;
}

/** A batch in the queue as it was read, and what is to change of it. */
export interface LeaseUpdate
  extends Pick<QueueItem, 'place' | 'losses' | 'unseen_losses' | 'seen' | 'lease_until' | 'idle_since' | 'put_back'>,
    Pick<QueueItem, 'rules_until' | (typeof ofLeasedJob)[number]> {
  readonly item: QueueItem;
  /** Where the lease is given up: one higher than its own. */
  readonly fence?: number;
  /** Its batch gets a new place, behind the others. */
  readonly goesBehind?: true;
  /** It was given up because an operator paused the device. */
  readonly paused?: true;
  /** Its batch, which nobody has, gets the place of a batch that comes now. */
  readonly entersAnew?: true;
}

export function emptyDraft(lists: OwnerLists, stored: Stored): Draft {
  const heads = { batch: stored.heads.batch ?? emptyHead(lists.batch), job: stored.heads.job ?? emptyHead(lists.job) };
  return {
    stored,
    heads,
    batches: new Map(),
    jobs: new Map(),
    sequences: new Map(),
    processedCalls: [],
    writes: [],
    edits: [],
    bytes: 0,
  };
}

/** The batch as it was reported, for operations to change: withRows derives its status again. */
export function reportedBatch(draft: Draft, id: string): BatchRow | undefined {
  const batch = visibleBatch(draft, id);
  return batch && batchAsReported(batch);
}

/** The batch as users see it. */
export function visibleBatch(draft: Draft, id: string): BatchRow | undefined {
  return draft.batches.get(id) ?? draft.stored.batches.get(id);
}

/** The job as it was reported, for operations to change: withJobs derives its status again. */
export function reportedJob(draft: Draft, id: string): JobRow | undefined {
  const job = visibleJob(draft, id);
  return job && jobAsReported(job);
}

/** The job as users see it. */
export function visibleJob(draft: Draft, id: string): JobRow | undefined {
  return draft.jobs.get(id) ?? draft.stored.jobs.get(id);
}

/**
 * The draft with these jobs of a batch as they are to be, with the statuses that follow from it,
 * and counted in it. That they are updated is no update of the batch itself: its `updated_at`
 * stays, unless its status follows by them.
 */
export function withJobs(
  lists: OwnerLists,
  draft: Draft,
  {
    batch,
    jobs,
    heads = draft.heads,
  }: { readonly batch: BatchRow; readonly jobs: readonly JobRow[]; readonly heads?: Draft['heads'] },
): Draft {
  const derived = jobs.map((job) => deriveJob(job, batch));
  const counted = jobs.reduce(
    (counting, reported, at) =>
      count(counting, { before: visibleJob(draft, reported.id), reported, after: derived[at] as JobRow }),
    batch,
  );
  return withRows(lists, draft, { batches: counted === batch ? [] : [counted], jobs: derived, heads });
}

/**
 * The batch after a change of one of its jobs; the same object where neither its counts nor
 * `jobs_updated_at` change.
 */
function count(
  batch: BatchRow,
  {
    before,
    reported,
    after,
  }: { readonly before: JobRow | undefined; readonly reported: JobRow; readonly after: JobRow },
): BatchRow {
  const counts = { ...batch.jobs_count_per_status };
  counts[after.status] += 1;
  if (before === undefined) {
    return { ...batch, jobs_count: batch.jobs_count + 1, jobs_count_per_status: counts };
  }
  const jobs_updated_at = laterOf(reported.updated_at, batch.jobs_updated_at);
  if (after.status === before.status && jobs_updated_at === batch.jobs_updated_at) return batch;
  counts[before.status] -= 1;
  return { ...batch, jobs_count_per_status: counts, jobs_updated_at, rev: batch.rev + 1 };
}

/**
 * The draft with these rows as they are to be, batches with derived statuses. Jobs go in with
 * their batch, by withJobs.
 */
export function withRows(
  lists: OwnerLists,
  draft: Draft,
  rows: { readonly batches?: readonly BatchRow[]; readonly jobs?: readonly JobRow[]; readonly heads?: Draft['heads'] },
): Draft {
  const { jobs = [], heads = draft.heads } = rows;
  const batches = (rows.batches ?? []).map(deriveBatch);
  return withColumns(lists, {
    ...draft,
    heads,
    batches: new Map([...draft.batches, ...batches.map((row) => [row.id, row] as const)]),
    jobs: new Map([...draft.jobs, ...jobs.map((row) => [row.id, row] as const)]),
    bytes: [...batches, ...jobs].reduce((sum, row) => sum + Buffer.byteLength(JSON.stringify(row)), draft.bytes),
  });
}

/** The draft with the tails and the edits of blocks that its rows lead to. */
function withColumns(lists: OwnerLists, draft: Draft): Draft {
  const { stored, heads } = draft;
  const changesOf = <Row extends BatchRow | JobRow>(
    before: ReadonlyMap<string, Row>,
    after: ReadonlyMap<string, Row>,
  ) => Array.from(after.values(), (row) => ({ before: before.get(row.id), after: row }));
  const headsOf = (name: 'batch' | 'job') => ({
    before: stored.heads[name] ?? emptyHead(lists[name]),
    after: heads[name],
  });
  const batch = columnChanges(lists.batch, headsOf('batch'), changesOf(stored.batches, draft.batches));
  const job = columnChanges(lists.job, headsOf('job'), changesOf(stored.jobs, draft.jobs));
  return {
    ...draft,
    heads: { batch: { ...heads.batch, tail: batch.tail }, job: { ...heads.job, tail: job.tail } },
    edits: [...batch.edits, ...job.edits],
  };
}

/** The draft with the sequences that these new rows have of their own. */
export function withSequences(
  draft: Draft,
  ids: readonly string[],
  sequences: ReadonlyMap<string, Uint8Array> = new Map(),
): Draft {
  const added = ids.flatMap((id) => {
    const sequence = sequences.get(id);
    return sequence === undefined ? [] : [[id, sequence] as const];
  });
  return { ...draft, sequences: new Map([...draft.sequences, ...added]) };
}

/** The draft with a write into another table. Of one item, a transaction takes one write. */
export function withWrite(draft: Draft, write: Write): Draft {
  return { ...draft, writes: [...draft.writes, write] };
}

/** DynamoDB's bound on a transaction. */
const maxItems = 100;
/**
 * Of rows, and of sequences, which another table holds. A transaction takes 2 write units for each
 * started KB, and one that takes more than 1,000 on one key would never be made (write-units.ts):
 * 400 KB in 80 rows take at most 860. Blocks are small.
 */
const maxBytes = 400_000;

/** The keys of the blocks that change. */
export function blockKeys({ edits }: Draft): ReadonlySet<string> {
  return new Set(edits.map(({ key }) => key));
}

/** Whether one transaction can hold the draft. */
export function fits(draft: Draft): boolean {
  const heads = 2;
  const rows = draft.batches.size + draft.jobs.size + draft.sequences.size;
  // A batch that grows in its queue changes its item's key.
  const inQueue = ({ queue_key, open }: BatchRow) => (queue_key === undefined ? 0 : open ? 3 : 2);
  const inQueues = [...draft.batches.values()].reduce((sum, row) => sum + inQueue(row), 0);
  const lease = draft.lease === undefined ? 0 : 1;
  // Those of changed blocks may have to be deleted.
  const summaries = new Set(draft.edits.flatMap(({ summary }) => summary ?? []));
  const inColumns = blockKeys(draft).size + summaries.size + draft.processedCalls.length;
  const others = draft.writes.length + usageChanges(draft).length + countedSubjects(draft).size;
  const items = heads + rows + inColumns + inQueues + lease + others;
  const sequenceBytes = [...draft.sequences.values()].reduce((sum, { length }) => sum + length, 0);
  return items <= maxItems && draft.bytes <= maxBytes && sequenceBytes <= maxBytes;
}

export function changesNothing(draft: Draft): boolean {
  const { batches, jobs, lease, writes } = draft;
  return batches.size === 0 && jobs.size === 0 && lease === undefined && writes.length === 0;
}
