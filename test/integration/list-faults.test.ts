import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { setPrefix } from '../../functions/data/columns/column-items.ts';
import { batchList } from '../../functions/data/columns/lists.ts';
import { packedCount, packIntegers, unpackIntegers } from '../../functions/data/columns/packed-integers.ts';
import { withPosition } from '../../functions/data/columns/position-set.ts';
import { listBatches } from '../../functions/data/rows/batches.ts';
import { listJobs } from '../../functions/data/rows/jobs.ts';
import { CorruptData, TooBusy } from '../../functions/errors.ts';
import type { BatchListQuery } from '../../functions/schemas/batch-list-query.ts';
import { BatchStatus } from '../../functions/schemas/values.ts';
import { type Call, interceptedClient } from '../support/intercepted-client.ts';
import { answerOf, listOf } from '../support/list-oracle.ts';
import { loadList } from '../support/load-list.ts';
import { ownTables } from '../support/own-tables.ts';
import { batchRows, jobRows } from '../support/random-rows.ts';
import { smallLists } from '../support/small-lists.ts';
import { testDb } from '../support/test-db.ts';
import { withoutRole } from '../support/without-role.ts';

const user = 'user-1';
const rowsPerBlock = 16;
const formats = smallLists(rowsPerBlock);
const { client, tables } = await ownTables();
const db = testDb(client, tables, { formats });
const sample = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.sample(arbitrary, { numRuns: 1, seed: 7 })[0] as Value;
const plainBatches = sample(batchRows(user, 60));
const batchId = plainBatches[0]?.id ?? '';
const jobs = sample(jobRows(user, [batchId, plainBatches[1]?.id ?? ''], 80));
const batches = plainBatches.map((batch) => ({
  ...batch,
  jobs_count: jobs.filter((job) => job.batch_id === batch.id).length,
}));
const createdAt = (seq: number) => String(batches[seq]?.created_at);
const newest = { order_by: 'created_at', order_by_direction: 'DESC', limit: 20, offset: 0 } as const;

beforeAll(async () => {
  await loadList(client, tables, { list: formats.batch, userId: user, rows: batches });
  await loadList(client, tables, { list: formats.job, userId: user, rows: jobs });
});

type Items = Record<string, unknown>[];
const itemsOf = async (call: Call) => ((await call.send()).Items ?? []) as Items;
const isIndexRead = (call: Call) => call.input.IndexName !== undefined;

type Intercept = Parameters<typeof interceptedClient>[1];
const dbThrough = (intercept: Intercept) => ({ ...db, client: interceptedClient(client, intercept) });
const listThrough = (intercept: Intercept) => (query: object) =>
  listBatches(dbThrough(intercept), withoutRole(user), query as BatchListQuery);

/** The answer to an index read from an index that does not have the newest `lacking` rows yet. */
async function laggingIndex(call: Call, lacking: number): Promise<Record<string, unknown>> {
  const { Limit } = call.input;
  if (typeof Limit === 'number') call.input.Limit = Limit + lacking;
  const { Items = [] } = (await call.send()) as { Items?: Items };
  const highest = Math.max(...batches.map(({ seq }) => seq)) - lacking;
  const known = Items.filter(({ seq }) => Number(seq) <= highest);
  return { Items: typeof Limit === 'number' ? known.slice(0, Limit) : known };
}

