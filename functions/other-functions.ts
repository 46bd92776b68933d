/**
 * The functions behind no route: data only. They are apart from the routes, so that their bundles
 * hold none of these.
 */

import type { ConsumerName } from './queues.ts';
import { counting, erasures, type FunctionDescription, lifecycleEvents, mostlyWaits, releases } from './rights.ts';
import type { StreamConsumerName } from './tables.ts';
import { timeLimits } from './time-limits.ts';

/**
 * Functions that no route names: the gateway's own, the consumers of queues and streams, the
 * functions that the clock calls, and the one that makes keys.
 */
export const otherFunctions = {
  /** Verifies the bearer token of every route that is not public. */
  authorizer: { entry: 'identity/authorizer', uses: {} },
  /** Answers a known path asked with another method, 405 with `Allow`, and any other path, 404. */
  methodNotAllowed: { entry: 'endpoints/service/method-not-allowed', uses: {} },
  /** Applies the lifecycle events that arrive on the queue `Events`. */
  applyEvents: {
    entry: 'consumers/apply-events',
    uses: { ...lifecycleEvents, WaitingEvents: ['SendMessage'], 'Events/dead_letters': ['SendMessage'] },
  },
  /** Tries again the lifecycle events that wait on the queue `WaitingEvents`. */
  applyWaitingEvents: {
    entry: 'consumers/apply-waiting-events',
    uses: { ...lifecycleEvents, 'Events/dead_letters': ['SendMessage'] },
  },
  /** Finishes what is announced on the queue `Recovery` and has not come to its end. */
  recoverBatches: {
    entry: 'consumers/recover-batches',
    uses: {
      ...erasures,
      ...counting,
      DeviceQueue: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'],
      'Recovery/dead_letters': ['SendMessage'],
    },
    timeoutSeconds: timeLimits.recoveryFunction,
  },
  /** Measures the queues of all devices, every minute, and puts back what lost its worker. */
  measureQueues: {
    entry: 'schedules/measure-queues',
    uses: {
      ...releases,
      Devices: ['Query'],
      DeviceQueue: ['BatchGetItem', 'Query', 'UpdateItem', 'DeleteItem'],
      Counters: ['Query', ...counting.Counters],
    },
  },
  /** Finds out whether webhooks are to be called about the rows that the streams bring. */
  enqueueWebhooks: {
    entry: 'consumers/enqueue-webhooks',
    uses: {
      Batches: ['BatchGetItem'],
      Webhooks: ['SendMessage'],
      // Lambda sends there in this function's role.
      'Webhooks/dead_letters': ['SendMessage'],
    },
  },
  /** Seals old rows of the users whose lists have grown, by the stream of their columns. */
  sealSegments: {
    entry: 'consumers/seal-segments',
    uses: {
      Columns: ['BatchGetItem', 'Query', 'PutItem', 'DeleteItem', 'ConditionCheckItem'],
      // Lambda sends there in this function's role.
      'Recovery/dead_letters': ['SendMessage'],
    },
    timeoutSeconds: timeLimits.sealingFunction,
    ...mostlyWaits,
  },
  /** Calls the webhooks of the messages on the queue `Webhooks`, up to 15 s each. */
  deliverWebhooks: {
    entry: 'consumers/deliver-webhooks',
    uses: {
      Batches: ['GetItem'],
      WebhookAttempts: ['GetItem', 'UpdateItem'],
      Counters: ['UpdateItem'],
      Results: ['GetObject'],
      WebhookKey: ['GetSecretValue'],
      Webhooks: ['SendMessage'],
      'Webhooks/dead_letters': ['SendMessage'],
    },
    timeoutSeconds: timeLimits.deliveryFunction,
  },
  /**
   * Changes the key that webhooks are signed with: Secrets Manager calls it once a year, and when
   * an operator asks. Publishes the public keys: the clock calls it every minute.
   */
  rotateWebhookKey: {
    entry: 'schedules/rotate-webhook-key',
    uses: {
      WebhookKey: ['DescribeSecret', 'GetSecretValue', 'PutSecretValue', 'UpdateSecretVersionStage'],
      Devices: ['GetItem', 'PutItem'],
    },
  },
} as const satisfies Record<string, FunctionDescription> &
  Record<ConsumerName | StreamConsumerName, FunctionDescription>;
