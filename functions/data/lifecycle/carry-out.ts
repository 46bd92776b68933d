import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { AlreadyExists, CorruptData, OutdatedColumns, TooBusy } from '../../errors.ts';
import { BatchRow } from '../../schemas/batch.ts';
import { JobRow } from '../../schemas/job.ts';
import { type Head, headKey, headOf, requireFormat } from '../columns/head.ts';
import type { ListDescription } from '../columns/list-description.ts';
import type { OwnerLists } from '../columns/lists.ts';
import { type Attempt, failureKind, optimistically } from '../dynamodb/attempts.ts';
import { storedRow } from '../dynamodb/stored-row.ts';
import { type Item, tableReads } from '../dynamodb/table-reads.ts';
import type { Operation } from './draft.ts';
import { changesNothing, type Draft, emptyDraft, fits, type Stored } from './draft.ts';
import { type LifecycleTables, markKey, transactionOf } from './transaction.ts';

/** An operation on its way, one of several that make up a task where a transaction would not hold the whole. */
interface Step {
  readonly operation: Operation;
  readonly task: number;
}

/** What became of the first steps of those that wait. */
interface Progress {
  readonly taken: number;
  /** Instead of the steps that were taken. */
  readonly instead: readonly Step[];
  /** By task: why it is refused. */
  readonly refusals: ReadonlyMap<number, Error>;
}

/** BatchGetItem takes 100 keys of a table: here the rows, and with the events' marks two heads. */
const mostRowsRead = 96;

/**
 * Carries out tasks of one owner in their order, as many in one transaction as it holds: what they share (heads, blocks, counts) is
 * written once for all of them. Each task is a list of operations that follow each other; returns for each task the error that
 * stopped it, or undefined. A refused task changes nothing, or no more than its operations before the refused one.
 *
 * What DynamoDB refuses of several steps together is tried again step by step, so that no task suffers for another's. When it
 * throttles or fails, this task and all after it get that error.
 */
