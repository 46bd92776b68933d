import { randomUUID } from 'node:crypto';
import { BatchGetCommand, GetCommand, PutCommand, QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { measuredClient } from '../support/measured-client.ts';
import { ownTables } from '../support/own-tables.ts';

const { client, tables } = await ownTables();
const measure = measuredClient(client);

const item = (id: string, bytes: number) => ({ user_id: 'ada', id, seq: 0, filler: 'x'.repeat(bytes) });
const get = (id: string, consistent = false) =>
  client.send(new GetCommand({ TableName: tables.Batches, Key: { user_id: 'ada', id }, ConsistentRead: consistent }));
const put = (id: string, bytes: number) => ({ TableName: tables.Batches, Item: item(id, bytes) });

beforeAll(async () => {
  for (const id of ['a', 'b', 'c', 'd']) await client.send(new PutCommand(put(id, 390_000)));
  await client.send(new PutCommand(put('small', 500)));
});

describe('the measured client', () => {
  it('counts each of several calls in a row as a step', async () => {
    const { cost } = await measure(async () => {
      await get('small');
      await get('small');
      await get('small');
    });
    expect(cost).toMatchObject({ calls: 3, depth: 3, readUnits: 1.5, writeUnits: 0, pages: 3 });
  });

  it('counts calls side by side as one step, and calls that start after one of them has ended as the next', async () => {
    const { cost, calls } = await measure(async () => {
      await Promise.all([get('small'), get('small'), get('small')]);
      await Promise.all([get('small'), get('small')]);
    });
    expect(cost).toMatchObject({ calls: 5, depth: 2 });
    expect(calls.map(({ name, depth }) => `${name} ${depth}`)).toEqual([
      ...Array(3).fill('GetItem 1'),
      ...Array(2).fill('GetItem 2'),
    ]);
  });

  it('counts eventually and strongly consistent reads by their size', async () => {
    const units = async (work: () => Promise<unknown>) => (await measure(work)).cost.readUnits;
    expect(await units(() => get('small'))).toBe(0.5);
    expect(await units(() => get('small', true))).toBe(1);
    expect(await units(() => get('a', true))).toBe(96);
    const keys = ['a', 'small'].map((id) => ({ user_id: 'ada', id }));
    const batchGet = new BatchGetCommand({ RequestItems: { [tables.Batches]: { Keys: keys } } });
    expect(await units(() => client.send(batchGet))).toBe(48.5);
  });

  it('counts writes with their indexes', async () => {
    const { cost } = await measure(() => client.send(new PutCommand(put('new', 1_500))));
    expect(cost).toMatchObject({ calls: 1, depth: 1, readUnits: 0, writeUnits: 4 });
  });

  it('counts a transaction as one call, each of its items twice, and once in each index', async () => {
    const ids = ['t1', 't2', 't3'];
    const { cost } = await measure(() =>
      client.send(
        new TransactWriteCommand({
          ClientRequestToken: randomUUID(),
          TransactItems: ids.map((id) => ({
            Put: { ...put(id, 500), ConditionExpression: 'attribute_not_exists(id)' },
          })),
        }),
      ),
    );
    expect(cost).toMatchObject({ calls: 1, depth: 1, readUnits: 0, writeUnits: 3 * (2 + 1) });
    for (const id of ids) expect((await get(id)).Item).toEqual(item(id, 500));
  });

  it('reports how many pages of 1 MB a filtered query reads, and the size of its answer', async () => {
    const query = (filter: string) =>
      measure(() =>
        client.send(
          new QueryCommand({
            TableName: tables.Batches,
            KeyConditionExpression: 'user_id = :user AND id BETWEEN :a AND :d',
            FilterExpression: filter,
            ExpressionAttributeValues: { ':user': 'ada', ':a': 'a', ':d': 'd', ':zero': 0 },
          }),
        ),
      );
    const [none, first] = [await query('seq > :zero'), await query('seq = :zero')];
    expect(none.value.Items).toEqual([]);
    expect(none.cost.bytes).toBeLessThan(1_000);
    expect(none.cost.pages).toBe(Math.ceil((none.cost.readUnits * 8_192) / 2 ** 20));
    expect(none.cost.readUnits).toBeGreaterThan(140);
    expect(none.cost.pages).toBe(2);
    expect(first.cost.bytes).toBeGreaterThan(390_000);
  });

  it('keeps simultaneous requests apart, and leaves out calls outside of them', async () => {
    const [one, two] = await Promise.all([
      measure(async () => {
        await get('small');
        await get('small');
      }),
      measure(() => get('a', true)),
      get('b'),
    ]);
    expect(one.cost).toMatchObject({ calls: 2, depth: 2, readUnits: 1 });
    expect(two.cost).toMatchObject({ calls: 1, depth: 1, readUnits: 96 });
  });

  it('throws the errors of calls, and does not count the calls', async () => {
    const { cost } = await measure(async () => {
      const condition = { ConditionExpression: 'attribute_not_exists(id)' };
      await expect(client.send(new PutCommand({ ...put('small', 500), ...condition }))).rejects.toThrow('conditional');
      await get('small');
    });
    expect(cost).toMatchObject({ calls: 1, depth: 1 });
  });
});
