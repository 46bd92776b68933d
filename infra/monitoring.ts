import { Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  AlarmStatusWidget,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  Metric,
  type MetricOptions,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { FilterPattern } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { type MetricName, metricDimension, metricNamespace } from '../functions/metrics.ts';
import type { Api } from './api.ts';
import type { Consumers } from './consumers.ts';
import type { Queues } from './queues.ts';
import type { ServiceFunction } from './service-function.ts';
import type { StageSettings } from './stages.ts';
import type { Storage } from './storage.ts';

interface MonitoringProps {
  readonly settings: StageSettings;
  readonly storage: Storage;
  readonly api: Api;
  readonly queues: Queues;
  readonly consumers: Consumers;
  /** Told of every alarm, once its owner has confirmed the subscription. */
  readonly alarmEmail?: string;
}

/** An alarm goes off when `metric` is at `threshold` or above in each of `periods` successive periods of five minutes. */
interface AlarmDescription {
  readonly metric: Metric;
  readonly threshold: number;
  readonly periods: number;
  readonly meaning: string;
}

const period = Duration.minutes(5);

/** What tells an operator that something is wrong (alarms, by way of a topic), and what shows where (a dashboard). */
export class Monitoring extends Construct {
  readonly topic: Topic;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    this.topic = createTopic(this, props.settings);
    if (props.alarmEmail !== undefined) this.topic.addSubscription(new EmailSubscription(props.alarmEmail));
    const metrics = watchedMetrics(props);
    const alarms = Object.entries(alarmDescriptions(metrics)).map(([name, description]) =>
      createAlarm(this, name, description, this.topic),
    );
    new Dashboard(this, 'Dashboard', { defaultInterval: Duration.hours(6), widgets: widgets(props, metrics, alarms) });
  }
}

type WatchedMetrics = ReturnType<typeof watchedMetrics>;

function watchedMetrics({ api, queues }: MonitoringProps) {
  const { Events } = queues.queues;
  const fromAccessLog = (name: string, pattern: string): Metric =>
    api.accessLog
      .addMetricFilter(name, {
        metricNamespace: Stack.of(api).stackName,
        metricName: name,
        filterPattern: FilterPattern.literal(pattern),
        defaultValue: 0,
      })
      .metric({ statistic: Stats.SUM, period });
  return {
    requests: api.restApi.metricCount({ period }),
    clientErrors: api.restApi.metricClientError({ statistic: Stats.SUM, period }),
    serverErrors: api.restApi.metricServerError({ statistic: Stats.SUM, period }),
    p50: api.restApi.metricLatency({ statistic: 'p50', period }),
    p99: api.restApi.metricLatency({ statistic: 'p99', period }),
    throttled: fromAccessLog('Throttled', '{ $.status = "429" }'),
    // The authorizer's error count would not do: API Gateway wants a refused token to be an error of the function.
    authorizerFailures: fromAccessLog('AuthorizerFailures', '{ $.responseType = "AUTHORIZER_*" }'),
    jwksAge: ownMetric('JwksAge', api.functions.authorizer, { statistic: Stats.MAXIMUM }),
    events: Events.queue.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, period }),
    eventAge: Events.queue.metricApproximateAgeOfOldestMessage({ statistic: Stats.MAXIMUM, period }),
    deadLetters: Events.deadLetters.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, period }),
  };
}

function alarmDescriptions(metrics: WatchedMetrics): Record<string, AlarmDescription> {
  return {
    ServerErrors: {
      metric: metrics.serverErrors,
      threshold: 5,
      periods: 1,
      meaning: 'The API answers 5xx.',
    },
    Latency: {
      metric: metrics.p99,
      threshold: 3_000,
      periods: 3,
      meaning: 'One request in a hundred takes 3 s or longer.',
    },
    Throttles: {
      metric: metrics.throttled,
      threshold: 20,
      periods: 1,
      meaning: 'Callers are answered 429, by the stage throttle or because DynamoDB throttles.',
    },
    AuthorizerErrors: {
      metric: metrics.authorizerFailures,
      threshold: 1,
      periods: 1,
      meaning: 'The authorizer fails, so that valid tokens are answered 5xx.',
    },
    JwksAge: {
      metric: metrics.jwksAge,
      threshold: Duration.minutes(30).toSeconds(),
      periods: 2,
      meaning: 'The keys of the token issuer cannot be fetched again; old keys serve for at most 6 hours.',
    },
    DeadLetters: {
      metric: metrics.deadLetters,
      threshold: 1,
      periods: 1,
      meaning: 'A lifecycle event could not be applied and waits in the dead-letter queue.',
    },
    EventAge: {
      metric: metrics.eventAge,
      threshold: Duration.minutes(15).toSeconds(),
      periods: 1,
      meaning: 'Lifecycle events wait longer than they should to be applied.',
    },
  };
}

