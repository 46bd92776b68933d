import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { type TableName, tables } from '../../functions/tables.ts';
import { readBundles, runBundle } from '../support/bundles.ts';
import { createTables } from '../support/create-tables.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { gatewayEvent } from '../support/gateway-event.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { uuid } from '../support/new-batch.ts';
import { sqsEvent } from '../support/sqs-event.ts';
import { testClient } from '../support/test-client.ts';

const userId = 'auth0|bundles';
const [batchId, jobId] = [uuid('b', 1), uuid('a', 1)];

const created = {
  id: 'event-1',
  type: 'batch.created',
  time: '2026-03-01T00:00:00Z',
  user_id: userId,
  data: {
    id: batchId,
    project_id: uuid('c', 1),
    device_type: 'FRESNEL',
    queue_priority: 'HIGH',
    jobs: [{ id: jobId, runs: 100 }],
  },
};
const done = {
  ...created,
  id: 'event-2',
  type: 'job.updated',
  data: { job_id: jobId, results_key: `results/${userId}/1` },
};
const messages = sqsEvent([created, { ...done, time: '2026-03-01T00:00:01Z' }, 'no event']);

it('what is deployed works: the bundles serve a batch from its events on', async () => {
  const sink = await startMessageSink();
  onTestFinished(sink.stop);
  const endpoint = dynamodbEndpoint;
  const names = await createTables(testClient(endpoint), `${randomUUID()}-`);
  const environment = {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_SESSION_TOKEN: 'test',
    AWS_LAMBDA_LOG_LEVEL: 'FATAL',
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_ENDPOINT_URL_SQS: sink.url,
    EVENTS_DEAD_LETTERS_URL: `${sink.url}/000000000000/dead-letters`,
    WAITING_EVENTS_QUEUE_URL: `${sink.url}/000000000000/waiting`,
    RECOVERY_QUEUE_URL: `${sink.url}/000000000000/unfinished`,
    RESULTS_BUCKET: 'results-bucket',
    ...Object.fromEntries(
      Object.entries(tables).map(([name, { environmentVariable }]) => [environmentVariable, names[name as TableName]]),
    ),
  };
  const bundles = await readBundles();
  const answer = async (name: string, event: unknown) => {
    const work = `async ({ handler }) => {
      const answer = await handler(${JSON.stringify(event)}, { getRemainingTimeInMillis: () => 15_000 });
      console.log(JSON.stringify(answer));
    }`;
    return JSON.parse(await runBundle(bundles.get(name)!.file, work, environment));
  };
  const dataOf = ({ body }: { body: string }) => JSON.parse(body).data;

  expect(await answer('ApplyEvents', messages)).toEqual({ batchItemFailures: [] });
  expect(sink.messages).toMatchObject([{ body: 'no event' }]);
  const [listed, jobs, link, stored] = await Promise.all([
    answer('ListBatches', gatewayEvent('listBatches', { userId, query: 'status=PENDING' })),
    answer('ListJobs', gatewayEvent('listJobs', { userId, query: 'order_by=runs' })),
    answer('GetResultsLink', gatewayEvent('getResultsLink', { userId, path: { job_id: jobId } })),
    answer('SubmitQuizzes', gatewayEvent('submitQuizzes', { userId, body: { data: { quiz: { answer: 1 } } } })),
  ]);
  expect(dataOf(listed)).toMatchObject([{ id: batchId, jobs_count: 1 }]);
  expect(dataOf(jobs)).toMatchObject([{ id: jobId, runs: 100 }]);
  expect(dataOf(link).results_link).toContain('X-Amz-Signature=');
  expect(dataOf(stored)).toMatchObject([{ cms_quiz_id: 'quiz', data: { answer: 1 } }]);
});
