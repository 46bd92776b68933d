import { describe, expect, it } from 'vitest';
import { type QueueDescription, queues } from '../../functions/queues.ts';
import { type TableDescription, tables } from '../../functions/tables.ts';
import { countAlarmMetrics } from '../../infra/docs/usage-costs.ts';
import { alarms as described } from '../../infra/stack/alarms.ts';
import { queryFields } from '../support/query-fields.ts';
import { synthesize } from '../support/synthesize.ts';

const { ofType, one, readable, outputs } = await synthesize();
const alarm = (name: string) => one('AWS::CloudWatch::Alarm', `Monitoring/${name}`).properties;

type Row = readonly [name: string, metric: string, threshold: number, periods: number];

/** Environments in use of a hundred that are not reserved. */
const share = '100 * unreserved / (SERVICE_QUOTA(used) - claimed + unreserved)';
const concurrency = ['ConcurrentExecutions', 'UnreservedConcurrentExecutions', 'ClaimedAccountConcurrency']
  .map((name) => `Maximum of AWS/Lambda ${name}`)
  .join(', ');

/** Name, metric, threshold, and periods of five minutes. */
const alarms: readonly Row[] = [
  ['ServerErrors', 'Sum of AWS/ApiGateway 5XXError', 5, 1],
  [
    'Latency',
    '100 * FILL(slow, 0) / requests: Sum of QuantumBatchApi-dev SlowCalls, SampleCount of AWS/ApiGateway Count',
    1,
    3,
  ],
  ['DatabaseBusy', 'Sum of QuantumBatchApi-dev DatabaseBusy', 20, 1],
  ['AuthorizerErrors', 'Sum of QuantumBatchApi-dev AuthorizerFailures', 1, 1],
  ['JwksAge', 'Maximum of QuantumBatchApi-dev JwksAge', 1_800, 2],
  ['LambdaThrottles', `IF(${share} >= 80, throttles, 0): Sum of AWS/Lambda Throttles, ${concurrency}`, 1, 1],
  ['LambdaConcurrency', `${share}: ${concurrency}`, 80, 2],
  ['Calls', 'SampleCount of AWS/ApiGateway Count', 30_000, 1],
  ['UnclaimedWork', 'Minimum of QuantumBatchApi-dev UnclaimedDevices', 1, 3],
  ['LeasesLost', 'Sum of QuantumBatchApi-dev AllLeasesLost', 2, 2],
  ['MeasureQueuesErrors', 'Sum of AWS/Lambda Errors', 3, 1],
  ['WebhookKeyErrors', 'Sum of AWS/Lambda Errors', 1, 1],
  ['EnqueueWebhooksAge', 'Maximum of AWS/Lambda IteratorAge', 900_000, 1],
  ['SealSegmentsAge', 'Maximum of AWS/Lambda IteratorAge', 900_000, 1],
  ...consumers().map((name) => [`${name}Errors`, 'Sum of AWS/Lambda Errors', 3, 1] as const),
  ...Object.entries<TableDescription>(tables).map(([name, { indexes }]) => {
    const sums = ['table', ...Object.keys(indexes)].flatMap(() => [
      'Sum of AWS/DynamoDB ReadThrottleEvents',
      'Sum of AWS/DynamoDB WriteThrottleEvents',
    ]);
    return [`${name}Throttles`, `SUM(METRICS()): ${sums.join(', ')}`, 10, 1] as const;
  }),
  ...Object.entries<QueueDescription>(queues).flatMap(([name, { alarmSeconds }]) => [
    [`${name}DeadLetters`, 'Maximum of AWS/SQS ApproximateNumberOfMessagesVisible', 1, 1] as const,
    [
      `${name}Age`,
      `MAX([FILL(ofQueue, 0), FILL(received, 0)]): Maximum of AWS/SQS ApproximateAgeOfOldestMessage, Maximum of QuantumBatchApi-dev EventAge-${name}`,
      alarmSeconds,
      1,
    ] as const,
  ]),
];

function consumers() {
  const names = new Set([
    ...Object.values<QueueDescription>(queues).map(({ consumer }) => consumer.function),
    ...Object.values<TableDescription>(tables).flatMap(({ stream }) => stream?.consumer ?? []),
  ]);
  return Array.from(names, (name) => `${name[0]!.toUpperCase()}${name.slice(1)}`);
}