function createAlarm(scope: Construct, name: string, description: AlarmDescription, topic: Topic): Alarm {
  const alarm = new Alarm(scope, name, {
    metric: description.metric,
    threshold: description.threshold,
    evaluationPeriods: description.periods,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: TreatMissingData.NOT_BREACHING,
    alarmDescription: description.meaning,
  });
  const action = new SnsAction(topic);
  alarm.addAlarmAction(action);
  alarm.addOkAction(action);
  return alarm;
}

/** Rows of the dashboard: alarms, the API, its functions, the database and the keys, the events. */
function widgets({ storage, api, consumers }: MonitoringProps, metrics: WatchedMetrics, alarms: Alarm[]): IWidget[][] {
  const graph = (title: string, left: IMetric[], right: IMetric[] = []) =>
    new GraphWidget({ title, left, right, width: 8, height: 6 });
  const ofEach = <Part>(parts: Readonly<Record<string, Part>>, metric: (part: Part) => Metric) =>
    Object.entries(parts).map(([label, part]) => metric(part).with({ label }));
  const functions = { ...api.functions, ...consumers.functions };
  const { listBatches, listJobs } = functions;
  return [
    [new AlarmStatusWidget({ title: 'Alarms', alarms, width: 24, height: 3 })],
    [
      graph('Requests, errors', [metrics.requests, metrics.clientErrors, metrics.serverErrors]),
      graph('Latency', [metrics.p50, metrics.p99]),
      graph('Throttled requests, authorizer failures', [metrics.throttled, metrics.authorizerFailures]),
    ],
    [
      graph(
        'Duration, p99',
        ofEach(functions, (part) => part.metricDuration({ statistic: 'p99', period })),
      ),
      graph(
        'Function errors',
        ofEach(functions, (part) => part.metricErrors({ period })),
      ),
      graph(
        'Function throttles',
        ofEach(functions, (part) => part.metricThrottles({ period })),
      ),
    ],
    [
      graph(
        'Capacity read, capacity written',
        ofEach(storage.tables, (table) => table.metricConsumedReadCapacityUnits({ period })),
        ofEach(storage.tables, (table) => table.metricConsumedWriteCapacityUnits({ period })),
      ),
      graph(
        'Read units of a list, p99',
        ofEach({ listBatches, listJobs }, (part) => ownMetric('ReadUnits', part, { statistic: 'p99' })),
      ),
      graph('Age of the issuer’s keys', [metrics.jwksAge]),
    ],
    [
      graph('Events waiting', [metrics.events]),
      graph('Age of the oldest event', [metrics.eventAge]),
      graph('Dead letters', [metrics.deadLetters]),
    ],
  ];
}

function ownMetric(metricName: MetricName, handler: ServiceFunction, options: MetricOptions): Metric {
  return new Metric({
    namespace: metricNamespace,
    metricName,
    dimensionsMap: { [metricDimension]: handler.functionName },
    period,
    ...options,
  });
}

/**
 * A topic that CloudWatch can publish to, and nothing else in the cloud can. The key is our own because the policy of the key that
 * AWS keeps for SNS does not let CloudWatch use it.
 */
function createTopic(scope: Construct, settings: StageSettings): Topic {
  const cloudWatch = new ServicePrincipal('cloudwatch.amazonaws.com');
  const conditions = { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } };
  const key = new Key(scope, 'TopicKey', { enableKeyRotation: true, removalPolicy: settings.removalPolicy });
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [cloudWatch],
      actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
      resources: ['*'],
      conditions,
    }),
  );
  const topic = new Topic(scope, 'Topic', { masterKey: key, enforceSSL: true });
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [cloudWatch],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions,
    }),
  );
  return topic;
}
