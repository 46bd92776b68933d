/** Every alarm: what it watches, what it means, what to do. The stack and the runbook read it. */

import { Duration } from 'aws-cdk-lib';
import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import { type QueueName, queues } from '../../functions/queues.ts';
import { type StreamConsumerName, type TableName, tables } from '../../functions/tables.ts';
import { capitalize } from './service-function.ts';
import { period, scarceShare, streamConsumers, type WatchedMetrics } from './watched-metrics.ts';

/**
 * A log: the gateway's access log and its log of its own errors; one of each kind of functions:
 * of routes, consumers, schedules, the authorizer, the rotation of the key. Each is an output.
 */
export type LogName = 'gateway' | 'gatewayErrors' | 'functions' | 'consumers' | 'schedules' | 'authorizer' | 'rotation';

/**
 * The alarm goes off when `metric` is at `threshold` or above in each of `periods` successive
 * periods.
 */
export interface AlarmDescription {
  readonly metric: (metrics: WatchedMetrics) => IMetric;
  readonly threshold: number;
  /** What the threshold counts: seconds, milliseconds, or the name of what happened. */
  readonly unit: string;
  /** 1 unless given. */
  readonly periods?: number;
  /** Goes off also in a period without any value. */
  readonly isBreachingWithoutData?: true;
  readonly meaning: string;
  readonly remedy: string;
  /** The folder of its queries, where alarms share them; otherwise its own name. */
  readonly folder?: string;
  /** What to ask in Logs Insights, by the log that is asked. */
  readonly queries: Readonly<Partial<Record<LogName, string>>>;
}

type Alarms = Readonly<Record<string, AlarmDescription>>;

const gatewayErrors = `fields @timestamp, @message
| filter @message like /(?i)(error|fail)/
| sort @timestamp desc
| limit 100`;

/** What a function's log and Lambda's own report say of calls that failed. */
const failedCalls = (...fields: readonly string[]) =>
  `filter level = "ERROR" or (type = "platform.report" and record.status != "success")
| fields @timestamp, ${fields.join(', ')}
| sort @timestamp desc
| limit 50`;

/** The time of the functions, by caller and route. */
const callsByRoute = `filter ispresent(integrationLatency)
| stats sum(integrationLatency) / 1000 as seconds, count(*) as calls by userId, route
| sort seconds desc
| limit 50`;

/** Calls of all callers together that a person should know about. */
export const alarmingCallsPerSecond = 100;