describe('a list read while an index lags', () => {
  const queries = [
    { name: 'a page in creation order', query: newest },
    { name: 'the oldest rows', query: { ...newest, order_by_direction: 'ASC' as const } },
    { name: 'a dense filter', query: { ...newest, status: ['DONE', 'RUNNING', 'PENDING', 'ERROR'] as const } },
    { name: 'rows since a time', query: { ...newest, created_after: createdAt(30) } },
    { name: 'rows up to a time', query: { ...newest, created_before: createdAt(57) } },
  ];

  it.each(queries)('is complete although the index lacks a row: $name', async ({ query }) => {
    let lags = 0;
    const list = listThrough(async (call) => {
      if (!isIndexRead(call)) return call.send();
      lags++;
      return { Items: (await itemsOf(call)).slice(1) };
    });
    expect(answerOf(await list(query))).toEqual(listOf(batches, query as never));
    expect(lags).toBeGreaterThan(0);
  });

  it.each(queries)('is complete although the index lacks the newest rows: $name', async ({ query }) => {
    const list = listThrough((call) => (isIndexRead(call) ? laggingIndex(call, 2) : call.send()));
    expect(answerOf(await list(query))).toEqual(listOf(batches, query as never));
  });

  it.each(queries)('has each row once although the index has two at one place: $name', async ({ query }) => {
    const list = listThrough(async (call) => {
      if (!isIndexRead(call)) return call.send();
      const [first, second, ...others] = await itemsOf(call);
      return { Items: [first, { ...second, seq: first!.seq }, ...others] };
    });
    expect(answerOf(await list(query))).toEqual(listOf(batches, query as never));
  });

  it('never holds a row that the index still shows as it was', async () => {
    const query = { ...newest, status: ['DONE', 'RUNNING', 'PENDING', 'ERROR'] as const };
    const list = listThrough(async (call) => {
      if (!isIndexRead(call)) return call.send();
      return { Items: (await itemsOf(call)).map((item) => ({ ...item, status: 'PAUSED' })) };
    });
    const { items } = await list(query);
    expect(new Set(items.map((item) => item.status)).isSubsetOf(new Set(query.status))).toBe(true);
    expect(items).toHaveLength(20);
  });

  it('is complete for the jobs of a batch', async () => {
    const through = dbThrough(async (call) =>
      isIndexRead(call) ? { Items: (await itemsOf(call)).slice(0, -1) } : call.send(),
    );
    const query = { ...newest, order_by: 'creation_order', order_by_direction: 'ASC', batch_id: [batchId] } as const;
    expect(answerOf(await listJobs(through, withoutRole(user), query as never))).toEqual(listOf(jobs, query as never));
  });
});

describe('a list by time of creation', () => {
  const isTimeRead = ({ input: { ExpressionAttributeValues = {} } }: Call) =>
    Object.values(ExpressionAttributeValues as object).some((value) => String(value).startsWith('b#times#'));
  const queries = [
    { ...newest, created_after: createdAt(30) },
    { ...newest, created_before: createdAt(30), open: true },
  ];

  it.each(queries)('is right although the first answer lacks entries of the time index: %j', async (query) => {
    let lacking = 0;
    const list = listThrough(async (call) => {
      if (!isTimeRead(call) || call.input.ConsistentRead === true) return call.send();
      lacking++;
      return { Items: [] };
    });
    expect(answerOf(await list(query))).toEqual(listOf(batches, query));
    expect(lacking).toBe(1);
  });

  it.each(queries)('is refused, never wrong, where an entry is lost: %j', async (query) => {
    const list = listThrough(async (call) => (isTimeRead(call) ? { Items: [] } : call.send()));
    await expect(list(query)).rejects.toThrow(TooBusy);
  });
});

describe('a list by id', () => {
  const query = { ...newest, order_by: 'id' } as const;
  const isTableRead = ({ name, input }: Call) => name === 'QueryCommand' && input.TableName === tables.Batches;

  it('holds no row that is newer than its total', async () => {
    let isFirst = true;
    const list = listThrough(async (call) => {
      if (!isTableRead(call)) return call.send();
      const items = await itemsOf(call);
      if (!isFirst) return { Items: items };
      isFirst = false;
      return { Items: [{ ...items[0], id: 'ffffffff-ffff-4fff-8fff-ffffffffffff', seq: 60 }, ...items.slice(0, -1)] };
    });
    expect(answerOf(await list(query))).toEqual(listOf(batches, query));
    expect(isFirst).toBe(false);
  });

  it('is read again where it is shorter than its total says', async () => {
    const all = { ...query, limit: 100 };
    const list = listThrough(async (call) => {
      if (!isTableRead(call) || call.input.ConsistentRead === true) return call.send();
      return { Items: (await itemsOf(call)).slice(1) };
    });
    expect(answerOf(await list(all))).toEqual(listOf(batches, all));
  });

  it.each(['ASC', 'DESC'] as const)(
    'is read again where the table does not show a new row yet: %s',
    async (order_by_direction) => {
      const newestRow = batches.at(-1);
      const ids = batches.map(({ id }) => id).sort();
      const place = ids.indexOf(String(newestRow?.id));
      const rank = order_by_direction === 'ASC' ? place : ids.length - 1 - place;
      const query = { ...newest, order_by: 'id', order_by_direction, offset: Math.max(0, rank - 1), limit: 3 } as const;
      let lags = 0;
      const list = listThrough(async (call) => {
        if (!isTableRead(call) || call.input.ConsistentRead === true) return call.send();
        lags++;
        call.input.Limit = Number(call.input.Limit) + 1;
        return {
          Items: (await itemsOf(call)).filter(({ id }) => id !== newestRow?.id).slice(0, Number(call.input.Limit) - 1),
        };
      });
      expect(answerOf(await list(query))).toEqual(listOf(batches, query));
      expect(lags).toBe(1);
    },
  );

  it('counts before it reads, so that its total never counts a row that it lacks', async () => {
    const started: string[] = [];
    const ended: string[] = [];
    const list = listThrough(async (call) => {
      started.push(`${call.name} after ${ended.length}`);
      const output = await call.send();
      ended.push(call.name);
      return output;
    });
    await list(query);
    expect(started).toEqual(['QueryCommand after 0', 'QueryCommand after 1']);
  });
});

