import { randomUUID } from 'node:crypto';
import { createTables } from './create-tables.ts';
import { dynamodbEndpoint } from './dynamodb-endpoint.ts';
import { testClient } from './test-client.ts';

/** Tables for one test file alone, and a client that reaches them. */
export async function ownTables() {
  const client = testClient(dynamodbEndpoint);
  return { client, tables: await createTables(client, `${randomUUID()}-`) };
}