interface MetricProperties {
  readonly Metrics?: readonly { Expression?: string; MetricStat?: { Metric: MetricProperties; Stat: string } }[];
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly Statistic?: string;
  readonly ExtendedStatistic?: string;
}

function describeMetric({ Metrics, Namespace, MetricName, Statistic, ExtendedStatistic }: MetricProperties): string {
  if (Metrics === undefined) return `${Statistic ?? ExtendedStatistic} of ${Namespace} ${MetricName}`;
  const parts = Metrics.flatMap(({ MetricStat }) =>
    MetricStat === undefined ? [] : [describeMetric({ ...MetricStat.Metric, Statistic: MetricStat.Stat })],
  );
  return `${Metrics.find(({ Expression }) => Expression !== undefined)?.Expression}: ${parts.join(', ')}`;
}

/** Of functions that the clock calls every minute. */
const everyMinute = ['MeasureQueuesErrors', 'WebhookKeyErrors'];

describe('the alarms', () => {
  it('go off at these values of these metrics', () => {
    const watched = alarms.map(([name]) => {
      const properties = alarm(name);
      const stats = properties.Metrics?.flatMap((each: { MetricStat?: { Period: number } }) => each.MetricStat ?? []);
      const seconds = new Set(stats?.map(({ Period }: { Period: number }) => Period) ?? [properties.Period]);
      expect([...seconds], name).toEqual([300]);
      expect(properties, name).not.toHaveProperty('DatapointsToAlarm');
      expect(properties, name).toMatchObject({
        ComparisonOperator: 'GreaterThanOrEqualToThreshold',
        // A function that does not run has no value.
        TreatMissingData: everyMinute.includes(name) ? 'breaching' : 'notBreaching',
      });
      return [name, describeMetric(properties), properties.Threshold, properties.EvaluationPeriods];
    });
    expect(watched).toEqual(alarms);
  });

  it('are these, and report to the topic when they go off and when they end', () => {
    const built = ofType('AWS::CloudWatch::Alarm');
    expect(built.map(({ path }) => path).sort()).toEqual(alarms.map(([name]) => `Monitoring/${name}`).sort());
    for (const { properties } of built) {
      expect(properties.AlarmActions.map(readable)).toEqual(['Monitoring/Topic']);
      expect(properties.OKActions.map(readable)).toEqual(['Monitoring/Topic']);
      expect(properties.AlarmDescription).toMatch(/^[A-Z].+\. [A-Z].+\.$/);
    }
  });

  it('watch as many metrics as the costs count', () => {
    const watched = ofType('AWS::CloudWatch::Alarm').map(({ properties }) =>
      properties.Metrics === undefined
        ? 1
        : properties.Metrics.filter(({ MetricStat }: { MetricStat?: unknown }) => MetricStat !== undefined).length,
    );
    expect(countAlarmMetrics()).toBe(watched.reduce((sum, count) => sum + count, 0));
  });

  it('watch each queue, its dead letters and its consumer', () => {
    const watched = Object.keys(queues).map((name) => {
      const [ofQueue] = alarm(`${name}Age`).Metrics.flatMap((each: { MetricStat?: unknown }) => each.MetricStat ?? []);
      const dimensions = [alarm(`${name}DeadLetters`).Dimensions, ofQueue.Metric.Dimensions];
      return dimensions.map(([{ Value }]) => readable(Value));
    });
    expect(watched).toEqual(
      Object.keys(queues).map((name) => [`Queues/${name}DeadLetters.QueueName`, `Queues/${name}.QueueName`]),
    );
  });

  it('watch the function that they are named after', () => {
    const watched = [...consumers().map((name) => `${name}Errors`), 'EnqueueWebhooksAge', 'SealSegmentsAge'];
    expect(watched.map((name) => readable(alarm(name).Dimensions[0].Value))).toEqual(
      watched.map((name) => `Consumers/${name.replace(/(Errors|Age)$/, '')}`),
    );
  });

  it('WebhookKeyErrors watches the function that makes keys', () => {
    expect(readable(alarm('WebhookKeyErrors').Dimensions[0].Value)).toBe('WebhookKey/RotateWebhookKey');
  });

  it('on Lambda watch the whole account, whose concurrency all functions share', () => {
    for (const name of ['LambdaThrottles', 'LambdaConcurrency']) {
      const stats = alarm(name).Metrics.flatMap(
        ({ MetricStat }: { MetricStat?: { Metric: object } }) => MetricStat ?? [],
      );
      for (const { Metric } of stats) expect(Metric, name).not.toHaveProperty('Dimensions');
    }
  });
});