const answers: Alarms = {
  ServerErrors: {
    metric: ({ serverErrors }) => serverErrors,
    threshold: 5,
    unit: 'answers of 5xx',
    meaning: 'The API answers 5xx.',
    remedy:
      'The query `functions` shows the causes. A request that only `gateway` shows did not reach a function (see `LambdaThrottles`), or its function crashed or ran out of time. After `CorruptData`, `OutdatedColumns` and `StuckCondition`, whose message names the item, run `npm run repair`. If AWS times out, check its health page; callers retry by themselves.',
    queries: {
      gateway: `filter status like /^5/
| stats count(*) as answers, latest(@timestamp) as last by status, route, responseType, error, integrationError
| sort answers desc`,
      functions: `filter status >= 500
| fields @timestamp, request_id, user_id, route, status, error.name, error.message, error.cause.name
| sort @timestamp desc
| limit 100`,
      gatewayErrors,
    },
  },
  Latency: {
    metric: ({ slowShare }) => slowShare,
    threshold: 1,
    unit: 'slow requests in a hundred',
    periods: 3,
    meaning:
      'One request in a hundred takes 3 s or longer. Tests of webhooks, which wait for their receivers, do not count.',
    remedy:
      'The query `functions` shows the slowest: look for one user with very many rows, or with rows that are written all the time.',
    queries: {
      gateway: `stats count(*) as requests, pct(latency, 99) as p99, pct(integrationLatency, 99) as p99OfFunction by route
| sort p99 desc`,
      functions: `filter ispresent(ReadUnits)
| stats count(*) as requests, max(Latency) as slowest, max(ReadUnits) as readUnits, sum(stale_reads) as staleReads by user_id, route, plan
| sort slowest desc
| limit 50`,
    },
  },
  DatabaseBusy: {
    metric: ({ databaseBusy }) => databaseBusy,
    threshold: 20,
    unit: 'answers of 429',
    meaning: 'Callers get 429 because DynamoDB throttles, or because their change did not end in time.',
    remedy:
      'The query `functions` shows who. One user: many writes at once of one user take turns; to slow that user down, see the alarms on throttled tables. All users: look at these alarms and at AWS’s health page. The stage’s throttle is no alarm, since anyone can reach it: the dashboard shows it. If it hits all callers, raise `throttle` in `infra/stack/stages.ts`.',
    queries: {
      functions: `filter reason = "busy" or reason = "unfinished"
| stats count(*) as answers, latest(@timestamp) as last by user_id, route, reason
| sort answers desc
| limit 50`,
    },
  },
  LambdaThrottles: {
    metric: (metrics) => metrics.scarceThrottles,
    threshold: 1,
    unit: 'throttled calls',
    meaning:
      'Lambda throttles functions, and hardly any environment is left that the account has not reserved: requests get 500, events wait. Functions that have environments of their own may be throttled at any time; that alone does not count.',
    remedy: 'As for `LambdaConcurrency`.',
    folder: 'LambdaConcurrency',
    queries: { gateway: callsByRoute },
  },
  LambdaConcurrency: {
    metric: (metrics) => metrics.unreservedShare,
    threshold: scarceShare,
    unit: '% of the environments that are not reserved',
    periods: 2,
    meaning: 'The functions of the account have hardly any environment left, apart from reserved ones.',
    remedy:
      'The query `gateway` shows which users take the most time. One user: see `Calls`. A function of another stack: reserve some for it, which bounds it. Otherwise ask AWS for more: `aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 2000`.',
    queries: { gateway: callsByRoute },
  },
  Calls: {
    metric: ({ requests }) => requests,
    threshold: alarmingCallsPerSecond * period.toSeconds(),
    unit: 'calls',
    meaning: `The API gets ${alarmingCallsPerSecond} calls a second. docs/guides/operating.md says what they may cost.`,
    remedy:
      'The query `gateway` shows who calls, from where and what. A user: disable the account at the issuer (tokens are valid for up to an hour). Anyone: give each caller a rate of its own, by a web ACL (docs/guides/operating.md). If this is usual, raise `alarmingCallsPerSecond` in `infra/stack/alarms.ts`.',
    queries: {
      gateway: `stats count(*) as calls, latest(@timestamp) as last by userId, ip, route
| sort calls desc
| limit 50`,
    },
  },
};

const tokens: Alarms = {
  AuthorizerErrors: {
    metric: ({ authorizerFailures }) => authorizerFailures,
    threshold: 1,
    unit: 'failed requests',
    meaning: 'The authorizer fails, so valid tokens get 5xx.',
    remedy:
      'The query `authorizer` shows why: the issuer does not answer and no keys are cached, or the configuration is wrong.',
    queries: {
      gateway: `filter responseType like /^AUTHORIZER_/
| stats count(*) as answers by responseType, error`,
      gatewayErrors,
      authorizer: `filter outcome = "failed"
| fields @timestamp, JwksAge, error.name, error.message
| sort @timestamp desc
| limit 50`,
    },
  },
  JwksAge: {
    metric: ({ jwksAge }) => jwksAge,
    threshold: Duration.minutes(30).toSeconds(),
    unit: 'seconds',
    periods: 2,
    meaning: 'The token issuer’s keys cannot be fetched; old keys are used for at most 6 hours.',
    remedy: 'Make `JWKS_URI` reachable before the 6 hours end.',
    queries: {
      authorizer: `filter ispresent(JwksAge)
| stats max(JwksAge) as seconds, count(*) as tokens by outcome, bin(5m)`,
    },
  },
};

