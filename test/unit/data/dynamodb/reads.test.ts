import { setTimeout as delay } from 'node:timers/promises';
import type { BatchGetCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { batchGet, batchGetAll } from '../../../../functions/data/dynamodb/reads.ts';
import { testDb } from '../../../support/test-db.ts';

const tables = { Batches: 'a', Jobs: 'b', Columns: 'c' };

describe('batchGet', () => {
  it('reads any number of keys, ten calls at most side by side', async () => {
    let [underWay, most] = [0, 0];
    const send = async ({ input }: BatchGetCommand) => {
      most = Math.max(most, ++underWay);
      await delay(1);
      underWay -= 1;
      return { Responses: { a: input.RequestItems!.a!.Keys } };
    };
    const db = testDb({ send } as unknown as DynamoDBDocumentClient, tables);
    const keys = Array.from({ length: 5_003 }, (_, id) => ({ id }));
    expect(await batchGet(db, { table: 'Batches', keys, consistent: true })).toEqual(keys);
    expect(most).toBe(10);
  });
});

describe('batchGetAll', () => {
  it('reads several tables together, and asks again for what is left of each', async () => {
    const sent: NonNullable<BatchGetCommand['input']['RequestItems']>[] = [];
    const send = async ({ input: { RequestItems = {} } }: BatchGetCommand) => {
      sent.push(RequestItems);
      const { a, b } = RequestItems;
      // All of one table in the first call, then one key fewer each time.
      if (sent.length === 1) return { Responses: { a: a!.Keys }, UnprocessedKeys: { b: { Keys: b!.Keys } } };
      const [first, ...left] = (b ?? a)!.Keys!;
      const name = b ? 'b' : 'a';
      return {
        Responses: { [name]: left.length > 1 ? [first, ...left] : [first] },
        UnprocessedKeys: left.length === 1 ? { [name]: { Keys: left } } : {},
      };
    };
    const db = testDb({ send } as unknown as DynamoDBDocumentClient, tables);
    const keysOf = (table: string, count: number) =>
      Array.from({ length: count }, (_, id) => ({ id: `${table}${id}` }));
    const keys = { Batches: keysOf('a', 98), Jobs: keysOf('b', 4), Columns: [] };
    const items = await batchGetAll(db, keys, { consistent: true, attributes: ['id'] });
    expect([items.get('Batches'), new Set(items.get('Jobs'))]).toEqual([keys.Batches, new Set(keys.Jobs)]);
    expect(items.has('Columns')).toBe(false);
    const asked = sent.map((each) => Object.entries(each).map(([name, { Keys }]) => `${name} ${Keys!.length}`));
    expect(asked.sort()).toEqual([['a 98', 'b 2'], ['b 1'], ['b 1'], ['b 2'], ['b 2']]);
    for (const request of sent.flatMap((each) => Object.values(each))) {
      expect(request).toMatchObject({ ConsistentRead: true, ExpressionAttributeNames: { '#a0': 'id' } });
    }
  });
});
