/**
 * Every route, its Lambda function, and how it is reached: data only. The stack, the local gateway,
 * the OpenAPI document and the tests each loop over it.
 */

import {
  cancellations,
  columnWrites,
  counting,
  creations,
  erasures,
  type FunctionDescription,
  limitChecks,
  listReads,
  releases,
  runs,
  userNames,
} from './rights.ts';
import { timeLimits } from './time-limits.ts';

export interface Route extends FunctionDescription {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** In API Gateway's and OpenAPI's common notation: `/api/v1/jobs/{job_id}/results_link`. */
  readonly path: string;
  /** Reachable without a token. */
  readonly public?: true;
  /**
   * How often callers need it, which says how many calls the stage takes. Without it: `often` for a
   * route with a token; a public one is throttled like unknown paths.
   */
  readonly rate?: 'often' | 'seldom';
  /** For people with a browser: not part of the API, so the OpenAPI document leaves it out. */
  readonly page?: true;
}

/** Keys are the OpenAPI operation ids (and, capitalized, the CDK ids). */
export const routes = {
  listBatches: {
    method: 'GET',
    path: '/api/v1/batches',
    entry: 'endpoints/batches/list-batches',
    uses: {
      Batches: ['BatchGetItem', 'Query'],
      'Batches/by_creation': ['Query'],
      Columns: listReads,
      Contributors: ['Query'],
    },
  },
  createBatch: {
    method: 'POST',
    path: '/api/v1/batches',
    entry: 'endpoints/batches/create-batch',
    uses: { ...creations, Batches: ['Query', ...creations.Batches], Devices: ['GetItem', 'Query'] },
    timeoutSeconds: timeLimits.longFunction,
  },
  listJobs: {
    method: 'GET',
    path: '/api/v2/jobs',
    entry: 'endpoints/jobs/list-jobs',
    uses: {
      Batches: ['GetItem', 'BatchGetItem'],
      Jobs: ['BatchGetItem', 'Query'],
      'Jobs/by_creation': ['Query'],
      'Jobs/by_batch': ['Query'],
      Columns: listReads,
      Contributors: ['Query'],
    },
  },
  addJobs: {
    method: 'POST',
    path: '/api/v2/batches/{batch_id}/jobs',
    entry: 'endpoints/batches/add-jobs',
    uses: {
      ...creations,
      Batches: ['GetItem', ...creations.Batches],
      'Jobs/by_batch': ['Query'],
      Sequences: ['GetItem', ...creations.Sequences],
      DeviceQueue: [...creations.DeviceQueue, 'DeleteItem'],
      Devices: ['GetItem'],
      Contributors: ['Query', ...creations.Contributors],
    },
    timeoutSeconds: timeLimits.longFunction,
  },
  getBatch: {
    method: 'GET',
    path: '/api/v2/batches/{batch_id}',
    entry: 'endpoints/batches/get-batch',
    uses: {
      Batches: ['GetItem', 'BatchGetItem'],
      Jobs: ['BatchGetItem'],
      'Jobs/by_batch': ['Query'],
      Columns: listReads,
      Sequences: ['GetItem'],
      Contributors: ['Query'],
    },
  },
  getBatchStatus: {
    method: 'GET',
    path: '/api/v1/batches/{batch_id}/status',
    entry: 'endpoints/batches/get-batch-status',
    uses: {
      Batches: ['GetItem', 'BatchGetItem'],
      DeviceQueue: ['Query'],
      WebhookAttempts: ['GetItem'],
      Contributors: ['Query'],
    },
  },
  getFullResults: {
    method: 'GET',
    path: '/api/v1/batches/{batch_id}/full_results',
    rate: 'seldom',
    entry: 'endpoints/batches/get-full-results',
    uses: {
      Batches: ['GetItem', 'BatchGetItem'],
      Jobs: ['BatchGetItem'],
      'Jobs/by_batch': ['Query'],
      Columns: listReads,
      Counters: ['UpdateItem'],
      Contributors: ['Query'],
      Results: ['GetObject'],
    },
    timeoutSeconds: timeLimits.longFunction,
  },
  closeBatch: {
    method: 'PATCH',
    path: '/api/v2/batches/{batch_id}/complete',
    entry: 'endpoints/batches/close-batch',
    uses: {
      ...{ Jobs: [], Sequences: [] },
      Batches: ['BatchGetItem', 'Query', 'PutItem'],
      Columns: columnWrites,
      DeviceQueue: ['DeleteItem'],
      ...counting,
      Contributors: ['Query'],
      Audit: ['PutItem'],
    },
  },
  setTags: {
    method: 'PATCH',
    path: '/api/v1/batches/{batch_id}/tags',
    rate: 'seldom',
    entry: 'endpoints/batches/set-tags',
    uses: {
      ...{ Jobs: [], Sequences: [], DeviceQueue: [], Counters: [] },
      Batches: ['BatchGetItem', 'Query', 'PutItem'],
      Columns: columnWrites,
      Usage: ['UpdateItem'],
      Contributors: ['Query'],
    },
  },
  cancelJob: {
    method: 'PATCH',
    path: '/api/v2/jobs/{job_id}/cancel',
    rate: 'seldom',
    entry: 'endpoints/jobs/cancel-job',
    uses: {
      Sequences: [],
      Batches: ['BatchGetItem', 'Query', 'PutItem'],
      Jobs: ['BatchGetItem', 'Query', 'PutItem'],
      Columns: columnWrites,
      DeviceQueue: ['GetItem', 'DeleteItem'],
      ...counting,
      Contributors: ['Query'],
      Audit: ['PutItem'],
    },
  },
  cancelBatch: {
    method: 'PATCH',
    path: '/api/v2/batches/{batch_id}/cancel',
    rate: 'seldom',
    entry: 'endpoints/batches/cancel-batch',
    uses: { ...cancellations, Contributors: ['Query'], Audit: ['PutItem'] },
    timeoutSeconds: timeLimits.longFunction,
  },
  eraseBatch: {
    method: 'DELETE',
    path: '/api/v1/batches/{batch_id}',
    rate: 'seldom',
    entry: 'endpoints/batches/erase-batch',
    uses: { ...erasures, WebhookAttempts: ['PutItem'], Contributors: ['Query'] },
    timeoutSeconds: timeLimits.longFunction,
  },
  rebatch: {
    method: 'POST',
    path: '/api/v1/batches/{batch_id}/rebatch',
    rate: 'seldom',
    entry: 'endpoints/batches/rebatch',
    uses: {
      // The first rows of the caller may repeat a fellow's.
      Batches: ['GetItem', 'BatchGetItem', 'Query', 'PutItem'],
      Jobs: ['BatchGetItem', 'Query', 'PutItem'],
      Columns: ['GetItem', ...columnWrites],
      Sequences: ['BatchGetItem', 'PutItem'],
      DeviceQueue: creations.DeviceQueue,
      ...limitChecks,
      Contributors: ['Query', 'PutItem'],
      Recovery: ['SendMessage'],
    },
    timeoutSeconds: timeLimits.longFunction,
  },
  cancelBatches: {
    method: 'PATCH',
    path: '/api/v1/batches/cancel',
    rate: 'seldom',
    entry: 'endpoints/batches/cancel-batches',
    uses: { ...cancellations, Contributors: ['Query'], Audit: ['PutItem'] },
    timeoutSeconds: timeLimits.longFunction,
  },
  getBatchOfUser: {
    method: 'GET',
    path: '/api/v1/users/{user_id}/batches/{batch_id}',
    rate: 'seldom',
    entry: 'endpoints/batches/get-batch-of-user',
    uses: {
      Batches: ['GetItem'],
      Jobs: ['BatchGetItem'],
      'Jobs/by_batch': ['Query'],
      Columns: listReads,
      Sequences: ['GetItem'],
      Audit: ['PutItem'],
    },
  },
  cancelBatchOfUser: {
    method: 'PATCH',
    path: '/api/v1/users/{user_id}/batches/{batch_id}/cancel',
    rate: 'seldom',
    entry: 'endpoints/batches/cancel-batch-of-user',
    uses: { ...cancellations, Audit: ['PutItem'] },
    timeoutSeconds: timeLimits.longFunction,
  },
  setBatchPriority: {
    method: 'PATCH',
    path: '/api/v1/users/{user_id}/batches/{batch_id}/priority',
    rate: 'seldom',
    entry: 'endpoints/batches/set-batch-priority',
    uses: {
      ...{ Jobs: [], Sequences: [], Usage: [], Counters: [], Contributors: [] },
      Batches: ['GetItem', 'BatchGetItem', 'Query', 'PutItem'],
      Columns: columnWrites,
      DeviceQueue: ['BatchGetItem', 'Query', 'PutItem', 'DeleteItem'],
      Audit: ['PutItem'],
    },
  },
  cancelJobs: {
    method: 'PATCH',
    path: '/api/v2/batches/{batch_id}/cancel/jobs',
    rate: 'seldom',
    entry: 'endpoints/batches/cancel-jobs',
    uses: {
      Sequences: [],
      Batches: ['GetItem', 'BatchGetItem', 'PutItem'],
      Jobs: ['BatchGetItem', 'PutItem'],
      Columns: ['GetItem', ...columnWrites],
      DeviceQueue: ['GetItem', 'DeleteItem'],
      ...counting,
      Contributors: ['Query'],
      Audit: ['PutItem'],
      Recovery: ['SendMessage'],
    },
    timeoutSeconds: timeLimits.longFunction,
  },
  getJob: {
    method: 'GET',
    path: '/api/v2/jobs/{job_id}',
    entry: 'endpoints/jobs/get-job',
    uses: { Jobs: ['GetItem', 'BatchGetItem'], Sequences: ['GetItem'], Contributors: ['Query'] },
  },
  getJobStatus: {
    method: 'GET',
    path: '/api/v1/jobs/{job_id}/status',
    entry: 'endpoints/jobs/get-job-status',
    uses: {
      Batches: ['GetItem'],
      Jobs: ['GetItem', 'BatchGetItem'],
      DeviceQueue: ['Query'],
      Contributors: ['Query'],
    },
  },
  getResultsLink: {
    method: 'GET',
    path: '/api/v1/jobs/{job_id}/results_link',
    entry: 'endpoints/jobs/get-results-link',
    uses: { Jobs: ['GetItem', 'BatchGetItem'], Contributors: ['Query'], Results: ['GetObject'] },
  },
  listDevices: {
    method: 'GET',
    path: '/api/v1/devices',
    public: true,
    rate: 'seldom',
    entry: 'endpoints/devices/list-devices',
    uses: { Devices: ['Query'], DeviceQueue: ['Query'] },
  },
  listDeviceSpecifications: {
    method: 'GET',
    path: '/api/v1/devices/specs',
    rate: 'seldom',
    entry: 'endpoints/devices/list-device-specifications',
    uses: { Devices: ['Query'] },
  },
  getDeviceSpecification: {
    method: 'GET',
    path: '/api/v1/devices/specs/{device_type}',
    rate: 'seldom',
    entry: 'endpoints/devices/get-device-specification',
    uses: { Devices: ['GetItem'] },
  },
  listPublicSpecifications: {
    method: 'GET',
    path: '/api/v1/devices/public-specs',
    public: true,
    entry: 'endpoints/devices/list-public-specifications',
    uses: { Devices: ['Query'] },
  },
  announceDevice: {
    method: 'PUT',
    path: '/api/v1/devices/{device_type}',
    rate: 'seldom',
    entry: 'endpoints/devices/announce-device',
    uses: { Devices: ['GetItem', 'UpdateItem', 'PutItem'], DeviceQueue: ['Query', 'UpdateItem'] },
  },
  setDevice: {
    method: 'PATCH',
    path: '/api/v1/devices/{device_type}',
    rate: 'seldom',
    entry: 'endpoints/devices/set-device',
    uses: {
      Devices: ['GetItem', 'UpdateItem'],
      DeviceQueue: ['GetItem', 'Query', 'PutItem', 'UpdateItem'],
      Audit: ['PutItem'],
    },
    timeoutSeconds: timeLimits.longFunction,
  },
  removeDevice: {
    method: 'DELETE',
    path: '/api/v1/devices/{device_type}',
    rate: 'seldom',
    entry: 'endpoints/devices/remove-device',
    uses: { Devices: ['GetItem', 'PutItem', 'DeleteItem'], DeviceQueue: ['Query', 'UpdateItem'] },
  },
  listQueue: {
    method: 'GET',
    path: '/api/v1/devices/{device_type}/queue',
    rate: 'seldom',
    entry: 'endpoints/devices/list-queue',
    uses: { Batches: ['BatchGetItem'], DeviceQueue: ['Query'], ...userNames },
    timeoutSeconds: timeLimits.longFunction,
  },
  claimBatch: {
    method: 'POST',
    path: '/api/v1/devices/{device_type}/claim',
    entry: 'endpoints/leases/claim-batch',
    uses: {
      ...runs,
      Devices: ['GetItem', 'PutItem'],
      DeviceQueue: ['BatchGetItem', 'Query', 'UpdateItem', 'DeleteItem'],
    },
  },
  extendLease: {
    method: 'POST',
    path: '/api/v1/leases/{lease}/heartbeat',
    entry: 'endpoints/leases/extend-lease',
    uses: { Jobs: ['GetItem'], DeviceQueue: ['UpdateItem'] },
  },
  uploadResults: {
    method: 'POST',
    path: '/api/v1/leases/{lease}/jobs/{job_id}/results',
    entry: 'endpoints/leases/upload-results',
    uses: { Jobs: ['GetItem'], DeviceQueue: ['BatchGetItem', 'UpdateItem'], Results: ['PutObject'] },
  },
  reportJob: {
    method: 'POST',
    path: '/api/v1/leases/{lease}/jobs/{job_id}',
    entry: 'endpoints/leases/report-job',
    uses: {
      ...runs,
      Jobs: ['GetItem', ...runs.Jobs],
      DeviceQueue: ['BatchGetItem', 'Query', 'UpdateItem', 'PutItem', 'DeleteItem'],
      Results: ['GetObject'],
    },
  },
  nextJob: {
    method: 'POST',
    path: '/api/v1/leases/{lease}/next',
    entry: 'endpoints/leases/next-job',
    uses: {
      ...runs,
      Batches: ['GetItem', ...runs.Batches],
      DeviceQueue: ['BatchGetItem', 'Query', 'UpdateItem', 'PutItem', 'DeleteItem'],
    },
  },
  releaseLease: {
    method: 'DELETE',
    path: '/api/v1/leases/{lease}',
    entry: 'endpoints/leases/release-lease',
    uses: { ...releases, DeviceQueue: ['BatchGetItem', 'UpdateItem', 'DeleteItem'] },
  },
  listAudit: {
    method: 'GET',
    path: '/api/v1/audit',
    rate: 'seldom',
    entry: 'endpoints/audit/list-audit',
    uses: { Audit: ['Query'], ...userNames },
  },
  listProjects: {
    method: 'GET',
    path: '/api/v1/projects',
    rate: 'seldom',
    entry: 'endpoints/projects/list-projects',
    uses: { Columns: ['GetItem', 'Query'], Contributors: ['Query'] },
  },
  getOwnLimits: {
    method: 'GET',
    path: '/api/v1/limits',
    rate: 'seldom',
    entry: 'endpoints/limits/get-own-limits',
    uses: { Limits: ['BatchGetItem'], Columns: ['GetItem', 'Query'], Usage: ['Query'], Counters: ['BatchGetItem'] },
  },
  listLimits: {
    method: 'GET',
    path: '/api/v1/limits/all',
    rate: 'seldom',
    entry: 'endpoints/limits/list-limits',
    uses: { Limits: ['BatchGetItem', 'Query'], ...userNames },
  },
  getLimits: {
    method: 'GET',
    path: '/api/v1/limits/{subject}',
    rate: 'seldom',
    entry: 'endpoints/limits/get-limits',
    uses: { Limits: ['BatchGetItem'], ...userNames },
  },
  putLimits: {
    method: 'PUT',
    path: '/api/v1/limits/{subject}',
    rate: 'seldom',
    entry: 'endpoints/limits/put-limits',
    uses: { Limits: ['BatchGetItem', 'PutItem'], Audit: ['PutItem'] },
  },
  deleteLimits: {
    method: 'DELETE',
    path: '/api/v1/limits/{subject}',
    rate: 'seldom',
    entry: 'endpoints/limits/delete-limits',
    uses: { Limits: ['BatchGetItem', 'PutItem', 'DeleteItem'], Audit: ['PutItem'] },
  },
  listUsage: {
    method: 'GET',
    path: '/api/v1/usage',
    rate: 'seldom',
    entry: 'endpoints/usage/list-usage',
    uses: { Usage: ['Query'], ...userNames },
  },
  submitQuizzes: {
    method: 'POST',
    path: '/api/v1/quizzes',
    rate: 'seldom',
    entry: 'endpoints/quizzes/submit-quizzes',
    uses: { Quizzes: ['UpdateItem', 'BatchGetItem'] },
    // A transaction of 3 MB is slow: two calls of three attempts each fit the function's time.
    callMilliseconds: 2_000,
  },
  getBatchWebhook: {
    method: 'GET',
    path: '/api/v1/batches/{batch_id}/webhook',
    rate: 'seldom',
    entry: 'endpoints/webhooks/get-batch-webhook',
    uses: { Batches: ['GetItem', 'BatchGetItem'], WebhookAttempts: ['GetItem'], Contributors: ['Query'] },
  },
  testWebhook: {
    method: 'POST',
    path: '/api/v1/batches/{batch_id}/webhook/test',
    rate: 'seldom',
    entry: 'endpoints/webhooks/test-webhook',
    uses: {
      Batches: ['GetItem', 'BatchGetItem'],
      WebhookAttempts: ['UpdateItem'],
      Counters: ['UpdateItem'],
      Contributors: ['Query'],
      WebhookKey: ['GetSecretValue'],
    },
    timeoutSeconds: timeLimits.longFunction,
  },
  getWebhookPublicKey: {
    method: 'GET',
    path: '/api/v1/webhooks/public-key',
    public: true,
    entry: 'endpoints/webhooks/get-webhook-public-key',
    uses: { Devices: ['GetItem'] },
  },
  getOpenApi: { method: 'GET', path: '/openapi.json', public: true, entry: 'endpoints/service/get-open-api', uses: {} },
  getDocs: {
    method: 'GET',
    path: '/docs',
    public: true,
    page: true,
    entry: 'endpoints/docs/get-docs',
    uses: {},
    files: [
      'swagger-ui-dist/swagger-ui.css',
      'swagger-ui-dist/swagger-ui-bundle.js',
      './page/tokens.css',
      './page/docs.css',
      './page/snippets.mjs',
      './page/docs.mjs',
    ],
  },
  getConsole: {
    method: 'GET',
    path: '/console',
    public: true,
    page: true,
    entry: 'endpoints/console/get-console',
    browserEntry: 'console/main.tsx',
    uses: {},
  },
  getHealth: { method: 'GET', path: '/health', public: true, entry: 'endpoints/service/get-health', uses: {} },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;

/** The routes that answer only callers with a token. */
export type RouteWithToken = {
  [Name in RouteName]: (typeof routes)[Name] extends { readonly public: true } ? never : Name;
}[RouteName];
