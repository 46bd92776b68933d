import { randomUUID } from 'node:crypto';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { createTables } from '../../infra/local/dynamodb/create-tables.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { testClient } from '../support/test-client.ts';

const endpoint = dynamodbEndpoint;

it('the local stack gives a table of an earlier release the stream that it lacks', async () => {
  const create = {
    TableName: `old-${randomUUID()}`,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  } as const;
  const StreamSpecification = { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } as const;
  const definition = (given: object) => [{ create: { ...create, ...given } as never }];
  const streamOf = async () => {
    const { Table } = await testClient(endpoint).send(new DescribeTableCommand({ TableName: create.TableName }));
    return [Table?.StreamSpecification, Table?.LatestStreamArn];
  };
  await createTables(endpoint, 'us-east-1', definition({}));
  expect(await streamOf()).toEqual([undefined, undefined]);
  await createTables(endpoint, 'us-east-1', definition({ StreamSpecification }));
  const streamed = await streamOf();
  expect(streamed).toEqual([StreamSpecification, expect.stringContaining(create.TableName)]);
  // At every further start, the stream goes on.
  await createTables(endpoint, 'us-east-1', definition({ StreamSpecification }));
  expect(await streamOf()).toEqual(streamed);
});
