import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createBatch } from '../../functions/data/batches/new-batches.ts';
import { batchList } from '../../functions/data/columns/lists.ts';
import type { Db } from '../../functions/data/dynamodb/db.ts';
import { systemClock } from '../../functions/runtime/clock.ts';
import type { BatchRow } from '../../functions/schemas/batch.ts';
import { CreateBatchRequest } from '../../functions/schemas/batch-request.ts';
import { Claims } from '../../functions/schemas/claims.ts';
import { LifecycleEvent } from '../../functions/schemas/lifecycle-event.ts';
import type { TableName, TableNames } from '../../functions/tables.ts';
import { fromMicroseconds } from '../../functions/values/timestamp.ts';
import type { WriterFigure } from '../../infra/docs/performance.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { loadList } from '../support/load-list.ts';
import { newBatch, uuid } from '../support/new-batch.ts';
import { sequenceText } from '../support/sequence-text.ts';
import { writeApi } from '../support/write-api.ts';
import { benchRows } from './bench-rows.ts';
import type { Measured } from './measure-endpoints.ts';
import { median } from './units.ts';

type Change = (writer: number, turn: number) => Promise<unknown>;

const rounds = 3;
const milliseconds = 1_500;
/** On AWS a transaction takes 15 to 25 ms, with DynamoDB Local about 3: so each waits for this. */
const heldMilliseconds = 20;
const oldBatches = 24_000;

/**
 * Measures how many changes of one owner several writers make, as fast as they can, and how many
 * transactions fail for each change because another writer came first.
 */
export async function* measureWriters(
  plain: DynamoDBDocumentClient,
  tables: TableNames,
): AsyncGenerator<Measured<WriterFigure>> {
  let conflicts = 0;
  const client = interceptedClient(plain, async ({ name, send }) => {
    if (name !== 'TransactWriteCommand') return send();
    await delay(heldMilliseconds);
    try {
      return await send();
    } catch (error) {
      conflicts += 1;
      throw error;
    }
  });
  const db = { client, tables, clock: systemClock };
  const kinds = {
    'a batch with 1 job': creations(db),
    'status of one of the newest 16 batches': await newStatuses(db),
    'status of an older batch': await oldStatuses(db),
  };
  for (const [kind, change] of Object.entries(kinds)) {
    for (const writers of [1, 4, 16]) {
      const rates: number[] = [];
      const conflictRates: number[] = [];
      for (let round = 0; round < rounds; round++) {
        conflicts = 0;
        const rate = await changesPerSecond(writers, change);
        rates.push(rate);
        conflictRates.push(conflicts / ((rate * milliseconds) / 1_000));
      }
      const name = `${kind}, ${writers} writer${writers === 1 ? '' : 's'}`;
      yield { name, changesPerSecond: median(rates), conflictsPerChange: median(conflictRates), excesses: [] };
    }
  }
}

async function changesPerSecond(writers: number, change: Change): Promise<number> {
  let changes = 0;
  const start = performance.now();
  const write = async (_: unknown, writer: number) => {
    for (let turn = 0; performance.now() < start + milliseconds; turn++) {
      try {
        await change(writer, turn);
        changes += 1;
      } catch (error) {
        if (!(error instanceof Error && error.name === 'TooBusy')) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
  return changes / ((performance.now() - start) / 1_000);
}

function creations(db: Db<TableName>): Change {
  const body = CreateBatchRequest.parse({
    project_id: uuid('c', 1),
    device_type: 'FRESNEL',
    sequence_builder: sequenceText({ name: 'measured' }),
    jobs: [{ runs: 100, variables: {} }],
  });
  return () => createBatch(db, { userId: 'creator', claims: Claims.parse({}) }, body);
}

async function newStatuses(db: Db<TableName>): Promise<Change> {
  const apply = events(db, 'owner of new batches');
  const ids = Array.from({ length: batchList.rowsInTail }, () => randomUUID());
  for (const [at, id] of ids.entries()) await apply('batch.created', newBatch(at, { id, open: true }));
  return (writer, turn) => {
    const status = turn % 2 === 0 ? 'RUNNING' : 'PAUSED';
    return apply('batch.updated', { batch_id: ids[writer], status });
  };
}

/** Every eighth batch is changed, in the order of its id: at random places, and each only once. */
async function oldStatuses(db: Db<TableName>): Promise<Change> {
  const userId = 'owner of old batches';
  const apply = events(db, userId);
  const waiting = { status: 'PENDING', open: true, start_datetime: null, end_datetime: null } as const;
  const rows = benchRows(userId, oldBatches).batches.map(
    (row): BatchRow => (row.seq % 8 === 0 ? { ...row, ...waiting } : row),
  );
  await loadList(db.client, db.tables, { list: batchList, userId, rows });
  const ids = rows.flatMap(({ id, seq }) => (seq % 8 === 0 ? [id] : [])).sort();
  return () => apply('batch.updated', { batch_id: ids.pop(), status: 'RUNNING', start_datetime: now() });
}

function events(db: Db<TableName>, userId: string) {
  const { applyEvents } = writeApi(db);
  return async (type: LifecycleEvent['type'], data: object) => {
    const [error] = await applyEvents([
      LifecycleEvent.parse({ id: randomUUID(), time: now(), user_id: userId, type, data }),
    ]);
    if (error !== undefined) throw error;
  };
}

function now() {
  return fromMicroseconds(Date.now() * 1_000);
}
