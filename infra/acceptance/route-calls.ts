/** A successful call of each route: data, in the order of one story that needs no other access. */

import { equal, ok } from 'node:assert/strict';
import { type Route, type RouteName, routes } from '../../functions/routes.ts';
import { exampleSequence } from '../../functions/schemas/example-sequence.ts';
import { loadOperation } from '../openapi/load-operation.ts';
import type { Checks } from '../smoke/examine.ts';
import type { Acceptance, Caller, Callers } from './acceptance.ts';
import { documentFacts, newDeviceType, send, upload } from './run-batch.ts';

/** What the calls so far have made. */
interface Story {
  readonly user_id: string;
  readonly device_type: string;
  readonly webhook: string;
  /** A batch for another device, which an operator cancels. */
  readonly spare: string;
  batch_id: string;
  rebatch: string;
  lease: string;
  /** In the order in which they run. */
  jobs: string[];
}

interface RouteCall {
  /** Values of the path; members of the story by default. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: each route has its own answer.
  learn?(data: any): unknown;
}

const omega = { runs: 1, variables: { omega: 1 } };

function newBatch({ device_type, webhook }: Pick<Story, 'device_type' | 'webhook'>, jobs: number) {
  return {
    ...{ project_id: crypto.randomUUID(), device_type, webhook, sequence_builder: exampleSequence, open: true },
    jobs: Array.from({ length: jobs }, () => omega),
  };
}

const withoutEnvelope: ReadonlySet<RouteName> = new Set(['getOpenApi', 'getMetrics']);

/** A new route does not compile without its call. */
const routeCalls: Readonly<Record<RouteName, (story: Story) => RouteCall>> = {
  getHealth: () => ({}),
  getOpenApi: () => ({}),
  getDocs: () => ({}),
  getConsole: () => ({}),
  getWebhookPublicKey: () => ({ learn: ({ public_key }) => ok(public_key.startsWith('whpk_')) }),
  announceDevice: () => ({ body: { status: 'UP', specs: '{"name":"Acceptance"}' } }),
  setDevice: () => ({ body: { max_job_seconds: 3_600 } }),
  listDevices: () => ({}),
  listPublicSpecifications: () => ({}),
  listDeviceSpecifications: () => ({}),
  getDeviceSpecification: () => ({}),
  reportCalibration: () => ({ body: { numbers: { p_false_pos: 0.01 } }, learn: ({ number }) => ok(number > 0) }),
  listCalibrations: () => ({ learn: ([newest]) => equal(newest.numbers.p_false_pos, 0.01) }),
  getCalibration: () => ({ path: { number: 'latest' }, learn: ({ document }) => equal(document, null) }),
  submitQuizzes: () => ({ body: { data: { acceptance: { n: 1 } } } }),
  putLimits: ({ user_id }) => ({ path: { subject: `user:${user_id}` }, body: { max_unfinished_batches: 50 } }),
  getLimits: ({ user_id }) => ({ path: { subject: `user:${user_id}` } }),
  listLimits: () => ({}),
  getOwnLimits: () => ({}),
  createBatch: (story) => ({
    body: newBatch(story, 3),
    learn: ({ id }) => {
      story.batch_id = id;
    },
  }),
  addJobs: (story) => ({
    body: [omega],
    learn({ jobs }) {
      story.jobs = jobs.map(({ id }: { id: string }) => id);
      equal(jobs.length, 4);
    },
  }),
  // Lists may lag.
  listJobs: () => ({ query: 'limit=1' }),
  listBatches: () => ({ query: 'limit=1' }),
  getBatch: ({ batch_id }) => ({ learn: ({ id }) => equal(id, batch_id) }),
  getBatchStatus: () => ({}),
  getJob: () => ({}),
  getJobStatus: () => ({}),
  listProjects: () => ({}),
  setTags: () => ({ body: ['acceptance'] }),
  setBatchPriority: () => ({ body: { queue_priority: 'HIGH', reason: 'acceptance' } }),
  getDevice: () => ({ learn: ({ batches_at_work }) => equal(batches_at_work, 0) }),
  listMinutes: () => ({ learn: ({ step }) => equal(step, 300) }),
  getMetrics: () => ({}),
  listQueue: () => ({ learn: ({ length }) => equal(length, 1) }),
  testWebhook: () => ({ learn: ({ status }) => equal(status, 401) }),
  getBatchWebhook: () => ({ learn: ({ deliveries }) => equal(deliveries.length, 1) }),
  claimBatch: (story) => ({
    body: { worker: 'acceptance' },
    learn({ lease, job }) {
      story.lease = lease;
      equal(job.id, story.jobs[0]);
    },
  }),
  extendLease: ({ jobs }) => ({ body: { job_id: jobs[0] } }),
  uploadResults: () => ({ body: documentFacts, learn: upload }),
  reportJob: ({ jobs }) => ({
    body: { status: 'DONE', results: true },
    learn: ({ job }) => equal(job.id, jobs[1]),
  }),
  nextJob: ({ jobs }) => ({ learn: ({ job }) => equal(job.id, jobs[1]) }),
  releaseLease: () => ({}),
  getResultsLink: () => ({ learn: async ({ results_link }) => equal((await fetch(results_link)).status, 200) }),
  getFullResults: ({ jobs }) => ({ learn: (data) => ok(jobs[0]! in data) }),
  cancelJob: ({ jobs }) => ({ path: { job_id: jobs[3]! } }),
  cancelJobs: ({ jobs }) => ({ query: `id=${jobs[2]}` }),
  closeBatch: () => ({ learn: ({ open }) => equal(open, false) }),
  rebatch: (story) => ({
    query: 'status=CANCELED',
    learn: ({ id, jobs_count }) => {
      story.rebatch = id;
      equal(jobs_count, 2);
    },
  }),
  cancelBatches: ({ rebatch }) => ({
    body: { batch_ids: [rebatch] },
    learn: ({ errors }) => equal(Object.keys(errors).length, 0),
  }),
  getBatchOfUser: ({ batch_id }) => ({ learn: ({ id }) => equal(id, batch_id) }),
  cancelBatchOfUser: ({ spare }) => ({ path: { batch_id: spare }, body: { reason: 'acceptance' } }),
  cancelBatch: () => ({ learn: ({ status }) => equal(status, 'CANCELED') }),
  eraseBatch: () => ({ learn: ({ erased_at }) => ok(erased_at) }),
  listUsage: () => ({}),
  listAudit: () => ({}),
  deleteLimits: ({ user_id }) => ({ path: { subject: `user:${user_id}` } }),
  removeDevice: () => ({}),
};

/** Of each acceptance the story that its calls share. */
const stories = new WeakMap<object, Promise<Story>>();

/** By route, in the story's order: a call that must succeed. */
export const routeChecks: Checks<Pick<Acceptance, 'callers'>> = Object.fromEntries(
  (Object.keys(routeCalls) as RouteName[]).map((name) => [
    name,
    async (acceptance) => {
      const callers = await acceptance.callers();
      const story = stories.get(acceptance) ?? begin(callers);
      stories.set(acceptance, story);
      await callRoute(callers, name, await story);
    },
  ]),
);

async function begin({ user }: Callers): Promise<Story> {
  const webhook = `${user.apiUrl}/api/v1/quizzes`;
  const ofOther = newBatch({ device_type: newDeviceType(), webhook }, 1);
  const { id: spare } = await send(user, 'POST', '/api/v1/batches', ofOther);
  const made = { batch_id: '', rebatch: '', lease: '', jobs: [] };
  return { device_type: newDeviceType(), webhook, user_id: user.userId, spare, ...made };
}

async function callRoute(all: Callers, name: RouteName, story: Story) {
  const { method, path, public: isPublic, page }: Route = routes[name];
  const { path: named = {}, query, body, learn } = routeCalls[name](story);
  const places: Readonly<Record<string, unknown>> = { ...story, job_id: story.jobs[0], ...named };
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, place: string) => encodeURIComponent(String(places[place])));
  const url = query === undefined ? filled : `${filled}?${query}`;
  const caller = isPublic ? all.user : await callerOf(all, name);
  if (page || withoutEnvelope.has(name)) {
    const headers = { Authorization: `Bearer ${caller.token}` };
    return equal((await fetch(caller.apiUrl + url, { headers })).status, 200);
  }
  const data = await send(caller, method, url, body);
  await learn?.(data);
}

async function callerOf(all: Callers, name: RouteName): Promise<Caller> {
  const { operator, device } = await loadOperation(name);
  return operator ? all.operator : device ? all.machine : all.user;
}
