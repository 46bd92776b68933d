import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { CorruptData } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import { changeToken } from '../columns/changes.ts';
import type { Head } from '../columns/head.ts';
import type { ListDescription } from '../columns/list-description.ts';
import { assign } from '../dynamodb/assign.ts';
import { ifAbsent, ifUnchanged } from '../dynamodb/conditions.ts';
import type { Write } from '../dynamodb/write-units.ts';
import { usageWrites } from '../limits/usage-sums.ts';
import { blockWrites, type ColumnWrite, headWrite, inColumns } from '../lists/column-writes.ts';
import { contributorWrite } from '../projects/contributors.ts';
import { sequenceItem } from '../rows/sequences.ts';
import { type CheckedCounters, counterWrites } from './counters.ts';
import type { Draft, ProcessedCall } from './draft.ts';
import type { LifecycleDb } from './lifecycle-db.ts';
import { queueChanges, type StoredClocks } from './queue-writes.ts';
import { sumDraft } from './sum-usage.ts';

/** How long a processed event is remembered: longer than any queue keeps a message (14 days). */
const processedEventSeconds = 15 * 24 * 3600;

interface TransactionContent {
  readonly draft: Draft;
  /** The stored bytes of the draft's blocks, where they exist, by their keys. */
  readonly blocks: ReadonlyMap<string, Uint8Array>;
  /** Of the batches that enter a queue. */
  readonly clocks: StoredClocks;
  /** Of what limits a creation, as the check read them. */
  readonly counters?: CheckedCounters | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * The transaction that stores the draft: its rows and their sequences, the heads, every block of
 * columns and sets that differs afterwards, what changes in the devices' queues, and the events as
 * processed. Each of these writes is conditional on the item being as it was read. The values of
 * changed rows go with it, what the rows count as or their batch carries of that, the owner's items
 * of projects, and the draft's writes into other tables.
 */
export function createTransaction(
  db: LifecycleDb,
  userId: string,
  decided: TransactionContent,
): TransactWriteCommandInput {
  const { draft, usage } = sumDraft(decided.draft);
  const content = { ...decided, draft };
  const { tables } = db;
  const { stored } = draft;
  const queued = queueChanges(db, userId, content);
  return {
    TransactItems: [
      ...queued.batches.map((row) => writeRow(tables.Batches, stored.batches.get(row.id), row)),
      ...Array.from(draft.jobs.values(), (row) => writeRow(tables.Jobs, stored.jobs.get(row.id), row)),
      ...Array.from(draft.sequences, ([id, sequence]) => writeSequence(db, sequenceItem(userId, id, sequence))),
      ...columnWrites(content).map((write) => inColumns(db, userId, write)),
      ...changeWrites(db, userId, draft),
      ...queued.writes,
      ...usageWrites(db, usage),
      ...counterWrites(db, content),
      ...draft.contributors.map((contributor) => contributorWrite(db, contributor)),
      ...draft.writes,
    ],
  };
}

function writeRow(table: string, before: BatchRow | JobRow | undefined, after: BatchRow | JobRow): Write {
  return {
    Put: {
      TableName: table,
      Item: after,
      ...(before === undefined ? ifAbsent('id') : ifUnchanged(before, ['rev'])),
    },
  };
}

/** Its row is new in the same transaction, so there is none yet. */
function writeSequence({ tables }: LifecycleDb, Item: ReturnType<typeof sequenceItem>): Write {
  return { Put: { TableName: tables.Sequences, Item } };
}

function columnWrites({ draft, blocks, now }: TransactionContent): ColumnWrite[] {
  const { formats, stored, heads, edits } = draft;
  requireCounted(formats.batch, heads.batch, draft.batches);
  requireCounted(formats.job, heads.job, draft.jobs);
  return [
    ...headWrite(formats.batch, stored.heads.batch, heads.batch),
    ...headWrite(formats.job, stored.heads.job, heads.job),
    ...blockWrites(edits, blocks),
    ...draft.processedCalls.map((event) => rememberEvent(event, now)),
  ];
}

/**
 * Throws CorruptData when the head does not count a row: it has no place in columns then. Read side
 * by side with the head, a row that was created meanwhile looks like that too, for once.
 */
function requireCounted(list: ListDescription, { next_seq }: Head, rows: ReadonlyMap<string, BatchRow | JobRow>) {
  for (const { id, seq } of rows.values()) {
    if (seq < next_seq) continue;
    throw new CorruptData(`The head of a user's ${list.table} does not count ${id}: npm run repair -- --fix mends it.`);
  }
}

/**
 * What changed rows put beside the head (changes.ts): without a condition, since the conditions on
 * the rows are enough.
 */
function changeWrites({ tables }: LifecycleDb, userId: string, { changes }: Draft): Write[] {
  return Array.from(changes, ([key, { format, ...rows }]) => {
    const { assignments, values } = assign({ t: changeToken(), ...rows });
    return {
      Update: {
        TableName: tables.Columns,
        Key: { user_id: userId, key },
        UpdateExpression: `SET #format = :format, ${assignments}`,
        ExpressionAttributeNames: { '#format': 'format' },
        ExpressionAttributeValues: { ':format': format, ...values },
      },
    };
  });
}

function rememberEvent({ id, digest, choice, batchId }: ProcessedCall, now: number): ColumnWrite {
  const expires_at = Math.floor(now / 1000) + processedEventSeconds;
  const item = { digest, expires_at, ...(choice && { choice }), ...(batchId && { batch_id: batchId }) };
  return { key: processedEventKey(id), item, condition: ifAbsent('key') };
}

/** An event or call as its item remembers it. */
export function processedCall(id: string, item: Readonly<Record<string, unknown>>): ProcessedCall {
  const { digest, choice } = item;
  return { id, digest: String(digest), ...(choice instanceof Uint8Array && { choice }) };
}

/** Key of the item that remembers an event. */
export function processedEventKey(eventId: string): string {
  return `event#${eventId}`;
}
