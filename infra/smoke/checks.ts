/** What must hold of a deployment, as a table: one promise a line. */

import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { type Route, type RouteName, routes } from '../../functions/routes.ts';
import { loadOperation } from '../openapi/load-operation.ts';
import { type Answer, call, expectAnswer, type Request } from './api-client.ts';
import type { Deployment, LifecycleEvent } from './deployment.ts';
import { eventually } from './eventually.ts';

export interface Check {
  readonly area: string;
  readonly promise: string;
  /** Throws when the promise is not kept, NotHere where a deployment cannot keep it. */
  readonly run: (deployment: Deployment) => Promise<unknown>;
}

const missingJob = '00000000-0000-4000-8000-000000000000';
const allRoutes = Object.entries<Route>(routes).map(([name, route]) => ({
  ...route,
  name: name as RouteName,
  url: route.path.replaceAll(/\{\w+\}/g, missingJob),
}));
const privateRoutes = allRoutes.filter((route) => !route.public);
const json = { 'Content-Type': 'application/json' };

const postQuizzes = (deployment: Deployment, body: string | Uint8Array, headers = {}) =>
  call(deployment, '/api/v1/quizzes', { method: 'POST', body, headers: { ...json, ...headers } });
const quizzes = (data: unknown) => JSON.stringify({ data });
const listed = (deployment: Deployment, path: string) => call(deployment, path).then(({ body }) => body.data);

/** Sends the request and expects that status, with the envelope and headers of every answer. */
const answers = (status: number, path: string, request?: Request) => async (deployment: Deployment) => {
  expectAnswer(await call(deployment, path, request), status);
};

