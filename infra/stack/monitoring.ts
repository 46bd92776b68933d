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
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { CfnQueryDefinition, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { createAlarmTopic } from './alarm-topic.ts';
import { type AlarmDescription, alarms, type LogName } from './alarms.ts';
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
  readonly logs: Logs;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    this.topic = createAlarmTopic(this, props.settings);
    if (props.alarmEmail !== undefined) this.topic.addSubscription(new EmailSubscription(props.alarmEmail));
    const metrics = watchMetrics(props);
    this.logs = logsOf(props);
    const action = new SnsAction(this.topic);
    const created = Object.entries(alarms).map(([name, description]) => {
      const alarm = createAlarm(this, name, { description, metrics });
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
      return alarm;
    });
    const folders = Object.entries(alarms).map(([name, { folder = name, queries }]) => [folder, queries] as const);
    for (const [folder, queries] of new Map(folders)) saveQueries(this, folder, { queries, logs: this.logs });
    new Dashboard(this, 'Dashboard', { defaultInterval: Duration.hours(6), widgets: widgets(props, metrics, created) });
  }
}

type Logs = Readonly<Record<LogName, ILogGroup>>;

function logsOf({ api, consumers, schedules, webhookKey }: WatchedParts): Logs {
  return {
    gateway: api.accessLog,
    gatewayErrors: api.errorLog,
    functions: api.functionsLog,
    consumers: consumers.log,
    schedules: schedules.log,
    authorizer: api.authorizerLog,
    rotation: webhookKey.log,
  };
}

interface AlarmProps {
  readonly description: AlarmDescription;
  readonly metrics: WatchedMetrics;
}

function createAlarm(scope: Construct, name: string, { description, metrics }: AlarmProps): Alarm {
  const { metric, threshold, periods = 1, isBreachingWithoutData, meaning, remedy } = description;
  return new Alarm(scope, name, {
    metric: metric(metrics),
    threshold,
    evaluationPeriods: periods,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: isBreachingWithoutData ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    alarmDescription: `${meaning} ${remedy}`,
  });
}

interface QueryProps {
  readonly queries: AlarmDescription['queries'];
  readonly logs: Logs;
}

/** Saved as `Stack/Folder/log`: Logs Insights shows the parts as folders. */
function saveQueries(scope: Construct, folder: string, { queries, logs }: QueryProps) {
  for (const [name, queryString] of Object.entries(queries)) {
    new CfnQueryDefinition(scope, `${folder}Query${capitalize(name)}`, {
      name: `${Stack.of(scope).stackName}/${folder}/${name}`,
      logGroupNames: [logs[name as LogName].logGroupName],
      queryString,
    });
  }
}

/** The tables that a busy hour fills. */
const busyTables = ['Batches', 'Jobs', 'Columns', 'DeviceQueue'] as const;

/**
 * Rows of the dashboard: alarms, the API, functions and the database, the devices, streams and
 * keys, a row for each queue.
 *
 * A dashboard that references up to 50 metrics is free, three of them in an account
 * (aws.amazon.com/cloudwatch/pricing). So no graph has a metric for each function: an alarm's own
 * page shows that of its function. Graphs of devices search for theirs, four for each type.
 */
function widgets({ storage }: WatchedParts, metrics: WatchedMetrics, created: Alarm[]): IWidget[][] {
  const graph = (title: string, left: IMetric[], right: IMetric[] = []) =>
    new GraphWidget({ title, left, right, width: 8, height: 6 });
  const ofBusyTables = (metric: (table: Table) => Metric) =>
    busyTables.map((name) => metric(storage.tables[name]).with({ label: name }));
  return [
    [new AlarmStatusWidget({ title: 'Alarms', alarms: created, width: 24, height: 3 })],
    [
      graph('Requests, errors', [metrics.requests, metrics.clientErrors, metrics.serverErrors]),
      graph('Latency', [metrics.p50, metrics.p99]),
      graph('429 of the stage, 429 of the database, authorizer failures', [
        metrics.throttled,
        metrics.databaseBusy,
        metrics.authorizerFailures,
      ]),
    ],
    [
      graph('Errors and throttles of all functions of the account', [metrics.lambdaErrors, metrics.allLambdaThrottles]),
      graph(
        'Capacity read, capacity written',
        ofBusyTables((table) => table.metricConsumedReadCapacityUnits({ period })),
        ofBusyTables((table) => table.metricConsumedWriteCapacityUnits({ period })),
      ),
      graph('Read units of the most expensive list', metrics.readUnits),
    ],
    [
      graph('Batches in the queue of each device', [metrics.devices.queueLength]),
      graph('Age of the oldest batch that waits for each device', [metrics.devices.oldestBatch]),
      graph('Claims, lost leases of each device', [metrics.devices.claims], [metrics.devices.leasesLost]),
    ],
    [
      graph('Age of the streams’ records', Object.values(metrics.recordAge)),
      graph('Age of the issuer’s keys', [metrics.jwksAge]),
    ],
    ...Object.entries(metrics.queues).map(([name, { waiting, age, deadLetters }]) => [
      graph(`${name}: messages waiting`, [waiting]),
      graph(`${name}: age of the oldest message`, [age]),
      graph(`${name}: dead letters`, [deadLetters]),
    ]),
  ];
}
