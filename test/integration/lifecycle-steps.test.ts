import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { LifecycleEvent } from '../../functions/schemas/lifecycle-event.ts';
import { tables as tablesOfService } from '../../functions/tables.ts';
import { itemBytes } from '../bench/bench-rows.ts';
import { deep } from '../support/depth.ts';
import { dyingClient } from '../support/dying-client.ts';
import { type Call, interceptedClient } from '../support/intercepted-client.ts';
import { newBatch, newJob } from '../support/new-batch.ts';
import { ownTables } from '../support/own-tables.ts';
import { ownerRows, soundRows } from '../support/owner-rows.ts';
import { countingClient } from '../support/strike-each.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const { client, tables } = await ownTables();
const db = testDb(client, tables, { now: () => Date.parse('2026-03-01T12:00:00Z') });

const jobs = Array.from({ length: 200 }, (_, number) => newJob(number, { variables: { number } }));
const batch = newBatch(0, { jobs, tags: ['a'] });
const writer = () => writeApi(db);

/** A writer that is killed at its n-th transaction. */
const dyingWriter = (writes: number) => writeApi({ ...db, client: dyingClient(client, writes).client });

const sound = (userId: string) => soundRows(client, tables, userId);

describe('createBatch with more jobs than one transaction holds', () => {
  it('creates all jobs in order, and the batch as requested', async () => {
    await writer().createBatch('whole', batch);
    const { batches, jobs: rows } = await sound('whole');
    expect(batches).toMatchObject([{ open: false, jobs_count: 200, jobs_count_per_status: { PENDING: 200 } }]);
    expect(batches[0]).not.toHaveProperty('creating');
    expect(rows.map(({ id, creation_order, seq }) => ({ id, creation_order, seq }))).toEqual(
      jobs.map(({ id }, place) => ({ id, creation_order: place, seq: place })),
    );
    expect(rows.map((row) => row.created_at)).toEqual([...rows.map((row) => row.created_at)].sort());
  });

  it.each([1, 2])(
    'leaves sound data when it is killed after %i transactions, and continues from there',
    async (steps) => {
      const userId = `ended after ${steps}`;
      await expect(dyingWriter(steps).createBatch(userId, batch)).rejects.toThrow('killed');
      const begun = await sound(userId);
      expect(begun.batches[0]?.jobs_count).toBe(begun.jobs.length);
      expect(begun.jobs.length).toBeGreaterThan(30 * steps);
      expect(begun.jobs.length).toBeLessThan(200);
      await writer().createBatch(userId, batch);
      const { batches, jobs: rows } = await sound(userId);
      expect(batches).toMatchObject([{ jobs_count: 200, open: false }]);
      expect(batches[0]).not.toHaveProperty('creating');
      expect(rows.map(({ id }) => id)).toEqual(jobs.map(({ id }) => id));
    },
  );

  it('creates everything once when two writers do it at the same time', async () => {
    await Promise.all([writer().createBatch('twice', batch), writer().createBatch('twice', batch)]);
    const { batches, jobs: rows } = await sound('twice');
    expect(batches).toMatchObject([{ jobs_count: 200 }]);
    expect(rows.map(({ id, creation_order }) => ({ id, creation_order }))).toEqual(
      jobs.map(({ id }, place) => ({ id, creation_order: place })),
    );
  });

  it('keeps what other writers change between its transactions', async () => {
    const userId = 'between';
    await expect(dyingWriter(1).createBatch(userId, batch)).rejects.toThrow('killed');
    await writer().recordJobStatus(userId, newJob(0).id, { status: 'RUNNING' });
    await writer().setTags(userId, batch.id, ['b']);
    await writer().createBatch(userId, batch);
    expect((await sound(userId)).batches).toMatchObject([
      { jobs_count: 200, jobs_count_per_status: { PENDING: 199, RUNNING: 1 }, tags: ['b'] },
    ]);
  });

  it('refuses other content and further jobs once the batch is complete', async () => {
    const { createBatch } = writer();
    await createBatch('strict', batch);
    const before = await ownerRows(client, tables, 'strict');
    const refused = [
      { ...batch, device_type: 'OTHER' },
      { ...batch, configuration: { shots: 1 } },
      { ...batch, jobs: [...jobs, newJob(200)] },
      { ...batch, jobs: [newJob(0, { variables: { number: 1 } })] },
      newBatch(1, { jobs: [newJob(0, { variables: { number: 0 } })] }),
    ];
    for (const other of refused) await expect(createBatch('strict', other)).rejects.toThrow(/exists with/);
    await createBatch('strict', { ...batch, jobs: jobs.slice(50, 60), tags: ['c'], open: true });
    expect(await ownerRows(client, tables, 'strict')).toEqual(before);
    await sound('strict');
  });
});

