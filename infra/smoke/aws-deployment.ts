import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { userResultsPrefix } from '../../functions/results-key.ts';
import { SetupProblem } from '../setup-problem.ts';
import { clientToken } from './client-token.ts';
import { type Deployment, type LifecycleEvent, type LogLine, NotHere, userOf } from './deployment.ts';
import { eventually } from './eventually.ts';

/** What is uploaded as the results of a job. */
const resultsFile = join(import.meta.dirname, 'results.json');

/** How long a results link is valid, and a little. */
const linkMilliseconds = 305_000;

/**
 * A stack on AWS, by its outputs; the AWS CLI makes the calls, with its usual region and
 * credentials.
 */
export async function awsDeployment(stack: string, token: string): Promise<Deployment> {
  const { Stacks } = await aws('cloudformation', 'describe-stacks', '--stack-name', stack);
  const outputs = new Map<string, string>(
    Stacks[0].Outputs.map((each: { OutputKey: string; OutputValue: string }) => [each.OutputKey, each.OutputValue]),
  );
  const output = (name: string) => {
    const value = outputs.get(name);
    if (value === undefined) throw new SetupProblem(`The stack ${stack} has no output ${name}.`);
    return value;
  };
  const userId = userOf(token);

  return {
    name: `the stack ${stack}`,
    apiUrl: output('ApiUrl'),
    token,
    userId,
    async deviceToken() {
      if (!outputs.has('MachineClientId')) throw new NotHere('the stack has no client for machines of all types');
      const ids = ['--user-pool-id', output('UserPoolId'), '--client-id', output('MachineClientId')];
      const { UserPoolClient } = await aws('cognito-idp', 'describe-user-pool-client', ...ids);
      return clientToken(output('TokenEndpoint'), output('MachineClientId'), UserPoolClient.ClientSecret);
    },
    sendEvents,
    deadLetterReason,
    async jobWithResults() {
      const jobId = randomUUID();
      const key = `${userResultsPrefix(userId)}${jobId}.json`;
      const object = ['s3api', 'put-object', '--bucket', output('ResultsBucket'), '--key', key] as const;
      await aws(...object, '--content-type', 'application/json', '--body', resultsFile);
      const time = new Date().toISOString();
      const event = (type: string, data: LifecycleEvent['data']) => ({
        id: randomUUID(),
        type,
        time,
        user_id: userId,
        data,
      });
      const batch = { id: randomUUID(), project_id: randomUUID(), device_type: 'EMU_FREE', queue_priority: 'LOW' };
      await sendEvents([
        event('batch.created', { ...batch, jobs: [{ id: jobId, runs: 1 }] }),
        event('job.updated', { job_id: jobId, status: 'DONE', results_key: key }),
      ]);
      await eventually(60, async () => {
        const answer = await fetch(`${output('ApiUrl')}/api/v2/jobs?id=${jobId}&status=DONE`, {
          headers: { Authorization: `Bearer ${token}` },
        });
        return ((await answer.json()) as { data: unknown[] }).data.length === 1 || undefined;
      });
      return jobId;
    },
    linksHaveEnded: (since) => wait(Math.max(0, since + linkMilliseconds - Date.now())),
    async functionLogLine(requestId) {
      for (const [name, group] of outputs) {
        if (!/^(List|Get|Submit)\w+Log$/.test(name)) continue;
        const line = await findLine(group, `{ $.request_id = "${requestId}" }`);
        if (line !== undefined) return line;
      }
      return undefined;
    },
    accessLogLine: (requestId) => findLine(output('AccessLog'), `{ $.requestId = "${requestId}" }`),
    async hasMetric(name) {
      const { Datapoints } = await aws(
        ...['cloudwatch', 'get-metric-statistics', '--namespace', stack, '--metric-name', name],
        ...['--start-time', new Date(Date.now() - 3_600_000).toISOString(), '--end-time', new Date().toISOString()],
        ...['--period', '300', '--statistics', 'SampleCount'],
      );
      return Datapoints.length > 0;
    },
    async runSavedQueries() {
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
          return status === 'Complete' || undefined;
        });
      }
      return queryDefinitions.map(({ name }: { name: string }) => name);
    },
    async raiseAlarm() {
      const { MetricAlarms } = await aws('cloudwatch', 'describe-alarms', '--alarm-name-prefix', `${stack}-`);
      const { AlarmName: name } = MetricAlarms.find(({ AlarmActions }: { AlarmActions: string[] }) =>
        AlarmActions.includes(output('AlarmTopic')),
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
    },
  };

  async function sendEvents(events: readonly LifecycleEvent[]) {
    for (const event of events) {
      await aws(
        ...['sqs', 'send-message', '--queue-url', output('EventsQueueUrl')],
        ...['--message-group-id', queueId(event.user_id), '--message-deduplication-id', event.id],
        ...['--message-body', JSON.stringify(event)],
      );
    }
  }

  /** Takes the letter out of the queue, and leaves all others there. */
  async function deadLetterReason(eventId: string) {
    const queue = ['--queue-url', output('EventsDeadLettersUrl')];
    const { Messages = [] } = await aws(
      ...['sqs', 'receive-message', ...queue, '--max-number-of-messages', '10', '--visibility-timeout', '2'],
      ...['--wait-time-seconds', '5', '--message-attribute-names', 'All'],
    );
    const letter = Messages.find(({ Body }: { Body: string }) => Body.includes(eventId));
    if (letter === undefined) return undefined;
    await aws('sqs', 'delete-message', ...queue, '--receipt-handle', letter.ReceiptHandle);
    return letter.MessageAttributes?.reason?.StringValue;
  }

  async function findLine(logGroup: string, pattern: string): Promise<LogLine | undefined> {
    const start = String(Date.now() - 900_000);
    const { events } = await aws(
      ...['logs', 'filter-log-events', '--log-group-name', logGroup],
      ...['--start-time', start, '--filter-pattern', pattern],
    );
    return events[0] && JSON.parse(events[0].message);
  }
}

/** The message group of an owner, as docs/events.md describes it. */
function queueId(text: string): string {
  return /^[!-~]{1,128}$/.test(text) ? text : createHash('sha256').update(text).digest('hex');
}

// biome-ignore lint/suspicious/noExplicitAny: each command of the CLI has its own answer.
function aws(...parameters: string[]): Promise<any> {
  return new Promise((resolve, reject) => {
    execFile('aws', [...parameters, '--output', 'json'], { maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout.trim() === '' ? {} : JSON.parse(stdout));
      const isMissing = error.code === 'ENOENT';
      reject(new SetupProblem(isMissing ? 'The AWS CLI (aws) is needed.' : stderr.trim() || error.message));
    });
  });
}
