import { Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  AlarmStatusWidget,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
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
import type { Events } from './events.ts';
import type { ServiceFunction } from './service-function.ts';
import type { Storage } from './storage.ts';

interface MonitoringProps {
  readonly storage: Storage;
  readonly api: Api;
  readonly events: Events;
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

  constructor(scope: Construct, id: string, { storage, api, events, alarmEmail }: MonitoringProps) {
    super(scope, id);
    this.topic = createTopic(this);
    if (alarmEmail !== undefined) this.topic.addSubscription(new EmailSubscription(alarmEmail));

    const { restApi, functions } = api;
    const authorizer = functions.authorizer;
    const fromAccessLog = (name: string, pattern: string): Metric =>
      api.accessLog
        .addMetricFilter(name, {
          metricNamespace: Stack.of(this).stackName,
          metricName: name,
          filterPattern: FilterPattern.literal(pattern),
          defaultValue: 0,
        })
        .metric({ statistic: Stats.SUM, period });
    const throttled = fromAccessLog('Throttled', '{ $.status = "429" }');
    // A function's error count would not do: API Gateway wants a refused token to be an error of the authorizer.
    const authorizerFailures = fromAccessLog('AuthorizerFailures', '{ $.responseType = "AUTHORIZER_*" }');
    const serverErrors = restApi.metricServerError({ statistic: Stats.SUM, period });
    const p99 = restApi.metricLatency({ statistic: 'p99', period });
    const jwksAge = ownMetric('JwksAge', authorizer, { statistic: Stats.MAXIMUM });
    const deadLetters = events.deadLetters.metricApproximateNumberOfMessagesVisible({
      statistic: Stats.MAXIMUM,
      period,
    });
    const eventAge = events.queue.metricApproximateAgeOfOldestMessage({ statistic: Stats.MAXIMUM, period });

    const alarms: Record<string, AlarmDescription> = {
      ServerErrors: {
        metric: serverErrors,
        threshold: 5,
        periods: 1,
        meaning: 'The API answers 5xx.',
      },
      Latency: {
        metric: p99,
        threshold: 3_000,
        periods: 3,
        meaning: 'One request in a hundred takes 3 s or longer.',
      },
      Throttles: {
        metric: throttled,
        threshold: 20,
        periods: 1,
        meaning: 'Callers are answered 429, by the stage throttle or because DynamoDB throttles.',
      },
      AuthorizerErrors: {
        metric: authorizerFailures,
        threshold: 1,
        periods: 1,
        meaning: 'The authorizer fails, so that valid tokens are answered 5xx.',
      },
      JwksAge: {
        metric: jwksAge,
        threshold: Duration.minutes(30).toSeconds(),
        periods: 2,
        meaning: 'The keys of the token issuer cannot be fetched again; old keys serve for at most 6 hours.',
      },
      DeadLetters: {
        metric: deadLetters,
        threshold: 1,
        periods: 1,
        meaning: 'A lifecycle event could not be applied and waits in the dead-letter queue.',
      },
      EventAge: {
        metric: eventAge,
        threshold: Duration.minutes(15).toSeconds(),
        periods: 1,
        meaning: 'Lifecycle events wait longer than they should to be applied.',
      },
    };
    const watched = Object.entries(alarms).map(([name, { metric, threshold, periods, meaning }]) => {
      const alarm = new Alarm(this, name, {
        metric,
        threshold,
        evaluationPeriods: periods,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        treatMissingData: TreatMissingData.NOT_BREACHING,
        alarmDescription: meaning,
      });
      const action = new SnsAction(this.topic);
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
      return alarm;
    });

    const allFunctions = { ...functions, applyEvents: events.applyEvents };
    const perFunction = (metric: (handler: ServiceFunction) => Metric): IMetric[] =>
      Object.entries(allFunctions).map(([label, handler]) => metric(handler).with({ label }));
    const graph = (title: string, left: IMetric[], right: IMetric[] = []) =>
      new GraphWidget({ title, left, right, width: 8, height: 6 });
    new Dashboard(this, 'Dashboard', {
      defaultInterval: Duration.hours(6),
      widgets: [
        [new AlarmStatusWidget({ title: 'Alarms', alarms: watched, width: 24, height: 3 })],
        [
          graph('Requests and errors', [
            restApi.metricCount({ period }),
            restApi.metricClientError({ statistic: Stats.SUM, period }),
            serverErrors,
          ]),
          graph('Latency', [restApi.metricLatency({ statistic: 'p50', period }), p99]),
          graph('Throttled requests, authorizer failures', [throttled, authorizerFailures]),
        ],
        [
          graph(
            'Function duration, p99',
            perFunction((f) => f.metricDuration({ statistic: 'p99', period })),
          ),
          graph(
            'Function errors',
            perFunction((f) => f.metricErrors({ period })),
          ),
          graph(
            'Function throttles',
            perFunction((f) => f.metricThrottles({ period })),
          ),
        ],
        [
          graph(
            'Read units of a list, average and p99',
            [functions.listBatches, functions.listJobs].flatMap((f) => [
              ownMetric('ReadUnits', f, { statistic: Stats.AVERAGE }),
              ownMetric('ReadUnits', f, { statistic: 'p99' }),
            ]),
          ),
          graph(
            'Consumed capacity: read, write',
            Object.values(storage.tables).map((table) => table.metricConsumedReadCapacityUnits({ period })),
            Object.values(storage.tables).map((table) => table.metricConsumedWriteCapacityUnits({ period })),
          ),
          graph('Age of the issuer’s keys', [jwksAge]),
        ],
        [
          graph('Events waiting', [events.queue.metricApproximateNumberOfMessagesVisible({ period })]),
          graph('Age of the oldest event', [eventAge]),
          graph('Dead letters', [deadLetters]),
        ],
      ],
    });
  }
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
function createTopic(scope: Construct): Topic {
  const cloudWatch = new ServicePrincipal('cloudwatch.amazonaws.com');
  const conditions = { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } };
  const key = new Key(scope, 'TopicKey', { enableKeyRotation: true });
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