describe('addJobs with more jobs than one transaction holds', () => {
  it('continues where it was killed, even in a batch that was closed later than the event', async () => {
    const userId = 'added';
    const event = { id: 'jobs', time: '2026-03-01T11:00:00.000000Z' };
    await writer().createBatch(userId, newBatch(0, { open: true }));
    await expect(dyingWriter(1).addJobs(userId, batch.id, jobs, { event })).rejects.toThrow('killed');
    await writer().closeBatch(userId, batch.id, {
      event: { id: 'close', time: '2026-03-01T11:30:00.000000Z' },
    });
    await writer().addJobs(userId, batch.id, jobs, { event });
    const { batches, jobs: rows } = await sound(userId);
    expect(batches).toMatchObject([{ jobs_count: 200, open: false }]);
    expect(rows.map(({ id }) => id)).toEqual(jobs.map(({ id }) => id));
    await expect(writer().addJobs(userId, batch.id, [newJob(300)])).rejects.toThrow('is closed');
  });
});

describe('createBatches', () => {
  const many = Array.from({ length: 60 }, (_, number) =>
    newBatch(number, { jobs: Array.from({ length: number % 5 }, (_, job) => newJob(10 * number + job)), tags: ['a'] }),
  );

  it('creates many batches in few transactions, in order and at the given times', async () => {
    const counting = countingClient(client);
    const timed = many.map((each, number) => ({
      ...each,
      created_at: `2026-02-01T00:00:00.0000${String(Math.floor(number / 2)).padStart(2, '0')}Z`,
    }));
    await writeApi(testDb(counting.client, tables)).createBatches('many', timed);
    const { batches, jobs: rows } = await sound('many');
    expect(batches.map(({ id }) => id)).toEqual(many.map(({ id }) => id));
    expect(rows.map(({ id }) => id)).toEqual(many.flatMap((each) => each.jobs.map(({ id }) => id)));
    expect(counting.made.filter((name) => name === 'TransactWriteCommand').length).toBeLessThan(5);
    // Each time is given twice: the second batch is created a microsecond later.
    expect(batches[0]?.created_at).toBe('2026-02-01T00:00:00.000000Z');
    expect(batches[1]?.created_at).toBe('2026-02-01T00:00:00.000001Z');
    expect(new Set(batches.map((row) => row.created_at)).size).toBe(60);
  });

  it('creates a batch once that is given twice in one call', async () => {
    await writer().createBatches('again', [many[3]!, many[4]!, many[3]!]);
    expect((await sound('again')).batches.map(({ id }) => id)).toEqual([many[3]!.id, many[4]!.id]);
  });

  it('creates the other batches when one is refused', async () => {
    await writer().createBatch('partly', many[4]!);
    const stolen = newBatch(99, { jobs: many[4]!.jobs });
    await expect(writer().createBatches('partly', [many[3]!, stolen, many[2]!])).rejects.toThrow('exists with another');
    expect((await sound('partly')).batches.map(({ id }) => id)).toEqual([many[4]!.id, many[3]!.id, many[2]!.id]);
  });
});

