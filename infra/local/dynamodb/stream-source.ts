import { setTimeout as wait } from 'node:timers/promises';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { DynamoDBBatchResponse, DynamoDBRecord } from 'aws-lambda';
import { readJsonFile, writeJsonFile } from '../../commands/json-file.ts';
import { owner } from '../iam/principals.ts';
import type { LambdaFunction } from '../lambda/lambda-function.ts';
import type { StreamSourceDefinition } from '../template/deployment.ts';

/** How far a stream was read: by table and shard the last record that its function is done with. */
export interface Checkpoints {
  get(table: string, shard: string): string | undefined;
  set(table: string, shard: string, sequenceNumber: string): void;
}

/** Keeps them in a file; without one, in memory. */
export function createCheckpoints(file?: string): Checkpoints {
  const all = (file && readJsonFile<Record<string, Record<string, string>>>(file)) || {};
  return {
    get: (table, shard) => all[table]?.[shard],
    set(table, shard, sequenceNumber) {
      all[table] = { ...all[table], [shard]: sequenceNumber };
      if (file !== undefined) writeJsonFile(file, all);
    },
  };
}

/** A record as DynamoDB's stream has it: as in the event, but for the time. */
interface StreamRecord extends Omit<DynamoDBRecord, 'dynamodb'> {
  readonly dynamodb: Readonly<Record<string, Record<string, AttributeValue> | string | number>> & {
    readonly SequenceNumber: string;
  };
}

interface Shard {
  readonly ShardId: string;
  readonly SequenceNumberRange: { readonly EndingSequenceNumber?: string };
}

const pollMilliseconds = 400;
/** How often a stream is read while nothing is known to have been written. */
const idlePollMilliseconds = 2_000;
const maxPauseMilliseconds = 30_000;
/** How long the list of a stream's shards is kept: a new one comes when an old one ends. */
const shardListMilliseconds = 60_000;

export interface StreamSourceOptions {
  /** Of DynamoDB Local. */
  readonly endpoint: string;
  readonly checkpoints: Checkpoints;
  /** How many writes functions have made so far. What others write is found some seconds later. */
  readonly writes: () => number;
  /** Takes a line about what went wrong. */
  readonly log: (line: string) => void;
}

/**
 * Hands a table's changes to a function as Lambda's event source mappings do: those that match, in
 * batches, from the oldest on that it is not done with; again, after a pause, where the function
 * fails. Nothing is ever given up. The returned function ends it.
 */
