import { Duration } from 'aws-cdk-lib';
import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { type QueueDescription, type QueueName, queues } from '../functions/queues.ts';
import { type FunctionDescription, otherFunctions } from '../functions/routes.ts';
import { type TableDescription, tables } from '../functions/tables.ts';
import { capitalize } from './service-function.ts';
import type { WatchedMetrics, WatchedParts } from './watched-metrics.ts';

/** A query that an operator finds in Logs Insights, in the folder of its alarm. */
export interface SavedQuery {
  readonly logs: readonly ILogGroup[];
  readonly text: string;
}

/**
 * The alarm goes off when `metric` is at `threshold` or above in each of `periods` successive
 * periods.
 */
export interface AlarmDescription {
  readonly metric: IMetric;
  readonly threshold: number;
  readonly periods: number;
  readonly meaning: string;
  /** By the log that they read. */
  readonly queries: Readonly<Record<string, SavedQuery>>;
}

/** Every alarm by its name; the README's runbook says what to do. */
export function describeAlarms(
  { api, consumers, schedules, webhookKey }: WatchedParts,
  metrics: WatchedMetrics,
): Readonly<Record<string, AlarmDescription>> {
  const { authorizer, methodNotAllowed, ...routes } = api.functions;
  const askGateway = (text: string): SavedQuery => ({ logs: [api.accessLog], text });
  const askGatewayErrors: SavedQuery = {
    logs: [api.errorLog],
    text: `fields @timestamp, @message
| filter @message like /(?i)(error|fail)/
| sort @timestamp desc
| limit 100`,
  };
  const askAuthorizer = (text: string): SavedQuery => ({ logs: [authorizer.logGroup], text });
  const askRoutes = (text: string): SavedQuery => ({
    logs: [...Object.values(routes), methodNotAllowed].map(({ logGroup }) => logGroup),
    text,
  });
  const askConsumers = (text: string): SavedQuery => ({
    logs: Object.values(consumers.functions).map(({ logGroup }) => logGroup),
    text,
  });

  const askSchedules = (text: string): SavedQuery => ({
    logs: Object.values(schedules.functions).map(({ logGroup }) => logGroup),
    text,
  });

  const ofApi = {
    ServerErrors: {
      metric: metrics.serverErrors,
      threshold: 5,
      periods: 1,
      meaning: 'The API answers 5xx.',
      queries: {
        gateway: askGateway(
          `filter status like /^5/
| stats count(*) as answers, latest(@timestamp) as last by status, route, responseType, error, integrationError
| sort answers desc`,
        ),
        functions: askRoutes(
          `filter status >= 500
| fields @timestamp, request_id, user_id, route, status, error.name, error.message, error.cause.name
| sort @timestamp desc
| limit 100`,
        ),
        gatewayErrors: askGatewayErrors,
      },
    },
    Latency: {
      metric: metrics.p99,
      threshold: 3_000,
      periods: 3,
      meaning: 'One request in a hundred takes 3 s or longer.',
      queries: {
        gateway: askGateway(
          `stats count(*) as requests, pct(latency, 99) as p99, pct(integrationLatency, 99) as p99OfFunction by route
| sort p99 desc`,
        ),
        functions: askRoutes(
          `filter ispresent(ReadUnits)
| stats count(*) as requests, max(Latency) as slowest, max(ReadUnits) as readUnits, sum(stale_reads) as staleReads by user_id, route, plan
| sort slowest desc
| limit 50`,
        ),
      },
    },
    Throttles: {
      metric: metrics.throttled,
      threshold: 20,
      periods: 1,
      meaning: 'Callers are answered 429, by the stage throttle or because DynamoDB throttles.',
      queries: {
        gateway: askGateway(
          `filter status = "429"
| stats count(*) as answers by userId, route, responseType
| sort answers desc`,
        ),
      },
    },
    AuthorizerErrors: {
      metric: metrics.authorizerFailures,
      threshold: 1,
      periods: 1,
      meaning: 'The authorizer fails, so that valid tokens are answered 5xx.',
      queries: {
        gateway: askGateway(
          `filter responseType like /^AUTHORIZER_/
| stats count(*) as answers by responseType, error`,
        ),
        gatewayErrors: askGatewayErrors,
        authorizer: askAuthorizer(
          `filter outcome = "failed"
| fields @timestamp, JwksAge, error.name, error.message
| sort @timestamp desc
| limit 50`,
        ),
      },
    },
    JwksAge: {
      metric: metrics.jwksAge,
      threshold: Duration.minutes(30).toSeconds(),
      periods: 2,
      meaning: 'The keys of the token issuer cannot be fetched again; old keys serve for at most 6 hours.',
      queries: {
        authorizer: askAuthorizer(
          `filter ispresent(JwksAge)
| stats max(JwksAge) as seconds, count(*) as tokens by outcome, bin(5m)`,
        ),
      },
    },
    LambdaThrottles: {
      metric: metrics.lambdaThrottles,
      threshold: 1,
      periods: 1,
      meaning: 'Functions of this account are throttled: requests get 500, events wait.',
      queries: {
        gateway: askGateway(
          `filter status like /^5/
| stats count(*) as answers by bin(1m) as minute, route
| sort answers desc`,
        ),
      },
    },
  };

  const ofDevices = {
    UnclaimedWork: {
      metric: metrics.devices.unclaimed,
      threshold: 1,
      periods: 3,
      meaning: 'Batches wait for a device, and no worker takes any.',
      queries: {
        gateway: askGateway(
          `filter route like "/claim" or route like "/leases/"
| stats count(*) as calls, latest(@timestamp) as last by userId, route, status
| sort last desc`,
        ),
        schedules: askSchedules(
          `filter ispresent(QueueLength)
| stats min(Unclaimed) as unclaimed, max(QueueLength) as batches, max(OldestBatch) as oldestSeconds by device_type, bin(5m)
| sort unclaimed desc, oldestSeconds desc`,
        ),
      },
    },
    LeasesLost: {
      metric: metrics.devices.allLeasesLost,
      threshold: 2,
      periods: 2,
      meaning: 'Workers lose their leases again and again, and their batches are taken over.',
      queries: {
        functions: askRoutes(
          `filter ispresent(LeasesLost)
| stats sum(LeasesLost) as lost, latest(@timestamp) as last by device_type, lost_worker, batch_id
| sort last desc
| limit 100`,
        ),
      },
    },
  };
  const ofSchedules = Object.entries(metrics.scheduleErrors).map(([name, metric]) => [
    `${capitalize(name)}Errors`,
    {
      metric,
      threshold: 3,
      periods: 1,
      meaning: `The function ${name}, which the clock calls, fails.`,
      queries: {
        schedules: askSchedules(
          `filter level = "ERROR" or (type = "platform.report" and record.status != "success")
| fields @timestamp, device_type, error.name, error.message, record.status, errorType, errorMessage
| sort @timestamp desc
| limit 50`,
        ),
      },
    },
  ]);
  const ofConsumers = Object.entries(metrics.consumerErrors).map(([name, metric]) => [
    `${capitalize(name)}Errors`,
    {
      metric,
      threshold: 3,
      periods: 1,
      meaning: `The function ${name} fails as a whole or runs out of time, so that its messages wait.`,
      queries: {
        consumers: askConsumers(
          `filter level = "ERROR" or (type = "platform.report" and record.status != "success")
| fields @timestamp, @log, messages, failed, record.status, errorType, errorMessage
| sort @timestamp desc
| limit 50`,
        ),
      },
    },
  ]);
  const ofStreams = Object.entries(metrics.recordAge).map(([name, metric]) => [
    `${capitalize(name)}Age`,
    {
      metric,
      threshold: Duration.minutes(15).toMilliseconds(),
      periods: 1,
      meaning: `The function ${name} is behind with the streams that it takes records of.`,
      queries: {
        consumers: askConsumers(
          `filter level = "ERROR" or (type = "platform.report" and record.status != "success")
| fields @timestamp, @log, messages, failed, faults.0.error.name, faults.0.error.message, record.status, errorMessage
| sort @timestamp desc
| limit 50`,
        ),
      },
    },
  ]);
  const ofWebhookKey = {
    WebhookKeyErrors: {
      metric: metrics.rotationErrors,
      threshold: 1,
      periods: 1,
      meaning: 'The key that webhooks are signed with could not be made or changed.',
      queries: {
        rotation: {
          logs: [webhookKey.rotation.logGroup],
          text: `fields @timestamp, errorType, errorMessage
| filter ispresent(errorMessage)
| sort @timestamp desc
| limit 20`,
        },
      },
    },
  };
  const ofTables = Object.entries(metrics.tableThrottles).map(([name, metric]) => [
    `${name}Throttles`,
    {
      metric,
      threshold: 10,
      periods: 1,
      meaning: `DynamoDB throttles the table ${name} or one of its indexes.`,
      queries: {
        functions: askRoutes(
          `filter ispresent(calls)
| stats sum(ReadUnits) as readUnits, sum(WriteUnits) as writeUnits, count(*) as requests by user_id, route
| sort readUnits desc
| limit 50`,
        ),
        ...(isUsedByConsumer(name) && {
          consumers: askConsumers(
            `filter ispresent(faults.0.user_id)
| stats count(*) as calls by faults.0.user_id, faults.0.error.name
| sort calls desc
| limit 50`,
          ),
        }),
      },
    },
  ]);
  const ofQueues = Object.entries(metrics.queues).flatMap(([name, { age, deadLetters }]) => [
    [
      `${name}DeadLetters`,
      {
        metric: deadLetters,
        threshold: 1,
        periods: 1,
        meaning: `A message of the queue ${name} could not be handled and waits in its dead-letter queue.`,
        queries: {
          consumers: askConsumers(
            `filter ispresent(faults.0.message_id)
| fields @timestamp, @log, faults.0.message_id, faults.0.disposition, faults.0.error.name, faults.0.error.message, failed, messages
| sort @timestamp desc
| limit 50`,
          ),
        },
      },
    ],
    [
      `${name}Age`,
      {
        metric: age,
        threshold: queues[name as QueueName].alarmSeconds,
        periods: 1,
        meaning: `Messages of the queue ${name} wait longer than they should.`,
        queries: {
          consumers: askConsumers(
            `filter ispresent(EventAge)
| stats max(EventAge) as oldest, sum(messages) as received, sum(failed) as failures by @log, bin(5m)`,
          ),
        },
      },
    ],
  ]);
  return {
    ...ofApi,
    ...ofDevices,
    ...ofWebhookKey,
    ...Object.fromEntries([...ofConsumers, ...ofStreams, ...ofSchedules, ...ofTables, ...ofQueues]),
  };
}

function isUsedByConsumer(table: string): boolean {
  const consumers = new Set([
    ...Object.values<QueueDescription>(queues).map(({ consumer }) => consumer.function),
    ...Object.values<TableDescription>(tables).flatMap(({ stream }) => stream?.consumer ?? []),
  ]);
  return Object.entries<FunctionDescription>(otherFunctions).some(
    ([name, { uses }]) => consumers.has(name) && table in uses,
  );
}
