import { setTimeout as delay } from 'node:timers/promises';
import { batchList } from '../../functions/data/columns/lists.ts';
import type { BatchRow, NewBatch } from '../../functions/schemas/batch.ts';
import { CreateBatchRequest } from '../../functions/schemas/batch-request.ts';
import { Claims } from '../../functions/schemas/claims.ts';
import { fromMicroseconds } from '../../functions/timestamp.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { newBatch, uuid } from '../support/new-batch.ts';
import { sequenceText } from '../support/sequence-text.ts';
import { benchRows } from './bench-rows.ts';
import { here, partsOf } from './checkout.ts';
import { median } from './median.ts';

/** What writers of one owner get done together, as fast as they can. */
export interface WriterResult {
  readonly name: string;
  /** Medians, by the names of the variants that are compared. */
  readonly rates: Readonly<Record<string, WriterRate>>;
}

export interface WriterRate {
  readonly changesPerSecond: number;
  /** Transactions in vain, because another writer came first, for each change that was made. */
  readonly conflictsPerChange: number;
  /** Changes that were given up, in all rounds. */
  readonly failures: number;
}

interface Variant {
  readonly name: string;
  readonly root: string;
  readonly sealed: boolean;
}

interface Writers {
  readonly writers: number;
  /**
   * How long each transaction is held up before it is sent. On AWS one takes 15 to 25 ms, with
   * DynamoDB Local about 3.
   */
  readonly heldMilliseconds: number;
}

const kinds = ['a batch with 1 job', 'status of a new batch', 'status of an old batch'] as const;
type Kind = (typeof kinds)[number];

const rounds = 3;
const milliseconds = 1_500;
const mostOldBatches = 120;
const settings: readonly Writers[] = [0, 20].flatMap((heldMilliseconds) =>
  [1, 4, 16].map((writers) => ({ writers, heldMilliseconds })),
);

/** Of so many rows four segments can be sealed. */
const size = 24_000;
const rowsOfSegments = 4 * batchList.rowsPerSegment;
/** Owns as many rows; another user creates. */
const oldUser = 'owner of old batches';

/**
 * Measures creations and changes of statuses by several writers of one owner: where nothing is
 * sealed, where what can be is, and by another checkout, in turns.
 */
export async function* measureWriters(beside: string | undefined): AsyncGenerator<WriterResult> {
  const variants: Variant[] = [
    { name: 'nothing sealed', root: here, sealed: false },
    ...(beside === undefined ? [] : [{ name: 'the other checkout', root: beside, sealed: false }]),
    { name: 'sealed', root: here, sealed: true },
  ];
  const rows = oldBatches();
  const owners: (Variant & { measure: Awaited<ReturnType<typeof loadOwner>> })[] = [];
  for (const variant of variants) owners.push({ ...variant, measure: await loadOwner(variant, rows) });
  for (const setting of settings) {
    for (const kind of kinds) {
      // What is new is never sealed.
      const compared = owners.filter(({ sealed }) => !sealed || kind === 'status of an old batch');
      const rates = new Map(compared.map(({ name }) => [name, [] as WriterRate[]]));
      for (let round = 0; round < rounds; round++) {
        for (const { name, measure } of compared) rates.get(name)?.push(await measure(kind, setting));
      }
      yield {
        name: nameOf(kind, setting),
        rates: Object.fromEntries(Array.from(rates, ([name, all]) => [name, medianOf(all)])),
      };
    }
  }
}

function nameOf(kind: Kind, { writers, heldMilliseconds }: Writers): string {
  const held = heldMilliseconds === 0 ? '' : `, ${heldMilliseconds} ms more for a transaction`;
  return `${kind}, ${writers} writer${writers === 1 ? '' : 's'}${held}`;
}

function medianOf(all: readonly WriterRate[]): WriterRate {
  return {
    changesPerSecond: median(all.map(({ changesPerSecond }) => changesPerSecond)),
    conflictsPerChange: median(all.map(({ conflictsPerChange }) => conflictsPerChange)),
    failures: all.reduce((sum, { failures }) => sum + failures, 0),
  };
}

/** Every eighth one is waiting. */
function oldBatches(): BatchRow[] {
  const waiting = { status: 'PENDING', open: true, start_datetime: null, end_datetime: null } as const;
  return benchRows(oldUser, size).batches.map((row) => (row.seq % 8 === 0 ? { ...row, ...waiting } : row));
}

/**
 * Loads the rows into tables of their own, and returns the function that measures writers there.
 */
async function loadOwner({ name, root, sealed }: Variant, rows: readonly BatchRow[]) {
  const { documentClient, createTables, createBatch, lifecycle, ...parts } = await partsOf(root);
  const plain = documentClient(60_000);
  const tables = await createTables(plain, `${name.replaceAll(' ', '-')}-`);
  const load = (only?: ReadonlySet<number>) =>
    parts.loadList(plain, tables, { list: parts.batchList, userId: oldUser, rows, only, sealed: () => sealed });
  await load();
  const waiting = rows.filter(({ seq, status }) => seq < rowsOfSegments && status === 'PENDING').map(({ id }) => id);
  const random = waiting.map((id) => ({ id, place: Math.random() })).sort((a, b) => a.place - b.place);
  let created = 0;

  return async (kind: Kind, { writers, heldMilliseconds }: Writers): Promise<WriterRate> => {
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
    const userId = 'creator';
    const { createBatches, recordBatchStatus } = lifecycle(client, tables);
    const create = createBatch(client, tables);
    const updated: NewBatch[] = [];
    if (kind === 'status of a new batch') while (updated.length < 16) updated.push(newBatch(created++, { open: true }));
    await createBatches(userId, updated);
    // Columns as they were, so that what is sealed is so before each measurement. The rows stay.
    if (kind === 'status of an old batch' && sealed) await load(new Set());

    let left = kind === 'status of an old batch' ? mostOldBatches : Number.POSITIVE_INFINITY;
    const changeOf: Record<Kind, (writer: number, turn: number) => Promise<unknown>> = {
      'a batch with 1 job': () => create({ userId }, body(), Claims.parse({})),
      'status of a new batch': (writer, turn) => {
        const ofWriter = updated.filter((_, at) => at % writers === writer);
        const { id = '' } = ofWriter[turn % ofWriter.length] ?? {};
        const status = Math.floor(turn / ofWriter.length) % 2 === 0 ? 'RUNNING' : 'PAUSED';
        return recordBatchStatus(userId, id, { status });
      },
      'status of an old batch': () => {
        const start_datetime = fromMicroseconds(Date.now() * 1_000);
        return recordBatchStatus(oldUser, random.pop()?.id ?? '', { status: 'RUNNING', start_datetime });
      },
    };
    conflicts = 0;
    let [changes, failures] = [0, 0];
    const start = performance.now();
    const write = async (_: unknown, writer: number) => {
      for (let turn = 0; performance.now() < start + milliseconds && left > 0; turn++) {
        left -= 1;
        try {
          await changeOf[kind](writer, turn);
          changes += 1;
        } catch (error) {
          if (!(error instanceof Error && error.name === 'TooBusy')) throw error;
          failures += 1;
        }
      }
    };
    await Promise.all(Array.from({ length: writers }, write));
    const seconds = (performance.now() - start) / 1_000;
    return { changesPerSecond: changes / seconds, conflictsPerChange: conflicts / changes, failures };
  };
}

function body(): CreateBatchRequest {
  return CreateBatchRequest.parse({
    project_id: uuid('c', 1),
    device_type: 'FRESNEL',
    sequence_builder: sequenceText({ name: 'measured' }),
    jobs: [{ runs: 100, variables: {} }],
  });
}