describe('applyEvents', () => {
  it('reads strongly consistent: what was just created must not be missing', async () => {
    const reads: unknown[] = [];
    const watched = interceptedClient(client, async (call) => {
      if (call.name === 'QueryCommand') reads.push(call.input.ConsistentRead);
      if (call.name === 'BatchGetCommand') {
        reads.push(...Object.values(call.input.RequestItems as object).map((table) => table.ConsistentRead));
      }
      return call.send();
    });
    const { applyEvents } = writeApi({ ...db, client: watched });
    const eventOf = (id: string, type: string, data: unknown) =>
      LifecycleEvent.parse({ id, type, time: '2026-03-01T11:00:00Z', user_id: 'consistent', data });
    await applyEvents([eventOf('1', 'batch.created', newBatch(0, { jobs: [newJob(0)] }))]);
    await applyEvents([eventOf('2', 'job.updated', { job_id: newJob(0).id, status: 'DONE' })]);
    expect(reads.length).toBeGreaterThan(8);
    expect(new Set(reads)).toEqual(new Set([true]));
  });

  it('refuses no event that it meets in another delivery, whose batch alone it has read', async () => {
    const data = newBatch(0, { jobs: [newJob(0)] });
    const user_id = 'met';
    const event = LifecycleEvent.parse({ id: '1', type: 'batch.created', time: '2026-03-01T11:00:00Z', user_id, data });
    let meetings = 0;
    const torn = interceptedClient(client, async (call: Call) => {
      if (call.name !== 'BatchGetCommand' || !(tables.Batches in (call.input.RequestItems as object)))
        return call.send();
      const before = await call.send();
      if (meetings++ > 0) return before;
      expect(await writer().applyEvents([event])).toEqual([undefined]);
      const after = await call.send();
      const batches = { [tables.Batches]: (after.Responses as Record<string, unknown>)[tables.Batches] };
      return { ...before, Responses: { ...(before.Responses as object), ...batches } };
    });
    expect(await writeApi({ ...db, client: torn }).applyEvents([event])).toEqual([undefined]);
    expect(meetings).toBeGreaterThan(1);
    expect((await sound(user_id)).batches).toMatchObject([{ jobs_count: 1 }]);
  });

  it('spreads no event over two transactions that one of them holds', async () => {
    const counts: number[] = [];
    const counting = interceptedClient(client, async (call: Call) => {
      if (call.name === 'TransactWriteCommand') {
        const items = call.input.TransactItems as { Put?: { TableName: string } }[];
        counts.push(items.filter(({ Put }) => Put?.TableName === tables.Jobs).length);
      }
      return call.send();
    });
    const events = [newBatch(0, { jobs: jobs.slice(0, 45) }), newBatch(1, { jobs: jobs.slice(45, 90) })].map((data) =>
      LifecycleEvent.parse({
        id: data.id,
        type: 'batch.created',
        time: '2026-03-01T11:00:00Z',
        user_id: 'whole events',
        data,
      }),
    );
    expect(await writeApi({ ...db, client: counting }).applyEvents(events)).toEqual([undefined, undefined]);
    expect(counts).toEqual([45, 45]);
    await sound('whole events');
  });

  it('ends the jobs that it creates in the same call', async () => {
    const eventOf = (id: string, type: string, data: unknown) =>
      LifecycleEvent.parse({ id, type, time: '2026-03-01T11:00:00Z', user_id: 'created and ended', data });
    const events = [
      eventOf('1', 'batch.created', newBatch(0, { jobs: jobs.slice(0, 5) })),
      eventOf('2', 'batch.updated', { batch_id: batch.id, status: 'ERROR' }),
      eventOf('3', 'batch.updated', { batch_id: batch.id, tags: ['z'] }),
    ];
    expect(await writer().applyEvents(events)).toEqual([undefined, undefined, undefined]);
    const { batches, jobs: rows } = await sound('created and ended');
    expect(batches).toMatchObject([{ status: 'ERROR', tags: ['z'], jobs_count_per_status: { CANCELED: 5 } }]);
    expect(rows.map(({ status }) => status)).toEqual(Array(5).fill('CANCELED'));
  });

  it('remembers an event for a day longer than SQS can keep a message', async () => {
    const data = { batch_id: batch.id, tags: ['z'] };
    const event = { id: 'once', type: 'batch.updated', time: '2026-03-01T11:00:00Z', user_id: 'remembered', data };
    await writer().createBatch('remembered', newBatch(0));
    expect(await writer().applyEvents([LifecycleEvent.parse(event)])).toEqual([undefined]);
    const Key = { user_id: 'remembered', key: 'event#once' };
    const { Item } = await client.send(new GetCommand({ TableName: tables.Columns, Key }));
    const days = (Item!.expires_at - db.clock.now() / 1000) / (24 * 3600);
    const maxRetentionDays = 14;
    expect(days).toBe(maxRetentionDays + 1);
    expect(tablesOfService.Columns.timeToLive).toBe('expires_at');
  });
});