/** Where others write into the same log. */
function linesOf(name: string, log: string, path: string, field = name) {
  return [name, log, `{ $.function = "${path}" && $.${field} >= 0 }`, `$.${field}`];
}

describe('the metrics from the logs', () => {
  const filters = new Map(
    ofType('AWS::Logs::MetricFilter').map(({ properties }) => [
      properties.MetricTransformations[0].MetricName,
      properties,
    ]),
  );

  const logged = [
    [
      'SlowCalls',
      'Api/AccessLog',
      '{ ($.latency = %^[3-9][0-9][0-9][0-9]$% || $.latency = %^[0-9][0-9][0-9][0-9][0-9]$%) && $.route != "/api/v1/batches/{batch_id}/webhook/test" }',
      '1',
    ],
    ['Throttled', 'Api/AccessLog', '{ $.responseType = "THROTTLED" }', '1'],
    ['DatabaseBusy', 'Api/FunctionsLog', '{ $.reason = "busy" || $.reason = "unfinished" }', '1'],
    ['AuthorizerFailures', 'Api/AccessLog', '{ $.responseType = "AUTHORIZER_*" }', '1'],
    linesOf('JwksAge', 'Api/AuthorizerLog', 'Api/Authorizer'),
    linesOf('ReadUnits-listBatches', 'Api/FunctionsLog', 'Api/ListBatches', 'ReadUnits'),
    linesOf('ReadUnits-listJobs', 'Api/FunctionsLog', 'Api/ListJobs', 'ReadUnits'),
    ...['QueueLength', 'OldestBatch', 'UnclaimedDevices'].map((name) =>
      linesOf(name, 'Schedules/Log', 'Schedules/MeasureQueues'),
    ),
    linesOf('Claims', 'Api/FunctionsLog', 'Api/ClaimBatch'),
    linesOf('LeasesLost', 'Api/FunctionsLog', 'Api/ClaimBatch'),
    linesOf('AllLeasesLost', 'Api/FunctionsLog', 'Api/ClaimBatch', 'LeasesLost'),
    ...Object.entries<QueueDescription>(queues).map(([name, { consumer }]) => {
      const path = `Consumers/${consumer.function[0]!.toUpperCase()}${consumer.function.slice(1)}`;
      return linesOf(`EventAge-${name}`, 'Consumers/Log', path, 'EventAge');
    }),
  ];

  it('are read from these logs', () => {
    const read = logged.map(([name]) => {
      const { LogGroupName, FilterPattern, MetricTransformations } = filters.get(name);
      const [{ MetricNamespace, MetricValue }, ...others] = MetricTransformations;
      expect([MetricNamespace, ...others], name).toEqual(['QuantumBatchApi-dev']);
      return [name, readable(LogGroupName), readable(FilterPattern), MetricValue];
    });
    expect(read).toEqual(logged);
    expect([...filters.keys()].sort()).toEqual(logged.map(([name]) => name).sort());
  });

  it('are kept for each device where graphs show each', () => {
    const perDevice = [...filters].filter(([, { MetricTransformations }]) => MetricTransformations[0].Dimensions);
    expect(perDevice.map(([name]) => name).sort()).toEqual(['Claims', 'LeasesLost', 'OldestBatch', 'QueueLength']);
    for (const [, { MetricTransformations }] of perDevice) {
      expect(MetricTransformations[0].Dimensions).toEqual([{ Key: 'DeviceType', Value: '$.device_type' }]);
    }
  });

  it('are all read by an alarm or a graph', () => {
    const read = JSON.stringify([
      ofType('AWS::CloudWatch::Alarm'),
      one('AWS::CloudWatch::Dashboard', 'Monitoring/Dashboard'),
    ]);
    for (const name of filters.keys()) expect(read).toContain(name);
  });
});