describe('the jobs of a new batch', () => {
  const query = { ...newest, order_by: 'creation_order', order_by_direction: 'ASC', batch_id: [batchId] } as const;

  it('are all listed although the index and eventually consistent reads do not show the batch yet', async () => {
    const through = dbThrough(async (call) => {
      if (isIndexRead(call)) return { Items: [] };
      return call.name === 'GetCommand' && call.input.ConsistentRead !== true ? {} : call.send();
    });
    expect(answerOf(await listJobs(through, withoutRole(user), query as never))).toEqual(listOf(jobs, query as never));
  });
});

describe('a list read from columns that lag', () => {
  it.each(['status', 'id', 'jobs_count'] as const)('is right when ordered by %s', async (order_by) => {
    const query = { ...newest, order_by, status: ['DONE', 'RUNNING'] } as const;
    const list = listThrough(async (call) => {
      if (call.name !== 'QueryCommand' || call.input.ConsistentRead === true) return call.send();
      const items = await itemsOf(call);
      return { Items: items.at(-1)?.key === 'b#head' ? items : items.slice(0, -1) };
    });
    expect(answerOf(await list(query))).toEqual(listOf(batches, query as never));
  });

  /**
   * Lets the first attempt see what `change` makes of the blocks of columns and sets whose keys
   * start with the prefix. Summaries are left as they are.
   */
  const listWithBlocks = (prefix: string, change: (blocks: Items) => Items) => {
    let changed = 0;
    const list = listThrough(async (call) => {
      const output = await call.send();
      const { ExpressionAttributeValues: values, ConsistentRead } = call.input;
      const from = String((values as Record<string, unknown> | undefined)?.[':from']);
      if (
        call.name !== 'QueryCommand' ||
        ConsistentRead === true ||
        !from.startsWith(prefix) ||
        from.startsWith(`${prefix}s#`)
      )
        return output;
      changed++;
      return { ...output, Items: change(output.Items as Items) };
    });
    return { list, changed: () => changed };
  };
  const bytesOf = (block: Items[number] | undefined) => block?.v as Uint8Array;

  it.each([
    ['the last block', (blocks: Items) => blocks.slice(0, -1)],
    ['a block in the middle', (blocks: Items) => blocks.toSpliced(1, 1)],
    ['the first block', (blocks: Items) => blocks.slice(1)],
    [
      'the last values of a block',
      (blocks: Items) => {
        const values = new Float64Array(packedCount(bytesOf(blocks.at(-1))));
        unpackIntegers(bytesOf(blocks.at(-1)), values);
        return [...blocks.slice(0, -1), { ...blocks.at(-1), v: packIntegers([...values].slice(0, -1)) }];
      },
    ],
  ])('is right although a column lacks %s, while all rows are there', async (_, change) => {
    const { list, changed } = listWithBlocks('b#f#', change);
    const query = { ...newest, order_by_direction: 'ASC', limit: 3, status: [...BatchStatus.options] } as const;
    expect(answerOf(await list(query))).toEqual(listOf(batches, query));
    expect(changed()).toBeGreaterThan(0);
  });

  it('holds no row that a write has taken out of the set it was found by', async () => {
    const tag = 'nightly';
    const untagged = batches.find(({ seq, tags }) => seq < rowsPerBlock && !tags.includes(tag))?.seq ?? -1;
    const prefix = setPrefix(batchList, batchList.sets.tag, tag);
    const { list, changed } = listWithBlocks(prefix, ([first, ...others]) => [
      { ...first, v: withPosition(bytesOf(first), untagged, true) },
      ...others,
    ]);
    const query = { ...newest, limit: 100, tag: [tag] } as const;
    expect(answerOf(await list(query))).toEqual(listOf(batches, query));
    expect(changed()).toBe(1);
  });

  it.each(['ASC', 'DESC'] as const)('holds no row that is newer than the total: %s', async (direction) => {
    const list = listThrough(async (call) => {
      const output = await call.send();
      const [head] = (output.Items ?? []) as { key?: string }[];
      if (head?.key !== 'b#head' || call.input.ConsistentRead === true) return output;
      return { Items: [{ ...head, next_seq: batches.length - 1 }] };
    });
    const query = { ...newest, order_by_direction: direction, offset: direction === 'ASC' ? 45 : 0 };
    const before = listOf(batches.slice(0, -1), query);
    const after = listOf(batches, query);
    expect([before, after]).toContainEqual(answerOf(await list(query)));
  });

  it('is read again, and in the end refused, when a row never agrees with them', async () => {
    let calls = 0;
    const paused = (rows: Items = []) => rows.map((row) => ({ ...row, status: 'PAUSED' }));
    const list = listThrough(async (call) => {
      calls++;
      if (isIndexRead(call)) return { Items: paused(await itemsOf(call)) };
      const output = await call.send();
      const rows = (output.Responses as Record<string, Items> | undefined)?.[tables.Batches];
      return rows === undefined ? output : { ...output, Responses: { [tables.Batches]: paused(rows) } };
    });
    const query = { ...newest, order_by: 'id', status: ['DONE'] } as const;
    await expect(list(query)).rejects.toThrow(TooBusy);
    expect(calls).toBeLessThan(40);
  });
});

