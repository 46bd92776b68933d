import { Duration, Stack } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { FilterPattern, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import { type QueueName, queues as queueDescriptions } from '../../functions/queues.ts';
import { routes } from '../../functions/routes.ts';
import { type StreamConsumerName, type TableDescription, tables as tableDescriptions } from '../../functions/tables.ts';
import type { Api } from './api.ts';
import type { Consumers } from './consumers.ts';
import type { Queues } from './queues.ts';
import type { Schedules } from './schedules.ts';
import type { ServiceFunction } from './service-function.ts';
import type { Storage } from './storage.ts';
import type { WebhookKey } from './webhook-key.ts';

/** The parts of the stack that are watched. */
export interface WatchedParts {
  readonly storage: Storage;
  readonly api: Api;
  readonly queues: Queues;
  readonly consumers: Consumers;
  readonly schedules: Schedules;
  readonly webhookKey: WebhookKey;
}

export type WatchedMetrics = ReturnType<typeof watchMetrics>;

/** The functions that streams feed. */
export const streamConsumers = [
  ...new Set(Object.values<TableDescription>(tableDescriptions).flatMap(({ stream }) => stream?.consumer ?? [])),
] as StreamConsumerName[];

/** Every metric has a value for each of these. */
export const period = Duration.minutes(5);

const sum = { statistic: Stats.SUM, period };
const maximum = { statistic: Stats.MAXIMUM, period };

/** Of the whole account and region: all functions share its concurrency. */
const ofLambda = {
  throttles: new Metric({ namespace: 'AWS/Lambda', metricName: 'Throttles', ...sum }),
  errors: new Metric({ namespace: 'AWS/Lambda', metricName: 'Errors', ...sum }),
};
const concurrency = {
  used: new Metric({ namespace: 'AWS/Lambda', metricName: 'ConcurrentExecutions', ...maximum }),
  unreserved: new Metric({ namespace: 'AWS/Lambda', metricName: 'UnreservedConcurrentExecutions', ...maximum }),
  claimed: new Metric({ namespace: 'AWS/Lambda', metricName: 'ClaimedAccountConcurrency', ...maximum }),
};

/**
 * How many of a hundred environments are in use, of all that are not reserved: what is claimed is
 * what is reserved and the unreserved that are in use. CloudWatch knows the account's quota by the
 * metric of the environments in use
 * (https://docs.aws.amazon.com/lambda/latest/dg/monitoring-concurrency.html).
 */
const unreservedShare = '100 * unreserved / (SERVICE_QUOTA(used) - claimed + unreserved)';

/** In %, of the environments that are not reserved: beyond it other calls may find none. */
export const scarceShare = 80;

/**
 * Throttled calls while the account has hardly any environment left. A function that has its own
 * may be throttled at any time. Some of them anyone can start: if they counted, anyone could make
 * the alarm go off, and keep it there.
 */
const scarceThrottles = new MathExpression({
  label: 'throttled',
  expression: `IF(${unreservedShare} >= ${scarceShare}, throttles, 0)`,
  usingMetrics: { throttles: ofLambda.throttles, ...concurrency },
  period,
});

/**
 * The metrics that alarms and the dashboard read. Where AWS measures nothing, metric filters take
 * them from the logs, into a namespace named after the stack. Such a metric costs 0.30 $ a month,
 * so each of them is read by an alarm or a graph.
 */
export function watchMetrics({ storage, api, queues, consumers, schedules, webhookKey }: WatchedParts) {
  return {
    requests: api.restApi.metricCount({ period }),
    clientErrors: api.restApi.metricClientError(sum),
    serverErrors: api.restApi.metricServerError(sum),
    p50: api.restApi.metricLatency({ statistic: 'p50', period }),
    p99: api.restApi.metricLatency({ statistic: 'p99', period }),
    slowShare: shareOfSlow(api),
    // Anyone can reach the stage's throttle, so no alarm counts its answers.
    throttled: countLines(api.accessLog, 'Throttled', '{ $.responseType = "THROTTLED" }'),
    databaseBusy: countLines(api.functionsLog, 'DatabaseBusy', '{ $.reason = "busy" || $.reason = "unfinished" }'),
    // The authorizer must answer a bad token with an error, so Lambda's count of its errors says
    // nothing.
    authorizerFailures: countLines(api.accessLog, 'AuthorizerFailures', '{ $.responseType = "AUTHORIZER_*" }'),
    jwksAge: readField({ of: api.functions.authorizer, name: 'JwksAge', field: 'JwksAge' }),
    readUnits: Object.entries({ listBatches: api.functions.listBatches, listJobs: api.functions.listJobs }).map(
      ([label, of]) => readField({ of, name: `ReadUnits-${label}`, field: 'ReadUnits' }).with({ label }),
    ),
    lambdaErrors: ofLambda.errors,
    allLambdaThrottles: ofLambda.throttles,
    scarceThrottles,
    unreservedShare: new MathExpression({
      label: '% of unreserved environments in use',
      expression: unreservedShare,
      usingMetrics: concurrency,
      period,
    }),
    devices: watchDevices(api, schedules),
    scheduleErrors: mapValues(schedules.functions, (each) => each.metricErrors(sum)),
    consumerErrors: mapValues(consumers.functions, (consumer) => consumer.metricErrors(sum)),
    /** Milliseconds, by the function that takes the records. */
    recordAge: Object.fromEntries(
      streamConsumers.map((name) => [name, consumers.functions[name].metric('IteratorAge', maximum)]),
    ) as Readonly<Record<StreamConsumerName, Metric>>,
    rotationErrors: webhookKey.rotation.metricErrors(sum),
    tableThrottles: mapValues(storage.tables, (table, name) => countThrottles(table, tableDescriptions[name])),
    queues: mapValues(queues.queues, ({ queue, deadLetters }, name) => ({
      waiting: queue.metricApproximateNumberOfMessagesVisible(maximum),
      deadLetters: deadLetters.metricApproximateNumberOfMessagesVisible(maximum),
      age: measureAge(queue.metricApproximateAgeOfOldestMessage(maximum), {
        of: consumers.functions[queueDescriptions[name].consumer.function],
        name,
      }),
    })),
  };
}

/**
 * Of each device type, by the dimension `DeviceType`; and what an alarm asks of all, since it can
 * search for none.
 */
function watchDevices(api: Api, schedules: Schedules) {
  const { measureQueues } = schedules.functions;
  const { claimBatch } = api.functions;
  return {
    queueLength: readOfEachDevice({ of: measureQueues, name: 'QueueLength', field: 'QueueLength' }, Stats.MAXIMUM),
    oldestBatch: readOfEachDevice({ of: measureQueues, name: 'OldestBatch', field: 'OldestBatch' }, Stats.MAXIMUM),
    claims: readOfEachDevice({ of: claimBatch, name: 'Claims', field: 'Claims' }, Stats.SUM),
    leasesLost: readOfEachDevice({ of: claimBatch, name: 'LeasesLost', field: 'LeasesLost' }, Stats.SUM),
    // The least of a period: a worker between two batches holds none, too.
    unclaimed: readField({ of: measureQueues, name: 'UnclaimedDevices', field: 'UnclaimedDevices' }).with({
      statistic: Stats.MINIMUM,
    }),
    allLeasesLost: readField({ of: claimBatch, name: 'AllLeasesLost', field: 'LeasesLost' }).with({
      statistic: Stats.SUM,
    }),
  };
}

/** An object with the same keys. */
function mapValues<Name extends string, Value, Result>(
  object: Readonly<Record<Name, Value>>,
  map: (value: Value, name: Name) => Result,
): Readonly<Record<Name, Result>> {
  const entries = Object.entries<Value>(object).map(([name, value]) => [name, map(value, name as Name)]);
  return Object.fromEntries(entries);
}

/**
 * How many of a hundred calls took 3 s or longer, without tests of webhooks, which wait for their
 * receivers. The access log has milliseconds as texts, so their digits are compared.
 */
function shareOfSlow({ accessLog, restApi }: Api): IMetric {
  const isSlow = '($.latency = %^[3-9][0-9][0-9][0-9]$% || $.latency = %^[0-9][0-9][0-9][0-9][0-9]$%)';
  return new MathExpression({
    label: 'of a hundred calls',
    expression: '100 * FILL(slow, 0) / requests',
    usingMetrics: {
      slow: countLines(accessLog, 'SlowCalls', `{ ${isSlow} && $.route != "${routes.testWebhook.path}" }`),
      requests: restApi.metricCount({ period }),
    },
    period,
  });
}

/** How many lines of a log match the pattern. */
function countLines(log: ILogGroup, name: string, pattern: string): Metric {
  return addFilter(log, { name, pattern, value: '1', defaultValue: 0 }).with({ statistic: Stats.SUM });
}

interface LoggedField {
  readonly of: ServiceFunction;
  readonly name: string;
  readonly field: string;
}

/** The greatest value of a numeric field of the function's lines that have it. */
function readField({ of, name, field }: LoggedField): Metric {
  return addFilter(of.logGroup, { name, pattern: linesWith(field, of), value: `$.${field}` });
}

/** Other functions write into the same log. */
function linesWith(field: string, { functionName }: ServiceFunction): string {
  return `{ $.function = "${functionName}" && $.${field} >= 0 }`;
}

/**
 * A numeric field for each device type that lines name. Types are not known before they come, so
 * graphs search for them.
 */
function readOfEachDevice({ of, name, field }: LoggedField, statistic: string): MathExpression {
  const dimensions = { DeviceType: '$.device_type' };
  addFilter(of.logGroup, { name, pattern: linesWith(field, of), value: `$.${field}`, dimensions });
  return new MathExpression({
    label: '',
    expression: `SEARCH('{"${Stack.of(of).stackName}",DeviceType} MetricName="${name}"', '${statistic}', ${period.toSeconds()})`,
    usingMetrics: {},
    period,
  });
}

interface FilterSettings {
  readonly name: string;
  readonly pattern: string;
  readonly value: string;
  readonly defaultValue?: number;
  readonly dimensions?: Readonly<Record<string, string>>;
}

function addFilter(log: ILogGroup, { name, pattern, value, defaultValue, dimensions }: FilterSettings): Metric {
  return log
    .addMetricFilter(name, {
      metricNamespace: Stack.of(log).stackName,
      metricName: name,
      filterPattern: FilterPattern.literal(pattern),
      metricValue: value,
      ...(defaultValue !== undefined && { defaultValue }),
      ...(dimensions !== undefined && { dimensions }),
    })
    .metric(maximum);
}

/**
 * The age of a queue's oldest message in seconds. SQS's own metric leaves out a message that was
 * received three times, so the age of the messages that the consumer receives counts as well.
 */
function measureAge(ofQueue: Metric, consumer: { of: ServiceFunction; name: QueueName }): IMetric {
  const received = readField({ of: consumer.of, name: `EventAge-${consumer.name}`, field: 'EventAge' });
  return new MathExpression({
    label: 'seconds',
    expression: 'MAX([FILL(ofQueue, 0), FILL(received, 0)])',
    usingMetrics: { ofQueue, received },
    period,
  });
}

/**
 * Reads and writes of a table and its indexes that DynamoDB throttled.
 */
function countThrottles(table: Table, { indexes }: TableDescription): IMetric {
  const TableName = table.tableName;
  const dimensions = [
    { TableName },
    ...Object.keys(indexes).map((index) => ({ TableName, GlobalSecondaryIndexName: index })),
  ];
  const metrics = dimensions.flatMap((dimensionsMap) =>
    ['ReadThrottleEvents', 'WriteThrottleEvents'].map(
      (metricName) => new Metric({ namespace: 'AWS/DynamoDB', metricName, dimensionsMap, ...sum }),
    ),
  );
  return new MathExpression({
    label: 'throttled',
    expression: 'SUM(METRICS())',
    usingMetrics: Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric])),
    period,
  });
}