const routeChecks: Check[] = [
  {
    area: 'routes',
    promise: 'GET /health answers without a token',
    run: answers(200, '/health', { authorization: null }),
  },
  {
    area: 'routes',
    promise: 'GET /openapi.json describes every route, under its own address',
    async run(deployment) {
      const { status, body } = await call(deployment, '/openapi.json', { authorization: null });
      equal(status, 200);
      for (const { path, method } of allRoutes.filter(({ page }) => !page)) {
        ok(body.paths[path][method.toLowerCase()], `${method} ${path}`);
      }
      equal(
        new URL(body.servers[0].url, `${deployment.apiUrl}/openapi.json`).pathname.replace(/\/$/, ''),
        new URL(deployment.apiUrl).pathname.replace(/\/$/, ''),
      );
    },
  },
  {
    area: 'routes',
    promise: 'the API’s own address leads to its page, whose files come compressed and can be kept',
    async run({ apiUrl }) {
      const page = await fetch(`${apiUrl}/`);
      deepEqual([page.status, page.url], [200, `${apiUrl}/docs`]);
      match(page.headers.get('content-security-policy') ?? '', /script-src 'self';/);
      const files = (await page.text()).match(/\?file=[^"]+/g) ?? [];
      notEqual(files.length, 0);
      for (const file of files) {
        const { status, headers } = await fetch(new URL(file.replace('&amp;', '&'), page.url));
        deepEqual([status, headers.get('content-encoding')], [200, 'gzip'], file);
        match(headers.get('cache-control') ?? '', /immutable/, file);
      }
    },
  },
  {
    area: 'routes',
    promise: 'GET /api/v1/webhooks/public-key has a key, without a token',
    async run(deployment) {
      const answer = await call(deployment, '/api/v1/webhooks/public-key', { authorization: null });
      expectAnswer(answer, 200);
      match(answer.body.data.public_key, /^whpk_[A-Za-z0-9+/]{43}=$/);
    },
  },
  { area: 'routes', promise: 'GET /api/v1/batches lists', run: answers(200, '/api/v1/batches?limit=1') },
  { area: 'routes', promise: 'GET /api/v2/jobs lists', run: answers(200, '/api/v2/jobs?limit=1') },
  {
    area: 'routes',
    promise: 'POST /api/v1/quizzes stores, and returns what was sent',
    async run(deployment) {
      const data = { [`smoke-${randomUUID()}`]: { text: 'ü€😀\u0000\u2028', nested: [{ a: [null, 1.5, true] }] } };
      const answer = await postQuizzes(deployment, quizzes(data));
      expectAnswer(answer, 200);
      deepEqual(answer.body.data[0].data, Object.values(data)[0]);
      equal(answer.body.data[0].user_id, deployment.userId);
    },
  },
  { area: 'errors', promise: 'an unknown path is 404', run: answers(404, '/api/v1/nothing') },
  { area: 'errors', promise: 'an unknown job is 404', run: answers(404, `/api/v1/jobs/${missingJob}/results_link`) },
  {
    area: 'errors',
    promise: 'another method of each path is 405 with Allow',
    async run(deployment) {
      for (const { url, method } of allRoutes) {
        const methods = new Set<string>(allRoutes.filter((route) => route.url === url).map((route) => route.method));
        const other = ['DELETE', 'PUT', 'PATCH'].find((each) => !methods.has(each))!;
        const answer = await call(deployment, url, { method: other });
        expectAnswer(answer, 405);
        ok(answer.headers.get('allow')?.includes(method), `Allow of ${url}`);
      }
    },
  },
  {
    area: 'errors',
    promise: 'all faults of a request are reported at once, 422',
    async run(deployment) {
      const answer = await call(deployment, '/api/v1/batches?limit=0&offset=-1&status=NOPE&open=maybe');
      expectAnswer(answer, 422);
      equal(answer.body.detail.length, 4);
    },
  },
  {
    area: 'errors',
    promise: 'malformed JSON is 422',
    run: (deployment) => postQuizzes(deployment, '{"data":').then((answer) => expectAnswer(answer, 422)),
  },
];

/** Authorization headers that must be refused, made from one that is accepted. */
function badAuthorizations(token: string): Readonly<Record<string, string | null>> {
  const [header, claims, signature] = token.split('.') as [string, string, string];
  const text = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const changed = text({ ...JSON.parse(Buffer.from(claims, 'base64url').toString()), sub: 'someone-else' });
  return {
    'no header': null,
    'another scheme': `Basic ${token}`,
    'no token': 'Bearer',
    'no JWT': 'Bearer abc',
    'a changed claim': `Bearer ${header}.${changed}.${signature}`,
    'a changed signature': `Bearer ${header}.${claims}.${signature.slice(0, -4)}AAAA`,
    'no signature': `Bearer ${text({ alg: 'none', typ: 'JWT' })}.${claims}.`,
    'two tokens': `Bearer ${token} ${token}`,
    'a header of 8,000 characters': `Bearer ${'a'.repeat(8_000)}`,
    'a header too long for the gateway': `Bearer ${'a'.repeat(11_000)}`,
  };
}

const tokenChecks: Check[] = [
  ...Object.keys(badAuthorizations('e30.e30.')).map(
    (form): Check => ({
      area: 'tokens',
      promise: `${form}: 401 with a challenge`,
      async run(deployment) {
        const authorization = badAuthorizations(deployment.token)[form] ?? null;
        const answer = await call(deployment, '/api/v1/batches', { authorization });
        expectAnswer(answer, 401);
        equal(answer.headers.get('www-authenticate'), 'Bearer');
      },
    }),
  ),
  {
    area: 'tokens',
    promise: 'every route that is not public asks for one',
    async run(deployment) {
      for (const { url, method } of privateRoutes) {
        expectAnswer(await call(deployment, url, { method, authorization: null }), 401);
      }
    },
  },
  {
    area: 'tokens',
    promise: 'a machine gets a token, which no path of users accepts',
    async run(deployment) {
      const authorization = `Bearer ${await deployment.deviceToken()}`;
      for (const { name, url, method } of privateRoutes) {
        const { device } = await loadOperation(name);
        if (device !== undefined) continue;
        expectAnswer(await call(deployment, url, { method, authorization }), 403);
      }
    },
  },
  {
    area: 'tokens',
    promise: 'the scheme may be written in any case',
    async run(deployment) {
      expectAnswer(
        await call(deployment, '/api/v1/batches?limit=1', { authorization: `bEARER ${deployment.token}` }),
        200,
      );
    },
  },
];

const bodyChecks: Check[] = [
  ...[10, 300_000].map(
    (size): Check => ({
      area: 'encodings',
      promise: `a gzipped body of ${size.toLocaleString('en')} characters is read`,
      async run(deployment) {
        const data = { smoke: { text: 'x'.repeat(size) } };
        const answer = await postQuizzes(deployment, gzipSync(quizzes(data)), { 'Content-Encoding': 'gzip' });
        expectAnswer(answer, 200);
        deepEqual(answer.body.data[0].data, data.smoke);
      },
    }),
  ),
  {
    area: 'encodings',
    promise: 'what says gzip and is not is 422',
    async run(deployment) {
      expectAnswer(await postQuizzes(deployment, quizzes({}), { 'Content-Encoding': 'gzip' }), 422);
    },
  },
  {
    area: 'encodings',
    promise: 'answers are compressed for those who accept it, and only for them',
    async run(deployment) {
      const encoding = async (accepted: string) =>
        (await call(deployment, '/openapi.json', { headers: { 'Accept-Encoding': accepted } })).headers.get(
          'content-encoding',
        );
      equal(await encoding('gzip'), 'gzip');
      equal(await encoding('identity'), null);
    },
  },
  {
    area: 'encodings',
    promise: 'a body that is not UTF-8 is 422, never stored altered',
    async run(deployment) {
      for (const bytes of ['ff', 'c328', 'eda080', 'c0af']) {
        const body = Buffer.concat([
          Buffer.from('{"data":{"smoke":{"x":"'),
          Buffer.from(bytes, 'hex'),
          Buffer.from('"}}}'),
        ]);
        const answer = await postQuizzes(deployment, body);
        expectAnswer(answer, 422);
        equal(answer.body.detail[0].type, 'json_invalid', bytes);
      }
    },
  },
  {
    area: 'sizes',
    promise: '3 MB of quizzes in one call are stored',
    async run(deployment) {
      const one = { text: 'x'.repeat(340_000) };
      expectAnswer(await postQuizzes(deployment, quizzes({ smoke: Array(9).fill(one) })), 200);
    },
  },
  ...[4, 9, 11].map(
    (megabytes): Check => ({
      area: 'sizes',
      promise: `${megabytes} MB are 413${megabytes > 10 ? ', in the gateway’s own words' : ''}`,
      async run(deployment) {
        const response = await fetch(`${deployment.apiUrl}/api/v1/quizzes`, {
          method: 'POST',
          headers: { ...json, Authorization: `Bearer ${deployment.token}` },
          body: quizzes({ smoke: { text: 'x'.repeat(megabytes * 1_048_576) } }),
        });
        equal(response.status, 413);
      },
    }),
  ),
  {
    area: 'sizes',
    promise: '101 records, and 101 values of a parameter, are 422',
    async run(deployment) {
      expectAnswer(await postQuizzes(deployment, quizzes({ smoke: Array(101).fill({}) })), 422);
      expectAnswer(await call(deployment, `/api/v1/batches?${'device_type=a&'.repeat(101)}`), 422);
    },
  },
];

const browserChecks: Check[] = [
  {
    area: 'CORS',
    promise: 'a preflight of each path allows its methods and the token',
    async run(deployment) {
      for (const { url, method } of allRoutes) {
        const { status, headers } = await call(deployment, url, {
          method: 'OPTIONS',
          authorization: null,
          headers: { Origin: 'https://example.org', 'Access-Control-Request-Method': method },
        });
        equal(status, 204);
        equal(headers.get('access-control-allow-origin'), '*');
        match(headers.get('access-control-allow-methods') ?? '', new RegExp(`\\b${method}\\b`));
        match(headers.get('access-control-allow-headers') ?? '', /Authorization/i);
      }
    },
  },
];

/** The link that the first check of links got, for the others. */
let issued: { readonly link: string; readonly at: number } | undefined;

function issuedLink() {
  if (issued === undefined) throw new Error('There is no link.');
  return issued;
}

const linkChecks: Check[] = [
  {
    area: 'results',
    promise: 'a link leads to the results as JSON, without a token, for browsers too',
    async run(deployment) {
      const jobId = await deployment.jobWithResults();
      const answer = await call(deployment, `/api/v1/jobs/${jobId}/results_link`);
      expectAnswer(answer, 200);
      ok(answer.body.data.results_link, 'results_link is not null');
      issued = { link: answer.body.data.results_link, at: Date.now() };
      const response = await fetch(issued.link, { headers: { Origin: 'https://example.org' } });
      equal(response.status, 200);
      equal(response.headers.get('content-type'), 'application/json');
      equal(response.headers.get('access-control-allow-origin'), '*');
      ok(((await response.json()) as { counter?: object }).counter);
    },
  },
  {
    area: 'results',
    promise: 'the results of a batch come in one answer',
    async run(deployment) {
      const jobId = await deployment.jobWithResults();
      const { batch_id } = await listed(deployment, `/api/v2/jobs/${jobId}`);
      const answer = await call(deployment, `/api/v1/batches/${batch_id}/full_results`);
      expectAnswer(answer, 200);
      ok(answer.body.data[jobId].counter);
    },
  },
  {
    area: 'results',
    promise: 'a changed link is refused',
    async run() {
      const link = new URL(issuedLink().link);
      link.pathname += 'x';
      equal((await fetch(link)).status, 403);
    },
  },
];

const linkEnds: Check = {
  area: 'results',
  promise: 'a link ends',
  async run(deployment) {
    const { link, at } = issuedLink();
    await deployment.linksHaveEnded(at);
    equal((await fetch(link)).status, 403);
  },
};

/** The events of a batch with one job. */
function history(userId: string) {
  const [batchId, jobId] = [randomUUID(), randomUUID()];
  const event = (secondsAgo: number, type: string, data: LifecycleEvent['data']): LifecycleEvent => ({
    id: randomUUID(),
    type,
    time: new Date(Date.now() - secondsAgo * 1000).toISOString(),
    user_id: userId,
    data,
  });
  const batch = {
    id: batchId,
    project_id: randomUUID(),
    device_type: 'EMU_FREE',
    queue_priority: 'LOW',
    tags: ['smoke'],
  };
  return {
    batchId,
    jobId,
    created: event(30, 'batch.created', { ...batch, jobs: [{ id: jobId, runs: 1 }] }),
    running: event(20, 'job.updated', { job_id: jobId, status: 'RUNNING' }),
    done: event(10, 'job.updated', { job_id: jobId, status: 'DONE' }),
  };
}

const eventChecks: Check[] = [
  {
    area: 'events',
    promise: 'events in order are applied, once, within seconds',
    async run(deployment) {
      const { batchId, created, running, done } = history(deployment.userId);
      await deployment.sendEvents([created, running, done, done]);
      await eventually(30, async () => {
        const [batch] = await listed(deployment, `/api/v1/batches?id=${batchId}`);
        return batch?.jobs_count_per_status.DONE === 1 || undefined;
      });
    },
  },
  {
    area: 'events',
    promise: 'an event that comes before its batch waits for it, and its owner’s other events go on',
    async run(deployment) {
      const [late, other] = [history(deployment.userId), history(deployment.userId)];
      await deployment.sendEvents([late.done, other.created]);
      await eventually(30, async () => (await listed(deployment, `/api/v1/batches?id=${other.batchId}`))[0]);
      equal((await listed(deployment, `/api/v1/batches?id=${late.batchId}`)).length, 0);
      await deployment.sendEvents([late.created]);
      await eventually(300, async () => {
        const [job] = await listed(deployment, `/api/v2/jobs?id=${late.jobId}`);
        return job?.status === 'DONE' || undefined;
      });
    },
  },
  {
    area: 'events',
    promise: 'an event that can never be applied becomes a dead letter with its reason',
    async run(deployment) {
      const bad = { ...history(deployment.userId).created, type: 'batch.exploded' };
      await deployment.sendEvents([bad]);
      match(await eventually(60, () => deployment.deadLetterReason(bad.id)), /InvalidInput/);
    },
  },
];

const operationChecks: Check[] = [
  {
    area: 'operation',
    promise: 'a request is in its function’s log, with its user and without its token',
    async run(deployment) {
      const { requestId } = await loggedRequest(deployment);
      const line = await eventually(120, () => deployment.functionLogLine(requestId));
      deepEqual([line.user_id, line.status, line.route], [deployment.userId, 200, '/api/v1/batches']);
      ok(!JSON.stringify(line).includes(deployment.token));
    },
  },
  {
    area: 'operation',
    promise: 'a request is in the access log, with its user',
    async run(deployment) {
      const { requestId } = await loggedRequest(deployment);
      const line = await eventually(120, () => deployment.accessLogLine(requestId));
      deepEqual([line.userId, line.status, line.route], [deployment.userId, '200', '/api/v1/batches']);
      notEqual(line.extendedRequestId, undefined);
    },
  },
  ...['Throttled', 'JwksAge', 'ReadUnits-listBatches', 'EventAge-Events', 'UnclaimedDevices'].map(
    (name): Check => ({
      area: 'operation',
      promise: `the metric ${name} has values`,
      run: (deployment) => eventually(600, async () => (await deployment.hasMetric(name)) || undefined),
    }),
  ),
  {
    area: 'operation',
    promise: 'every saved query runs',
    async run(deployment) {
      ok((await deployment.runSavedQueries()).length > 0);
    },
  },
  { area: 'operation', promise: 'an alarm reaches the topic', run: (deployment) => deployment.raiseAlarm() },
];

async function loggedRequest(deployment: Deployment): Promise<{ answer: Answer; requestId: string }> {
  const answer = await call(deployment, '/api/v1/batches?limit=1');
  return { answer, requestId: answer.headers.get('x-request-id')! };
}

/** In the order in which they run: what takes long comes last. */
export const checks: readonly Check[] = [
  ...routeChecks,
  ...tokenChecks,
  ...bodyChecks,
  ...browserChecks,
  ...linkChecks,
  ...eventChecks,
  ...operationChecks,
  linkEnds,
];
