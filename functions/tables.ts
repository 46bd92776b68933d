/**
 * The DynamoDB tables, their keys and indexes: data only. The stack, the local stack and the tests
 * create them; repositories read their names from the environment variable given here.
 *
 * `partition` says whose items a partition holds:
 * - `owner`: `user_id` comes first in the key of the table and of each index, so no read can reach
 *   another user's row. Any function may use the table.
 * - `device`: the key does not separate users: each function that uses the table must check what it
 *   reads.
 * - `project`: what the members of a project see of each other. Only who has a role in it may be
 *   shown any of it.
 * - `operator`: the rows belong to the people who run the service.
 * - `service`: counts that the service keeps for itself, under what they count: a user, a project,
 *   a host.
 * - `public`: the table holds nothing that belongs to a user, so any function may read it.
 *
 * test/infra/functions.test.ts lists the functions that have a right to tables of other owners, and
 * the functions that may write public ones.
 */

import type { QueueOrDeadLetters } from './queues.ts';
import { finalBatchStatuses, finalJobStatuses } from './statuses.ts';

type KeyType = 'S' | 'N' | 'B';

/**
 * A composite key: the attributes that form the partition key, and the attributes that form the
 * sort key, in their order.
 */
interface IndexKeys {
  readonly partitionKeys: readonly string[];
  readonly sortKeys: readonly string[];
}

/**
 * Whose items a partition holds: its first key attribute is `user_id`, `device_type`, `project_id`,
 * `subject` or, in a public table, `kind`; in a table of operators any other.
 */
type Partition = 'owner' | 'device' | 'project' | 'operator' | 'service' | 'public';

/**
 * A table's stream: each change of its rows, for 24 hours. Lambda reads it for the function, at no
 * charge, and calls the function with the records that match.
 */
export interface StreamDescription {
  /** What a record has of its item: its keys alone, or the item before and after as well. */
  readonly view: 'KEYS_ONLY' | 'NEW_AND_OLD_IMAGES';
  /** The function, by its name in other-functions.ts. It may serve several streams. */
  readonly consumer: string;
  /** Records in one call, at most. */
  readonly batchSize: number;
  /** Lambda collects them for so long. Default: it calls at once. */
  readonly windowSeconds?: number;
  /**
   * A record must match one of these patterns, in the language of Lambda's event filters. Lambda
   * allows five of them.
   */
  readonly patterns: readonly object[];
  /**
   * Records that fail are tried again for so long, alone in the end. Then only their place in the
   * stream goes to `givenUp`.
   */
  readonly maxAgeHours: number;
  readonly givenUp: QueueOrDeadLetters;
}

/**
 * One table. `environmentVariable` holds its physical name at run time; `keyTypes` types every key
 * attribute.
 */
export interface TableDescription {
  readonly partition: Partition;
  readonly environmentVariable: string;
  readonly partitionKey: string;
  readonly sortKey: string;
  readonly keyTypes: Readonly<Record<string, KeyType>>;
  /** Indexes project all attributes, so that one query of an index returns a page in order. */
  readonly indexes: Readonly<Record<string, IndexKeys>>;
  /**
   * Attribute (epoch seconds) after which DynamoDB may delete an item. Rows of batches and jobs do
   * not have it.
   */
  readonly timeToLive?: string;
  readonly stream?: StreamDescription;
}

/** For what follows from the end of batches and jobs: messages to webhooks. */
const ofEnds = {
  view: 'NEW_AND_OLD_IMAGES',
  consumer: 'enqueueWebhooks',
  batchSize: 100,
  maxAgeHours: 12,
  givenUp: 'Webhooks/dead_letters',
} as const;

/**
 * Records of rows that have ended and have a webhook. A pattern cannot compare the two images, so
 * the consumer compares their statuses itself. Lambda looks at leaves only.
 */
function ended(statuses: readonly string[], webhook: object) {
  return [{ dynamodb: { NewImage: { status: { S: statuses }, ...webhook } } }];
}

/** The keys of a table that has two texts as its key, and no index. */
function textKeys<First extends string, Second extends string>(partitionKey: First, sortKey: Second) {
  const keyTypes = { [partitionKey]: 'S', [sortKey]: 'S' } as Readonly<Record<First | Second, 'S'>>;
  return { partitionKey, sortKey, keyTypes, indexes: {} };
}

