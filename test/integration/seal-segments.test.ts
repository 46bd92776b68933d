import { UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { batchList, ownerFormats } from '../../functions/data/columns/lists.ts';
import { tables } from '../../functions/tables.ts';
import { createCheckpoints, startStreamSource } from '../../infra/local/dynamodb/stream-source.ts';
import type { LambdaFunction } from '../../infra/local/lambda/lambda-function.ts';
import { readPattern } from '../../infra/local/template/record-pattern.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { lambdaContext } from '../support/gateway-event.ts';
import { itemsOfOwner } from '../support/items-of-owner.ts';
import { loadList } from '../support/load-list.ts';
import { loggedLines } from '../support/logged-lines.ts';
import { newBatch, uuid } from '../support/new-batch.ts';
import { startPassingServer } from '../support/passing-server.ts';
import { hang } from '../support/patience.ts';
import { batchRows } from '../support/random-rows.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';
import { wrongSummaries } from '../support/wrong-summaries.ts';

const { client, names } = await functionEnvironment();
let throttled = '';
const queried: Buffer[] = [];
const dynamodb = await startPassingServer(dynamodbEndpoint, async ({ body, response }, pass, answer) => {
  if (body.includes('KeyConditionExpression')) queried.push(body);
  if (throttled === '' || !body.includes(throttled)) return answer(await pass());
  response.writeHead(400, { 'Content-Type': 'application/x-amz-json-1.0' });
  response.end('{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException"}');
});
vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', dynamodb.url);
const { handler } = await import('../../functions/consumers/seal-segments.ts');
afterAll(dynamodb.stop);

/** Block 36 of 192 rows makes the first 4,608 rows old. */
const rowCount = 36 * batchList.columns.facets.rowsPerBlock;
const summaryKeys = ['e', 'f', 'n', 's', 'u'].map((column) => `b#${column}#s#0000000`);
const [row] = fc.sample(batchRows('', 1), { numRuns: 1, seed: 1 })[0]!;

/** Writes only columns, of enough batches: the next block makes the first ones old. */
async function newUser(userId: string): Promise<string> {
  const rows = Array.from({ length: rowCount }, (_, seq) => ({ ...row!, user_id: userId, seq, id: uuid('d', seq) }));
  await loadList(client, names, { list: batchList, userId, rows, only: new Set() });
  return userId;
}

async function columnsOf(userId: string) {
  const items = await itemsOfOwner(client, names.Columns, userId);
  return Object.fromEntries(items.map((item) => [String(item.key), item]));
}

async function summariesOf(userId: string): Promise<string[]> {
  const columns = await columnsOf(userId);
  expect(wrongSummaries(ownerFormats, columns)).toEqual([]);
  return Object.keys(columns).filter((key) => /#.#s#/.test(key));
}

const recordOf = (userId: string, key: string): DynamoDBRecord => ({
  eventName: 'INSERT',
  dynamodb: { Keys: { user_id: { S: userId }, key: { S: key } }, SequenceNumber: userId },
});
const record = (userId: string, block = 36) => recordOf(userId, `b#f#${String(block).padStart(7, '0')}`);
const handle = (...Records: DynamoDBRecord[]) => handler({ Records } as DynamoDBStreamEvent, lambdaContext());
const failures = (...userIds: string[]) => ({
  batchItemFailures: userIds.map((itemIdentifier) => ({ itemIdentifier })),
});

describe('sealSegments', () => {
  it('seals what creations make old, once the stream brings their block', async () => {
    const { view, batchSize, patterns } = tables.Columns.stream;
    const StreamSpecification = { StreamEnabled: true, StreamViewType: view };
    await client.send(new UpdateTableCommand({ TableName: names.Columns, StreamSpecification }));
    const userId = await newUser('creates');
    const received: (string | undefined)[] = [];
    const target = {
      definition: { name: 'sealSegments' },
      async invoke(event: DynamoDBStreamEvent) {
        const ofUser = event.Records.map(({ dynamodb }) => dynamodb!.Keys!).filter(
          (keys) => keys.user_id?.S === userId,
        );
        received.push(...ofUser.map(({ key }) => key?.S));
        return handler(event, lambdaContext());
      },
    } as unknown as LambdaFunction;
    const source = {
      tableName: names.Columns,
      streamArn: 'arn:aws:dynamodb:eu-west-3:000000000000:table/Columns/stream/local',
      functionArn: 'arn:sealSegments',
      batchSize,
      patterns: patterns.map((pattern) => readPattern(JSON.stringify(pattern))),
    };
    const options = { endpoint: dynamodbEndpoint, checkpoints: createCheckpoints(), writes: () => 0, log: () => {} };
    const stop = startStreamSource(source, target, options);
    try {
      const batches = Array.from({ length: 17 }, (_, at) => newBatch(at));
      await writeApi(testDb(client, names)).createBatches(userId, batches);
      await expect.poll(() => summariesOf(userId), hang).toHaveLength(5);
    } finally {
      stop();
    }
    expect(await summariesOf(userId)).toEqual(summaryKeys);
    // Loading wrote all blocks at once; the creation added one.
    expect(received).toHaveLength(37);
    expect(received.at(-1)).toBe('b#f#0000036');
  });

  it('changes nothing when a record comes again', async () => {
    const userId = await newUser('repeated');
    expect(await handle(record(userId), record(userId))).toEqual(failures());
    const columns = await columnsOf(userId);
    expect(await handle(record(userId))).toEqual(failures());
    expect(await columnsOf(userId)).toEqual(columns);
    expect(await summariesOf(userId)).toEqual(summaryKeys);
  });

  it('looks once at each list whose rows have changed, however many records say so', async () => {
    const records = ['b', 'j', 'b', 'j', 'b'].map((list, at) => recordOf('changes', `${list}#hc#000000${at}`));
    expect(await handle(...records, recordOf('changes of another', 'j#hc#0000000'))).toEqual(failures());
    expect(queried.filter((body) => body.includes('"changes"'))).toHaveLength(2);
    expect(queried.filter((body) => body.includes('"changes of another"'))).toHaveLength(1);
  });

  it('begins nothing that might not end in its call', async () => {
    const Records = [recordOf('late', 'b#hc#0000000'), record('late')];
    const [line] = await loggedLines(async () => {
      expect(await handler({ Records } as DynamoDBStreamEvent, lambdaContext(39_000))).toEqual(
        failures('late', 'late'),
      );
    });
    expect(line.level).toBe('INFO');
    expect(queried.filter((body) => body.includes('"late"'))).toEqual([]);
  });

  it('lets a record come again when DynamoDB throttles it, and goes on with others', async () => {
    const [slow, other] = [await newUser('throttled'), await newUser('served')];
    throttled = slow;
    expect(await handle(record(slow), record(other))).toEqual(failures(slow));
    throttled = '';
    expect([await summariesOf(slow), await summariesOf(other)]).toEqual([[], summaryKeys]);
    expect(await handle(record(slow), record(other))).toEqual(failures());
    expect(await summariesOf(slow)).toEqual(summaryKeys);
  });

  it('passes over what it cannot read, and logs it', async () => {
    const [broken, other] = [await newUser('broken'), await newUser('whole')];
    const Item = { user_id: broken, key: 'b#e#0000000', v: 'no bytes' };
    await client.send(new PutCommand({ TableName: names.Columns, Item }));
    const [line] = await loggedLines(async () => {
      expect(await handle(record(broken), {}, record(other))).toEqual(failures());
    });
    expect(line).toMatchObject({ level: 'ERROR', messages: 3, failed: 0, sealed_columns: 5 });
    // Users are handled side by side.
    expect(line.faults).toHaveLength(2);
    expect(line.faults).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          ...{ user_id: broken, disposition: 'passed over' },
          error: expect.objectContaining({ name: 'CorruptData' }),
        }),
        expect.objectContaining({
          disposition: 'passed over',
          error: expect.objectContaining({ name: 'RangeError' }),
        }),
      ]),
    );
    expect(await summariesOf(other)).toEqual(summaryKeys);
  });
});