export async function carryOut(
  client: DynamoDBDocumentClient,
  tables: LifecycleTables,
  lists: OwnerLists,
  userId: string,
  tasks: readonly (readonly Operation[])[],
  now: () => number,
): Promise<(Error | undefined)[]> {
  const { batchGet } = tableReads(client);
  const errors: (Error | undefined)[] = tasks.map(() => undefined);
  let waiting: readonly Step[] = tasks.flatMap((operations, task) =>
    operations.map((operation) => ({ operation, task })),
  );
  let alone = 0;
  while (waiting.length > 0) {
    const steps = alone > 0 ? waiting.slice(0, 1) : firstSteps(waiting);
    try {
      const { taken, instead, refusals } = await optimistically(client, () => attempt(steps));
      alone = Math.max(0, alone - taken);
      waiting = [...instead, ...waiting.slice(taken)];
      for (const [task, error] of refusals) errors[task] = error;
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      // Where DynamoDB itself fails, it would fail the next steps as well, and they must not overtake these.
      const stopped = isOfTheSteps(failure) ? steps : waiting;
      if (stopped === steps && steps.length > 1) {
        alone = steps.length;
      } else {
        alone = Math.max(0, alone - 1);
        for (const { task } of stopped) errors[task] = failure;
      }
    }
    waiting = waiting.filter(({ task }) => errors[task] === undefined);
  }
  return errors;

  /** Decides as many of the steps as one transaction holds. */
  async function attempt(steps: readonly Step[]): Promise<Attempt<Progress>> {
    const refusals = new Map<number, Error>();
    let draft = emptyDraft(lists, await readStored(steps.map(({ operation }) => operation)));
    let taken = 0;
    for (const { operation, task } of steps) {
      if (!refusals.has(task)) {
        const next = decided(draft, operation);
        if (next instanceof Error) refusals.set(task, next);
        else if (fits(next)) draft = next;
        else if (!changesNothing(draft)) break;
        else {
          const halves = operation.halves?.();
          if (halves === undefined) throw new RangeError('An operation is too large for a transaction.');
          const instead = halves.map((half) => ({ operation: half, task }));
          return { result: { taken: taken + 1, instead, refusals } };
        }
      }
      taken += 1;
    }
    const result = { taken, instead: [], refusals };
    if (changesNothing(draft)) return { result };
    const blocks = await readBlocks(draft);
    return { transaction: transactionOf(lists, tables, userId, draft, blocks, now()), result };
  }

  async function readStored(operations: readonly Operation[]): Promise<Stored> {
    const batchIds = new Set(operations.flatMap((operation) => operation.batchIds));
    const jobIds = new Set(operations.flatMap((operation) => operation.jobIds));
    const eventIds = new Set(operations.flatMap(({ event }) => (event === undefined ? [] : [event.id])));
    const headKeys = { batch: headKey(lists.batch), job: headKey(lists.job) };
    const [columns, batches, jobs] = await Promise.all([
      readColumns([...Object.values(headKeys), ...Array.from(eventIds, markKey)]),
      readBatches([...batchIds]),
      batchGet(tables.Jobs, Array.from(jobIds, rowKey), true),
    ]);
    const jobRows = jobs.map((item) => storedRow(JobRow, item));
    const furtherBatches = new Set(jobRows.map((job) => job.batch_id)).difference(batchIds);
    const allBatches = [...batches, ...(await readBatches([...furtherBatches]))];
    return {
      heads: {
        batch: currentHead(lists.batch, columns.get(headKeys.batch)),
        job: currentHead(lists.job, columns.get(headKeys.job)),
      },
      batches: new Map(allBatches.map((row) => [row.id, row])),
      jobs: new Map(jobRows.map((row) => [row.id, row])),
      marks: new Map(
        [...eventIds].flatMap((id) => {
          const mark = columns.get(markKey(id));
          return mark === undefined ? [] : [[id, String(mark.digest)] as const];
        }),
      ),
    };
  }

  async function readBatches(ids: readonly string[]): Promise<BatchRow[]> {
    const items = await batchGet(tables.Batches, ids.map(rowKey), true);
    return items.map((item) => storedRow(BatchRow, item));
  }

  async function readBlocks(draft: Draft): Promise<Map<string, Uint8Array>> {
    const items = await readColumns([...draft.blocks]);
    return new Map(
      Array.from(items, ([key, { v }]) => {
        if (!(v instanceof Uint8Array)) throw new CorruptData(`The block ${key} holds no bytes.`);
        return [key, v];
      }),
    );
  }

  async function readColumns(keys: readonly string[]): Promise<Map<string, Item>> {
    const columnKeys = keys.map((key) => ({ user_id: userId, key }));
    const items = await batchGet(tables.Columns, columnKeys, true);
    return new Map(items.map((item) => [String(item.key), item]));
  }

  function rowKey(id: string) {
    return { user_id: userId, id };
  }
}

/** Whether it was thrown for what one of the steps asks, and not because nothing of this owner can be written now. */
function isOfTheSteps(error: Error): boolean {
  if (error instanceof OutdatedColumns) return false;
  return error instanceof CorruptData || (failureKind(error) === 'final' && !(error instanceof TooBusy));
}

/** As many of the steps as may share the reads of one transaction; at least one. */
function firstSteps(waiting: readonly Step[]): readonly Step[] {
  let rows = 0;
  const end = waiting.findIndex(({ operation }) => {
    rows += operation.batchIds.length + operation.jobIds.length;
    return rows > mostRowsRead;
  });
  return end < 0 ? waiting : waiting.slice(0, Math.max(1, end));
}

/** The draft after the operation, its event remembered; or why it is refused. */
function decided(draft: Draft, { event, apply }: Operation): Draft | Error {
  try {
    const next = event !== undefined && isCarriedOut(draft, event) ? draft : apply(draft);
    return event === undefined || next === draft ? next : { ...next, marks: [...next.marks, event] };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function isCarriedOut(draft: Draft, event: NonNullable<Operation['event']>): boolean {
  const digest = draft.marks.find(({ id }) => id === event.id)?.digest ?? draft.stored.marks.get(event.id);
  if (digest === undefined) return false;
  if (digest !== event.digest) throw new AlreadyExists(`Another event had the id ${event.id}.`);
  return true;
}

function currentHead(list: ListDescription, item: Item | undefined): Head | undefined {
  return item === undefined ? undefined : requireFormat(list, headOf(list, item));
}
