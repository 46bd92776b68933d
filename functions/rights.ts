/**
 * What functions may do, and the rights that several of them share: data only. Each function says
 * what it uses beside its name, in routes.ts and other-functions.ts.
 */

import type { QueueOrDeadLetters } from './queues.ts';
import type { TableName, tables } from './tables.ts';

type TableAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'BatchWriteItem'
  | 'ConditionCheckItem';

type IndexOf<Name extends TableName> = keyof (typeof tables)[Name]['indexes'] & string;

/** A table, or one of its indexes as `Table/index`. */
type TableOrIndex = { [Name in TableName]: Name | `${Name}/${IndexOf<Name>}` }[TableName];

/**
 * What a function may do, and nothing more. It becomes the function's IAM policy and its
 * environment: the names of the tables, the URLs of the queues, the name of the results bucket. A
 * transaction needs the actions of its parts.
 *
 * A table without an action is a name without a right: a function that changes rows names all
 * tables that a change may reach (`LifecycleTable`), and says here which of them it never reaches.
 *
 * `Results` is the bucket's prefix of results: a function that reads them or signs links to them
 * must name it. `ResultsVersions` is the bucket itself, and what lies below that prefix can be
 * listed.
 */
export type Uses = Partial<Record<TableOrIndex, readonly TableAction[]>> &
  Partial<Record<QueueOrDeadLetters, readonly 'SendMessage'[]>> & {
    Results?: readonly ('GetObject' | 'PutObject' | 'DeleteObjectVersion')[];
    ResultsVersions?: readonly 'ListBucketVersions'[];
    WebhookKey?: readonly ('DescribeSecret' | 'GetSecretValue' | 'PutSecretValue' | 'UpdateSecretVersionStage')[];
  };

/** A function: `entry` is its file under functions/, without the extension. */
export interface FunctionDescription {
  readonly entry: string;
  readonly uses: Uses;
  /** How long it may take; `timeLimits.function` by default. */
  readonly timeoutSeconds?: number;
  /** 1,024 by default. Lambda gives processor time in proportion. */
  readonly memoryMegabytes?: number;
  /** How long one call of DynamoDB may take; 1,000 by default. */
  readonly callMilliseconds?: number;
  /**
   * Files that it reads when it runs, as `require.resolve` finds them from its entry. They are
   * deployed with it.
   */
  readonly files?: readonly string[];
  /**
   * The entry of the page that it answers with: bundled for browsers, as `page.js` and `page.css`
   * beside the function.
   */
  readonly browserEntry?: string;
}

/** For functions that mostly wait for other services: their time is cheaper with less memory. */
export const mostlyWaits = { memoryMegabytes: 512 } as const;

export const listReads = ['BatchGetItem', 'Query'] as const;

/** For functions that show operators what users are called. */
export const userNames = { Columns: ['BatchGetItem'], Contributors: ['BatchGetItem'] } as const;

/**
 * For functions that write rows: texts that have left the heads are read by a query, and changes of
 * rows update items.
 */
export const columnWrites = ['BatchGetItem', 'Query', 'PutItem', 'UpdateItem'] as const;

/** For functions that end rows: what was used, and the counters of limits. They create none. */
export const counting = { Usage: ['UpdateItem'], Counters: ['UpdateItem'], Contributors: [] } as const;

/** For functions that create rows: the limits of user and project, and what they have used. */
export const limitChecks = {
  Limits: ['BatchGetItem'],
  Usage: ['Query'],
  Counters: ['BatchGetItem', 'UpdateItem'],
} as const;

/** For functions that show what is used of limits. */
export const limitReads = { Columns: ['Query'], Usage: ['Query'], Counters: ['BatchGetItem'] } as const;

/**
 * For functions that create rows: before a user's first ones, a query asks whether they are the
 * first.
 */
export const creations = {
  Batches: ['BatchGetItem', 'PutItem'],
  Jobs: ['BatchGetItem', 'Query', 'PutItem'],
  Columns: columnWrites,
  Sequences: ['PutItem'],
  DeviceQueue: ['Query', 'PutItem'],
  ...limitChecks,
  Contributors: ['PutItem'],
  Recovery: ['SendMessage'],
} as const;

/** For functions that cancel whole batches: the ids of their jobs are read from the columns. */
export const cancellations = {
  Sequences: ['BatchGetItem'],
  Batches: ['BatchGetItem', 'Query', 'PutItem'],
  Jobs: ['BatchGetItem', 'PutItem'],
  Columns: columnWrites,
  DeviceQueue: ['GetItem', 'UpdateItem', 'DeleteItem'],
  ...counting,
  Recovery: ['SendMessage'],
} as const;

/** For functions that erase batches: attempts to call their webhooks apart. */
export const erasures = {
  ...{ DeviceQueue: [], Contributors: [] },
  Counters: ['UpdateItem'],
  Batches: ['GetItem', 'BatchGetItem', 'PutItem'],
  Jobs: ['BatchGetItem', 'PutItem'],
  Columns: ['BatchWriteItem', ...columnWrites],
  Sequences: ['BatchWriteItem'],
  Usage: ['UpdateItem'],
  Results: ['DeleteObjectVersion'],
  ResultsVersions: ['ListBucketVersions'],
  Recovery: ['SendMessage'],
} as const;

/** For functions that apply lifecycle events. */
export const lifecycleEvents = {
  Sequences: ['PutItem'],
  Batches: ['BatchGetItem', 'Query', 'PutItem'],
  Jobs: ['BatchGetItem', 'Query', 'PutItem'],
  // A tag's last row deletes the tag's block.
  Columns: ['DeleteItem', ...columnWrites],
  DeviceQueue: ['Query', 'PutItem', 'UpdateItem', 'DeleteItem'],
  ...counting,
  Contributors: ['PutItem'],
  Results: ['GetObject'],
  Recovery: ['SendMessage'],
} as const;

/** For functions that give leases up. Jobs that an index lacks are found by the columns. */
export const releases = {
  ...{ Sequences: [], DeviceQueue: [] },
  Batches: ['BatchGetItem', 'PutItem'],
  Jobs: ['BatchGetItem', 'PutItem'],
  'Jobs/by_creation': ['Query'],
  Columns: columnWrites,
  ...counting,
} as const;

/** For functions that start and end jobs under a lease. */
export const runs = { ...releases, Sequences: ['GetItem', 'BatchGetItem'] } as const;
