import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { userResultsPrefix } from '../../functions/values/results-key.ts';
import { aws, outputReader, stackOutputs } from '../commands/aws-cli.ts';
import { eventMessage } from '../commands/event-message.ts';
import { call } from './api-client.ts';
import { clientToken } from './client-token.ts';
import { type Deployment, type LifecycleEvent, type LogLine, NotHere, userOf } from './deployment.ts';
import { eventually } from './eventually.ts';
import { jobHistory } from './job-history.ts';
import { stackConcurrency } from './stack-concurrency.ts';

/** What is uploaded as the results of a job. */
const resultsFile = join(import.meta.dirname, 'results.json');

/** How long a results link is valid, and a little. */
const linkMilliseconds = 305_000;

type Output = (name: string) => string;

/**
 * A stack on AWS, by its outputs; the AWS CLI makes the calls, with its usual region and
 * credentials.
 */
export async function awsDeployment(stack: string, token: string): Promise<Deployment> {
  const outputs = await stackOutputs(stack);
  const output = await outputReader(stack);
  const deployment = {
    name: `the stack ${stack}`,
    apiUrl: output('ApiUrl'),
    token,
    userId: userOf(token),
    patience: 1,
  };
  return {
    ...deployment,
    async deviceToken() {
      if (!outputs.has('MachineClientId')) throw new NotHere('the stack has no client for machines of all types');
      return deviceToken(output);
    },
    sendEvents: (events) => sendEvents(output('EventsQueueUrl'), events),
    deadLetterReason: (eventId) => takeDeadLetter(output('EventsDeadLettersUrl'), eventId),
    jobWithResults: () => createJobWithResults(deployment, output),
    linksHaveEnded: (since) => wait(Math.max(0, since + linkMilliseconds - Date.now())),
    functionLogLine: (requestId) => findLine(output('FunctionsLog'), `{ $.request_id = "${requestId}" }`),
    accessLogLine: (requestId) => findLine(output('GatewayLog'), `{ $.requestId = "${requestId}" }`),
    hasMetric: (name) => hasMetric(stack, name),
    runSavedQueries: () => runSavedQueries(stack),
    async concurrency() {
      const { AccountLimit: limit } = await aws('lambda', 'get-account-settings');
      const { TemplateBody } = await aws('cloudformation', 'get-template', '--stack-name', stack);
      return {
        account: limit.ConcurrentExecutions,
        unreserved: limit.UnreservedConcurrentExecutions,
        stack: stackConcurrency(TemplateBody),
      };
    },
    raiseAlarm: () => raiseAlarm(stack, output('AlarmTopic')),
  };
}

async function deviceToken(output: Output): Promise<string> {
  const clientId = output('MachineClientId');
  const ids = ['--user-pool-id', output('UserPoolId'), '--client-id', clientId];
  const { UserPoolClient } = await aws('cognito-idp', 'describe-user-pool-client', ...ids);
  return clientToken(output('TokenEndpoint'), clientId, UserPoolClient.ClientSecret);
}

async function sendEvents(queueUrl: string, events: readonly LifecycleEvent[]) {
  for (const event of events) {
    const { body, groupId, deduplicationId } = eventMessage(event);
    await aws(
      ...['sqs', 'send-message', '--queue-url', queueUrl, '--message-body', body],
      ...['--message-group-id', groupId, '--message-deduplication-id', deduplicationId],
    );
  }
}

/** Takes the letter out of the queue, and leaves all others there. Returns its reason. */
async function takeDeadLetter(queueUrl: string, eventId: string): Promise<string | undefined> {
  const queue = ['--queue-url', queueUrl];
  const { Messages = [] } = await aws(
    ...['sqs', 'receive-message', ...queue, '--max-number-of-messages', '10', '--visibility-timeout', '2'],
    ...['--wait-time-seconds', '5', '--message-attribute-names', 'All'],
  );
  const letter = Messages.find(({ Body }: { Body: string }) => Body.includes(eventId));
  if (letter === undefined) return undefined;
  await aws('sqs', 'delete-message', ...queue, '--receipt-handle', letter.ReceiptHandle);
  return letter.MessageAttributes?.reason?.StringValue;
}

async function createJobWithResults(deployment: Pick<Deployment, 'apiUrl' | 'token' | 'userId'>, output: Output) {
  const keyOf = (jobId: string) => `${userResultsPrefix(deployment.userId)}${jobId}.json`;
  const { jobId, created, done } = jobHistory(deployment.userId, keyOf);
  await aws(
    ...['s3api', 'put-object', '--bucket', output('ResultsBucket'), '--key', keyOf(jobId)],
    ...['--content-type', 'application/json', '--body', resultsFile],
  );
  await sendEvents(output('EventsQueueUrl'), [created, done]);
  await eventually(60, async () => {
    const { body } = await call(deployment, `/api/v2/jobs?id=${jobId}&status=DONE`);
    return body.data.length === 1;
  });
  return jobId;
}

async function findLine(logGroup: string, pattern: string): Promise<LogLine | undefined> {
  const start = String(Date.now() - 900_000);
  const { events } = await aws(
    ...['logs', 'filter-log-events', '--log-group-name', logGroup],
    ...['--start-time', start, '--filter-pattern', pattern],
  );
  return events[0] && JSON.parse(events[0].message);
}

async function hasMetric(stack: string, name: string): Promise<boolean> {
  const { Datapoints } = await aws(
    ...['cloudwatch', 'get-metric-statistics', '--namespace', stack, '--metric-name', name],
    ...['--start-time', new Date(Date.now() - 3_600_000).toISOString(), '--end-time', new Date().toISOString()],
    ...['--period', '300', '--statistics', 'SampleCount'],
  );
  return Datapoints.length > 0;
}

async function runSavedQueries(stack: string): Promise<string[]> {
  const { queryDefinitions } = await aws(
    ...['logs', 'describe-query-definitions', '--query-definition-name-prefix', `${stack}/`],
  );
  for (const { name, queryString, logGroupNames } of queryDefinitions) {
    const now = Math.floor(Date.now() / 1000);
    const { queryId } = await aws(
      ...['logs', 'start-query', '--start-time', String(now - 3600), '--end-time', String(now)],
      ...['--query-string', queryString, '--log-group-names', ...logGroupNames],
    );
    await eventually(30, async () => {
      const { status } = await aws('logs', 'get-query-results', '--query-id', queryId);
      if (status === 'Failed' || status === 'Timeout') throw new Error(`The query ${name} ends as ${status}.`);
      return status === 'Complete';
    });
  }
  return queryDefinitions.map(({ name }: { name: string }) => name);
}

async function raiseAlarm(stack: string, topic: string) {
  const { MetricAlarms } = await aws('cloudwatch', 'describe-alarms', '--alarm-name-prefix', `${stack}-`);
  const { AlarmName: name } = MetricAlarms.find(({ AlarmActions }: { AlarmActions: string[] }) =>
    AlarmActions.includes(topic),
  );
  const since = new Date().toISOString();
  await aws(
    ...['cloudwatch', 'set-alarm-state', '--alarm-name', name, '--state-value', 'ALARM'],
    ...['--state-reason', 'Smoke test: nothing is wrong.'],
  );
  await eventually(60, async () => {
    const { AlarmHistoryItems } = await aws(
      ...['cloudwatch', 'describe-alarm-history', '--alarm-name', name],
      ...['--history-item-type', 'Action', '--start-date', since],
    );
    const [summary] = AlarmHistoryItems.map(({ HistorySummary }: { HistorySummary: string }) => HistorySummary);
    if (summary?.startsWith('Failed')) throw new Error(summary);
    return summary;
  });
}
