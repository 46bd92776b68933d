/** Runs jobs of a batch again, in a new batch. */

import { randomUUID } from 'node:crypto';
import { IllegalTransition, InvalidInput, requireFound } from '../../errors.ts';
import type { BatchRow, BatchWithJobs } from '../../schemas/batch.ts';
import type { Claims } from '../../schemas/claims.ts';
import type { JobRow } from '../../schemas/job.ts';
import type { RebatchQuery } from '../../schemas/job-selection.ts';
import type { NewJob } from '../../schemas/new-batch.ts';
import { sequenceText } from '../../schemas/sequence.ts';
import { lowerPriority } from '../../schemas/values.ts';
import { parseStoredObject } from '../../values/json-text.ts';
import { derivedUuid } from '../../values/uuid.ts';
import { zlib } from '../../values/zlib.ts';
import type { Db } from '../dynamodb/db.ts';
import { digestOf, OtherChoice, type ProcessedCall } from '../lifecycle/draft.ts';
import { requireContent } from '../lifecycle/erase.ts';
import {
  type CreationDb,
  callsBefore,
  type RequestedCreation,
  requestCreation,
} from '../lifecycle/request-creation.ts';
import type { ScheduleRecovery } from '../lifecycle/schedule-recovery.ts';
import { asOwner } from '../projects/access.ts';
import { type BatchOfUser, batchOf, getBatchRow } from '../rows/batches.ts';
import { hasLost, withConstants } from '../rows/constants.ts';
import { getGzippedSequences } from '../rows/sequences.ts';
import { type CreationCall, requireProject, withJobs } from './new-batches.ts';
import { selectJobs } from './selected-jobs.ts';

/** As many jobs as one call creates. */
const maxJobs = 5_000;

/** A closed batch, and which of its jobs to run again. */
interface RebatchSource {
  readonly batchId: string;
  readonly query: RebatchQuery;
}

/**
 * Creates a batch from the jobs of a closed batch that a query selects, with their variables, runs
 * and sequences. The new batch and its jobs name what they repeat (`parent_id`). Everything else is
 * copied from the source, but the token bounds the priority, and a fellow's webhook stays theirs.
 * The answer shows up to 100 jobs.
 *
 * The same idempotency key for the same batch and query within 15 days answers with the same batch,
 * even if the source's jobs have changed since.
 *
 * Throws NotFound when the user may not read such a batch; IllegalTransition when it is open or
 * erased; InvalidInput when the query selects no job, or more than 5,000; Forbidden when the token
 * does not let the user submit to its project; AlreadyExists when the key was used for another
 * batch or query.
 *
 * Costs: what selectJobs and withConstants read, one read unit for each 4 KB of sequence, and
 * requestCreation's writes; where constants or sequences are missing, the source's row once more.
 */
export async function rebatch(
  db: CreationDb,
  call: CreationCall,
  { batchId: sourceId, query }: RebatchSource,
  scheduleRecovery?: ScheduleRecovery,
): Promise<BatchWithJobs> {
  const { userId, claims, idempotencyKey } = call;
  const source = await asOwner(db, call, { right: 'read', table: 'Batches', id: sourceId }, (owner) =>
    getBatchRow(db, owner, sourceId),
  );
  requireContent(source);
  if (source.open) throw new IllegalTransition('batch_open', 'The batch is open: close it first.');
  requireProject(claims, source.project_id);
  const of = { userId: source.user_id, batchId: sourceId };
  if (idempotencyKey === undefined) {
    const { jobs } = await selectJobs(db, of, query);
    return createRepetition(db, userId, { source, jobs, claims, batchId: randomUUID() }, scheduleRecovery);
  }
  const batchId = derivedUuid(['rebatch', userId, idempotencyKey]);
  const request = { id: `request#${batchId}`, digest: digestOf([sourceId, query]) };
  const repetitionOf = ({ jobs, choice = packPlaces(jobs) }: Choice): Repetition => ({
    ...{ source, jobs, claims, batchId },
    request: { ...request, choice },
  });
  const before = await chosenBefore(db, userId, of, request);
  if (before !== undefined) return createRepetition(db, userId, repetitionOf(before), scheduleRecovery);
  try {
    const chosen = repetitionOf(await selectJobs(db, of, query));
    return await createRepetition(db, userId, chosen, scheduleRecovery);
  } catch (error) {
    if (!(error instanceof OtherChoice || error instanceof InvalidInput)) throw error;
    // The same call may have begun meanwhile, with other jobs of the source.
    const meanwhile = await chosenBefore(db, userId, of, request);
    if (meanwhile === undefined) throw error;
    return createRepetition(db, userId, repetitionOf(meanwhile), scheduleRecovery);
  }
}

