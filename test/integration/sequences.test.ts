import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { getSequence, sequenceItem } from '../../functions/data/sequences.ts';
import type { TableNames } from '../../functions/tables.ts';
import { createTables } from '../support/create-tables.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { uuid } from '../support/new-batch.ts';
import { sequenceText } from '../support/sequence-text.ts';
import { testClient } from '../support/test-client.ts';

const client = testClient(dynamodbEndpoint);
let tables: TableNames;
const id = uuid('b', 1);
const text = sequenceText({ name: 'Ω' });
beforeAll(async () => {
  tables = await createTables(client, `sequences-${randomUUID()}-`);
  for (const [user, bytes] of [
    ['anna', gzipSync(text)],
    ['berta', new Uint8Array([1, 2, 3])],
  ] as const) {
    await client.send(new PutCommand({ TableName: tables.Sequences, Item: sequenceItem(user, id, bytes) }));
  }
});

describe('getSequence', () => {
  it('reads the text as it was sent', async () => {
    expect(await getSequence(client, tables)('anna', id)).toBe(text);
  });

  it('finds none of another user, and none that is not there', async () => {
    expect(await getSequence(client, tables)('carla', id)).toBeNull();
    expect(await getSequence(client, tables)('anna', uuid('b', 2))).toBeNull();
  });

  it('calls bytes that are no sequence corrupt', async () => {
    await expect(getSequence(client, tables)('berta', id)).rejects.toMatchObject({ name: 'CorruptData' });
  });
});
