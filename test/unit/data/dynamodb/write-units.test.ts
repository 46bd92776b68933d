import { describe, expect, it } from 'vitest';
import { unitsOnHottestKey } from '../../../../functions/data/dynamodb/write-units.ts';

const put = (TableName: string, Item: Record<string, unknown>) => ({ Put: { TableName, Item } });
/** An item of `bytes` bytes: its key is `id` and one letter. */
const sized = (bytes: number, letter = 'x') => ({ id: letter, v: 'y'.repeat(bytes - 4) });

describe('unitsOnHottestKey', () => {
  it('counts 2 units for each started KB of an item', () => {
    for (const [bytes, units] of [
      [5, 2],
      [1_024, 2],
      [1_025, 4],
      [350 * 1_024, 700],
    ] as const) {
      expect(unitsOnHottestKey([put('Jobs', sized(bytes))])).toBe(units);
    }
  });

  it('adds up the items of each table, and returns the sum of the hottest', () => {
    const jobs = Array.from({ length: 77 }, () => put('Jobs', sized(900)));
    const columns = Array.from({ length: 10 }, () => put('Columns', sized(3_000)));
    expect(unitsOnHottestKey([...columns, ...jobs, put('Batches', sized(60_000))])).toBe(154);
    expect(unitsOnHottestKey([...columns, put('Batches', sized(60_000))])).toBe(118);
  });

  it('counts what an update sets, and 2 units for a deletion or a check', () => {
    const Update = {
      TableName: 'Quizzes',
      Key: { id: 'x' },
      UpdateExpression: 'SET v = :v',
      ExpressionAttributeValues: { ':v': 'y'.repeat(2_000) },
    };
    expect(unitsOnHottestKey([{ Update }])).toBe(4);
    const Delete = { TableName: 'Columns', Key: { id: 'x' } };
    expect(unitsOnHottestKey([{ Delete }, { ConditionCheck: { ...Delete, ConditionExpression: 'a = b' } }])).toBe(4);
    expect(unitsOnHottestKey([])).toBe(0);
  });

  it('counts bytes as DynamoDB does: UTF-8, binary, numbers, lists and maps with what they add', () => {
    const units = (rest: number, attributes: object) =>
      unitsOnHottestKey([put('Jobs', { ...sized(rest), ...attributes })]);
    for (const [bytes, attributes] of [
      [1 + 4, { a: 'éé' }],
      [2 + 2, { é: 'aa' }],
      [1 + 7, { a: new Uint8Array(7) }],
      [1 + 3, { a: 1_234 }],
      [1 + 1, { a: null }],
      [1 + 1, { a: true }],
      [1, { a: undefined }],
      [1 + 3, { a: [] }],
      [1 + 3 + 2 + 3 + 1, { a: ['abc', false] }],
      [1 + 3 + 1 + 2 + 3, { a: { bc: 'def' } }],
    ] as const) {
      expect([units(1_024 - bytes, attributes), units(1_025 - bytes, attributes)]).toEqual([2, 4]);
    }
  });
});