/** Creates the batch of these jobs, and shows it. */
async function createRepetition(
  db: CreationDb,
  userId: string,
  repetition: Repetition,
  scheduleRecovery?: ScheduleRecovery,
): Promise<BatchWithJobs> {
  requireSome(repetition.jobs);
  const { user_id, id } = repetition.source;
  const ids = [id, ...repetition.jobs.map((job) => job.id)];
  const [stored, [source = repetition.source], jobs] = await Promise.all([
    getGzippedSequences(db, user_id, ids),
    withConstants(db, [repetition.source]),
    withConstants(db, repetition.jobs),
  ]);
  const hasConstants =
    !hasLost(repetition.source, source) && !jobs.some((job, at) => hasLost(repetition.jobs[at]!, job));
  const hasSequences = stored.has(id) || jobs.every((job) => stored.has(job.id));
  // It has been erased meanwhile; or it is of events, and never had sequences.
  if (!hasConstants || !hasSequences) requireContent(requireFound(await getBatchRow(db, user_id, id), 'batch'));
  const creation = creationOf(userId, { ...repetition, source, jobs }, stored);
  const rows = await requestCreation(db, userId, creation, scheduleRecovery);
  const sequence = stored.get(id);
  const batch = { ...batchOf(rows.batch), sequence_builder: sequence === undefined ? null : sequenceText(sequence) };
  return withJobs(batch, rows.jobs);
}

/**
 * The jobs of the source that the call chose when it was made before; undefined when it was not.
 * Throws AlreadyExists where another call had its key.
 */
async function chosenBefore(
  db: Db<'Batches' | 'Jobs' | 'Columns'>,
  userId: string,
  of: BatchOfUser,
  request: ProcessedCall,
): Promise<Choice | undefined> {
  const calls = await callsBefore(db, userId, request);
  const choice = calls.find((call) => call.choice !== undefined)?.choice;
  if (choice === undefined) return undefined;
  const places = new Set(unpackPlaces(choice));
  const { jobs } = await selectJobs(db, of, {});
  return { jobs: jobs.filter(({ creation_order }) => places.has(creation_order)), choice };
}

/** Jobs to run again, in their order; packed where a call has remembered them. */
interface Choice {
  readonly jobs: readonly JobRow[];
  readonly choice?: Uint8Array | undefined;
}

interface Repetition {
  readonly source: BatchRow;
  readonly jobs: readonly JobRow[];
  readonly claims: Claims;
  readonly batchId: string;
  readonly request?: ProcessedCall;
}

/** The jobs' places in their batch, as gzipped steps: some 6 KB for 5,000 jobs at most. */
function packPlaces(jobs: readonly JobRow[]): Uint8Array {
  const steps = jobs.map(({ creation_order }, at) => creation_order - (jobs[at - 1]?.creation_order ?? 0));
  return zlib().gzipSync(JSON.stringify(steps));
}

function unpackPlaces(packed: Uint8Array): number[] {
  let place = 0;
  return JSON.parse(zlib().gunzipSync(packed).toString()).map((step: number) => {
    place += step;
    return place;
  });
}

/** The batch to create, with the sequences of what it repeats. */
function creationOf(
  userId: string,
  { source, jobs, claims, batchId, request }: Repetition,
  stored: ReadonlyMap<string, Uint8Array>,
): RequestedCreation {
  const sequences = new Map<string, Uint8Array>();
  const repeatSequence = (sourceId: string, id: string) => {
    const sequence = stored.get(sourceId);
    if (sequence !== undefined) sequences.set(id, sequence);
  };
  repeatSequence(source.id, batchId);
  const repeated = jobs.map(({ id: parent_id, runs, variables }): NewJob => {
    const id = request === undefined ? randomUUID() : derivedUuid([batchId, parent_id]);
    repeatSequence(parent_id, id);
    return { id, parent_id, runs, variables: parseStoredObject(variables), origin: 'CLIENT' };
  });
  const create = {
    id: batchId,
    parent_id: source.id,
    project_id: source.project_id,
    device_type: source.device_type,
    queue_priority: lowerPriority(claims.queue_priority, source.queue_priority),
    open: false,
    tags: source.tags,
    // Messages about it are not for a fellow.
    webhook: source.user_id === userId ? source.webhook : null,
    configuration: parseStoredObject(source.configuration),
    backend_configuration: source.backend_configuration,
    device_status: null,
  };
  return { batchId, create, jobs: repeated, sequences, request, userName: claims.user_name };
}

function requireSome(jobs: readonly JobRow[]): void {
  if (jobs.length > 0 && jobs.length <= maxJobs) return;
  const [msg, type] =
    jobs.length === 0
      ? (['No job of the batch matches', 'value_error'] as const)
      : ([`At most ${maxJobs} jobs can be run again at once`, 'too_long'] as const);
  throw new InvalidInput([{ loc: ['query', 'id'], msg, type }]);
}
