/**
 * The creation of batches and jobs by the calls of users, as atomic and repeatable as that by
 * events (see lifecycle.ts).
 */

import { randomUUID } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { AlreadyExists, CorruptData } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import type { TableNames } from '../../tables.ts';
import { fromMicroseconds } from '../../timestamp.ts';
import { ownerLists } from '../columns/lists.ts';
import { commitChanges } from './commit-changes.ts';
import { type Creation, creationChanges } from './creation.ts';
import { type ProcessedCall, visibleBatch, visibleJob } from './draft.ts';
import type { LifecycleOptions } from './lifecycle.ts';
import { writerLock } from './writer-lock.ts';

/** Without a key all ids are new, so nothing can exist yet. */
export const keyUsedBefore = 'The idempotency key was used before, with another body.';

/** What jobs say that were canceled because the call that added them did not add all. */
const givenUp = ['The call that added this job did not come to its end.'];

/** What a call asks for: a new batch (`create`) with its jobs, or further jobs for a batch. */
export interface RequestedCreation extends Omit<Creation, 'time' | 'callId'> {
  /** The call, where it may be repeated: remembered as an event is, for 15 days. */
  readonly request?: ProcessedCall | undefined;
}

/** The batch, and those of its jobs that were asked for, in this order. */
export interface CreatedRows {
  readonly batch: BatchRow;
  readonly jobs: readonly JobRow[];
}

/**
 * Every creation of a user changes the same heads, so only one at a time succeeds: they take turns.
 * Half of a function's time.
 */
const patienceMilliseconds = 14_000;

/** Others write without turns. All 60 attempts pause for about 14 s. */
const attempts = 60;

/**
 * The function that creates what a call asks for and returns the rows, without a read after the
 * last write. Throws NotFound and IllegalTransition where jobs are for no batch of the user or for
 * one that is closed or has ended; AlreadyExists when the same request came with other content;
 * LimitExceeded when the user has more projects or device types than can be told apart; TooBusy.
 *
 * Write units, for rows up to 1 KB: those of `lifecycle` for a batch and its jobs; 2 for each KB of
 * a sequence; 2 for the memory of a request, 4 where it takes several transactions. Where one
 * transaction does not hold it all, the batch says so (`creating`, `pending_calls`) until the
 * last one.
 */
export function requestCreation(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs' | 'Columns' | 'Sequences' | 'DeviceQueue'>,
  { now = Date.now, rowsPerBlock, beforeMultiTransaction }: LifecycleOptions = {},
): (userId: string, requested: RequestedCreation) => Promise<CreatedRows> {
  const lists = ownerLists(rowsPerBlock);
  return async (userId, { request, ...requested }) => {
    const { batchId } = requested;
    const time = fromMicroseconds(now() * 1000);
    const callId = request?.id ?? randomUUID();
    const operations = creationChanges(
      { userId, lists },
      { ...requested, callId, time },
      request && { ...request, time },
    );
    let batch: BatchRow | undefined;
    const jobs = new Map<string, JobRow>();
    const [error] = await commitChanges(
      {
        client,
        tables,
        userId,
        lists,
        now,
        attempts,
        turns: writerLock(client, tables, { userId, now, patienceMilliseconds }),
        async beforeMultiTransaction() {
          const job_ids = requested.jobs.map(({ id }) => id);
          const call = requested.create === undefined ? { id: callId, job_ids, errors: givenUp } : undefined;
          await beforeMultiTransaction?.(userId, batchId, call);
        },
        onCommitted(draft) {
          batch = visibleBatch(draft, batchId);
          for (const { id } of requested.jobs) {
            const job = visibleJob(draft, id);
            if (job !== undefined) jobs.set(id, job);
          }
        },
      },
      [operations],
    );
    if (error instanceof AlreadyExists)
      throw new AlreadyExists('idempotency_key_reused', keyUsedBefore, { cause: error });
    if (error !== undefined) throw error;
    const rows = requested.jobs.flatMap(({ id }) => jobs.get(id) ?? []);
    if (batch === undefined || rows.length !== requested.jobs.length) {
      throw new CorruptData(`Rows of the batch ${batchId} are missing after their creation.`);
    }
    return { batch, jobs: rows };
  };
}
