/**
 * A deployment under traffic: calls of the local stack go to the functions of this commit and of
 * an earlier one, side by side, on the same tables, queues and results. By default that is the one
 * before the last change of functions; `BEFORE` names another.
 */

import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { type TableName, type TableNames, tables } from '../../functions/tables.ts';
import { documentFacts, upload } from '../../infra/acceptance/run-batch.ts';
import { randomNumbers } from '../../infra/local/demo/seeded-random.ts';
import { startFrontServer } from '../../infra/local/front-server.ts';
import { type Account, accounts, deviceAccount } from '../../infra/local/issuer/accounts.ts';
import type { LambdaFunction } from '../../infra/local/lambda/lambda-function.ts';
import { type LocalStack, startLocalStack } from '../../infra/local/local-stack.ts';
import { type FunctionDefinition, readDeployment } from '../../infra/local/template/deployment.ts';
import { synthesizeCheckout } from '../../infra/local/template/synthesize.ts';
import { readTemplate } from '../../infra/local/template/template.ts';
import { soundRows } from '../support/owner-rows.ts';
import { fetchPatiently, hang } from '../support/patience.ts';
import { seed } from '../support/seed.ts';
import { sequenceText } from '../support/sequence-text.ts';
import { testClient } from '../support/test-client.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const project = join(import.meta.dirname, '../..');
const storedFormat = 'test/integration/stored-format.test.ts';
const batchesOfUser = 10;
const workers = 8;

const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: project, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

const changing = ['functions', 'package-lock.json'];

/**
 * The commit to compare with, or why there is nothing to compare: the one before the last that
 * changed functions, or HEAD where the work tree changes them.
 */
function commitBefore(): { readonly commit: string } | { readonly none: string } {
  try {
    const differs = (commit: string, ...paths: string[]) => git('diff', '--name-only', commit, '--', ...paths) !== '';
    const last = () => `${git('rev-list', '-1', 'HEAD', '--', ...changing)}~1`;
    const name = process.env.BEFORE ?? (differs('HEAD', ...changing) ? 'HEAD' : last());
    const commit = git('rev-parse', '--verify', `${name}^{commit}`);
    // Such a release is deployed with a repair, and answers 500 until then.
    if (differs(commit, storedFormat)) return { none: `${storedFormat} differs: it takes a repair.` };
    return differs(commit, ...changing) ? { commit } : { none: `The functions of ${name} are the same.` };
  } catch {
    return { none: 'There is no earlier commit here.' };
  }
}

