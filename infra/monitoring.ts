import { Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  AlarmStatusWidget,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  type Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { createAlarmTopic } from './alarm-topic.ts';
import { type AlarmDescription, describeAlarms } from './alarms.ts';
import { capitalize } from './service-function.ts';
import type { StageSettings } from './stages.ts';
import { period, type WatchedMetrics, type WatchedParts, watchMetrics } from './watched-metrics.ts';

interface MonitoringProps extends WatchedParts {
  readonly settings: StageSettings;
  /** Gets a mail for every alarm, once its owner has confirmed the subscription. */
  readonly alarmEmail?: string;
}

/**
 * Reports to an operator what is wrong (alarms, through a topic) and shows where (saved queries, a
 * dashboard).
 */
export class Monitoring extends Construct {
  readonly topic: Topic;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    this.topic = createAlarmTopic(this, props.settings);
    if (props.alarmEmail !== undefined) this.topic.addSubscription(new EmailSubscription(props.alarmEmail));
    const metrics = watchMetrics(props);
    const descriptions = Object.entries(describeAlarms(props, metrics));
    const action = new SnsAction(this.topic);
    const alarms = descriptions.map(([name, description]) => {
      const alarm = createAlarm(this, name, description);
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
      return alarm;
    });
    for (const [name, { queries }] of descriptions) saveQueries(this, name, queries);
    new Dashboard(this, 'Dashboard', { defaultInterval: Duration.hours(6), widgets: widgets(props, metrics, alarms) });
  }
}

function createAlarm(scope: Construct, name: string, description: AlarmDescription): Alarm {
  return new Alarm(scope, name, {
    metric: description.metric,
    threshold: description.threshold,
    evaluationPeriods: description.periods,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: TreatMissingData.NOT_BREACHING,
    alarmDescription: description.meaning,
  });
}

/** Saved as `Stack/Alarm/log`: Logs Insights shows the parts as folders. */
function saveQueries(scope: Construct, alarmName: string, queries: AlarmDescription['queries']) {
  for (const [name, { logs, text }] of Object.entries(queries)) {
    new CfnQueryDefinition(scope, `${alarmName}Query${capitalize(name)}`, {
      name: `${Stack.of(scope).stackName}/${alarmName}/${name}`,
      logGroupNames: logs.map(({ logGroupName }) => logGroupName),
      queryString: text,
    });
  }
}

/**
 * Rows of the dashboard: alarms, the API, its functions, the database and the keys, the devices, a
 * row for each queue.
 */
function widgets(
  { storage, api, consumers, schedules, webhookKey }: WatchedParts,
  metrics: WatchedMetrics,
  alarms: Alarm[],
): IWidget[][] {
  const graph = (title: string, left: IMetric[], right: IMetric[] = []) =>
    new GraphWidget({ title, left, right, width: 8, height: 6 });
  const ofEach = <Part>(parts: Readonly<Record<string, Part>>, metric: (part: Part) => Metric) =>
    Object.entries(parts).map(([label, part]) => metric(part).with({ label }));
  const functions = {
    ...api.functions,
    ...consumers.functions,
    ...schedules.functions,
    rotateWebhookKey: webhookKey.rotation,
  };
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
      graph('Read units of the most expensive list', metrics.readUnits),
      graph('Age of the issuer’s keys', [metrics.jwksAge]),
    ],
    [
      graph('Batches in the queue of each device', [metrics.devices.queueLength]),
      graph('Age of the oldest batch that waits for each device', [metrics.devices.oldestBatch]),
      graph('Claims, lost leases of each device', [metrics.devices.claims], [metrics.devices.leasesLost]),
    ],
    [graph('Age of the streams’ records', Object.values(metrics.recordAge))],
    ...Object.entries(metrics.queues).map(([name, { waiting, age, deadLetters }]) => [
      graph(`${name}: messages waiting`, [waiting]),
      graph(`${name}: age of the oldest message`, [age]),
      graph(`${name}: dead letters`, [deadLetters]),
    ]),
  ];
}
