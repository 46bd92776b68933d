import { setTimeout as delay } from 'node:timers/promises';
import type { BatchGetCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { batchGet } from '../../../../functions/data/dynamodb/reads.ts';

describe('batchGet', () => {
  it('reads any number of keys, ten calls at most side by side', async () => {
    let [underWay, most] = [0, 0];
    const send = async ({ input }: BatchGetCommand) => {
      most = Math.max(most, ++underWay);
      await delay(1);
      underWay -= 1;
      return { Responses: { rows: input.RequestItems!.rows!.Keys } };
    };
    const client = { send } as unknown as DynamoDBDocumentClient;
    const keys = Array.from({ length: 5_003 }, (_, id) => ({ id }));
    expect(await batchGet(client, { table: 'rows', keys, consistent: true })).toEqual(keys);
    expect(most).toBe(10);
  });
});