const folder = mkdtempSync(join(tmpdir(), 'deployment-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The files of a commit, with the packages that are installed here. */
function checkOut(commit: string): string {
  const directory = join(folder, 'before');
  mkdirSync(directory);
  const archive = execFileSync('git', ['archive', commit], { cwd: project, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x'], { cwd: directory, input: archive });
  symlinkSync(join(project, 'node_modules'), join(directory, 'node_modules'));
  return directory;
}

/** Starts a stack. `deployed.share` of the calls go to this commit; `counts`, to each. */
async function startBoth(commit: string) {
  const random = randomNumbers(seed);
  const deployed = { share: 0, before: 0, now: 0 };
  let before = new Map<string, FunctionDefinition>();
  const serve = (definition: FunctionDefinition, make: (of: FunctionDefinition) => LambdaFunction): LambdaFunction => {
    const now = make(definition);
    let old: LambdaFunction | undefined;
    return {
      definition,
      invoke(...call) {
        const described = before.get(definition.name);
        if (described === undefined || random() < deployed.share) {
          deployed.now += 1;
          return now.invoke(...call);
        }
        deployed.before += 1;
        old ??= make(described);
        return old.invoke(...call);
      },
      stop: async () => void (await Promise.all([now.stop(), old?.stop()])),
    };
  };
  const front = await startFrontServer(0);
  const logFile = join(folder, 'functions.log');
  const stack = await startLocalStack({ front, deliverWebhooks: true, logFile, serve, onStep() {} });
  const issuer = `${stack.baseUrl}/_local/issuer`;
  const own = { issuer, audience: 'quantum-batch-api', jwksUri: `${issuer}/.well-known/jwks.json` };
  const synthesis = await synthesizeCheckout(
    checkOut(commit),
    join(folder, 'assembly'),
    { stage: 'dev' },
    { ...own, consoleClientId: 'console' },
  );
  const { functions } = readDeployment(readTemplate(synthesis.template, stack.account), synthesis.assets);
  before = new Map(functions.map((each) => [each.name, each]));
  return { stack, deployed };
}

interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: openapi.json describes it.
  readonly data: any;
}

/** Calls as a client that repeats what it may. No answer is 500. */
function client(baseUrl: string, token: string) {
  return async (method: string, path: string, body?: object, key?: string): Promise<Answered> => {
    const headers = {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      ...(key !== undefined && { 'Idempotency-Key': key }),
    };
    const response = await fetchPatiently(baseUrl + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { data } = (await response.json()) as Answered;
    expect(response.status, `${method} ${path}: ${JSON.stringify(data)}`).toBeLessThan(500);
    return { status: response.status, data };
  };
}
type Client = ReturnType<typeof client>;

/** Runs jobs until `isOver`. `reports` counts the reports that were taken, by job. */
async function work(call: Client, worker: string, reports: Map<string, number>, isOver: () => boolean) {
  while (!isOver()) {
    const claim = await call('POST', '/api/v1/devices/FRESNEL/claim', { worker });
    if (claim.data === null) await wait(300);
    for (let job = claim.data?.job ?? null; job !== null; ) {
      const lease = `/api/v1/leases/${claim.data.lease}`;
      await call('POST', `${lease}/heartbeat`, { job_id: job.id });
      const link = await call('POST', `${lease}/jobs/${job.id}/results`, documentFacts);
      if (link.status === 200) await upload(link.data);
      const report = { status: 'DONE', results: link.status === 200 };
      const reported = await call('POST', `${lease}/jobs/${job.id}`, report);
      if (reported.status === 200) reports.set(job.id, (reports.get(job.id) ?? 0) + 1);
      // It was canceled, or its batch.
      const next = reported.status === 200 ? reported : await call('POST', `${lease}/next`);
      job = next.status === 200 ? next.data.job : null;
    }
  }
}

/** Creates batches, each by two calls with one key, and cancels every fifth. Returns their ids. */
async function submit(call: Client, webhook: string, begin: (batch: number) => void): Promise<string[]> {
  const ids: string[] = [];
  for (let batch = 0; batch < batchesOfUser; batch++) {
    begin(batch);
    const body = {
      ...{ project_id: randomUUID(), device_type: 'FRESNEL', sequence_builder: sequenceText(), webhook },
      jobs: Array.from({ length: 1 + (batch % 3) }, () => ({ runs: 3 })),
    };
    const key = randomUUID();
    const [one, other] = await Promise.all([1, 2].map(() => call('POST', '/api/v1/batches', body, key)));
    expect([one!.status, other!.data.id]).toEqual([200, one!.data.id]);
    if (batch % 5 === 4) await call('PATCH', `/api/v2/batches/${one!.data.id}/cancel`);
    ids.push(one!.data.id);
  }
  return ids;
}

/** The stack's own tables. */
function namesOf({ deployment }: LocalStack): TableNames<TableName> {
  const environment: Record<string, string> = Object.assign(
    {},
    ...deployment.functions.map((each) => each.environment),
  );
  const named = Object.entries(tables).map(([name, of]) => [name, environment[of.environmentVariable]]);
  return Object.fromEntries(named);
}

it('loses nothing, does nothing twice and answers no 500 while old and new functions run side by side', async ({
  skip,
}) => {
  const before = commitBefore();
  if ('none' in before) return skip(before.none);
  const { stack, deployed } = await startBoth(before.commit);
  onTestFinished(stack.stop);
  const receiver = await startWebhookReceiver();
  onTestFinished(receiver.stop);
  const callAs = async (account: Account) => client(stack.baseUrl, await stack.issuer.token(account));
  const device = await callAs(deviceAccount);
  const reports = new Map<string, number>();
  let isOver = false;
  const working = Promise.all(
    Array.from({ length: workers }, (_, at) => work(device, `worker ${at}`, reports, () => isOver)),
  );
  // What fails here is reported at the end.
  working.catch(() => {});
  onTestFinished(async () => {
    isOver = true;
    await working.catch(() => {});
  });
  // The old functions alone, then both, then the new ones alone.
  const begin = (batch: number) => {
    deployed.share = Math.max(deployed.share, batch < 2 ? 0 : batch < batchesOfUser - 2 ? 0.5 : 1);
  };
  const users = await Promise.all(accounts.map(async (account) => ({ ...account, call: await callAs(account) })));
  const submitted = await Promise.all(users.map(({ call }) => submit(call, receiver.url, begin)));
  for (const [at, { userId, call }] of users.entries()) {
    const unfinished = '/api/v1/batches?status=PENDING&status=RUNNING&status=CANCELING';
    await expect.poll(async () => (await call('GET', unfinished)).data.length, hang).toBe(0);
    const { batches, jobs } = await soundRows(testClient(stack.dynamodbEndpoint), namesOf(stack), userId);
    expect(batches.map(({ id }) => id).sort()).toEqual(submitted[at]!.toSorted());
    for (const { id, status } of jobs) expect([id, reports.get(id) ?? 0]).toEqual([id, status === 'DONE' ? 1 : 0]);
    const listed = await call('GET', '/api/v1/batches?limit=100&order_by_direction=ASC');
    const shown = ({ id, status }: { id: string; status: string }) => `${id} ${status}`;
    expect(listed.data.map(shown)).toEqual(batches.map(shown));
    const ends = [...batches, ...jobs].map(shown);
    await expect.poll(() => ends.filter((end) => !deliveredIds(receiver).has(end)), hang).toEqual([]);
  }
  isOver = true;
  await working;
  expect([...deliveredIds(receiver).values()].filter((ids) => ids.size > 1)).toEqual([]);
  expect(deployed.before).toBeGreaterThan(50);
  expect(deployed.now).toBeGreaterThan(50);
});

/** By job or batch and status, the ids of the messages that the receiver got. */
function deliveredIds({ messages }: WebhookReceiver) {
  const ids = new Map<string, Set<string>>();
  for (const { headers, body } of messages) {
    const { data } = JSON.parse(body.toString());
    const end = `${data.job_id ?? data.batch_id} ${data.status}`;
    ids.set(end, (ids.get(end) ?? new Set()).add(String(headers['webhook-id'])));
  }
  return ids;
}