describe('write units', () => {
  /**
   * What DynamoDB bills for a transaction: two units per item and started KB, in the table and in
   * each index. Without the two units by which the event is remembered.
   */
  async function unitsOf(work: (writer: ReturnType<typeof writeApi>) => Promise<void>) {
    let units = 0;
    const counting = interceptedClient(client, async (call) => {
      if (call.name !== 'TransactWriteCommand') return call.send();
      for (const { Put, Delete } of call.input.TransactItems as { Put?: Item; Delete?: Item }[]) {
        const table = (Put ?? Delete)?.TableName;
        if (String(Put?.Item?.key).startsWith('event#')) continue;
        const copies = table === tables.Jobs ? 3 : table === tables.Batches ? 2 : 1;
        units += 2 * copies * Math.max(1, Math.ceil(itemBytes(Put?.Item ?? {}) / 1024));
      }
      return call.send();
    });
    await work(writeApi({ ...db, client: counting }));
    return units;
  }
  interface Item {
    TableName: string;
    Item?: Record<string, unknown>;
  }
  const start = '2026-03-01T11:00:00.000000Z';
  const end = '2026-03-01T11:30:00.123456Z';

  it('stay within the budgets, even when blocks are nearly full', async () => {
    const userId = 'units';
    const { createBatches } = writer();
    await createBatches(
      userId,
      Array.from({ length: 140 }, (_, number) => newBatch(1000 + number, { jobs: [newJob(5000 + number)] })),
    );
    const units: Record<string, number[]> = {};
    // A tail takes 16 rows: in as many rounds of 3 batches and 5 jobs, each creation finds it full.
    for (let round = 0; round < 16; round++) {
      const first = 3 * round;
      const four = [0, 1, 2, 3].map((number) => newJob(10 * first + number));
      const record = async (name: string, work: (write: ReturnType<typeof writeApi>) => Promise<void>) => {
        units[name] = [...(units[name] ?? []), await unitsOf(work)];
      };
      await record('a batch', (write) => write.createBatch(userId, newBatch(first)));
      await record('a batch with a job', (write) =>
        write.createBatch(userId, newBatch(first + 1, { jobs: [newJob(1000 + first)] })),
      );
      await record('a batch with 4 jobs', (write) => write.createBatch(userId, newBatch(first + 2, { jobs: four })));
      // Only what is created fills the tail, so that it costs more at times.
      if (!deep && round % 4 > 0) continue;
      await record('status of a recent batch', (write) =>
        write.recordBatchStatus(userId, newBatch(first).id, { status: 'RUNNING', start_datetime: start }),
      );
      await record('status of a recent job', (write) =>
        write.recordJobStatus(userId, four[3]!.id, { status: 'RUNNING', start_timestamp: start }),
      );
      await record('a tag', (write) => write.setTags(userId, newBatch(first).id, ['b']));
      await record('status of an older batch', (write) =>
        write.recordBatchStatus(userId, newBatch(1000 + first).id, { status: 'DONE', end_datetime: end }),
      );
      await record('status of an older job', (write) =>
        write.recordJobStatus(userId, newJob(5000 + first).id, {
          status: 'DONE',
          start_timestamp: start,
          end_timestamp: end,
        }),
      );
    }
    await sound(userId);
    const average = (of: readonly number[]) => of.reduce((sum, each) => sum + each) / of.length;
    const least = Object.fromEntries(Object.entries(units).map(([name, of]) => [name, Math.min(...of)]));
    expect(least).toEqual({
      'a batch': 6,
      'status of a recent batch': 6,
      'a batch with a job': 16,
      'a batch with 4 jobs': 34,
      'status of a recent job': 12,
      'a tag': 6,
      // Both end: what they count as takes 2.
      'status of an older batch': 8,
      'status of an older job': 14,
    });
    // A full tail goes to the blocks with every 16th row.
    expect(average(units['a batch']!)).toBeLessThanOrEqual(8);
    expect(average(units['a batch with a job']!)).toBeLessThanOrEqual(20);
    expect(average(units['a batch with 4 jobs']!)).toBeLessThanOrEqual(42);
  });
});
