import { DeleteCommand, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { listBatches } from '../../functions/data/batches.ts';
import { packColumn, unpackColumn } from '../../functions/data/columns/column-items.ts';
import { emptyHead, type StoredHead } from '../../functions/data/columns/head.ts';
import { ownerLists } from '../../functions/data/columns/lists.ts';
import { lifecycle } from '../../functions/data/lifecycle/lifecycle.ts';
import { sealSegment } from '../../functions/data/seal-segments.ts';
import { CorruptData } from '../../functions/errors.ts';
import { BatchListQuery } from '../../functions/schemas/batch-list-query.ts';
import type { TableNames } from '../../functions/tables.ts';
import { repairUser } from '../../infra/repair/repair-user.ts';
import { scanUsers, type UserScan } from '../../infra/repair/scan-users.ts';
import { createTables } from '../support/create-tables.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { listOf } from '../support/list-oracle.ts';
import { newBatch, newJob } from '../support/new-batch.ts';
import { ownerRows, recountOf } from '../support/owner-rows.ts';
import { testClient } from '../support/test-client.ts';
import { wrongSummaries } from '../support/wrong-summaries.ts';

const rowsPerBlock = 3;
const lists = ownerLists(rowsPerBlock);
const updatedAt = lists.job.columns.updated_at!;
const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31);
const client = testClient(dynamodbEndpoint);
const writer = (options = { rowsPerBlock }) => lifecycle(client, tables, options);
let tables: TableNames;

beforeAll(async () => {
  tables = await createTables(client, `repair-${Date.now()}-`);
});

/**
 * An owner of seven batches, two jobs each, some tagged and under way; the oldest jobs are sealed.
 */
async function owner(userId: string, options?: { rowsPerBlock: number }): Promise<string> {
  const { createBatches, recordBatchStatus, recordJobStatus } = writer(options);
  const batches = Array.from({ length: 7 }, (_, number) =>
    newBatch(number, { tags: ['a'], jobs: [newJob(2 * number), newJob(2 * number + 1)] }),
  );
  await createBatches(userId, batches);
  const time = '2026-03-01T00:00:00.000000Z';
  await recordBatchStatus(userId, newBatch(4).id, { status: 'RUNNING', start_datetime: time });
  await recordJobStatus(userId, newJob(9).id, { status: 'DONE', end_timestamp: time });
  // What the creation has had no time for.
  await sealSegment({ client, tables, userId }, lists.job, 0);
  return userId;
}

const put = (table: 'Batches' | 'Jobs' | 'Columns', item: Record<string, unknown>) =>
  client.send(new PutCommand({ TableName: tables[table], Item: item }));
const remove = (table: 'Batches' | 'Jobs' | 'Columns', key: Record<string, unknown>) =>
  client.send(new DeleteCommand({ TableName: tables[table], Key: key }));
const unset = (table: 'Batches' | 'Jobs' | 'Columns', Key: Record<string, unknown>, name: string) =>
  client.send(
    new UpdateCommand({
      TableName: tables[table],
      Key,
      UpdateExpression: 'REMOVE #name',
      ExpressionAttributeNames: { '#name': name },
    }),
  );
const set = (table: 'Batches' | 'Jobs', user_id: string, id: string, name: string, value: unknown) =>
  client.send(
    new UpdateCommand({
      TableName: tables[table],
      Key: { user_id, id },
      UpdateExpression: 'SET #name = :value',
      ExpressionAttributeNames: { '#name': name },
      ExpressionAttributeValues: { ':value': value },
    }),
  );

const textBlock = (...texts: string[]) => new Uint8Array(Buffer.from(JSON.stringify(texts)));