export function startStreamSource(
  source: StreamSourceDefinition,
  target: LambdaFunction,
  { endpoint, checkpoints, writes, log }: StreamSourceOptions,
): () => void {
  const { tableName, streamArn, patterns, batchSize } = source;
  const call = callerOf(endpoint, streamArn.split(':')[3] ?? '');
  let stopped = false;
  let pause = pollMilliseconds;
  let writesBefore = -1;
  let readAgainAt = 0;
  let stream: string | undefined;
  let shards: readonly Shard[] = [];
  let listAgainAt = 0;
  /** By shard, where it is read next. */
  const iterators = new Map<string, string>();
  void run();
  return () => {
    stopped = true;
  };

  async function run() {
    while (!stopped) {
      try {
        if (writes() !== writesBefore || Date.now() >= readAgainAt) {
          const seen = writes();
          const found = await readOnce();
          writesBefore = seen;
          readAgainAt = found ? 0 : Date.now() + idlePollMilliseconds;
          pause = pollMilliseconds;
          if (found) continue;
        }
      } catch (error) {
        if (stopped) return;
        listAgainAt = 0;
        iterators.clear();
        pause = Math.min(2 * pause, maxPauseMilliseconds);
        log(`${tableName}: its stream is read again in ${pause / 1000} s: ${error}`);
      }
      await wait(pause, undefined, { ref: false });
    }
  }

  /** Whether there was a record. Shards are listed parents first. */
  async function readOnce(): Promise<boolean> {
    let found = false;
    stream ??= await findStream(call, tableName);
    if (Date.now() >= listAgainAt) {
      shards = await listShards(call, stream);
      listAgainAt = Date.now() + shardListMilliseconds;
    }
    for (const shard of shards) {
      for (let records = await nextRecords(stream, shard); records.length > 0 && !stopped; ) {
        found = true;
        await deliver(shard, records);
        records = await nextRecords(stream, shard);
      }
    }
    return found;
  }

  async function nextRecords(StreamArn: string, { ShardId, SequenceNumberRange }: Shard): Promise<StreamRecord[]> {
    const SequenceNumber = checkpoints.get(tableName, ShardId);
    if (SequenceNumber !== undefined && SequenceNumber === SequenceNumberRange.EndingSequenceNumber) return [];
    const ShardIterator =
      iterators.get(ShardId) ??
      (await findIterator(call, { StreamArn, ShardId, ...(SequenceNumber && { SequenceNumber }) }));
    const { Records, NextShardIterator } = await call('DynamoDBStreams_20120810.GetRecords', { ShardIterator });
    if (typeof NextShardIterator === 'string') iterators.set(ShardId, NextShardIterator);
    else {
      iterators.delete(ShardId);
      listAgainAt = 0;
    }
    return Records as StreamRecord[];
  }

  /**
   * Throws when the function is not done with all of them; what it is done with does not come
   * again.
   */
  async function deliver({ ShardId }: Shard, records: readonly StreamRecord[]) {
    const events = records
      .map((record) => ({ ...record, eventSourceARN: streamArn }))
      .filter((record) => patterns.length === 0 || patterns.some((matches) => matches(record)));
    for (let at = 0; at < events.length; at += batchSize) {
      const batch = events.slice(at, at + batchSize);
      const response = (await target.invoke({ Records: batch })) as DynamoDBBatchResponse | null;
      const failures = new Set(response?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      const failed = batch.findIndex(({ dynamodb }) => failures.has(dynamodb.SequenceNumber));
      const done = failed < 0 ? batch.length : failed;
      const last = batch[done - 1];
      if (last !== undefined) checkpoints.set(tableName, ShardId, last.dynamodb.SequenceNumber);
      if (failed >= 0) throw new Error(`${target.definition.name} failed for ${failures.size} records.`);
    }
    checkpoints.set(tableName, ShardId, records.at(-1)!.dynamodb.SequenceNumber);
  }
}

type Call = (operation: string, body: object) => Promise<Readonly<Record<string, unknown>>>;

async function findStream(call: Call, TableName: string): Promise<string> {
  const { Table } = await call('DynamoDB_20120810.DescribeTable', { TableName });
  return (Table as { LatestStreamArn: string }).LatestStreamArn;
}

async function listShards(call: Call, StreamArn: string): Promise<Shard[]> {
  const shards: Shard[] = [];
  let ExclusiveStartShardId: string | undefined;
  do {
    const { StreamDescription } = await call('DynamoDBStreams_20120810.DescribeStream', {
      StreamArn,
      ...(ExclusiveStartShardId !== undefined && { ExclusiveStartShardId }),
    });
    const description = StreamDescription as { Shards: Shard[]; LastEvaluatedShardId?: string };
    shards.push(...description.Shards);
    ExclusiveStartShardId = description.LastEvaluatedShardId;
  } while (ExclusiveStartShardId !== undefined);
  return shards;
}

/** Where a shard is read: after `SequenceNumber`, or from the oldest record on. */
async function findIterator(
  call: Call,
  place: { readonly StreamArn: string; readonly ShardId: string; readonly SequenceNumber?: string },
): Promise<string> {
  const ShardIteratorType = place.SequenceNumber === undefined ? 'TRIM_HORIZON' : 'AFTER_SEQUENCE_NUMBER';
  const { ShardIterator } = await call('DynamoDBStreams_20120810.GetShardIterator', { ...place, ShardIteratorType });
  return ShardIterator as string;
}

/** Calls DynamoDB Local, which asks for a signature, but does not check it. */
function callerOf(endpoint: string, region: string): Call {
  const scope = `${owner.accessKeyId}/20260101/${region}/dynamodb/aws4_request`;
  return async (operation, body) => {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-amz-json-1.0',
        'X-Amz-Target': operation,
        'X-Amz-Date': '20260101T000000Z',
        Authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=0`,
      },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new Error(`${operation}: ${answer.__type} ${answer.message ?? answer.Message}`);
    return answer;
  };
}
