/** How much room is left in rows: above 1 KB, each of their writes costs double. */

import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createBatch } from '../../functions/data/batches/new-batches.ts';
import { attributeBytes } from '../../functions/data/dynamodb/write-units.ts';
import { changeLimits } from '../../functions/data/limits/limits-of-subjects.ts';
import { reportCalibration } from '../../functions/data/rows/calibrations.ts';
import { CreateBatchRequest } from '../../functions/schemas/batch-request.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { ownTables } from '../support/own-tables.ts';
import { sequenceText } from '../support/sequence-text.ts';
import { leaseFrom, workerStack } from '../support/worker-stack.ts';

const { client, tables } = await ownTables();

type Row = Readonly<Record<string, unknown>>;
type Write = { readonly Put?: { readonly TableName: string; readonly Item: Row } };

/** Digits that numbers of a row gain in years: places, versions, fences. */
const digits = 12;

/** The largest row of each table that a client has put. Entries of indexes have all attributes. */
function watched() {
  const largest = new Map<string, { readonly bytes: number; readonly row: Row }>();
  const watching = interceptedClient(client, async ({ name, input, send }) => {
    const writes = name === 'TransactWriteCommand' ? (input.TransactItems as Write[]) : [];
    for (const { Put } of writes) {
      if (Put === undefined) continue;
      const bytes = attributeBytes(Put.Item);
      if (bytes > (largest.get(Put.TableName)?.bytes ?? 0)) largest.set(Put.TableName, { bytes, row: Put.Item });
    }
    return send();
  });
  return { watching, largest };
}

const noteOf = (bytes: number) => ({ note: 'x'.repeat(bytes - '{"note":""}'.length) });
const isApart = (text: unknown) => String(text).startsWith('#');

interface Lengths {
  readonly variables: number;
  readonly configuration: number;
}

/** The largest rows of a batch that has all that usual ones have, with constants of this length. */
async function lifeOf({ variables, configuration }: Lengths, ends = true) {
  const { watching, largest } = watched();
  const clock = { now: Date.parse('2026-11-21T12:00:00.123Z') };
  const stack = workerStack(watching, tables, clock);
  const { db } = stack;
  const [user, project_id] = [randomUUID(), randomUUID()];
  const device_type = `FRESNEL_${randomUUID().slice(0, 4)}`;
  const limits = { max_unfinished_batches: 100, max_unfinished_jobs: 100_000, max_job_seconds: 3_600 };
  for (const subject of [`user:${user}`, `project:${project_id}`]) {
    await changeLimits(db, { operator: 'op', subject, limits });
  }
  await reportCalibration(db, device_type, { numbers: { p: 1 } });
  const body = CreateBatchRequest.parse({
    ...{ project_id, device_type },
    sequence_builder: sequenceText({ variables: { note: { type: 'float', value: [0] } } }),
    tags: ['adiabatic', 'sweep of omega', 'paper-2026-11'],
    webhook: 'https://laboratory.example.org/webhooks/pasqal/batches',
    configuration: noteOf(configuration),
    jobs: Array.from({ length: 5 }, () => ({ runs: 1_000, variables: noteOf(variables) })),
  });
  await createBatch(db, { userId: user, claims: { queue_priority: 'CRITICAL' } }, body);
  const [batch, job] = [largest.get(tables.Batches)!, largest.get(tables.Jobs)!];
  const apart = { configuration: isApart(batch.row.configuration), variables: isApart(job.row.variables) };
  if (!ends) return { apart, Batches: 0, Jobs: 0 };
  // The first worker is lost.
  await stack.claimed(device_type);
  clock.now += 70_000;
  const claim = await stack.claimed(device_type);
  const lease = leaseFrom(claim);
  for (let next: { readonly id: string } | null = claim.job; next !== null; ) {
    clock.now += 1_234_567;
    await stack.heartbeat(lease, next.id);
    await stack.uploadKey(lease, next.id, 'a'.repeat(64));
    next = (await stack.report(lease, next.id, { status: 'DONE', results: true })).job;
  }
  const bytesOf = (name: 'Batches' | 'Jobs') => largest.get(tables[name])!.bytes;
  return { apart, Batches: bytesOf('Batches'), Jobs: bytesOf('Jobs') };
}

/** The most bytes of a constant that stays in its row. */
async function mostInRow(name: keyof Lengths): Promise<number> {
  let [inRow, apart] = [20, 600];
  while (apart - inRow > 1) {
    const middle = (inRow + apart) >> 1;
    const life = await lifeOf({ variables: 20, configuration: 20, [name]: middle }, false);
    if (life.apart[name]) apart = middle;
    else inRow = middle;
  }
  return inRow;
}

describe('the longest usual rows', () => {
  it('and their entries in indexes stay below 1 KB through a whole life, with room', async () => {
    const most = { variables: await mostInRow('variables'), configuration: await mostInRow('configuration') };
    expect(most).toEqual({ variables: 292, configuration: 81 });
    const { apart, Batches, Jobs } = await lifeOf(most);
    expect(apart).toEqual({ variables: false, configuration: false });
    // A new attribute takes from it: `growth` in lifecycle/creation.ts must be as much more.
    expect({ Batches: 1_024 - digits - Batches, Jobs: 1_024 - digits - Jobs }).toEqual({ Batches: 11, Jobs: 3 });
  });

  it('have more room with constants of 300 bytes and more, which lie apart', async () => {
    const { apart, Batches, Jobs } = await lifeOf({ variables: 300, configuration: 300 });
    expect(apart).toEqual({ variables: true, configuration: true });
    expect({ Batches: 1_024 - Batches, Jobs: 1_024 - Jobs }).toEqual({ Batches: 81, Jobs: 284 });
  });
});
