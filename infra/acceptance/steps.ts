/** What an acceptance does, in its order: data. */

import { equal, ok } from 'node:assert/strict';
import { outputReader } from '../commands/aws-cli.ts';
import { call, expectAnswer } from '../smoke/api-client.ts';
import { checks as smokeChecks } from '../smoke/checks.ts';
import { eventually } from '../smoke/eventually.ts';
import type { Checks } from '../smoke/examine.ts';
import { type Acceptance, readResources } from './acceptance.ts';
import { beforeChecks } from './before.ts';
import { manyJobsChecks } from './many-jobs.ts';
import { checkPermissions } from './permissions.ts';
import { readBackChecks } from './read-back.ts';
import { removeChecks } from './remove.ts';
import { checkRestore } from './restore-way.ts';
import { checkRotation } from './rotation.ts';
import { routeChecks } from './route-calls.ts';
import { checkBatch } from './run-batch.ts';

export interface Step {
  readonly proves: string;
  /** What it costs at most, beside what the stack costs at rest. */
  readonly dollars: number;
  /** Each can be repeated. */
  readonly checks: Checks<Acceptance>;
  /** The others need it: without it the acceptance ends. */
  readonly required?: true;
  /** Runs after any other. */
  readonly closes?: true;
  /** Runs only where this is asked for. */
  readonly option?: 'with-restore';
}

export const steps = {
  before: {
    proves: 'credentials, bootstrap, quotas; CloudFormation reads the template',
    dollars: 0,
    checks: beforeChecks,
    required: true,
  },
  deploy: {
    proves: 'the stack deploys',
    dollars: 0.05,
    checks: { 'the stack is deployed': deployStack, 'the API answers': expectHealth },
    required: true,
  },
  callers: {
    proves: 'a user, an operator and a machine get tokens, which the API accepts',
    dollars: 0.01,
    checks: { 'tokens are accepted, once IAM has spread': expectCallers },
    required: true,
  },
  smoke: {
    proves: 'what `npm run smoke` checks: errors, sizes, links, events, logs, metrics, saved queries, an alarm',
    dollars: 0.2,
    checks: Object.assign({}, ...smokeChecks.map(([, ofArea]) => withUser(ofArea))),
  },
  batch: {
    proves: 'a batch from its creation to its webhook, which is tried again',
    dollars: 0.01,
    checks: { 'a batch is run, its results are read, its webhook is tried twice': checkBatch },
  },
  routes: {
    proves: 'every route answers with success',
    dollars: 0.01,
    checks: routeChecks,
  },
  permissions: {
    proves: "each role allows what its function's `uses` say, and nothing else, by IAM's simulator",
    dollars: 0,
    checks: { 'roles allow what `uses` say, and nothing else': checkPermissions },
  },
  'read back': {
    proves: 'what the import kept of the API, TLS, recursion, drift, cold starts',
    dollars: 0.01,
    checks: readBackChecks,
  },
  'many jobs': {
    proves: '5,000 jobs in a call, their cancellation, throttled keys',
    dollars: 0.25,
    checks: manyJobsChecks,
  },
  rotation: {
    proves: 'the webhook key is rotated',
    dollars: 0.01,
    checks: { 'the public key changes, and the former one is kept': checkRotation },
  },
  restore: {
    proves: 'the way back of docs/guides/restoring.md',
    dollars: 0.5,
    checks: { 'tables are restored, adopted and repaired, and nothing is lost': checkRestore },
    option: 'with-restore',
  },
  'batch again': {
    proves: 'a batch on the restored tables',
    dollars: 0.01,
    checks: { 'a batch is run on the restored tables': checkBatch },
    option: 'with-restore',
  },
  remove: {
    proves: 'what the acceptance made is removed',
    dollars: 0.05,
    checks: removeChecks,
    closes: true,
  },
} as const satisfies Record<string, Step>;

export type StepName = keyof typeof steps;

async function deployStack(acceptance: Acceptance): Promise<string> {
  const { aws, stack } = acceptance;
  await requireOwnTables(acceptance);
  await acceptance.deploy();
  const { Stacks } = await aws('cloudformation', 'describe-stacks', '--stack-name', stack);
  ok(/^(CREATE|UPDATE|IMPORT)_COMPLETE$/.test(Stacks[0].StackStatus), Stacks[0].StackStatus);
  return Stacks[0].StackStatus;
}

/** A deployment without the line that a restore asks for would make empty tables. */
async function requireOwnTables(acceptance: Acceptance) {
  const output = await outputReader(acceptance.stack, acceptance.aws).catch(() => undefined);
  const [restored] = /\d{8}T\d{6}Z$/.exec(output?.('BatchesTable') ?? '') ?? [];
  if (restored === undefined) return;
  const isKept = JSON.stringify(readResources(acceptance)).includes(restored);
  ok(isKept, `The stack has restored tables: write them into cdk.json first, as "${restored}".`);
}

async function expectHealth(acceptance: Acceptance) {
  const api = { apiUrl: (await outputReader(acceptance.stack, acceptance.aws))('ApiUrl'), token: '' };
  await eventually(120, async () => (await call(api, '/health', { authorization: null })).status === 200);
}

/** Lambda has a new role's rights some seconds later. */
async function expectCallers({ callers }: Acceptance): Promise<string> {
  const { user, operator, machine } = await callers();
  const start = Date.now();
  await eventually(120, async () => (await call(user, '/api/v1/batches?limit=1')).status === 200);
  const seconds = Math.round((Date.now() - start) / 1_000);
  expectAnswer(await call(operator, '/api/v1/audit'), 200);
  equal((await call(user, '/api/v1/audit')).status, 403);
  equal((await call(machine, '/api/v1/batches')).status, 403);
  return `after ${seconds} s`;
}

function withUser(checks: (typeof smokeChecks)[number][1]): Checks<Acceptance> {
  return Object.fromEntries(
    Object.entries(checks).map(([promise, check]) => [
      promise,
      async ({ callers }: Acceptance) => check((await callers()).user),
    ]),
  );
}