const devices: Alarms = {
  UnclaimedWork: {
    metric: (metrics) => metrics.devices.unclaimed,
    threshold: 1,
    unit: 'devices',
    periods: 3,
    meaning: 'Batches wait for a device, and no worker takes any.',
    remedy:
      'The query `schedules` shows for which device (`unclaimed` 1) and since when. The query `gateway` shows its workers’ calls: none (the machine is down, or cannot reach the API), or calls with 401 and 403 (its token). Batches keep their places until a worker comes.',
    queries: {
      gateway: `filter route like "/claim" or route like "/leases/"
| stats count(*) as calls, latest(@timestamp) as last by userId, route, status
| sort last desc`,
      schedules: `filter ispresent(QueueLength)
| stats min(Unclaimed) as unclaimed, max(QueueLength) as batches, max(OldestBatch) as oldestSeconds by device_type, bin(5m)
| sort unclaimed desc, oldestSeconds desc`,
    },
  },
  LeasesLost: {
    metric: (metrics) => metrics.devices.allLeasesLost,
    threshold: 2,
    unit: 'lost leases',
    periods: 2,
    meaning: 'Workers repeatedly die or send no heartbeat for 60 s. Their batches are taken over: nothing is lost.',
    remedy:
      'The query `functions` shows the workers and their batches. One worker: check its machine, connection and memory. One batch: its job kills workers, and becomes ERROR after three of them. All workers: check the API (`ServerErrors`, `DatabaseBusy`).',
    queries: {
      functions: `filter ispresent(LeasesLost)
| stats sum(LeasesLost) as lost, latest(@timestamp) as last by device_type, lost_worker, batch_id
| sort last desc
| limit 100`,
    },
  },
};

const webhookKey: Alarms = {
  WebhookKeyErrors: {
    metric: ({ rotationErrors }) => rotationErrors,
    threshold: 1,
    unit: 'errors',
    isBreachingWithoutData: true,
    meaning:
      'The key that signs webhooks could not be changed, or its public key could not be published, or the function for both does not run. It should run every minute.',
    remedy:
      'In the first minutes of the first deployment, before the first run, ignore it. The query `rotation` shows the cause. Meanwhile the present key signs webhooks. After a failed rotation: `aws secretsmanager rotate-secret --secret-id $WEBHOOK_KEY_ARN`. If the function does not run: look at the rule `WebhookKeyEveryMinute…` (`aws events list-rules`) and at `LambdaThrottles`.',
    queries: {
      rotation: `fields @timestamp, errorType, errorMessage
| filter ispresent(errorMessage)
| sort @timestamp desc
| limit 20`,
    },
  },
};

const schedules: Alarms = {
  MeasureQueuesErrors: {
    metric: ({ scheduleErrors }) => scheduleErrors.measureQueues,
    threshold: 3,
    unit: 'errors',
    isBreachingWithoutData: true,
    meaning:
      'The queues of devices cannot be measured, or are not measured at all, so `UnclaimedWork` may miss something. The function should run every minute.',
    remedy:
      'In the first minutes of the first deployment, before the first run, ignore it. The query `schedules` shows why it fails. If it does not run: look at the rule `SchedulesEveryMinute…` (`aws events list-rules`) and at `LambdaThrottles`.',
    queries: {
      schedules: failedCalls(
        'device_type',
        'error.name',
        'error.message',
        'record.status',
        'errorType',
        'errorMessage',
      ),
    },
  },
};

type ConsumerName = keyof WatchedMetrics['consumerErrors'];

/** The functions that queues and streams feed. */
const consumers = [
  ...new Set<ConsumerName>([...Object.values(queues).map(({ consumer }) => consumer.function), ...streamConsumers]),
];

function errorsOf(consumer: ConsumerName): AlarmDescription {
  return {
    metric: ({ consumerErrors }) => consumerErrors[consumer],
    threshold: 3,
    unit: 'errors',
    meaning: 'This function fails as a whole or runs out of time, so its messages wait.',
    remedy: 'The query `consumers` shows why. The messages are delivered again: nothing is lost.',
    queries: {
      consumers: failedCalls('@logStream', 'messages', 'failed', 'record.status', 'errorType', 'errorMessage'),
    },
  };
}

