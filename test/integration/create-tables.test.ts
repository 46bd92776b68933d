import { randomUUID } from 'node:crypto';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { SetupProblem } from '../../infra/commands/setup-problem.ts';
import { createTables } from '../../infra/local/dynamodb/create-tables.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { testClient } from '../support/test-client.ts';

const endpoint = dynamodbEndpoint;

it('the local stack keeps a table as it is, and refuses one with another key or stream', async () => {
  const create = {
    TableName: `old-${randomUUID()}`,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  } as const;
  const start = (changes: object = {}) =>
    createTables(endpoint, 'us-east-1', [{ create: { ...create, ...changes } as never }]);
  const describeTable = async () =>
    (await testClient(endpoint).send(new DescribeTableCommand({ TableName: create.TableName }))).Table;
  await start();
  const created = await describeTable();
  expect(created).toMatchObject({ StreamSpecification: create.StreamSpecification });
  await start();
  expect(await describeTable()).toEqual(created);
  for (const changes of [
    { StreamSpecification: undefined },
    { StreamSpecification: { ...create.StreamSpecification, StreamViewType: 'KEYS_ONLY' } },
    {
      KeySchema: [{ AttributeName: 'other', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'other', AttributeType: 'S' }],
    },
  ]) {
    await expect(start(changes), JSON.stringify(changes)).rejects.toThrow(SetupProblem);
  }
  expect(await describeTable()).toEqual(created);
});
