import { gzipSync } from 'node:zlib';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { getSequence, sequenceItem } from '../../functions/data/rows/sequences.ts';
import { uuid } from '../support/new-batch.ts';
import { ownTables } from '../support/own-tables.ts';
import { sequenceText } from '../support/sequence-text.ts';
import { testDb } from '../support/test-db.ts';

const { client, tables } = await ownTables();
const db = testDb(client, tables);
const id = uuid('b', 1);
const text = sequenceText({ name: 'Ω' });
beforeAll(async () => {
  for (const [user, bytes] of [
    ['anna', gzipSync(text)],
    ['berta', new Uint8Array([1, 2, 3])],
  ] as const) {
    await client.send(new PutCommand({ TableName: tables.Sequences, Item: sequenceItem(user, id, bytes) }));
  }
});

describe('getSequence', () => {
  it('reads the text as it was sent', async () => {
    expect(await getSequence(db, 'anna', id)).toBe(text);
  });

  it('finds none of another user, and none that is not there', async () => {
    expect(await getSequence(db, 'carla', id)).toBeNull();
    expect(await getSequence(db, 'anna', uuid('b', 2))).toBeNull();
  });

  it('calls bytes that are no sequence corrupt', async () => {
    await expect(getSequence(db, 'berta', id)).rejects.toMatchObject({ name: 'CorruptData' });
  });
});
