/** What must hold of a deployment, as a table: one promise a line. */

import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { type Route, type RouteName, routes } from '../../functions/routes.ts';
import { loadOperation } from '../openapi/load-operation.ts';
import { call, expectAnswer, type Request } from './api-client.ts';
import type { Deployment } from './deployment.ts';
import { eventually } from './eventually.ts';
import type { Check as AnyCheck, Checks as AnyChecks } from './examine.ts';
import { jobHistory } from './job-history.ts';

type Check = AnyCheck<Deployment>;
type Checks = AnyChecks<Deployment>;

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
const soon = <Found>({ patience }: Deployment, seconds: number, look: () => Promise<Found | false | undefined>) =>
  eventually(patience * seconds, look);
const listed = (deployment: Deployment, path: string) => call(deployment, path).then(({ body }) => body.data);

/** Sends the request and expects that status, with the envelope and headers of every answer. */
const answers =
  (status: number, path: string, request?: Request): Check =>
  async (deployment) =>
    expectAnswer(await call(deployment, path, request), status);

/** The same check with each of these values. */
function ofEach<Value>(
  values: readonly Value[],
  promise: (value: Value) => string,
  check: (value: Value) => Check,
): Checks {
  return Object.fromEntries(values.map((value) => [promise(value), check(value)]));
}

