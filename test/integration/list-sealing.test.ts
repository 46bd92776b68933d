/** Lists are read while a writer changes old rows, and while segments are sealed. */

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sealSegment } from '../../functions/data/lists/seal-segments.ts';
import { listBatches } from '../../functions/data/rows/batches.ts';
import { BatchListQuery } from '../../functions/schemas/batch-list-query.ts';
import { cases } from '../support/depth.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { answerOf, listOf } from '../support/list-oracle.ts';
import { loadList } from '../support/load-list.ts';
import { ownTables } from '../support/own-tables.ts';
import { batchesAndJobs } from '../support/owner-rows.ts';
import { batchRows } from '../support/random-rows.ts';
import { seed } from '../support/seed.ts';
import { smallLists } from '../support/small-lists.ts';
import { testDb } from '../support/test-db.ts';
import { withoutRole } from '../support/without-role.ts';
import { writeApi } from '../support/write-api.ts';

/** Segments of eight rows: seven of them are old. */
const rowCount = 64;
const segments = 7;
const lists = smallLists(4);
const { client, tables } = await ownTables();
const db = testDb(client, tables, { formats: lists });

/** Nothing has begun, so that everything may. */
async function newUser(userId: string): Promise<string> {
  const [rows = []] = fc.sample(batchRows(userId, rowCount), { numRuns: 1, seed });
  const pending = rows.map((row) => ({
    ...row,
    ...({ status: 'PENDING', open: true, jobs_count: 0, start_datetime: null, end_datetime: null } as const),
    written_at: {},
  }));
  await loadList(client, tables, { list: lists.batch, userId, rows: pending, sealed: (segment) => segment % 3 > 0 });
  return userId;
}

const queries: readonly Record<string, string[]>[] = [
  { status: ['RUNNING'] },
  { status: ['PENDING'], offset: ['10'], limit: ['5'] },
  { start_date: ['2026-03-01T00:00:20Z'] },
  { start_date: ['2026-03-01T00:00:10Z'], end_date: ['2026-03-01T00:00:40Z'] },
  { order_by: ['start_datetime'], limit: ['6'] },
  { order_by: ['start_datetime'], order_by_direction: ['ASC'], limit: ['6'] },
  { order_by: ['updated_at'], limit: ['4'], offset: ['30'] },
  { order_by: ['status'], limit: ['7'], offset: ['20'] },
  { status: ['DONE'], order_by: ['end_datetime'] },
];

/** One change of one row. */
interface Change {
  readonly row: number;
  readonly status: 'RUNNING' | 'PAUSED' | 'DONE';
  readonly second: number;
}

const scene = fc.record({
  query: fc.constantFrom(...queries),
  change: fc.record<Change>({
    row: fc.nat(rowCount - 1),
    status: fc.constantFrom('RUNNING', 'PAUSED', 'DONE'),
    second: fc.nat(59),
  }),
  /** Before which of the list's calls the writer comes. */
  call: fc.nat(7),
  sealedBefore: fc.nat(segments - 1),
  sealedAfter: fc.nat(segments - 1),
});

/** Whatever the seed, three writers change what the list is asked for, beside its first calls. */
const certain = [1, 9, 17].map((row, call) => ({
  query: { status: ['RUNNING'] },
  change: { row, status: 'RUNNING', second: 30 } as const,
  ...{ call, sealedBefore: call, sealedAfter: call + 1 },
}));

async function commitChanges(userId: string, { row, status, second }: Change) {
  const batch = (await batchesAndJobs(client, tables, userId)).batches[row];
  if (batch === undefined || batch.status === 'DONE') return;
  const time = `2026-03-01T00:00:${String(second).padStart(2, '0')}.000000Z`;
  const times = { start_datetime: time, ...(status === 'DONE' && { end_datetime: time }) };
  await writeApi(db).recordBatchStatus(userId, batch.id, { status, ...times });
}

describe('a list of rows, some of them sealed', () => {
  it('is the list before or after a change that comes while it is read', async () => {
    const userId = await newUser('one');
    let [during, changed] = [0, 0];
    const scenes = [...certain, ...fc.sample(scene, { numRuns: cases(18, 500), seed })];
    for (const { query: parameters, change, call, ...sealed } of scenes) {
      const sealAt = (segment: number) => sealSegment(db, { userId, list: lists.batch, segment });
      const query = BatchListQuery.parse(parameters);
      const before = listOf((await batchesAndJobs(client, tables, userId)).batches, query as never);
      let calls = 0;
      const reader = interceptedClient(client, async ({ send }) => {
        if (calls++ === call) {
          await sealAt(sealed.sealedBefore);
          await commitChanges(userId, change);
          await sealAt(sealed.sealedAfter);
        }
        return send();
      });
      const answer = answerOf(await listBatches({ ...db, client: reader }, withoutRole(userId), query));
      const after = listOf((await batchesAndJobs(client, tables, userId)).batches, query as never);
      if (calls > call) during++;
      if (JSON.stringify(before) !== JSON.stringify(after)) changed++;
      expect([before, after], `seed ${seed}: ${JSON.stringify({ parameters, change, call, sealed })}`).toContainEqual(
        answer,
      );
      expect(answerOf(await listBatches(db, withoutRole(userId), query))).toEqual(after);
    }
    expect(during).toBeGreaterThan(scenes.length / 6);
    expect(changed).toBeGreaterThan(scenes.length / 24);
  });
});