function recordAgeOf(consumer: StreamConsumerName): AlarmDescription {
  return {
    metric: ({ recordAge }) => recordAge[consumer],
    threshold: Duration.minutes(15).toMilliseconds(),
    unit: 'milliseconds',
    meaning: 'This function is behind with the records of a table’s stream.',
    remedy:
      'The query `consumers` shows why. Streams keep records for 24 hours. After 12 hours the function gives up a failing record, and a dead letter says where in the stream it is.',
    queries: {
      consumers: failedCalls(
        ...['@logStream', 'messages', 'failed', 'faults.0.error.name', 'faults.0.error.message'],
        ...['record.status', 'errorMessage'],
      ),
    },
  };
}

function throttlesOf(table: TableName): AlarmDescription {
  return {
    metric: ({ tableThrottles }) => tableThrottles[table],
    threshold: 10,
    unit: 'throttled reads and writes',
    meaning: 'DynamoDB throttles this table or one of its indexes.',
    folder: 'TableThrottles',
    remedy:
      'The query `functions` shows which users call most, `consumers` which users’ events fail. One user is one partition (1,000 write units and 3,000 read units a second). To slow that user down, an operator sends `PUT /api/v1/limits/user:ID` with `{"creations_per_minute": 10}` (docs/guides/laboratory.md).',
    queries: {
      functions: `filter ispresent(calls)
| stats sum(ReadUnits) as readUnits, sum(WriteUnits) as writeUnits, count(*) as requests by user_id, route
| sort readUnits desc
| limit 50`,
      consumers: `filter ispresent(faults.0.user_id)
| stats count(*) as calls by faults.0.user_id, faults.0.error.name
| sort calls desc
| limit 50`,
    },
  };
}

function deadLettersOf(queue: QueueName): AlarmDescription {
  return {
    metric: (metrics) => metrics.queues[queue].deadLetters,
    threshold: 1,
    unit: 'dead letters',
    meaning: 'A message of this queue could not be handled and waits in its dead-letter queue.',
    remedy:
      'Read `reason` on the message: `aws sqs receive-message --message-attribute-names All`. For a batch to recover, the query `consumers` shows the cause. Correct the sender and send the event again (under the same id after 5 minutes), or move all messages back once the cause is gone: `aws sqs start-message-move-task` with the queue as `--destination-arn`, since the consumer sent most dead letters itself. A message with `DDBStreamBatchInfo` is about stream records that were given up: delete it. Receivers of webhooks were not called about these rows; `npm run repair -- --fix` repairs everything else.',
    queries: {
      consumers: `filter ispresent(faults.0.message_id)
| fields @timestamp, function, faults.0.message_id, faults.0.disposition, faults.0.error.name, faults.0.error.message, failed, messages
| sort @timestamp desc
| limit 50`,
    },
  };
}

function ageOf(queue: QueueName): AlarmDescription {
  return {
    metric: (metrics) => metrics.queues[queue].age,
    threshold: queues[queue].alarmSeconds,
    unit: 'seconds',
    meaning: 'Messages of this queue wait longer than they should.',
    remedy:
      'Look at the query `consumers` and at the alarms on errors of consumers and on throttled tables. If an event waits for its batch or job, the sender has not sent the event that creates it.',
    queries: {
      consumers: `filter ispresent(EventAge)
| stats max(EventAge) as oldest, sum(messages) as received, sum(failed) as failures by function, bin(5m)`,
    },
  };
}

function ofEach<Name extends string>(
  names: readonly Name[],
  suffix: string,
  describeOne: (name: Name) => AlarmDescription,
): Alarms {
  return Object.fromEntries(names.map((name) => [`${capitalize(name)}${suffix}`, describeOne(name)]));
}

const tableNames = Object.keys(tables) as TableName[];
const queueNames = Object.keys(queues) as QueueName[];

/** Every alarm by its name. */
export const alarms: Alarms = {
  ...answers,
  ...tokens,
  ...devices,
  ...webhookKey,
  ...schedules,
  ...ofEach(consumers, 'Errors', errorsOf),
  ...ofEach(streamConsumers, 'Age', recordAgeOf),
  ...ofEach(tableNames, 'Throttles', throttlesOf),
  ...ofEach(queueNames, 'DeadLetters', deadLettersOf),
  ...ofEach(queueNames, 'Age', ageOf),
};
