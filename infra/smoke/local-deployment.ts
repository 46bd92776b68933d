import { readFileSync } from 'node:fs';
import { readJsonFile } from '../commands/json-file.ts';
import { SetupProblem } from '../commands/setup-problem.ts';
import { clientToken } from './client-token.ts';
import { type Deployment, type LogLine, NotHere, userOf } from './deployment.ts';

const descriptionFile = '.local/stack.json';
const logFile = '.local/functions.log';

/** The local stack that runs in this directory. */
export function localDeployment(): Deployment {
  const description = readJsonFile<{
    baseUrl: string;
    tokenEndpoint: string;
    users: readonly [{ token: string }];
    device: { username: string; password: string };
  }>(descriptionFile);
  if (description === undefined) {
    throw new SetupProblem('The local stack does not run here (npm start). For a stack on AWS add --stack NAME.');
  }
  const { baseUrl, tokenEndpoint, users, device } = description;
  const [{ token }] = users;
  const ask = async (path: string, request: RequestInit = {}) => (await fetch(baseUrl + path, request)).json();
  return {
    name: `the local stack at ${baseUrl}`,
    apiUrl: baseUrl,
    token,
    userId: userOf(token),
    // This machine may be busy.
    patience: 5,
    deviceToken: () => clientToken(tokenEndpoint, device.username, device.password),
    async sendEvents(events) {
      await ask('/_local/events', { method: 'POST', body: JSON.stringify(events) });
    },
    async deadLetterReason(eventId) {
      const letters = (await ask('/_local/dead-letters')) as { body: string; reason: string }[];
      return letters.find(({ body }) => body.includes(eventId))?.reason;
    },
    // The oldest of its demo data: younger ones may be of a former smoke test.
    async jobWithResults() {
      const list = (await ask('/api/v2/jobs?status=DONE&order_by_direction=ASC&limit=1', {
        headers: { Authorization: `Bearer ${token}` },
      })) as { data: [{ id: string }] };
      return list.data[0].id;
    },
    async linksHaveEnded() {
      throw new NotHere('takes five minutes; the tests of the local object store move the clock');
    },
    async functionLogLine(requestId) {
      const line = readFileSync(logFile, 'utf8')
        .split('\n')
        .find((each) => each.includes(requestId));
      return line === undefined ? undefined : (JSON.parse(line.slice(line.indexOf('{'))) as LogLine);
    },
    async accessLogLine() {
      throw new NotHere('the local gateway writes no access log');
    },
    async hasMetric() {
      throw new NotHere('there is no CloudWatch');
    },
    async runSavedQueries() {
      throw new NotHere('there is no Logs Insights');
    },
    async concurrency() {
      throw new NotHere('there is no account');
    },
    async raiseAlarm() {
      throw new NotHere('there is no CloudWatch');
    },
  };
}
