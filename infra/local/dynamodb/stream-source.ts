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

interface StreamSourceOptions {
  /** Of DynamoDB Local. */
  readonly endpoint: string;
  readonly checkpoints: Checkpoints;
  /** How many writes functions have made so far. What others write is found some seconds later. */
  readonly writes: () => number;
  /** Takes a line about what went wrong. */
  readonly log: (line: string) => void;
}

/**
 * Hands a table's changes to a function as Lambda's event source mappings do: the changes that
 * match, in batches, from the oldest on that is not done. If the function fails, they come again
 * after a pause. No change is ever given up. The returned function ends this.
 */
export function startStreamSource(
  source: StreamSourceDefinition,
  target: LambdaFunction,
  options: StreamSourceOptions,
): () => void {
  const ending = new AbortController();
  void readForever(new StreamReader(source, target, options), options, ending.signal);
  return () => ending.abort();
}

/** Reads when functions have written, and now and then without that. */
async function readForever(reader: StreamReader, { writes, log }: StreamSourceOptions, end: AbortSignal) {
  let pause = pollMilliseconds;
  let writesBefore = -1;
  let readAgainAt = 0;
  while (!end.aborted) {
    try {
      if (writes() !== writesBefore || Date.now() >= readAgainAt) {
        const seen = writes();
        const found = await reader.read(end);
        writesBefore = seen;
        readAgainAt = found ? 0 : Date.now() + idlePollMilliseconds;
        pause = pollMilliseconds;
        if (found) continue;
      }
    } catch (error) {
      if (end.aborted) return;
      reader.beginAgain();
      pause = Math.min(2 * pause, maxPauseMilliseconds);
      log(`${reader.tableName}: its stream is read again in ${pause / 1000} s: ${error}`);
    }
    await wait(pause, undefined, { ref: false });
  }
}

/** Reads the stream of one table, shard by shard, and hands its records to the function. */
class StreamReader {
  readonly tableName: string;
  readonly #source: StreamSourceDefinition;
  readonly #target: LambdaFunction;
  readonly #checkpoints: Checkpoints;
  readonly #call: Call;
  #stream: string | undefined;
  #shards: readonly Shard[] = [];
  #listAgainAt = 0;
  /** By shard, where it is read next. */
  readonly #iterators = new Map<string, string>();

  constructor(source: StreamSourceDefinition, target: LambdaFunction, { endpoint, checkpoints }: StreamSourceOptions) {
    this.tableName = source.tableName;
    this.#source = source;
    this.#target = target;
    this.#checkpoints = checkpoints;
    this.#call = callerOf(endpoint, source.streamArn.split(':')[3] ?? '');
  }

  /** The next time everything is read from the checkpoints on. */
  beginAgain() {
    this.#listAgainAt = 0;
    this.#iterators.clear();
  }

  /**
   * Hands over all records that there are, and says whether there was one. Shards are listed
   * parents first. Throws when a call or the function fails.
   */
  async read(end: AbortSignal): Promise<boolean> {
    let found = false;
    this.#stream ??= await findStream(this.#call, this.tableName);
    if (Date.now() >= this.#listAgainAt) {
      this.#shards = await listShards(this.#call, this.#stream);
      this.#listAgainAt = Date.now() + shardListMilliseconds;
    }
    for (const shard of this.#shards) {
      for (let records = await this.#next(this.#stream, shard); records.length > 0 && !end.aborted; ) {
        found = true;
        await this.#deliver(shard, records);
        records = await this.#next(this.#stream, shard);
      }
    }
    return found;
  }

  async #next(StreamArn: string, { ShardId, SequenceNumberRange }: Shard): Promise<StreamRecord[]> {
    const SequenceNumber = this.#checkpoints.get(this.tableName, ShardId);
    if (SequenceNumber !== undefined && SequenceNumber === SequenceNumberRange.EndingSequenceNumber) return [];
    const ShardIterator =
      this.#iterators.get(ShardId) ??
      (await findIterator(this.#call, { StreamArn, ShardId, ...(SequenceNumber && { SequenceNumber }) }));
    const { Records, NextShardIterator } = await this.#call('DynamoDBStreams_20120810.GetRecords', { ShardIterator });
    if (typeof NextShardIterator === 'string') this.#iterators.set(ShardId, NextShardIterator);
    else {
      this.#iterators.delete(ShardId);
      this.#listAgainAt = 0;
    }
    return Records as StreamRecord[];
  }

  /**
   * Throws when the function is not done with all of them; what it is done with does not come
   * again.
   */
  async #deliver({ ShardId }: Shard, records: readonly StreamRecord[]) {
    const { streamArn, patterns, batchSize } = this.#source;
    const done = ({ dynamodb }: StreamRecord) =>
      this.#checkpoints.set(this.tableName, ShardId, dynamodb.SequenceNumber);
    const events = records
      .map((record) => ({ ...record, eventSourceARN: streamArn }))
      .filter((record) => patterns.length === 0 || patterns.some((matches) => matches(record)));
    for (let at = 0; at < events.length; at += batchSize) {
      const batch = events.slice(at, at + batchSize);
      const response = (await this.#target.invoke({ Records: batch })) as DynamoDBBatchResponse | null;
      const failures = new Set(response?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      const failed = batch.findIndex(({ dynamodb }) => failures.has(dynamodb.SequenceNumber));
      const last = failed < 0 ? batch.at(-1) : batch[failed - 1];
      if (last !== undefined) done(last);
      if (failed >= 0) throw new Error(`${this.#target.definition.name} failed for ${failures.size} records.`);
    }
    done(records.at(-1)!);
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
