import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBStreamEvent } from 'aws-lambda';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { type Checkpoints, createCheckpoints, startStreamSource } from '../../infra/local/dynamodb/stream-source.ts';
import type { LambdaFunction } from '../../infra/local/lambda/lambda-function.ts';
import { readPattern } from '../../infra/local/template/record-pattern.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { hang } from '../support/patience.ts';
import { testClient } from '../support/test-client.ts';

const endpoint = dynamodbEndpoint;
const client = testClient(endpoint);
const directory = mkdtempSync(join(tmpdir(), 'streams-'));
afterAll(() => rmSync(directory, { recursive: true }));

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  vi.restoreAllMocks();
});

async function createTable(): Promise<string> {
  const TableName = `streamed-${randomUUID()}`;
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    }),
  );
  return TableName;
}

const put = (TableName: string, id: string, told = true) =>
  client.send(new PutCommand({ TableName, Item: { id, ...(told && { told: true }) } }));

/**
 * Feeds the records of the table's stream to the function. `fails` chooses the records that fail.
 * Returns the ids that each call got.
 */
function start(
  tableName: string,
  checkpoints: Checkpoints,
  fails: (ids: readonly string[]) => readonly string[] | Error,
  writes = () => 0,
) {
  const calls: string[][] = [];
  const target = {
    definition: { name: 'target' },
    async invoke({ Records }: DynamoDBStreamEvent) {
      const ids = Records.map(({ dynamodb }) => dynamodb!.NewImage!.id!.S!);
      calls.push(ids);
      const failed = fails(ids);
      if (failed instanceof Error) throw failed;
      const failures = Records.filter((_, at) => failed.includes(ids[at]!));
      return { batchItemFailures: failures.map(({ dynamodb }) => ({ itemIdentifier: dynamodb!.SequenceNumber! })) };
    },
  } as unknown as LambdaFunction;
  const source = {
    tableName,
    streamArn: `arn:aws:dynamodb:us-east-1:000000000000:table/${tableName}/stream/local`,
    functionArn: 'arn:target',
    batchSize: 3,
    patterns: [readPattern('{"dynamodb":{"NewImage":{"told":{"BOOL":[{"exists":true}]}}}}')],
  };
  const stop = startStreamSource(source, target, { endpoint, checkpoints, writes, log: () => undefined });
  stops.push(stop);
  return { calls, stop, got: () => calls.flat() };
}

async function until(isSo: () => boolean) {
  await expect.poll(isSo, hang).toBe(true);
}

it('hands over the records that match, in their order and in batches, from before it started', async () => {
  const table = await createTable();
  for (let id = 0; id < 8; id += 1) await put(table, String(id), id !== 4);
  const { calls, got } = start(table, createCheckpoints(), () => []);
  await until(() => got().length === 7);
  await put(table, 'later');
  await until(() => got().length === 8);
  expect(got()).toEqual(['0', '1', '2', '3', '5', '6', '7', 'later']);
  for (const ids of calls) expect(ids.length).toBeLessThanOrEqual(3);
});

it('reads on at once where functions have written, whenever it would read by itself', async () => {
  const table = await createTable();
  await put(table, 'first');
  vi.spyOn(Date, 'now').mockReturnValue(Date.now());
  let written = 0;
  const { got } = start(
    table,
    createCheckpoints(),
    () => [],
    () => written,
  );
  await until(() => got().length === 1);
  await put(table, 'second');
  written += 1;
  await until(() => got().length === 2);
});

it('hands over again what failed, and what came after it', async () => {
  const table = await createTable();
  for (let id = 0; id < 5; id += 1) await put(table, String(id));
  const failures: (readonly string[] | Error)[] = [['1'], new Error('It crashed.'), ['2']];
  const { calls, got } = start(table, createCheckpoints(), () => failures.shift() ?? []);
  await until(() => got().includes('4'));
  expect(calls).toEqual([
    ['0', '1', '2'],
    ['1', '2', '3'],
    ['1', '2', '3'],
    ['2', '3', '4'],
  ]);
});

it('goes on after a restart where it was, and forgets nothing that its function was not done with', async () => {
  const table = await createTable();
  const file = join(directory, 'streams.json');
  for (let id = 0; id < 4; id += 1) await put(table, String(id));
  const first = start(table, createCheckpoints(file), (ids) => (ids.includes('3') ? new Error('It crashed.') : []));
  await until(() => first.got().includes('3'));
  first.stop();
  await put(table, '4');
  const second = start(table, createCheckpoints(file), () => []);
  await until(() => second.got().length === 2);
  expect(second.got()).toEqual(['3', '4']);
});