/** Ways to break what an owner's lists are read from. Each leaves the rows' own content. */
const damages: Readonly<Record<string, (user_id: string) => Promise<unknown>>> = {
  'a lost head': (user_id) => remove('Columns', { user_id, key: 'b#head' }),
  'a head that counts too few': async (user_id) => {
    const { columns } = await ownerRows(client, tables, user_id);
    await put('Columns', { ...columns['j#head'], next_seq: 3 });
  },
  'a lost block of facets': (user_id) => remove('Columns', { user_id, key: 'b#f#0000001' }),
  'a lost block of ids': (user_id) => remove('Columns', { user_id, key: 'j#i#0000000' }),
  'a block of other bytes': async (user_id) => {
    const { columns } = await ownerRows(client, tables, user_id);
    await put('Columns', { ...columns['j#u#0000002'], v: columns['j#u#0000001']?.v });
  },
  'a block beyond the last': async (user_id) => {
    const { columns } = await ownerRows(client, tables, user_id);
    await put('Columns', { ...columns['b#n#0000001'], key: 'b#n#0000044' });
  },
  'a lost set': async (user_id) => {
    const { columns } = await ownerRows(client, tables, user_id);
    await remove('Columns', { user_id, key: Object.keys(columns).find((key) => key.startsWith('b#t#')) });
  },
  'no columns at all': async (user_id) => {
    const { columns } = await ownerRows(client, tables, user_id);
    await Promise.all(Object.keys(columns).map((key) => remove('Columns', { user_id, key })));
  },
  'a wrong count of jobs': (user_id) => set('Batches', user_id, newBatch(2).id, 'jobs_count', 5),
  'wrong counts per status': (user_id) =>
    set('Batches', user_id, newBatch(2).id, 'jobs_count_per_status', {
      PENDING: 0,
      RUNNING: 2,
      DONE: 0,
      ERROR: 0,
      CANCELED: 0,
      CANCELING: 0,
    }),
  'a gap in the sequence': (user_id) =>
    remove('Batches', { user_id, id: newBatch(3).id }).then(() =>
      Promise.all([6, 7].map((number) => remove('Jobs', { user_id, id: newJob(number).id }))),
    ),
  'a number taken twice': (user_id) => set('Jobs', user_id, newJob(5).id, 'seq', 2),
  'a place in the batch taken twice': (user_id) => set('Jobs', user_id, newJob(5).id, 'creation_order', 0),
  'a lost number': (user_id) => unset('Jobs', { user_id, id: newJob(5).id }, 'seq'),
  'a negative number': (user_id) => set('Batches', user_id, newBatch(2).id, 'seq', -1),
  'creation times that do not ascend': (user_id) =>
    set('Batches', user_id, newBatch(4).id, 'created_at', '2026-01-01T00:00:00.000000Z'),
  'a lost place in the batch': (user_id) => unset('Jobs', { user_id, id: newJob(5).id }, 'creation_order'),
  'a negative count of jobs': (user_id) => set('Batches', user_id, newBatch(2).id, 'jobs_count', -2),
  'a count of jobs that is a text': (user_id) => set('Batches', user_id, newBatch(2).id, 'jobs_count', 'two'),
  'lost counts per status': (user_id) => unset('Batches', { user_id, id: newBatch(2).id }, 'jobs_count_per_status'),
  'a version that is a text': (user_id) => set('Batches', user_id, newBatch(2).id, 'rev', 'one'),
  'times of writing that are a text': (user_id) => set('Jobs', user_id, newJob(2).id, 'written_at', 'never'),
  'a head without a format': (user_id) => unset('Columns', { user_id, key: 'b#head' }, 'format'),
  'a head whose count is a text': async (user_id) => {
    const { columns } = await ownerRows(client, tables, user_id);
    await put('Columns', { ...columns['b#head'], next_seq: 'seven' });
  },
  'a dictionary with a text twice': async (user_id) => {
    const head = (await ownerRows(client, tables, user_id)).columns['j#head'] as unknown as StoredHead;
    const [first = ''] = head.dictionaries.project_id ?? [];
    await put('Columns', { ...head, dictionaries: { project_id: [first, first] } });
  },
  'a head without blocks of texts': (user_id) => unset('Columns', { user_id, key: 'b#head' }, 'dictionary_blocks'),
  'a lost block of texts': (user_id) => remove('Columns', { user_id, key: 'b#texts#project_id#0000000' }),
  'a block of texts that are none': (user_id) =>
    put('Columns', { user_id, key: 'j#texts#project_id#0000000', v: Buffer.from('[1,2]') }),
  'a block of one text twice': (user_id) =>
    put('Columns', { user_id, key: 'b#texts#project_id#0000000', v: textBlock('twice', 'twice') }),
  'a text in the head that is in a block too': async (user_id) => {
    const { columns } = await ownerRows(client, tables, user_id);
    const [text] = JSON.parse(Buffer.from(columns['b#texts#project_id#0000000']!.v as Uint8Array).toString());
    await put('Columns', { ...columns['b#head'], dictionaries: { project_id: [text], device_type: [] } });
  },
  'a block of texts beyond the last': (user_id) =>
    put('Columns', { user_id, key: 'b#texts#project_id#0000001', v: textBlock('x', 'y') }),
  'a block that is a text': (user_id) => put('Columns', { user_id, key: 'b#u#0000001', v: 'text' }),
  'a block without bytes': (user_id) => unset('Columns', { user_id, key: 'b#i#0000001' }, 'v'),
  'a block of a column that no longer exists': (user_id) =>
    put('Columns', { user_id, key: 'j#z#0000000', v: Buffer.of(1) }),
  'a summary that is not right': async (user_id) => {
    const { columns } = await ownerRows(client, tables, user_id);
    await put('Columns', { ...columns['j#f#s#0000000'], v: columns['j#r#s#0000000']?.v });
  },
  'a summary that is a text': (user_id) => put('Columns', { user_id, key: 'j#f#s#0000000', v: 'text' }),
  'a summary of rows that are not old': async (user_id) => {
    const { columns } = await ownerRows(client, tables, user_id);
    await put('Columns', { ...columns['j#f#s#0000000'], key: 'j#f#s#0000001' });
  },
  'a summary of rows that are not there': async (user_id) => {
    const { columns } = await ownerRows(client, tables, user_id);
    await put('Columns', { ...columns['j#f#s#0000000'], key: 'j#f#s#0000044' });
  },
  'a summary of a block that is not sealed': async (user_id) => {
    const { columns } = await ownerRows(client, tables, user_id);
    const { v, ...block } = columns['j#u#0000001'] as { v: Uint8Array };
    await put('Columns', { ...block, v: packColumn(updatedAt, unpackColumn(updatedAt, v)) });
  },
  'a sealed block of other bytes': async (user_id) => {
    const { columns } = await ownerRows(client, tables, user_id);
    await put('Columns', { ...columns['j#u#0000001'], v: columns['j#u#0000000']?.v });
  },
  'a lost sealed block': (user_id) => remove('Columns', { user_id, key: 'j#r#0000001' }),
  'rows without numbers': async (user_id) => {
    for (const row of (await ownerRows(client, tables, user_id)).batches) {
      const { seq, rev, written_at, ...rest } = row;
      await put('Batches', rest);
    }
  },
};

