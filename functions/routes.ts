/**
 * Every Lambda function and how it is reached: data only. The stack, the local gateway, the OpenAPI document and the
 * tests each loop over it.
 */

import type { TableName, tables } from './tables.ts';

type TableAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'ConditionCheckItem';

type IndexOf<Name extends TableName> = keyof (typeof tables)[Name]['indexes'] & string;

/** A table, or one of its indexes as `Table/index`. */
type TableOrIndex = { [Name in TableName]: Name | `${Name}/${IndexOf<Name>}` }[TableName];

/**
 * What a function may do, and nothing more: becomes its IAM policy and its environment (the name of each table it uses,
 * of the results bucket, the URL of the dead-letter queue). A transaction needs the single actions of its parts; `Results`
 * is the results prefix of the bucket, `DeadLetters` the queue for events that can never be applied.
 */
export type Uses = Partial<Record<TableOrIndex, readonly TableAction[]>> & {
  Results?: readonly 'GetObject'[];
  DeadLetters?: readonly 'SendMessage'[];
};

/** A function: `entry` is its file under functions/, without the extension. */
export interface FunctionDescription {
  readonly entry: string;
  readonly uses: Uses;
}

export interface Route extends FunctionDescription {
  readonly method: 'GET' | 'POST';
  /** In API Gateway's and OpenAPI's common notation: `/api/v1/jobs/{job_id}/results_link`. */
  readonly path: string;
  /** Reachable without a token. */
  readonly public?: true;
}

const listReads = ['GetItem', 'BatchGetItem', 'Query'] as const;

/** Keys are the OpenAPI operation ids (and, capitalized, the CDK ids). */
export const routes = {
  listBatches: {
    method: 'GET',
    path: '/api/v1/batches',
    entry: 'endpoints/batches/list-batches',
    uses: { Batches: ['BatchGetItem', 'Query'], 'Batches/by_creation': ['Query'], Columns: listReads },
  },
  listJobs: {
    method: 'GET',
    path: '/api/v2/jobs',
    entry: 'endpoints/jobs/list-jobs',
    uses: {
      Batches: ['GetItem'],
      Jobs: ['BatchGetItem', 'Query'],
      'Jobs/by_creation': ['Query'],
      'Jobs/by_batch': ['Query'],
      Columns: listReads,
    },
  },
  getResultsLink: {
    method: 'GET',
    path: '/api/v1/jobs/{job_id}/results_link',
    entry: 'endpoints/jobs/get-results-link',
    uses: { Jobs: ['GetItem'], Results: ['GetObject'] },
  },
  submitQuizzes: {
    method: 'POST',
    path: '/api/v1/quizzes',
    entry: 'endpoints/quizzes/submit-quizzes',
    uses: { Quizzes: ['UpdateItem', 'BatchGetItem'] },
  },
  getOpenApi: { method: 'GET', path: '/openapi.json', public: true, entry: 'endpoints/service/get-open-api', uses: {} },
  getHealth: { method: 'GET', path: '/health', public: true, entry: 'endpoints/service/get-health', uses: {} },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;

/** Deliveries of an event before it is given up: room for a dependency's outage of several minutes. */
export const maximumDeliveries = 8;

/** Functions that no route names. */
export const otherFunctions = {
  /** Verifies the bearer token of every route that is not public. */
  authorizer: { entry: 'authorizer', uses: {} },
  /** Answers a known path asked with another method, 405 with `Allow`, and any other path, 404. */
  methodNotAllowed: { entry: 'endpoints/service/method-not-allowed', uses: {} },
  /** Applies the lifecycle events that arrive on the queue. */
  applyEvents: {
    entry: 'consumers/apply-events',
    uses: {
      Batches: ['BatchGetItem', 'PutItem'],
      Jobs: ['BatchGetItem', 'PutItem'],
      Columns: ['BatchGetItem', 'PutItem', 'DeleteItem'],
      DeadLetters: ['SendMessage'],
    },
  },
} as const satisfies Record<string, FunctionDescription>;