const routeChecks: Checks = {
  'GET /health answers without a token': answers(200, '/health', { authorization: null }),
  async 'GET /openapi.json describes every route, under its own address'(deployment) {
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
  async 'the API’s own address leads to its page, whose files come compressed and can be kept'({ apiUrl }) {
    const first = await fetch(`${apiUrl}/`);
    match(await first.text(), /href="[^"]*\/docs"/);
    const page = await fetch(`${apiUrl}/docs`);
    equal(page.status, 200);
    match(page.headers.get('content-security-policy') ?? '', /script-src 'self';/);
    const files = (await page.text()).match(/\?file=[^"]+/g) ?? [];
    notEqual(files.length, 0);
    for (const file of files) {
      const { status, headers } = await fetch(new URL(file.replace('&amp;', '&'), page.url));
      deepEqual([status, headers.get('content-encoding')], [200, 'gzip'], file);
      match(headers.get('cache-control') ?? '', /immutable/, file);
    }
  },
  async 'GET /api/v1/webhooks/public-key has a key, without a token'(deployment) {
    const answer = await call(deployment, '/api/v1/webhooks/public-key', { authorization: null });
    expectAnswer(answer, 200);
    match(answer.body.data.public_key, /^whpk_[A-Za-z0-9+/]{43}=$/);
  },
  'GET /api/v1/batches lists': answers(200, '/api/v1/batches?limit=1'),
  'GET /api/v2/jobs lists': answers(200, '/api/v2/jobs?limit=1'),
  async 'POST /api/v1/quizzes stores, and returns what was sent'(deployment) {
    const data = { [`smoke-${randomUUID()}`]: { text: 'ü€😀\u0000\u2028', nested: [{ a: [null, 1.5, true] }] } };
    const answer = await postQuizzes(deployment, quizzes(data));
    expectAnswer(answer, 200);
    deepEqual(answer.body.data[0].data, Object.values(data)[0]);
    equal(answer.body.data[0].user_id, deployment.userId);
  },
};

const errorChecks: Checks = {
  ...ofEach(
    ['/api/v1/nothing', '/api', '/api/v1', '/api/v2/batches'],
    (path) => `${path} is an unknown path, 404 with a token and without`,
    (path) => async (deployment) => {
      for (const authorization of [`Bearer ${deployment.token}`, null]) {
        expectAnswer(await call(deployment, path, { authorization }), 404);
      }
    },
  ),
  'an unknown job is 404': answers(404, `/api/v1/jobs/${missingJob}/results_link`),
  async 'any other method of each path is 405 with Allow'(deployment) {
    for (const { url, method } of allRoutes) {
      const methods = new Set<string>(allRoutes.filter((route) => route.url === url).map((route) => route.method));
      for (const other of ['DELETE', 'PUT', 'PATCH', 'POST', 'GET'].filter((each) => !methods.has(each))) {
        const answer = await call(deployment, url, { method: other });
        expectAnswer(answer, 405);
        ok(answer.headers.get('allow')?.includes(method), `Allow of ${url}`);
      }
    }
  },
  async 'all faults of a request are reported at once, 422'(deployment) {
    const answer = await call(deployment, '/api/v1/batches?limit=0&offset=-1&status=NOPE&open=maybe');
    expectAnswer(answer, 422);
    equal(answer.body.detail.length, 4);
  },
  'malformed JSON is 422': (deployment) =>
    postQuizzes(deployment, '{"data":').then((answer) => expectAnswer(answer, 422)),
};

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

const tokenChecks: Checks = {
  ...ofEach(
    Object.keys(badAuthorizations('e30.e30.')),
    (form) => `${form}: 401 with a challenge`,
    (form) => async (deployment) => {
      const authorization = badAuthorizations(deployment.token)[form] ?? null;
      const answer = await call(deployment, '/api/v1/batches', { authorization });
      expectAnswer(answer, 401);
      equal(answer.headers.get('www-authenticate'), 'Bearer');
    },
  ),
  async 'every route that is not public asks for one'(deployment) {
    for (const { url, method } of privateRoutes) {
      expectAnswer(await call(deployment, url, { method, authorization: null }), 401);
    }
  },
  async 'a machine gets a token, which no path of users accepts but what belongs to no user'(deployment) {
    const authorization = `Bearer ${await deployment.deviceToken()}`;
    for (const { name, url, method } of privateRoutes) {
      const { device, everyToken } = await loadOperation(name);
      if ((device ?? everyToken) !== undefined) continue;
      expectAnswer(await call(deployment, url, { method, authorization }), 403);
    }
  },
  async 'the scheme may be written in any case'(deployment) {
    expectAnswer(
      await call(deployment, '/api/v1/batches?limit=1', { authorization: `bEARER ${deployment.token}` }),
      200,
    );
  },
};

const encodingChecks: Checks = {
  ...ofEach(
    [10, 300_000],
    (size) => `a gzipped body of ${size.toLocaleString('en')} characters is read`,
    (size) => async (deployment) => {
      const data = { smoke: { text: 'x'.repeat(size) } };
      const answer = await postQuizzes(deployment, gzipSync(quizzes(data)), { 'Content-Encoding': 'gzip' });
      expectAnswer(answer, 200);
      deepEqual(answer.body.data[0].data, data.smoke);
    },
  ),
  async 'what says gzip and is not is 422'(deployment) {
    expectAnswer(await postQuizzes(deployment, quizzes({}), { 'Content-Encoding': 'gzip' }), 422);
  },
  async 'answers are compressed for those who accept it, and only for them'(deployment) {
    const encoding = async (accepted: string) =>
      (await call(deployment, '/openapi.json', { headers: { 'Accept-Encoding': accepted } })).headers.get(
        'content-encoding',
      );
    equal(await encoding('gzip'), 'gzip');
    equal(await encoding('identity'), null);
  },
  async 'a body that is not UTF-8 is 422, never stored altered'(deployment) {
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
};

const sizeChecks: Checks = {
  async '3 MB of quizzes in one call are stored'(deployment) {
    const one = { text: 'x'.repeat(340_000) };
    expectAnswer(await postQuizzes(deployment, quizzes({ smoke: Array(9).fill(one) })), 200);
  },
  ...ofEach(
    [4, 9, 11],
    (megabytes) => `${megabytes} MB are 413${megabytes > 10 ? ', in the gateway’s own words' : ''}`,
    (megabytes) => async (deployment) => {
      const response = await fetch(`${deployment.apiUrl}/api/v1/quizzes`, {
        method: 'POST',
        headers: { ...json, Authorization: `Bearer ${deployment.token}` },
        body: quizzes({ smoke: { text: 'x'.repeat(megabytes * 1_048_576) } }),
      });
      equal(response.status, 413);
    },
  ),
  async '101 records, and 101 values of a parameter, are 422'(deployment) {
    expectAnswer(await postQuizzes(deployment, quizzes({ smoke: Array(101).fill({}) })), 422);
    expectAnswer(await call(deployment, `/api/v1/batches?${'device_type=a&'.repeat(101)}`), 422);
  },
};

const corsChecks: Checks = {
  async 'a preflight of each path allows its methods and the token'(deployment) {
    for (const { url, method } of allRoutes) {
      const { status, headers, body } = await call(deployment, url, {
        method: 'OPTIONS',
        authorization: null,
        headers: { Origin: 'https://example.org', 'Access-Control-Request-Method': method },
      });
      deepEqual([status, body], [204, undefined]);
      equal(headers.get('access-control-allow-origin'), '*');
      match(headers.get('access-control-allow-methods') ?? '', new RegExp(`\\b${method}\\b`));
      match(headers.get('access-control-allow-headers') ?? '', /Authorization/i);
    }
    // A mock that passed such a body on would be 500.
    const text = { method: 'OPTIONS', authorization: null, headers: { 'Content-Type': 'text/plain' }, body: 'x' };
    expectAnswer(await call(deployment, '/health', text), 422);
  },
};

/** The link that the first check of links got, for the others. */
let issued: { readonly link: string; readonly at: number } | undefined;

function issuedLink() {
  if (issued === undefined) throw new Error('There is no link.');
  return issued;
}

const resultChecks: Checks = {
  async 'a link leads to the results as JSON, without a token, for browsers too'(deployment) {
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
  async 'the results of a batch come in one answer'(deployment) {
    const jobId = await deployment.jobWithResults();
    const { batch_id } = await listed(deployment, `/api/v2/jobs/${jobId}`);
    const answer = await call(deployment, `/api/v1/batches/${batch_id}/full_results`);
    expectAnswer(answer, 200);
    ok(answer.body.data[jobId].counter);
  },
  async 'a changed link is refused'() {
    const link = new URL(issuedLink().link);
    link.pathname += 'x';
    equal((await fetch(link)).status, 403);
  },
};

const linkEnds: Checks = {
  async 'a link ends'(deployment) {
    const { link, at } = issuedLink();
    await deployment.linksHaveEnded(at);
    equal((await fetch(link)).status, 403);
  },
};

const eventChecks: Checks = {
  async 'events in order are applied, once, within seconds'(deployment) {
    const { batchId, created, running, done } = jobHistory(deployment.userId);
    await deployment.sendEvents([created, running, done, done]);
    await soon(deployment, 30, async () => {
      const [batch] = await listed(deployment, `/api/v1/batches?id=${batchId}`);
      return batch?.jobs_count_per_status.DONE === 1;
    });
  },
  async 'an event that comes before its batch waits for it, and its owner’s other events go on'(deployment) {
    const [late, other] = [jobHistory(deployment.userId), jobHistory(deployment.userId)];
    await deployment.sendEvents([late.done, other.created]);
    await soon(deployment, 30, async () => (await listed(deployment, `/api/v1/batches?id=${other.batchId}`))[0]);
    equal((await listed(deployment, `/api/v1/batches?id=${late.batchId}`)).length, 0);
    await deployment.sendEvents([late.created]);
    await soon(deployment, 300, async () => {
      const [job] = await listed(deployment, `/api/v2/jobs?id=${late.jobId}`);
      return job?.status === 'DONE';
    });
  },
  async 'an event that can never be applied becomes a dead letter with its reason'(deployment) {
    const bad = { ...jobHistory(deployment.userId).created, type: 'batch.exploded' };
    await deployment.sendEvents([bad]);
    match(await soon(deployment, 60, () => deployment.deadLetterReason(bad.id)), /InvalidInput/);
  },
};

const operationChecks: Checks = {
  async 'a request is in its function’s log, with its user and without its token'(deployment) {
    const requestId = await loggedRequest(deployment);
    const line = await soon(deployment, 120, () => deployment.functionLogLine(requestId));
    deepEqual([line.user_id, line.status, line.route], [deployment.userId, 200, '/api/v1/batches']);
    ok(!JSON.stringify(line).includes(deployment.token));
  },
  async 'a request is in the access log, with its user'(deployment) {
    const requestId = await loggedRequest(deployment);
    const line = await soon(deployment, 120, () => deployment.accessLogLine(requestId));
    deepEqual([line.userId, line.status, line.route], [deployment.userId, '200', '/api/v1/batches']);
    notEqual(line.extendedRequestId, undefined);
  },
  ...ofEach(
    ['Throttled', 'JwksAge', 'ReadUnits-listBatches', 'EventAge-Events', 'UnclaimedDevices'],
    (name) => `the metric ${name} has values`,
    (name) => (deployment) => eventually(600, () => deployment.hasMetric(name)),
  ),
  async 'every saved query runs'(deployment) {
    ok((await deployment.runSavedQueries()).length > 0);
  },
  async 'consumers of queues leave some of the account’s concurrency to others'(deployment) {
    const { account, unreserved, stack } = await deployment.concurrency();
    const facts = `The account has ${account}, ${unreserved} of them unreserved. Queues may take ${stack.queues}, each shard of ${stack.streams} streams one; ${stack.reserved} are reserved.`;
    ok(stack.queues < unreserved, `${facts} Set concurrency to small, or ask AWS for more.`);
    return facts;
  },
  'an alarm reaches the topic': (deployment) => deployment.raiseAlarm(),
};

/** Its id. */
async function loggedRequest(deployment: Deployment): Promise<string> {
  const { headers } = await call(deployment, '/api/v1/batches?limit=1');
  return headers.get('x-request-id')!;
}

/** By area, in the order in which they run: what takes long comes last. */
export const checks: readonly (readonly [area: string, checks: Checks])[] = [
  ['routes', routeChecks],
  ['errors', errorChecks],
  ['tokens', tokenChecks],
  ['encodings', encodingChecks],
  ['sizes', sizeChecks],
  ['CORS', corsChecks],
  ['results', resultChecks],
  ['events', eventChecks],
  ['operation', operationChecks],
  ['results', linkEnds],
];
