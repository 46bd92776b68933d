import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { vi } from 'vitest';
import { queues } from '../../functions/queues.ts';
import { type TableName, type TableNames, tables } from '../../functions/tables.ts';
import { dynamodbEndpoint } from './dynamodb-endpoint.ts';
import { ownTables } from './own-tables.ts';

/**
 * Creates tables of its own and sets the environment as Lambda would: import endpoints after this,
 * with `await import`. Returns the tables' names and a client to look into them.
 */
export async function functionEnvironment(): Promise<{ client: DynamoDBDocumentClient; names: TableNames }> {
  const { client, tables: names } = await ownTables();
  for (const [name, { environmentVariable }] of Object.entries(tables)) {
    vi.stubEnv(environmentVariable, names[name as TableName]);
  }
  for (const [name, { environmentVariable, deadLetterVariable }] of Object.entries(queues)) {
    // No server listens there: tests of what is sent start a sink.
    vi.stubEnv(environmentVariable, `http://127.0.0.1:1/000000000000/${name}`);
    vi.stubEnv(deadLetterVariable, `http://127.0.0.1:1/000000000000/${name}-dead-letters`);
  }
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', dynamodbEndpoint);
  vi.stubEnv('AWS_REGION', 'eu-west-3');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDTEST');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a secret');
  vi.stubEnv('AWS_SESSION_TOKEN', 'a session');
  vi.stubEnv('RESULTS_BUCKET', 'results-bucket');
  vi.stubEnv('WEBHOOK_KEY_ARN', 'none');
  return { client, names };
}