/** After these the rows, or the texts, get other numbers than they had. */
const renumbering = ['a gap in the sequence', 'creation times that do not ascend', 'a head without blocks of texts'];

describe('repairUser', () => {
  it('finds nothing wrong after the write side', async () => {
    const userId = await owner('sound');
    const { differences, rows } = await repairUser({ client, tables, userId }, { fix: false, lists });
    expect({ differences, rows }).toEqual({ differences: [], rows: 21 });
  });

  it.each(Object.keys(damages))('reports %s, mends it, and leaves the rows readable and writable', async (damage) => {
    const userId = await owner(damage);
    const sound = await ownerRows(client, tables, userId);
    await damages[damage]!(userId);
    const reported = await repairUser({ client, tables, userId }, { fix: false, lists });
    expect(reported.differences.length).toBeGreaterThan(0);
    expect(reported.remaining).toEqual(reported.differences);
    const mended = await repairUser({ client, tables, userId }, { fix: true, lists });
    expect(mended.differences).toEqual(reported.differences);
    expect(mended.remaining).toEqual([]);
    expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
    const after = await ownerRows(client, tables, userId);
    if (!renumbering.includes(damage)) expect(after.columns).toEqual(sound.columns);
    for (const rows of [after.batches, after.jobs]) {
      expect(rows.map((row) => row.seq)).toEqual(rows.map((_, seq) => seq));
      expect(rows.map((row) => row.created_at)).toEqual(rows.map((row) => row.created_at).sort());
    }
    await writer().createBatch(userId, newBatch(8, { jobs: [newJob(80)] }));
    expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
  });

  it('says nothing of a summary that is missing, or of blocks that are sealed without one, and seals what is old', async () => {
    const userId = await owner('opened');
    const sound = await ownerRows(client, tables, userId);
    const { v, ...block } = sound.columns['j#e#0000000'] as { v: Uint8Array };
    await remove('Columns', { user_id: userId, key: 'j#f#s#0000000' });
    await remove('Columns', { user_id: userId, key: 'j#e#s#0000000' });
    await put('Columns', { ...block, v: packColumn(updatedAt, unpackColumn(updatedAt, v)) });
    const reported = await repairUser({ client, tables, userId }, { fix: false, lists });
    expect(reported.differences).toEqual([]);
    expect((await ownerRows(client, tables, userId)).columns).not.toHaveProperty(['j#f#s#0000000']);
    const mended = await repairUser({ client, tables, userId }, { fix: true, lists });
    expect(mended.differences).toEqual([]);
    expect((await ownerRows(client, tables, userId)).columns).toEqual(sound.columns);
  });

  it('deletes the summary of sealed blocks with their mending, however often they are sealed again', async () => {
    const userId = await owner('sealed meanwhile');
    const { columns } = await ownerRows(client, tables, userId);
    const wrong = { ...columns['j#u#0000001'], v: columns['j#u#0000000']?.v };
    await put('Columns', wrong);
    await remove('Columns', { user_id: userId, key: 'j#u#s#0000000' });
    let writes = 0;
    const sealing = interceptedClient(client, async (call) => {
      const isWrite = /^(Put|Delete|Transact)/.test(call.name);
      if (isWrite) await sealSegment({ client, tables, userId }, lists.job, 0);
      const output = await call.send();
      if (!isWrite) return output;
      writes += 1;
      const after = await ownerRows(client, tables, userId);
      expect(wrongSummaries(lists, after.columns)).toEqual([]);
      return output;
    });
    const { remaining } = await repairUser({ client: sealing, tables, userId }, { fix: true, lists });
    expect(writes).toBeGreaterThan(0);
    expect(remaining).toEqual([]);
    expect((await ownerRows(client, tables, userId)).columns).toEqual(columns);
  });

  it('mends several kinds of damage at once', async () => {
    const mixtures = fc.sample(fc.shuffledSubarray(Object.keys(damages), { minLength: 2, maxLength: 6 }), {
      numRuns: 12,
      seed,
    });
    for (const [at, mixture] of mixtures.entries()) {
      const message = `seed ${seed}: ${mixture.join(', ')}`;
      const userId = await owner(`mixture ${at}`);
      // Some find nothing left to damage.
      for (const damage of mixture) await damages[damage]!(userId).catch(() => {});
      const { remaining } = await repairUser({ client, tables, userId }, { fix: true, lists });
      expect(remaining, message).toEqual([]);
      const { batches, jobs } = await ownerRows(client, tables, userId);
      for (const rows of [batches, jobs]) {
        expect(
          rows.map((row) => row.seq),
          message,
        ).toEqual(rows.map((_, seq) => seq));
        expect(
          rows.map((row) => row.created_at),
          message,
        ).toEqual(rows.map((row) => row.created_at).sort());
      }
      await writer().createBatch(userId, newBatch(8, { jobs: [newJob(80)] }));
      expect(await recountOf(client, tables, userId, rowsPerBlock), message).toEqual([]);
    }
  });

  it('mends a lost head before any writer can number rows from 0 again', async () => {
    const userId = await owner('headless');
    const sound = await ownerRows(client, tables, userId);
    const { createBatch, recordBatchStatus, recordJobStatus } = writer();
    const lost = /rows in .* but no head: npm run repair -- --fix/;
    await remove('Columns', { user_id: userId, key: 'j#head' });
    await expect(createBatch(userId, newBatch(9, { jobs: [newJob(90)] }))).rejects.toThrow(lost);
    await remove('Columns', { user_id: userId, key: 'b#head' });
    await expect(createBatch(userId, newBatch(8))).rejects.toThrow(lost);
    await expect(createBatch(userId, newBatch(9, { jobs: [newJob(90)] }))).rejects.toThrow(lost);
    await expect(recordBatchStatus(userId, newBatch(5).id, { status: 'RUNNING' })).rejects.toThrow(CorruptData);
    await expect(recordJobStatus(userId, newJob(10).id, { status: 'RUNNING' })).rejects.toThrow(CorruptData);
    const { batches, jobs } = await ownerRows(client, tables, userId);
    expect({ batches, jobs }).toEqual({ batches: sound.batches, jobs: sound.jobs });
    await repairUser({ client, tables, userId }, { fix: true, lists });
    expect(await ownerRows(client, tables, userId)).toEqual(sound);
    await createBatch(userId, newBatch(8));
    expect((await ownerRows(client, tables, userId)).batches.at(-1)).toMatchObject({ id: newBatch(8).id, seq: 7 });
  });

  it('takes rows of one time for sound, whose numbers are in another order than their ids', async () => {
    const userId = 'same time';
    await writer().createBatches(userId, [newBatch(2), newBatch(1)]);
    const [, later] = (await ownerRows(client, tables, userId)).batches;
    await set('Batches', userId, newBatch(2).id, 'created_at', later?.created_at);
    expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
  });

  it('names what it cannot mend and touches nothing', async () => {
    const userId = await owner('broken');
    await set('Batches', userId, newBatch(1).id, 'status', 'LOST');
    const { remaining } = await repairUser({ client, tables, userId }, { fix: true, lists });
    expect(remaining).toMatchObject([{ kind: 'broken', key: `Batches ${newBatch(1).id}` }]);
  });

  /** Another writer's change, made between the recount and the mending of the same item. */
  interface Competition {
    readonly damage: (userId: string) => Promise<unknown>;
    /** The item that is mended, and what it becomes meanwhile. */
    readonly item: (userId: string) => { table: 'Batches' | 'Columns'; key: Record<string, string> };
    readonly meanwhile: Record<string, unknown>;
  }
  const block = (key: string) => (user_id: string) => ({ table: 'Columns' as const, key: { user_id, key } });
  const batch = (number: number) => (user_id: string) => ({
    table: 'Batches' as const,
    key: { user_id, id: newBatch(number).id },
  });
  const competitions: Readonly<Record<string, Competition>> = {
    'a wrong block': {
      damage: (user_id) => put('Columns', { user_id, key: 'b#f#0000001', v: Buffer.of(1) }),
      item: block('b#f#0000001'),
      meanwhile: { v: Uint8Array.of(2) },
    },
    'a missing block': {
      damage: (user_id) => remove('Columns', { user_id, key: 'b#f#0000001' }),
      item: block('b#f#0000001'),
      meanwhile: { v: Uint8Array.of(2) },
    },
    'a block without bytes': {
      damage: (user_id) => unset('Columns', { user_id, key: 'b#f#0000001' }, 'v'),
      item: block('b#f#0000001'),
      meanwhile: { v: Uint8Array.of(2) },
    },
    'a block that should not be there': {
      damage: (user_id) => put('Columns', { user_id, key: 'b#f#0000044', v: Buffer.of(1) }),
      item: block('b#f#0000044'),
      meanwhile: { v: Uint8Array.of(2) },
    },
    'a lost block of texts': {
      damage: damages['a lost block of texts']!,
      item: block('b#texts#project_id#0000000'),
      meanwhile: { v: textBlock('other', 'another') },
    },
    'a block of texts that are none': {
      damage: damages['a block of texts that are none']!,
      item: block('j#texts#project_id#0000000'),
      meanwhile: { v: textBlock('other') },
    },
    'a missing head': {
      damage: (user_id) => remove('Columns', { user_id, key: 'j#head' }),
      item: block('j#head'),
      meanwhile: { ...emptyHead(lists.job), next_seq: 1 },
    },
    'a head that counts too few': {
      damage: damages['a head that counts too few']!,
      item: block('j#head'),
      meanwhile: { next_seq: 4 },
    },
    'a head of another format': {
      damage: (user_id) => put('Columns', { user_id, key: 'j#head', ...emptyHead(lists.job), format: 'older' }),
      item: block('j#head'),
      meanwhile: { next_seq: 4 },
    },
    'the dictionaries of a head': {
      damage: (user_id) => put('Columns', { user_id, key: 'j#head', ...emptyHead(lists.job), next_seq: 14 }),
      item: block('j#head'),
      meanwhile: { dictionaries: { project_id: ['other'] } },
    },
    'a row': {
      damage: (user_id) => set('Batches', user_id, newBatch(2).id, 'jobs_count', 5),
      item: batch(2),
      meanwhile: { jobs_count: 9, rev: 50 },
    },
    'a row without a version': {
      damage: (user_id) => unset('Batches', { user_id, id: newBatch(2).id }, 'rev'),
      item: batch(2),
      meanwhile: { jobs_count: 9, rev: 50 },
    },
  };

  it.each(Object.entries(competitions))(
    'mends %s only where it is still as it was found',
    async (name, competition) => {
      const userId = await owner(`competition ${name}`);
      await competition.damage(userId);
      const { table, key } = competition.item(userId);
      const read = async () =>
        (await client.send(new GetCommand({ TableName: tables[table], Key: key, ConsistentRead: true }))).Item;
      let found: Record<string, unknown> | undefined;
      const competing = interceptedClient(client, async (call) => {
        const target = (call.input.Key ?? call.input.Item ?? {}) as Record<string, unknown>;
        const isTarget = Object.entries(key).every(([attribute, value]) => target[attribute] === value);
        if (found !== undefined || !isTarget) return call.send();
        await put(table, { ...(await read()), ...key, ...competition.meanwhile });
        await expect(call.send()).rejects.toThrow('The conditional request failed');
        found = await read();
        return call.send();
      });
      const { remaining } = await repairUser({ client: competing, tables, userId }, { fix: true, lists });
      expect(found).toMatchObject(competition.meanwhile);
      // The next recount has found what was written meanwhile, and it is no less broken.
      expect(remaining).toEqual([]);
      expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
    },
  );

  it('moves on the version of a row, so that a writer who has read it before does not undo the repair', async () => {
    const userId = await owner('version');
    await set('Batches', userId, newBatch(2).id, 'jobs_count', 5);
    const found = (await ownerRows(client, tables, userId)).batches[2];
    await repairUser({ client, tables, userId }, { fix: true, lists });
    const mended = (await ownerRows(client, tables, userId)).batches[2];
    expect(mended).toEqual({ ...found, jobs_count: 2, rev: Number(found?.rev) + 1 });
  });

  it('takes nothing for broken that a second recount finds sound', async () => {
    const userId = await owner('passing');
    let columnReads = 0;
    const lagging = interceptedClient(client, async (call) => {
      const output = await call.send();
      if (call.input.TableName !== tables.Columns || columnReads++ > 0) return output;
      return { ...output, Items: (output.Items as unknown[]).slice(3) };
    });
    const { differences, undecided } = await repairUser({ client: lagging, tables, userId }, { fix: true, lists });
    expect(columnReads).toBe(2);
    expect({ differences, undecided }).toEqual({ differences: [], undecided: [] });
  });

  it('names as undecided what differs in another way each time, and mends nothing of it', async () => {
    const userId = await owner('restless');
    const sound = await ownerRows(client, tables, userId);
    let reads = 0;
    const restless = interceptedClient(client, async (call) => {
      const output = await call.send();
      if (call.input.TableName !== tables.Columns || !Array.isArray(output.Items)) return output;
      const number = reads++;
      return {
        ...output,
        Items: output.Items.map((item) => (item.key === 'b#f#0000001' ? { ...item, v: Buffer.of(number) } : item)),
      };
    });
    const result = await repairUser({ client: restless, tables, userId }, { fix: true, lists });
    expect(result).toMatchObject({ differences: [], remaining: [], undecided: ['block  b#f#0000001'] });
    expect(await ownerRows(client, tables, userId)).toEqual(sound);
  });

  it('reports a job without its batch and counts the others all the same', async () => {
    const userId = await owner('orphans');
    await remove('Batches', { user_id: userId, id: newBatch(6).id });
    const { remaining } = await repairUser({ client, tables, userId }, { fix: true, lists });
    expect(remaining).toEqual([
      { kind: 'broken', key: `Batches ${newBatch(6).id}`, found: 'missing, but 2 jobs name it' },
    ]);
    expect((await ownerRows(client, tables, userId)).columns['b#head']).toMatchObject({ next_seq: 6 });
  });

  it('keeps the codes that texts have, whatever the order of the rows', async () => {
    const userId = await owner('dictionaries');
    const { columns } = await ownerRows(client, tables, userId);
    const head = columns['b#head'] as unknown as StoredHead;
    const key = 'b#texts#project_id#0000000';
    const [first, second] = JSON.parse(Buffer.from(columns[key]!.v as Uint8Array).toString());
    const [third] = head.dictionaries.project_id ?? [];
    const dictionaries = { ...head.dictionaries, project_id: [second] };
    await put('Columns', { ...head, dictionaries });
    await put('Columns', { user_id: userId, key, v: textBlock(third!, first) });
    await repairUser({ client, tables, userId }, { fix: true, lists });
    const mended = (await ownerRows(client, tables, userId)).columns;
    expect(mended['b#head']).toMatchObject({ dictionaries });
    expect(mended[key]).toMatchObject({ v: textBlock(third!, first) });
    expect(mended['b#f#0000001']).not.toEqual(columns['b#f#0000001']);
    expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
  });

  it.each([
    ['in a block and the head', [2, 0, 1], 0],
    ['in a block, and codes in the tail', [1, 0, 2], 0],
    ['in a block alone', [1, 0, 2], 2],
  ])(
    'never lets anyone read or write columns by other texts than theirs, %s, wherever it is interrupted',
    async (_, order, further) => {
      const query = (project_id: string) => BatchListQuery.parse({ project_id: [project_id] });
      const refused: string[] = [];
      let interruptions = 0;
      for (let writes = 0; ; writes++) {
        const userId = await owner(`other texts ${order} ${further} ${writes}`);
        for (let number = 7; number < 7 + further; number++) await writer().createBatch(userId, newBatch(number));
        const { batches, columns } = await ownerRows(client, tables, userId);
        // The texts in another order than that of the rows, with columns by them; then they are
        // lost.
        const head = columns['b#head'] as unknown as StoredHead;
        const key = 'b#texts#project_id#0000000';
        const inBlock: string[] = JSON.parse(Buffer.from(columns[key]!.v as Uint8Array).toString());
        const texts = [...inBlock, ...(head.dictionaries.project_id ?? [])];
        const [first, second, third] = order.map((place) => texts[place]) as [string, string, string];
        await put('Columns', { ...head, dictionaries: { ...head.dictionaries, project_id: [third] } });
        await put('Columns', { user_id: userId, key, v: textBlock(first, second) });
        await repairUser({ client, tables, userId }, { fix: true, lists });
        await remove('Columns', { user_id: userId, key });

        let left = writes;
        const interrupted = interceptedClient(client, async (call) => {
          if (/^(Put|Delete|Update)/.test(call.name) && left-- <= 0) throw new Error('interrupted');
          return call.send();
        });
        const outcome = await repairUser({ client: interrupted, tables, userId }, { fix: true, lists }).catch(
          (error) => error,
        );
        if (!(outcome instanceof Error)) break;
        interruptions += 1;
        // Writes that were under way in parallel.
        await new Promise((wake) => setTimeout(wake, 50));
        for (const { project_id } of batches.slice(0, 3)) {
          const answer = listBatches(client, tables, { rowsPerBlock })(userId, query(project_id));
          refused.push(
            await answer.then(
              () => 'read',
              (error) => error.name,
            ),
          );
        }
        const write = writer().setTags(userId, batches[0]!.id, ['new']);
        refused.push(
          await write.then(
            () => 'written',
            (error) => error.name,
          ),
        );
        const { remaining } = await repairUser({ client, tables, userId }, { fix: true, lists });
        expect(remaining).toEqual([]);
        for (const { project_id } of batches.slice(0, 3)) {
          const { items } = await listBatches(client, tables, { rowsPerBlock })(userId, query(project_id));
          expect(items.map(({ id }) => id)).toEqual(listOf(batches, query(project_id) as never).ids);
        }
      }
      expect(interruptions).toBeGreaterThan(3);
      for (const reason of refused) expect(reason).toMatch(/^(CorruptData|OutdatedColumns)$/);
    },
  );

  it('neither reports nor spoils what writers change meanwhile, and still mends the damage', async () => {
    const userId = await owner('busy');
    await damages['a lost block of facets']!(userId);
    let writing = true;
    const write = async (first: number) => {
      for (let number = first; writing; number++) {
        await writer().createBatch(userId, newBatch(number, { tags: ['a'], jobs: [newJob(10 * number)] }));
        await writer().recordJobStatus(userId, newJob(10 * number).id, { status: 'RUNNING' });
      }
    };
    const writers = [write(100), write(1000)];
    // Writers get in between any two calls of the repair.
    const slow = interceptedClient(client, async (call) => {
      await new Promise((wake) => setTimeout(wake, 30));
      return call.send();
    });
    const { remaining, differences } = await repairUser({ client: slow, tables, userId }, { fix: true, lists });
    writing = false;
    await Promise.all(writers);
    expect(differences).toMatchObject([{ kind: 'block', key: 'b#f#0000001' }]);
    expect(remaining).toEqual([]);
    expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
  });
});

