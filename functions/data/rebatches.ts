/** Runs jobs of a batch again, in a new batch. */

import { createHash, randomUUID } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { AlreadyExists, CorruptData, IllegalTransition, InvalidInput, NotFound, ServiceError } from '../errors.ts';
import type { Batch, BatchWithJobs } from '../schemas/batch.ts';
import type { Claims } from '../schemas/claims.ts';
import type { JobRow, NewJob } from '../schemas/job.ts';
import type { RebatchQuery } from '../schemas/job-selection.ts';
import { sequenceText } from '../schemas/sequence.ts';
import type { TableNames } from '../tables.ts';
import { derivedUuid } from '../uuid.ts';
import { mostJobsShown } from './batch-details.ts';
import { batchOf, getBatch } from './batches.ts';
import { ownerLists } from './columns/lists.ts';
import { batchGet, getItem } from './dynamodb/reads.ts';
import { jobOf } from './jobs.ts';
import type { LifecycleOptions } from './lifecycle/commit-tasks.ts';
import type { ProcessedCall } from './lifecycle/draft.ts';
import { keyUsedBefore, requestCreation } from './lifecycle/request-creation.ts';
import { processedEventKey } from './lifecycle/transaction.ts';
import { type CreationCall, lowerPriority, requireProject } from './new-batches.ts';
import { selectJobs } from './selected-jobs.ts';

/** As many jobs as one call creates. */
const maxJobs = 5_000;

/** What BatchGetItem takes. */
const sequencesAtOnce = 100;

/**
 * The function that creates a batch of those jobs of a closed batch that a query selects, with
 * their variables, runs and sequences; batch and jobs name what they repeat (`parent_id`). All else
 * is the source's, but for the priority, which the token bounds. The answer shows up to 100 jobs.
 *
 * Throws NotFound when the user has no such batch; IllegalTransition when it is open; InvalidInput
 * when the query selects no job, or more than 5,000; Forbidden when the token does not name its
 * project. The same idempotency key for the same batch and query within 15 days answers with the
 * same batch, whatever has become of the source's jobs; for another, it throws AlreadyExists.
 * Costs: selectJobs' reads, one read unit for each 4 KB of sequence, and requestCreation's writes.
 */