describe('a list read with keys left unprocessed', () => {
  const ids = batches.slice(0, 30).map((batch) => batch.id);

  it('asks for them again', async () => {
    let rounds = 0;
    const list = listThrough(async (call) => {
      const requests = call.input.RequestItems as Record<string, { Keys: Items }>;
      const keys = requests?.[tables.Batches]?.Keys;
      if (call.name !== 'BatchGetCommand' || keys === undefined || keys.length < 5) return call.send();
      rounds++;
      const { Responses } = await call.send();
      const served = ((Responses as Record<string, Items>)[tables.Batches] ?? []).filter((row) =>
        keys.slice(0, 12).some((key) => key.id === row.id),
      );
      return {
        Responses: { [tables.Batches]: served },
        UnprocessedKeys: { [tables.Batches]: { Keys: keys.slice(12) } },
      };
    });
    const query = { ...newest, limit: 100, id: ids } as const;
    expect(answerOf(await list(query))).toEqual(listOf(batches, query));
    expect(rounds).toBe(3);
  });

  it('is refused, not served short, when they stay so', async () => {
    const list = listThrough(async (call) =>
      call.name === 'BatchGetCommand' ? { Responses: {}, UnprocessedKeys: call.input.RequestItems } : call.send(),
    );
    await expect(list({ ...newest, id: ids })).rejects.toThrow(TooBusy);
  });
});

describe('a list read on a failing table', () => {
  it('fails with the error of any single call', async () => {
    const query = { ...newest, order_by: 'jobs_count', status: ['DONE'] } as const;
    let calls = 0;
    await listThrough((call) => {
      calls++;
      return call.send();
    })(query);
    for (let failing = 1; failing <= calls; failing++) {
      let call = 0;
      const list = listThrough((passed) => (++call === failing ? Promise.reject(new Error('broken')) : passed.send()));
      await expect(list(query), `call ${failing} of ${calls}`).rejects.toThrow('broken');
    }
    expect(calls).toBeGreaterThan(3);
  });

  it('reports a corrupt row as our fault', async () => {
    const list = listThrough(async (call) =>
      isIndexRead(call) ? { Items: (await itemsOf(call)).map((row) => ({ ...row, tags: 'none' })) } : call.send(),
    );
    await expect(list(newest)).rejects.toThrow(CorruptData);
  });

  it('reports a row without a sequence number as our fault', async () => {
    const list = listThrough(async (call) =>
      isIndexRead(call) ? { Items: (await itemsOf(call)).map(({ seq, ...row }) => row) } : call.send(),
    );
    await expect(list(newest)).rejects.toThrow(new CorruptData('A row has no sequence number.'));
  });
});