describe('scanUsers', () => {
  it('finds each user once who has any item, through all pages of all tables', async () => {
    const names = await createTables(client, `repair-scan-${Date.now()}-`);
    const users = Array.from({ length: 40 }, (_, number) => `user ${number}`);
    for (const [number, user_id] of users.entries()) {
      const [table, item] = [
        [names.Columns, { user_id, key: 'b#head' }],
        [names.Batches, { user_id, id: '1', seq: 0 }],
        [names.Jobs, { user_id, id: '1', seq: 0, batch_id: '1', creation_order: 0 }],
      ][number % 3] as [string, Record<string, unknown>];
      await client.send(new PutCommand({ TableName: table, Item: item }));
      if (number % 4 === 0)
        await client.send(new PutCommand({ TableName: names.Columns, Item: { user_id, key: 'j#head' } }));
    }
    let pages = 0;
    const paging = interceptedClient(client, (call) => {
      Object.assign(call.input, { Limit: 1 });
      return call.send();
    });
    const scan: UserScan = { users: [], reached: {} };
    await scanUsers({ client: paging, tables: names }, scan, async () => {
      pages += 1;
    });
    expect(scan.users.toSorted()).toEqual(users.toSorted());
    expect(pages).toBeGreaterThan(users.length);
  });
});
