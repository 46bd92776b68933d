/** Runs jobs of a batch again, in a new batch. */

import { createHash, randomUUID } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { CorruptData, Forbidden, IllegalTransition, InvalidInput, NotFound } from '../errors.ts';
import type { BatchWithJobs } from '../schemas/batch.ts';
import type { Claims } from '../schemas/claims.ts';
import { JobOfRow, type JobRow, type NewJob } from '../schemas/job.ts';
import type { RebatchQuery } from '../schemas/job-selection.ts';
import { sequenceText } from '../schemas/sequence.ts';
import type { TableNames } from '../tables.ts';
import { derivedUuid } from '../uuid.ts';
import { mostJobsShown } from './batch-details.ts';
import { batchOf, getBatch } from './batches.ts';
import { batchGet } from './dynamodb/reads.ts';
import { storedRow } from './dynamodb/stored-row.ts';
import type { LifecycleOptions } from './lifecycle/lifecycle.ts';
import { requestCreation } from './lifecycle/request-creation.ts';
import { type CreationCall, lowerPriority } from './new-batches.ts';
import { selectJobs } from './selected-jobs.ts';

/** As many jobs as one call creates. */
const maxJobs = 5_000;

/** What BatchGetItem takes. */
const sequencesAtOnce = 100;

/**
 * The function that creates a batch of those jobs of a closed batch that a query selects, with their variables, runs and sequences; batch
 * and jobs name what they repeat (`parent_id`). All else is the source's, but for the priority, which the token bounds. The answer shows
 * up to 100 jobs.
 *
 * Throws NotFound when the user has no such batch; IllegalTransition when it is open; InvalidInput when the query selects no job, or
 * more than 5,000; Forbidden when the token does not name its project. The same idempotency key for the same batch and query within 15
 * days answers with the same batch; for another, it throws AlreadyExists. Costs: selectJobs' reads, one read unit for each 4 KB of
 * sequence, and requestCreation's writes.
 */
export function rebatch(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs' | 'Columns' | 'Sequences' | 'Queue'>,
  options: LifecycleOptions = {},
): (call: CreationCall, sourceId: string, query: RebatchQuery, claims: Claims) => Promise<BatchWithJobs> {
  const { rowsPerBlock } = options;
  const get = getBatch(client, tables);
  const select = selectJobs(client, tables, rowsPerBlock === undefined ? {} : { rowsPerBlock });
  const create = requestCreation(client, tables, options);
  return async ({ userId, idempotencyKey }, sourceId, query, claims) => {
    const source = await get(userId, sourceId);
    if (source === undefined) throw new NotFound('There is no such batch.');
    if (source.open) throw new IllegalTransition('The batch is open: close it first.');
    if (claims.projects?.some(({ id }) => id === source.project_id) === false) {
      throw new Forbidden('The token does not name this project.');
    }
    const { jobs: chosen } = await select(userId, sourceId, query);
    requireSome(chosen);
    const stored = await sequencesOf(userId, [sourceId, ...chosen.map(({ id }) => id)]);
    const batchId = idempotencyKey === undefined ? randomUUID() : derivedUuid(['rebatch', userId, idempotencyKey]);
    const idOf = (job: JobRow) => (idempotencyKey === undefined ? randomUUID() : derivedUuid([batchId, job.id]));
    const sources = chosen.map((job) => ({ job, id: idOf(job) }));
    const sequences = new Map(
      [{ job: source, id: batchId }, ...sources].flatMap(({ job, id }) => {
        const sequence = stored.get(job.id);
        return sequence === undefined ? [] : [[id, sequence] as const];
      }),
    );
    const rows = await create(userId, {
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
      jobs: sources.map(({ job, id }) => repeatedJob(job, id)),
      sequences,
      request:
        idempotencyKey === undefined
          ? undefined
          : {
              id: `request#${derivedUuid(['rebatch', userId, idempotencyKey])}`,
              digest: createHash('sha256')
                .update(JSON.stringify([sourceId, query]))
                .digest('base64url'),
            },
    });
    const own = sequences.get(batchId);
    const batch = { ...batchOf(rows.batch), sequence_builder: own === undefined ? null : sequenceText(own) };
    if (rows.jobs.length > mostJobsShown) return batch;
    return { ...batch, jobs: rows.jobs.map((row) => storedRow(JobOfRow, { ...row })) };
  };

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

function repeatedJob({ id: parent_id, runs, variables }: JobRow, id: string): NewJob {
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