export const tables = {
  Batches: {
    environmentVariable: 'BATCHES_TABLE',
    partition: 'owner',
    partitionKey: 'user_id',
    sortKey: 'id',
    keyTypes: { user_id: 'S', id: 'S', seq: 'N' },
    indexes: { by_creation: { partitionKeys: ['user_id'], sortKeys: ['seq'] } },
    stream: {
      ...ofEnds,
      patterns: ended(finalBatchStatuses, { webhook: { S: [{ exists: true }] } }),
    },
  },
  Jobs: {
    environmentVariable: 'JOBS_TABLE',
    partition: 'owner',
    partitionKey: 'user_id',
    sortKey: 'id',
    keyTypes: { user_id: 'S', id: 'S', seq: 'N' },
    indexes: { by_creation: { partitionKeys: ['user_id'], sortKeys: ['seq'] } },
    stream: {
      ...ofEnds,
      patterns: ended(finalJobStatuses, { has_webhook: { BOOL: [{ exists: true }] } }),
    },
  },
  /**
   * Per owner and list: the head (next sequence number, dictionaries), the packed column blocks and
   * position sets; and for some time the events that were applied.
   */
  Columns: {
    environmentVariable: 'COLUMNS_TABLE',
    partition: 'owner',
    ...textKeys('user_id', 'key'),
    timeToLive: 'expires_at',
    stream: {
      view: 'KEYS_ONLY',
      consumer: 'sealSegments',
      batchSize: 100,
      // Nothing waits for it, and one fold serves all changes of a list.
      windowSeconds: 5,
      // A new block of the facets of one of the lists, one for each 256 rows of a user, and the
      // first change of a group of rows.
      patterns: [
        {
          eventName: ['INSERT'],
          dynamodb: { Keys: { key: { S: ['b#f#0', 'j#f#0', 'b#hc#', 'j#hc#'].map((prefix) => ({ prefix })) } } },
        },
      ],
      maxAgeHours: 12,
      givenUp: 'Recovery/dead_letters',
    },
  },
  /**
   * The sequence of a batch, or a job's own, gzipped, under the id of its batch or job; and beside
   * it its variables or configurations, where they are long (data/rows/constants.ts). Written with
   * its row, never changed.
   */
  Sequences: {
    environmentVariable: 'SEQUENCES_TABLE',
    partition: 'owner',
    ...textKeys('user_id', 'id'),
  },
  Quizzes: {
    environmentVariable: 'QUIZZES_TABLE',
    partition: 'owner',
    ...textKeys('user_id', 'id'),
  },
  /**
   * What became of the last attempt to deliver a webhook, for each batch that has one.
   */
  WebhookAttempts: {
    environmentVariable: 'WEBHOOK_ATTEMPTS_TABLE',
    partition: 'owner',
    ...textKeys('user_id', 'batch_id'),
    timeToLive: 'expires_at',
  },
  /**
   * The devices that have announced themselves, with their specifications: few, so all of them are
   * in one partition. In another, the public keys of webhooks.
   */
  Devices: {
    environmentVariable: 'DEVICES_TABLE',
    partition: 'public',
    ...textKeys('kind', 'device_type'),
  },
  /**
   * What machines report of themselves (data/rows/calibrations.ts), by number: the numbers of a
   * device in one partition, its documents in another.
   */
  Calibrations: {
    environmentVariable: 'CALIBRATIONS_TABLE',
    partition: 'public',
    partitionKey: 'kind',
    sortKey: 'number',
    keyTypes: { kind: 'S', number: 'N' },
    indexes: {},
  },
  /**
   * The batches that wait for a device, or are at one, in the order in which it takes them: an item
   * for each, which holds its lease; the device's clock, and what an operator has set. Users' own
   * clocks are in Columns: only their creations are at them.
   */
  DeviceQueue: {
    environmentVariable: 'DEVICE_QUEUE_TABLE',
    partition: 'device',
    ...textKeys('device_type', 'key'),
  },
  /**
   * Who has batches in a project, and what they are called there (data/projects/contributors.ts):
   * an item for each project and user. It follows from rows, except for the name.
   */
  Contributors: {
    environmentVariable: 'CONTRIBUTORS_TABLE',
    partition: 'project',
    ...textKeys('project_id', 'user_id'),
  },
  /**
   * What operators did, for 400 days: under the month, in the order of time. Functions may only add
   * to it.
   */
  Audit: {
    environmentVariable: 'AUDIT_TABLE',
    partition: 'operator',
    ...textKeys('month', 'key'),
    timeToLive: 'expires_at',
  },
  /** Limits of users and projects, as operators set them (data/limits/limits-of-subjects.ts). */
  Limits: {
    environmentVariable: 'LIMITS_TABLE',
    partition: 'operator',
    ...textKeys('part', 'subject'),
  },
  /**
   * What was used on each day, by user, project and device: under the month, keyed by the user
   * first (lifecycle/usage.ts). No function lists the usage of others, except for operators.
   */
  Usage: {
    environmentVariable: 'USAGE_TABLE',
    partition: 'operator',
    ...textKeys('month', 'key'),
  },
  /**
   * The counter of the limits of each user and project that has any (lifecycle/counters.ts): it
   * follows from rows, and a repair recounts it. And how often each host of webhooks was called in
   * a minute, under the user and under the host, for an hour (data/webhooks/host-limits.ts).
   */
  Counters: {
    environmentVariable: 'COUNTERS_TABLE',
    partition: 'service',
    ...textKeys('subject', 'name'),
    timeToLive: 'expires_at',
  },
} as const satisfies Record<string, TableDescription>;

export type TableName = keyof typeof tables;

/** Names of the functions that streams feed. */
export type StreamConsumerName = Extract<(typeof tables)[TableName], { stream: unknown }>['stream']['consumer'];

/** The physical name of each table a function uses. */
export type TableNames<Used extends TableName = TableName> = Readonly<Record<Used, string>>;
