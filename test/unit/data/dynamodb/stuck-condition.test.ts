import { describe, expect, it } from 'vitest';
import { TransactionCanceled } from '../../../../functions/data/dynamodb/aws-errors.ts';
import type { Db } from '../../../../functions/data/dynamodb/db.ts';
import {
  countFailure,
  type FailedCondition,
  StuckCondition,
} from '../../../../functions/data/dynamodb/stuck-condition.ts';
import type { Write } from '../../../../functions/data/dynamodb/write-units.ts';
import type { TableNames } from '../../../../functions/tables.ts';

const tables: TableNames<'Batches' | 'DeviceQueue'> = { Batches: 'p-Batches', DeviceQueue: 'p-DeviceQueue' };
const db = { tables } as unknown as Db<never>;
const Key = { device_type: 'QPU', key: '7' };
const isAbsent = { TableName: tables.DeviceQueue, ConditionExpression: 'attribute_not_exists(#key)' };
const put: Write = { Put: { ...isAbsent, Item: { ...Key, fence: 3 } } };
const update = (rev: number, status = 'DONE'): Write => ({
  Update: {
    ...{ TableName: tables.Batches, Key: { user_id: 'ada', id: 'b' }, UpdateExpression: 'SET #s = :status' },
    ...{ ConditionExpression: 'rev = :rev', ExpressionAttributeValues: { ':rev': rev, ':status': status } },
  },
});

/** Counts what each attempt failed for: its last write, unless codes by place say otherwise. */
function countAll(attempts: readonly { writes: readonly Write[]; codes?: Readonly<Record<number, string>> }[]) {
  let before: FailedCondition | undefined;
  for (const { writes, codes = { [writes.length - 1]: 'ConditionalCheckFailed' } } of attempts) {
    const reasons = Object.entries(codes).map(([place, code]) => ({ place: Number(place), code, item: undefined }));
    before = countFailure(db, new TransactionCanceled(reasons, new Error()), { writes, before });
  }
  return before?.times;
}

const times = <Value>(count: number, value: Value): Value[] => Array(count).fill(value);

describe('countFailure', () => {
  it.each<[string, Write, string]>([
    ['a put', put, 'DeviceQueue QPU 7'],
    ['an update', update(1), 'Batches ada b'],
    ['a deletion', { Delete: { ...isAbsent, Key } }, 'DeviceQueue QPU 7'],
    ['a check', { ConditionCheck: { ...isAbsent, Key } }, 'DeviceQueue QPU 7'],
  ])('throws the fifth failure of the same condition, and names the item of %s', (_, write, item) => {
    const attempt = { writes: [update(9), write] };
    expect(countAll(times(4, attempt))).toBe(4);
    const message = `A condition failed 5 times, and nothing that it rests on changed: ${item}.`;
    expect(() => countAll(times(5, attempt))).toThrow(
      expect.objectContaining({ name: 'StuckCondition', message, cause: expect.any(TransactionCanceled) }),
    );
  });

  it('minds what the condition compares, not what is written besides', () => {
    expect(countAll([...times(4, { writes: [update(1)] }), { writes: [update(2)] }])).toBe(1);
    const written = ['A', 'B', 'C', 'D', 'E'].map((status) => ({ writes: [update(1, status)] }));
    expect(() => countAll(written)).toThrow(StuckCondition);
  });

  it('begins again where another condition compares something else', () => {
    const attempts = [1, 1, 1, 1, 2].map((rev) => ({ writes: [update(rev), put] }));
    expect(countAll(attempts)).toBe(1);
  });

  it('begins again where another item was in the way', () => {
    const other: Write = { Put: { ...isAbsent, Item: { ...Key, key: '8' } } };
    expect(countAll([...times(4, { writes: [put] }), { writes: [other] }])).toBe(1);
    expect(countAll([...times(4, { writes: [put] }), { writes: [other] }, { writes: [put] }])).toBe(1);
  });

  it.each(['TransactionConflict', 'ThrottlingError'])('forgets what failed before after a %s', (code) => {
    const [writes, met] = [[put, update(1)], { 0: 'ConditionalCheckFailed', 1: code }];
    expect(countAll([...times(4, { writes }), { writes, codes: met }])).toBeUndefined();
    expect(countAll([...times(4, { writes }), { writes, codes: met }, { writes }])).toBe(1);
  });

  it('counts nothing where DynamoDB gives no reason', () => {
    expect(countAll(times(9, { writes: [put], codes: {} }))).toBeUndefined();
  });
});
