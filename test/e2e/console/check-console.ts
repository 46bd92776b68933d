/**
 * Uses the console in Chromium, on a running local stack with demo data, as its people do. Prints
 * each check; the exit code is 1 when one fails.
 *
 * usage: check-console.ts STACK_JSON CHROMIUM FOLDER [--screenshots DIRECTORY]; the folder is for
 * files of its own, and has oidc-provider installed. With a directory for screenshots, it makes
 * these only
 */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { StackDescription } from '../../../infra/local/greeting.ts';
import { withPage } from '../page/browser.ts';
import { type Check, runChecks } from '../page/run-checks.ts';
import { foreignChecks, startForeignStack } from './foreign-checks.ts';
import { openLaboratory } from './laboratory.ts';
import { operatorChecks } from './operator-checks.ts';
import { makePictured } from './picture-data.ts';
import { sweep } from './program.ts';
import { projectChecks } from './project-checks.ts';
import { keyboardCheck, signInChecks } from './sign-in-checks.ts';
import { sweepChecks } from './sweep-checks.ts';
import { counter, userChecks } from './user-checks.ts';
import { pictures, slowLineCheck, viewCheck } from './view-checks.ts';
import { visit } from './world.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { screenshots: { type: 'string' } } });
const [description = '.local/stack.json', chromium = 'chromium', folder = '.'] = positionals;
const stack = JSON.parse(readFileSync(description, 'utf8')) as StackDescription;
const { screenshots } = values;
const laboratory = await openLaboratory(stack, screenshots === undefined ? undefined : 'LAB_1');
const { call, device } = laboratory;
const tag = `sweep ${device}`;

/** A batch of the account `demo` that waits for the laboratory. */
async function create(name = 'sweep', tags: readonly string[] = []) {
  const sequence_builder = sweep(device, name);
  const content = { project_id: randomUUID(), device_type: device, sequence_builder, tags: [tag, ...tags] };
  const jobs = [8, 10, 12.5].map((omega) => ({ runs: 600, variables: { omega } }));
  const { id } = await call<{ id: string }>('/api/v1/batches', { method: 'POST', body: { ...content, jobs } });
  return { id, tag };
}

/** A batch whose jobs are done, and one of them. */
async function createDone() {
  const { id } = await create('adiabatic sweep');
  while ((await laboratory.work(() => ({ counter }))) !== id);
  const [job] = await call<{ id: string }[]>(`/api/v2/jobs?batch_id=${id}&status=DONE`);
  return { batch: `#/batch/${id}`, job: `#/job/${job!.id}` };
}

/** An open batch: where jobs are added to it, and where it is compared. */
async function createOpen() {
  const content = { project_id: randomUUID(), device_type: device, sequence_builder: sweep(device, 'sweep') };
  const body = { ...content, open: true, jobs: [{ runs: 100, variables: { omega: 8 } }] };
  const { id } = await call<{ id: string }>('/api/v1/batches', { method: 'POST', body });
  return { add: `#/add/${id}`, compare: `#/compare/${id}` };
}

async function projectId() {
  const token = stack.users.find(({ username }) => username === 'member')!.token;
  return (await call<{ id: string }[]>('/api/v1/projects', { token }))[0]!.id;
}

const foreign = await startForeignStack(folder);
try {
  await withPage(chromium, async (page) => {
    const own = visit(page, stack.baseUrl);
    const checks: Record<string, Check> = {
      ...signInChecks(own),
      ...userChecks(own, laboratory, folder),
      ...sweepChecks(own, laboratory),
      'by keyboard alone: sign in, filter, open a batch, cancel it': keyboardCheck(own, create),
      'axe-core finds nothing in the views of users, in both themes, on a phone, and all fits': viewCheck(
        own,
        'demo',
        async () => ({
          ...(await createDone()),
          ...(await createOpen()),
          ...{ batches: '#/batches?status=DONE', new: '#/new', devices: '#/devices', usage: '#/usage' },
          device: '#/devices/FRESNEL',
          none: '#/nonsense',
        }),
      ),
      ...projectChecks(own, laboratory, stack),
      'axe-core finds nothing in the views of a project': viewCheck(own, 'member', async () => ({
        ...{ batches: '#/batches?scope=project', projects: '#/projects', project: `#/projects/${await projectId()}` },
      })),
      ...operatorChecks(own, laboratory, create, stack.operator.token),
      'axe-core finds nothing in the views of operators': viewCheck(own, 'operator', async () => ({
        ...{ devices: '#/operate', device: `#/operate/device/${device}` },
        ...{ limits: '#/operate/limits', usage: '#/operate/usage', audit: '#/operate/audit' },
      })),
      'the first view needs at most 120 kB': slowLineCheck(own),
      ...foreignChecks(own, foreign),

      async 'no policy was violated, and nothing went wrong in the browser'() {
        assert.deepEqual(own.unexpectedErrors(), []);
        return undefined;
      },
    };
    if (screenshots === undefined) return runChecks(checks, { stopAtFailure: true });
    const views = async () => {
      const { scan, job } = await makePictured(laboratory, randomUUID());
      const [batch, ofJob] = [`#/batch/${scan}`, `#/job/${job}`];
      const queue = `#/operate/device/${device}`;
      return { batches: '#/batches', batch, 'batch-dark': batch, job: ofJob, 'job-dark': ofJob, new: '#/new', queue };
    };
    await runChecks({ 'pictures for the documents': pictures(own, screenshots, views) });
  });
} finally {
  await foreign.stop();
}
