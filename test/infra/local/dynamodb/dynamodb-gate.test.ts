import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  BatchGetItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DynamoDbGate, startDynamoDbGate } from '../../../../infra/local/dynamodb/dynamodb-gate.ts';
import { isAllowed, type PolicyStatement } from '../../../../infra/local/iam/policy.ts';
import type { Principal } from '../../../../infra/local/iam/principals.ts';

const account = { accountId: '1', region: 'eu-west-3', stackName: 'Stack', queueEndpoint: '' };
const credentials = { accessKeyId: 'ROLE', secretAccessKey: 'x' };
const table = 'arn:aws:dynamodb:eu-west-3:1:table/T';
const key = { id: { S: 'a' } };

describe('startDynamoDbGate', () => {
  let statements: PolicyStatement[] = [];
  const seen: string[] = [];
  const upstream = createServer((request, response) => {
    seen.push(String(request.headers.authorization));
    if (seen.length > 100) request.socket.destroy();
    else response.writeHead(200, { 'Content-Type': 'application/x-amz-json-1.0' }).end('{}');
  });
  let gate: DynamoDbGate;
  let client: DynamoDBClient;

  beforeAll(async () => {
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const principal: Principal = { arn: 'role', credentials, mayDo: (request) => isAllowed(statements, request) };
    const { port } = upstream.address() as AddressInfo;
    gate = await startDynamoDbGate(`http://127.0.0.1:${port}`, new Map([['ROLE', principal]]), account);
    client = new DynamoDBClient({ endpoint: gate.url, region: 'eu-west-3', credentials, maxAttempts: 1 });
  });
  afterAll(async () => {
    await gate.stop();
    upstream.closeAllConnections();
    upstream.close();
  });

  const allow = (action: string, resource = table): PolicyStatement => ({
    Effect: 'Allow',
    Action: `dynamodb:${action}`,
    Resource: resource,
  });
  const denied = (action: string, resource: string) => ({
    name: 'AccessDeniedException',
    message: expect.stringContaining(`dynamodb:${action} on resource: ${resource}`),
  });

  it('passes on what the role allows, with the keys of the owner', async () => {
    statements = [allow('GetItem')];
    await client.send(new GetItemCommand({ TableName: 'T', Key: key }));
    expect(seen.at(-1)).toContain('Credential=local/');
  });

  it('refuses what it does not allow', async () => {
    statements = [allow('GetItem', `${table}x`), allow('Query', `${table}/index/i`)];
    await expect(client.send(new GetItemCommand({ TableName: 'T', Key: key }))).rejects.toMatchObject(
      denied('GetItem', table),
    );
  });

  it('distinguishes a table from its indexes', async () => {
    const query = (IndexName?: string) =>
      client.send(new QueryCommand({ TableName: 'T', IndexName, KeyConditionExpression: 'a = b' }));
    statements = [allow('Query', `${table}/index/i`)];
    await query('i');
    await expect(query()).rejects.toMatchObject(denied('Query', table));
    statements = [allow('Query')];
    await query();
    await expect(query('i')).rejects.toMatchObject(denied('Query', `${table}/index/i`));
  });

  it('checks every table of a batch and every part of a transaction', async () => {
    statements = [allow('BatchGetItem'), allow('PutItem')];
    const batch = new BatchGetItemCommand({ RequestItems: { T: { Keys: [key] }, U: { Keys: [key] } } });
    await expect(client.send(batch)).rejects.toMatchObject(denied('BatchGetItem', table.replace(/T$/, 'U')));
    const transaction = new TransactWriteItemsCommand({
      TransactItems: [
        { Put: { TableName: 'T', Item: key } },
        { ConditionCheck: { TableName: 'T', Key: key, ConditionExpression: 'a = b' } },
      ],
    });
    await expect(client.send(transaction)).rejects.toMatchObject(denied('ConditionCheckItem', table));
    statements = [...statements, allow('ConditionCheckItem')];
    await client.send(transaction);
  });

  it('counts the calls that may write, of those that it passes on', async () => {
    statements = [allow('GetItem'), allow('PutItem')];
    const before = gate.writes();
    await client.send(new GetItemCommand({ TableName: 'T', Key: key }));
    expect(gate.writes()).toBe(before);
    await client.send(new PutItemCommand({ TableName: 'T', Item: key }));
    await expect(client.send(new PutItemCommand({ TableName: 'Other', Item: key }))).rejects.toThrow();
    expect(gate.writes()).toBe(before + 1);
  });

  it('refuses unknown keys', async () => {
    const other = new DynamoDBClient({
      endpoint: gate.url,
      region: 'x',
      credentials: { ...credentials, accessKeyId: 'OTHER' },
    });
    await expect(other.send(new GetItemCommand({ TableName: 'T', Key: key }))).rejects.toMatchObject({
      name: 'UnrecognizedClientException',
    });
  });

  it('breaks the connection to the caller when the connection to DynamoDB breaks', async () => {
    statements = [allow('GetItem')];
    seen.push(...Array.from({ length: 101 }, () => ''));
    await expect(client.send(new GetItemCommand({ TableName: 'T', Key: key }))).rejects.toThrow(
      /ECONNRESET|socket hang up/,
    );
  });
});