export function rebatch(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs' | 'Columns' | 'Sequences' | 'DeviceQueue'>,
  options: LifecycleOptions = {},
): (call: CreationCall, sourceId: string, query: RebatchQuery, claims: Claims) => Promise<BatchWithJobs> {
  const { lists = ownerLists(options.rowsPerBlock) } = options;
  const get = getBatch(client, tables);
  const select = selectJobs(client, tables, lists);
  const createRows = requestCreation(client, tables, options);
  return async ({ userId, idempotencyKey }, sourceId, query, claims) => {
    const source = await get(userId, sourceId);
    if (source === undefined) throw new NotFound('There is no such batch.');
    if (source.open) throw new IllegalTransition('batch_open', 'The batch is open: close it first.');
    requireProject(claims, source.project_id);
    if (idempotencyKey === undefined) {
      const { jobs } = await select(userId, sourceId, query);
      return create(userId, { source, jobs, claims, batchId: randomUUID() });
    }
    const batchId = derivedUuid(['rebatch', userId, idempotencyKey]);
    const request: ProcessedCall = {
      id: `request#${batchId}`,
      digest: createHash('sha256')
        .update(JSON.stringify([sourceId, query]))
        .digest('base64url'),
    };
    if (await isMade(userId, request)) return show(userId, batchId);
    try {
      const jobs = await chooseAgain(userId, { sourceId, query, batchId });
      return await create(userId, { source, jobs, claims, batchId, request });
    } catch (error) {
      // The same call may have come to its end meanwhile, with other jobs of the source.
      if (error instanceof ServiceError && (await isMade(userId, request))) return show(userId, batchId);
      throw error;
    }
  };

  /** Creates the batch of these jobs, and shows it. */
  async function create(
    userId: string,
    { source, jobs, claims, batchId, request }: Repetition,
  ): Promise<BatchWithJobs> {
    requireSome(jobs);
    const stored = await sequencesOf(userId, [source.id, ...jobs.map(({ id }) => id)]);
    const repeated = jobs.map((job) => ({
      job,
      id: request === undefined ? randomUUID() : derivedUuid([batchId, job.id]),
    }));
    const sequences = new Map(
      [{ job: source, id: batchId }, ...repeated].flatMap(({ job, id }) => {
        const sequence = stored.get(job.id);
        return sequence === undefined ? [] : [[id, sequence] as const];
      }),
    );
    const rows = await createRows(userId, {
      batchId,
      create: {
        id: batchId,
        parent_id: source.id,
        project_id: source.project_id,
        device_type: source.device_type,
        queue_priority: lowerPriority(claims.queue_priority, source.queue_priority),
        open: false,
        tags: source.tags,
        webhook: source.webhook,
        configuration: source.configuration,
        backend_configuration: source.backend_configuration,
        device_status: null,
      },
      jobs: repeated.map(({ job, id }) => repeatJob(job, id)),
      sequences,
      request,
    });
    return describe(batchOf(rows.batch), rows.jobs, sequences.get(batchId));
  }

  /** Whether the call came to its end. Throws AlreadyExists where another call had its key. */
  async function isMade(userId: string, { id, digest }: ProcessedCall): Promise<boolean> {
    const key = { user_id: userId, key: processedEventKey(id) };
    const processed = await getItem(client, { table: tables.Columns, key, consistent: true });
    if (processed !== undefined && processed.digest !== digest)
      throw new AlreadyExists('idempotency_key_reused', keyUsedBefore);
    return processed !== undefined;
  }

  /** The batch that a call has made before. */
  async function show(userId: string, batchId: string): Promise<BatchWithJobs> {
    const [batch, { jobs }, sequences] = await Promise.all([
      get(userId, batchId),
      select(userId, batchId, {}),
      sequencesOf(userId, [batchId]),
    ]);
    if (batch === undefined) throw new CorruptData(`The batch ${batchId} is missing, though its call is remembered.`);
    return describe(batch, jobs, sequences.get(batchId));
  }

  /** The jobs that match now, and those that a call has begun the batch with. */
  async function chooseAgain(
    userId: string,
    { sourceId, query, batchId }: { sourceId: string; query: RebatchQuery; batchId: string },
  ): Promise<readonly JobRow[]> {
    const [{ jobs }, { jobs: begun }] = await Promise.all([
      select(userId, sourceId, query),
      select(userId, batchId, {}),
    ]);
    const parents = new Set(begun.flatMap(({ parent_id }) => parent_id ?? []));
    const others = parents.difference(new Set(jobs.map(({ id }) => id)));
    if (others.size === 0) return jobs;
    const { jobs: further } = await select(userId, sourceId, { id: [...others] });
    return [...jobs, ...further].sort((a, b) => a.creation_order - b.creation_order);
  }

  /** The gzipped sequences of those of the batch and jobs that have one, by their ids. */
  async function sequencesOf(userId: string, ids: readonly string[]): Promise<Map<string, Uint8Array>> {
    const sequences = new Map<string, Uint8Array>();
    for (let from = 0; from < ids.length; from += sequencesAtOnce) {
      const keys = ids.slice(from, from + sequencesAtOnce).map((id) => ({ user_id: userId, id }));
      for (const { id, v } of await batchGet(client, { table: tables.Sequences, keys, consistent: true })) {
        if (!(v instanceof Uint8Array)) throw new CorruptData(`The sequence of ${String(id)} holds no bytes.`);
        sequences.set(String(id), v);
      }
    }
    return sequences;
  }
}

interface Repetition {
  readonly source: Batch;
  readonly jobs: readonly JobRow[];
  readonly claims: Claims;
  readonly batchId: string;
  readonly request?: ProcessedCall;
}

function describe(batch: Batch, jobs: readonly JobRow[], sequence: Uint8Array | undefined): BatchWithJobs {
  const described = { ...batch, sequence_builder: sequence === undefined ? null : sequenceText(sequence) };
  if (jobs.length > mostJobsShown) return described;
  return { ...described, jobs: jobs.map(jobOf) };
}

function repeatJob({ id: parent_id, runs, variables }: JobRow, id: string): NewJob {
  return { id, parent_id, runs, variables: variables === null ? null : JSON.parse(variables), origin: 'CLIENT' };
}

function requireSome(jobs: readonly JobRow[]): void {
  if (jobs.length > 0 && jobs.length <= maxJobs) return;
  const [msg, type] =
    jobs.length === 0
      ? (['No job of the batch matches', 'value_error'] as const)
      : ([`At most ${maxJobs} jobs can be run again at once`, 'too_long'] as const);
  throw new InvalidInput([{ loc: ['query', 'id'], msg, type }]);
}