describe('the saved queries', () => {
  const queries = ofType('AWS::Logs::QueryDefinition').map(({ properties }) => ({
    name: readable(properties.Name),
    logs: properties.LogGroupNames.map(readable) as string[],
    text: properties.QueryString as string,
  }));
  const accessLogFields = Object.keys(
    JSON.parse(ofType('AWS::ApiGateway::Stage')[0]!.properties.AccessLogSetting.Format),
  );

  it('are there for each alarm', () => {
    for (const [name, { folder = name, queries: own }] of Object.entries(described)) {
      for (const log of Object.keys(own)) {
        expect(queries.map((query) => query.name)).toContain(`QuantumBatchApi-dev/${folder}/${log}`);
      }
    }
  });

  it('name the users of a throttled table, also in the logs of consumers', () => {
    const ofTables = queries.filter(({ name }) => name.startsWith('QuantumBatchApi-dev/TableThrottles/'));
    expect(ofTables.map(({ name }) => name.split('/').at(-1))).toEqual(['functions', 'consumers']);
    for (const { text } of ofTables) expect(text).toContain('user_id');
  });

  it('ask the gateway by the fields that its access log has', () => {
    const ofGateway = queries.filter(({ name }) => name.endsWith('/gateway'));
    expect(ofGateway.length).toBeGreaterThan(3);
    for (const { logs, text } of ofGateway) {
      expect(logs).toEqual(['Api/AccessLog']);
      const used = queryFields(text);
      expect(used.length).toBeGreaterThan(0);
      for (const field of used) expect(accessLogFields).toContain(field);
    }
  });

  it('ask one log each, that of their name', () => {
    for (const { name, logs } of queries) {
      const log = name.split('/').at(-1)!;
      expect(logs, name).toEqual([readable(outputs[`${log[0]!.toUpperCase()}${log.slice(1)}Log`])]);
    }
  });
});

describe('the logs', () => {
  it('are one for each kind of function, and two of the gateway; each is among the outputs', () => {
    const ofOutputs = Object.entries(outputs).flatMap(([name, value]) =>
      name.endsWith('Log') ? [`${name} ${readable(value)}`] : [],
    );
    expect(ofOutputs).toEqual([
      'GatewayLog Api/AccessLog',
      'GatewayErrorsLog Api/ErrorLog',
      'FunctionsLog Api/FunctionsLog',
      'ConsumersLog Consumers/Log',
      'SchedulesLog Schedules/Log',
      'AuthorizerLog Api/AuthorizerLog',
      'RotationLog WebhookKey/Log',
    ]);
    const groups = ofType('AWS::Logs::LogGroup').map(({ path }) => path);
    expect(groups.sort()).toEqual(ofOutputs.map((each) => each.split(' ')[1]).sort());
  });
});

describe('the alarm topic', () => {
  it('is encrypted with a key that CloudWatch may use', () => {
    expect(readable(one('AWS::SNS::Topic', 'Monitoring/Topic').properties.KmsMasterKeyId)).toBe('Monitoring/TopicKey');
    const key = one('AWS::KMS::Key', 'Monitoring/TopicKey').properties;
    expect(key.EnableKeyRotation).toBe(true);
    expect(key.KeyPolicy.Statement).toContainEqual(
      expect.objectContaining({
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
      }),
    );
  });

  it('takes messages from CloudWatch of this account only, by TLS only', () => {
    const [policy] = ofType('AWS::SNS::TopicPolicy');
    expect(policy!.properties.PolicyDocument.Statement).toEqual([
      expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
      expect.objectContaining({
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      }),
    ]);
  });

  it('is among the outputs', () => {
    expect(readable(outputs.AlarmTopic)).toBe('Monitoring/Topic');
  });
});

