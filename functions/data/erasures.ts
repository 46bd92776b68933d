/** Erases what users put into a batch, and what came of it; its numbered rows stay. */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { requireFound, Unfinished } from '../errors.ts';
import { BatchRow } from '../schemas/batch.ts';
import type { TableNames } from '../tables.ts';
import { fromMilliseconds } from '../timestamp.ts';
import { batchDelete } from './dynamodb/batch-delete.ts';
import { batchGet, getRow, queryAll } from './dynamodb/reads.ts';
import type { ResultsOfJobs } from './erase-results.ts';
import { listJobIds } from './jobs.ts';
import { commitTask, type LifecycleOptions, writeContext } from './lifecycle/commit-tasks.ts';
import { beginErasing, endErasing, eraseJobs, hasComeToRest, notEnded } from './lifecycle/erase.ts';
import { processedEventKey } from './lifecycle/transaction.ts';
import { stopAttempts } from './webhook-attempts.ts';

type Tables = TableNames<'Batches' | 'Jobs' | 'Columns' | 'Sequences'> &
  Partial<TableNames<'WebhookAttempts' | 'Usage'>>;

interface ErasureOptions extends LifecycleOptions {
  readonly eraseResults: (userId: string, results: ResultsOfJobs) => Promise<void>;
}

/** As many as BatchGetItem takes. */
const jobsInPart = 100;

/** No further part is begun when less is left of the call's time. */
const reservedMilliseconds = 6_000;

/**
 * The function that erases the content of a batch that has ended, and returns its row:
 *
 * 1. Messages to its webhook that are under way are stopped: their attempts are what is left.
 * 2. Its row loses its content and says `erasing`. From then on events change nothing of it.
 * 3. Its sequence and the memory of the calls that made it are deleted; then, 100 jobs at a time,
 *    their sequences and results, and the content of their rows. Results go before their keys.
 * 4. Once no job has content, `erasing` goes.
 *
 * An erased batch stays as it is. `beforeMultiTransaction` is awaited before all that, whatever it
 * takes: links for uploads outlive their leases by minutes, so the results are looked for again
 * (finishErasure). A call that dies or throws Unfinished is repeated, or finished so.
 *
 * Throws NotFound; IllegalTransition while the batch or a job of it has not ended; Unfinished.
 *
 * Costs for each job: 4 to 10 write units; 2 read units for each 4 KB of its row; one listing of
 * the bucket, or less beyond 500 jobs. Half a read unit for each 4 KB of remembered calls.
 */
export function eraseBatch(
  client: DynamoDBDocumentClient,
  tables: Tables,
  { eraseResults, ...options }: ErasureOptions,
): (userId: string, batchId: string) => Promise<BatchRow> {
  const { newPace, ...context } = writeContext(client, tables, options);
  const { lists, now } = context;
  const jobIdsOf = listJobIds(client, tables, lists);
  const rowOf = (userId: string, id: string) =>
    getRow(client, {
      table: tables.Batches,
      key: { user_id: userId, id },
      schema: BatchRow,
    });

  return async (userId, batchId) => {
    const before = requireFound(await rowOf(userId, batchId), 'batch');
    if (before.erased_at !== null && before.erasing === undefined) return before;
    if (before.erased_at === null) {
      if (!hasComeToRest(before)) throw notEnded();
      await options.beforeMultiTransaction?.(userId, batchId);
      if (before.webhook !== null)
        await stopAttempts(client, tables, { user_id: userId, batch_id: batchId, now: now() });
    }
    const pace = newPace();
    const commit = (changes: Parameters<typeof commitTask>[1]['changes']) =>
      commitTask({ ...context, newPace, pace, userId }, { changes });
    await commit([beginErasing(lists, { batchId, now: fromMilliseconds(now()) })]);
    await forgetCalls(userId, batchId);
    await batchDelete(client, tables.Sequences, [{ user_id: userId, id: batchId }]);
    const jobIds = await jobIdsOf(userId, batchId);
    for (let at = 0; at < jobIds.length; at += jobsInPart) {
      if (pace.isOver(reservedMilliseconds)) throw new Unfinished();
      const left = await erasePart(userId, jobIds.slice(at, at + jobsInPart));
      await commit(eraseJobs(lists, { batchId, jobIds: left }));
    }
    const { batches } = await commit([endErasing(lists, batchId)]);
    return batches.get(batchId) as BatchRow;
  };

  /** Erases what jobs have outside of their rows. Returns those whose rows have content. */
  async function erasePart(userId: string, jobIds: readonly string[]): Promise<string[]> {
    const keys = jobIds.map((id) => ({ user_id: userId, id }));
    const attributes = ['id', 'results_key', 'erased_at'];
    const rows = await batchGet(client, { table: tables.Jobs, keys, consistent: true, attributes });
    const left = rows.filter(({ erased_at }) => erased_at === undefined);
    const ids = left.map(({ id }) => String(id));
    await batchDelete(
      client,
      tables.Sequences,
      keys.filter(({ id }) => ids.includes(id)),
    );
    await eraseResults(userId, { jobIds: ids, keys: left.flatMap(({ results_key }) => results_key ?? []) });
    return ids;
  }

  /** What remembers that the user's calls were carried out: a repetition adds nothing now. */
  async function forgetCalls(userId: string, batchId: string): Promise<void> {
    const calls = await queryAll(client, {
      table: tables.Columns,
      partition: { user_id: userId },
      sortKey: 'key',
      range: { startsWith: processedEventKey('request#') },
      attributes: ['key', 'batch_id'],
      consistent: false,
    });
    const keys = calls.filter(({ batch_id }) => batch_id === batchId).map(({ key }) => ({ user_id: userId, key }));
    await batchDelete(client, tables.Columns, keys);
  }
}

/**
 * The function that finishes the erasure of a batch where its call died, and deletes the results
 * that were uploaded since: call it when no link for an upload is valid any more.
 */
export function finishErasure(client: DynamoDBDocumentClient, tables: Tables, options: ErasureOptions) {
  const erase = eraseBatch(client, tables, options);
  const jobIdsOf = listJobIds(client, tables, options.lists);
  return async (userId: string, batchId: string): Promise<void> => {
    await erase(userId, batchId);
    await options.eraseResults(userId, { jobIds: await jobIdsOf(userId, batchId), keys: [] });
  };
}