describe('the dashboard', () => {
  const [dashboard, ...others] = ofType('AWS::CloudWatch::Dashboard');
  const { widgets } = JSON.parse(readable(dashboard!.properties.DashboardBody));
  const titles = widgets.map(({ properties }: { properties: { title: string } }) => properties.title);

  const metricsOf = (title: string): unknown[][] => widgets[titles.indexOf(title)].properties.metrics;

  /** Covers all device types. They are not known at the deployment. */
  function searchFor(name: string, statistic: string): string {
    return `SEARCH('{"QuantumBatchApi-dev",DeviceType} MetricName="${name}"', '${statistic}', 300)`;
  }

  function nameOf([first, name, , dimension]: unknown[]): string {
    if (typeof first === 'object') return (first as { expression: string }).expression;
    const queue = /^(.+)\.QueueName$/.exec(String(dimension))?.[1];
    return queue === undefined ? String(name) : `${name} of ${queue}`;
  }

  it('exists once, and shows the alarms and every graph', () => {
    expect(others).toEqual([]);
    expect(titles).toEqual([
      'Alarms',
      'Requests, errors',
      'Latency',
      '429 of the stage, 429 of the database, authorizer failures',
      'Errors and throttles of all functions of the account',
      'Capacity read, capacity written',
      'Read units of the most expensive list',
      'Batches in the queue of each device',
      'Age of the oldest batch that waits for each device',
      'Claims, lost leases of each device',
      'Age of the streams’ records',
      'Age of the issuer’s keys',
      ...Object.keys(queues).flatMap((name) => [
        `${name}: messages waiting`,
        `${name}: age of the oldest message`,
        `${name}: dead letters`,
      ]),
    ]);
  });

  const graphs: readonly (readonly [title: string, metrics: readonly string[]])[] = [
    ['Requests, errors', ['Count', '4XXError', '5XXError']],
    ['Latency', ['Latency', 'Latency']],
    ['429 of the stage, 429 of the database, authorizer failures', ['Throttled', 'DatabaseBusy', 'AuthorizerFailures']],
    ['Errors and throttles of all functions of the account', ['Errors', 'Throttles']],
    ['Read units of the most expensive list', ['ReadUnits-listBatches', 'ReadUnits-listJobs']],
    ['Age of the issuer’s keys', ['JwksAge']],
    ['Batches in the queue of each device', [searchFor('QueueLength', 'Maximum')]],
    ['Age of the oldest batch that waits for each device', [searchFor('OldestBatch', 'Maximum')]],
    ['Claims, lost leases of each device', [searchFor('Claims', 'Sum'), searchFor('LeasesLost', 'Sum')]],
    ['Age of the streams’ records', ['IteratorAge', 'IteratorAge']],
    ...Object.keys(queues).flatMap((name): [string, string[]][] => [
      [`${name}: messages waiting`, [`ApproximateNumberOfMessagesVisible of Queues/${name}`]],
      [`${name}: age of the oldest message`, ['MAX([FILL(ofQueue, 0), FILL(received, 0)])']],
      [`${name}: dead letters`, [`ApproximateNumberOfMessagesVisible of Queues/${name}DeadLetters`]],
    ]),
  ];

  it('shows under each title what that says', () => {
    const shown = graphs.map(([title]) => {
      const metrics = metricsOf(title).filter((metric) => (metric.at(-1) as { visible?: boolean }).visible !== false);
      return [title, metrics.map(nameOf)];
    });
    expect(shown).toEqual(graphs);
  });

  it('shows the tables that a busy hour fills', () => {
    const series = metricsOf('Capacity read, capacity written').map(
      (metric) => (metric.at(-1) as { label: string }).label,
    );
    const busy = ['Batches', 'Jobs', 'Columns', 'DeviceQueue'];
    expect(series).toEqual([...busy, ...busy]);
  });

  it('is free: it references at most 50 metrics, also with three device types', () => {
    const referenced: unknown[][] = widgets.flatMap(
      ({ properties }: { properties: { metrics?: unknown[][] } }) => properties.metrics ?? [],
    );
    const named = new Set(
      referenced.filter(([first]) => typeof first === 'string').map((metric) => JSON.stringify(metric.slice(0, -1))),
    );
    const searches = referenced.filter(([first]) => /SEARCH/.test(JSON.stringify(first)));
    expect(searches).toHaveLength(4);
    expect(named.size).toBeGreaterThan(30);
    expect(named.size + 3 * searches.length).toBeLessThanOrEqual(50);
  });
});
