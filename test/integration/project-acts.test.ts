/** What members of a project do with the work of others there: whole answers, traces, crashes. */

import { randomUUID } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { administratorsAct } from '../../functions/data/batches/administrators-act.ts';
import { closeBatch } from '../../functions/data/batches/batch-updates.ts';
import { cancelBatch, cancelJob, cancelJobs } from '../../functions/data/batches/cancellations.ts';
import { recoverBatch } from '../../functions/data/batches/recovery.ts';
import type { ScheduleRecovery } from '../../functions/data/lifecycle/schedule-recovery.ts';
import type { ProjectRole } from '../../functions/project-roles.ts';
import type { RouteName } from '../../functions/routes.ts';
import type { RecoveryRequest } from '../../functions/schemas/recovery-request.ts';
import { ask } from '../support/ask.ts';
import { auditRows } from '../support/audit-rows.ts';
import { dyingClient, isFinished } from '../support/dying-client.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import type { GatewayRequest } from '../support/gateway-event.ts';
import { heldPlaces } from '../support/held-places.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { uuid } from '../support/new-batch.ts';
import { ownerRows, soundRows } from '../support/owner-rows.ts';
import { startPassingServer } from '../support/passing-server.ts';
import { sequenceText } from '../support/sequence-text.ts';
import { testDb } from '../support/test-db.ts';
import { allResults, leaseFrom, newNames, project_id, workerStack } from '../support/worker-stack.ts';

const { client, names } = await functionEnvironment();
const db = testDb(client, names);
/** The calls of handlers since it was emptied. */
const asked: { operation: string; body: string }[] = [];
const recorder = await startPassingServer(dynamodbEndpoint, async ({ headers, body }, pass, answer) => {
  asked.push({ operation: String(headers['x-amz-target']).split('.')[1]!, body: body.toString() });
  answer(await pass());
});
vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', recorder.url);
const sink = await startMessageSink();
afterAll(() => Promise.all([recorder.stop(), sink.stop()]));
const stack = workerStack(client, names, {
  get now() {
    return Date.now();
  },
});

let [owner, device, admin] = ['', '', ''];
beforeEach(() => {
  ({ user: owner, device } = newNames());
  admin = `admin|${randomUUID()}`;
});

const create = (wanted: Parameters<typeof stack.create>[1] = {}, userId = owner) =>
  stack.create(userId, { device_type: device, ...wanted });

const rolesOf = (role: ProjectRole, project = project_id) => [{ id: project, name: 'The project', role }];

/** A request of someone with a role in the project; an administrator's by default. */
async function askAs(route: RouteName, request: GatewayRequest, role: ProjectRole = 'admin') {
  const claims = { projects: JSON.stringify(rolesOf(role)), user_name: 'Ada' };
  const { status, data } = await ask(route, { userId: admin, claims, ...request });
  return { status, data };
}
const ofBatch = (batch_id: string): GatewayRequest => ({ path: { batch_id } });
const asOwner = async (route: RouteName, request: GatewayRequest) =>
  (await ask(route, { userId: owner, ...request })).data;

const stored = () => ownerRows(client, names, owner);
const sound = () => soundRows(client, names, owner);

/** What this test's administrator did, oldest first. */
async function acts() {
  const rows = await auditRows(client, names);
  return rows.filter(({ operator }) => operator === admin).map(({ month, key, at, expires_at, ...act }) => act);
}

const words = (done: string) => `Ada, who administers the project, ${done}.`;
const target = (batch_id: string) => ({ user_id: owner, batch_id, project_id, device_type: device });

describe('an administrator who cancels the batch of another', () => {
  it.each([1, 150])(
    'does it as the owner would; the owner reads who did it, and it is audited once: %i jobs',
    async (jobs) => {
      const { id } = await create({ jobs, open: true });
      const { status, data } = await askAs('cancelBatch', ofBatch(id));
      expect(status).toBe(200);
      const text = words('canceled the batch');
      expect(data).toMatchObject({ user_id: owner, status: 'CANCELED', open: false, device_status: text });
      const rows = await sound();
      expect(rows.jobs.map((job) => [job.status, job.errors])).toEqual(Array(jobs).fill(['CANCELED', [text]]));
      expect(await asOwner('getBatch', ofBatch(id))).toMatchObject({ device_status: text });
      const before = await stored();
      expect(await askAs('cancelBatch', ofBatch(id))).toEqual({ status, data });
      expect(await stored()).toEqual(before);
      expect(await acts()).toEqual([
        {
          ...{ operator: admin, operator_name: 'Ada', action: 'batch.cancel', target: target(id), reason: null },
          before: {
            ...{ status: 'PENDING', open: true },
            jobs_count_per_status: expect.objectContaining({ PENDING: jobs }),
          },
          after: { status: 'CANCELED', open: false },
        },
      ]);
    },
  );

  it('is named by the user id where the token has no name', async () => {
    const { id } = await create();
    const claims = { projects: JSON.stringify(rolesOf('admin')) };
    expect((await askAs('cancelBatch', { ...ofBatch(id), claims })).data.device_status).toBe(
      `${admin}, who administers the project, canceled the batch.`,
    );
  });

  it('leaves no trace in what is canceled, being canceled, or has ended in another way', async () => {
    const [canceled, ended] = [await create(), await create()];
    await stack.cancel(owner, canceled.id);
    await stack.cancelJob(owner, ended.jobs![0]!.id);
    const claim = await create();
    await stack.report(leaseFrom((await stack.claim(device, 'worker'))!), claim.jobs![0]!.id);
    const before = await stored();
    expect((await askAs('cancelBatch', ofBatch(canceled.id))).data.device_status).toBeNull();
    expect(await askAs('cancelBatch', ofBatch(claim.id))).toMatchObject({
      status: 409,
      data: { reason: 'batch_ended' },
    });
    expect(await stored()).toEqual(before);
    expect(await acts()).toEqual([]);
  });

  it('agrees with the owner who cancels it at the same time', async () => {
    const { id } = await create({ jobs: 5 });
    const [{ status, data }] = await Promise.all([
      askAs('cancelBatch', ofBatch(id)),
      asOwner('cancelBatch', ofBatch(id)),
    ]);
    expect([status, data.status]).toEqual([200, 'CANCELED']);
    const { device_status } = (await sound()).batches[0]!;
    expect(await acts()).toHaveLength(device_status === null ? 0 : 1);
  });
});

describe('an administrator who closes the batch of another', () => {
  it('shows the owner who did it, and is audited once', async () => {
    const { id } = await create({ open: true });
    const text = words('closed the batch');
    const { status, data } = await askAs('closeBatch', ofBatch(id));
    expect([status, data]).toMatchObject([200, { open: false, status: 'PENDING', device_status: text }]);
    const before = await stored();
    expect(await askAs('closeBatch', ofBatch(id))).toEqual({ status, data });
    expect(await stored()).toEqual(before);
    await sound();
    const changes = { before: { open: true }, after: { open: false } };
    expect(await acts()).toEqual([
      { operator: admin, operator_name: 'Ada', action: 'batch.close', target: target(id), reason: null, ...changes },
    ]);
  });

  it('changes nothing where the owner has closed it', async () => {
    const { id } = await create();
    expect((await askAs('closeBatch', ofBatch(id))).data.device_status).toBeNull();
    expect(await acts()).toEqual([]);
  });
});

describe('an administrator who cancels jobs of another', () => {
  const text = words('canceled the job');

  it('says so in the one job, and is audited once', async () => {
    const { id, jobs } = await create({ jobs: 2 });
    const job_id = jobs![0]!.id;
    const { status, data } = await askAs('cancelJob', { path: { job_id } });
    expect([status, data]).toMatchObject([200, { id: job_id, status: 'CANCELED', errors: [text] }]);
    expect(await askAs('cancelJob', { path: { job_id } })).toEqual({ status, data });
    const rows = await sound();
    expect(rows.batches[0]).toMatchObject({ status: 'PENDING', device_status: null });
    expect(rows.jobs.map(({ errors }) => errors)).toEqual([[text], null]);
    expect(await acts()).toEqual([
      {
        ...{
          operator: admin,
          operator_name: 'Ada',
          action: 'job.cancel',
          target: { ...target(id), job_id },
          reason: null,
        },
        ...{ before: { status: 'PENDING' }, after: { status: 'CANCELED' } },
      },
    ]);
  });

  it.each([3, 150])('says so in each of several, and is audited once: %i jobs', async (count) => {
    const { id } = await create({ jobs: count + 1, open: true });
    const some = { ...ofBatch(id), query: `max_runs=${count}` };
    const { status, data } = await askAs('cancelJobs', some);
    expect([status, data.jobs.length, data.errors]).toEqual([200, count, {}]);
    expect(await askAs('cancelJobs', some)).toEqual({ status, data });
    const rows = await sound();
    expect(rows.jobs.map(({ errors }) => errors)).toEqual([...Array(count).fill([text]), null]);
    expect(rows.batches[0]).not.toHaveProperty('pending_calls');
    expect(await acts()).toMatchObject([{ action: 'job.cancel', target: target(id) }]);
    expect((await acts())[0]!.target).not.toHaveProperty('job_id');
  });

  it('is audited again for another call, and not for one that finds nothing to cancel', async () => {
    const { id, jobs } = await create({ jobs: 3, open: true });
    await askAs('cancelJobs', { ...ofBatch(id), query: `id=${jobs![0]!.id}` });
    await askAs('cancelJobs', ofBatch(id));
    await askAs('cancelJobs', { ...ofBatch(id), query: 'min_runs=1' });
    expect(await acts()).toHaveLength(2);
  });
});

describe('jobs that end between the read and the write of their cancellation', () => {
  /** Cancels all jobs of a batch of 40; meanwhile the first ones are canceled by their owner. */
  async function overtaken(count: number) {
    const { id, jobs } = await create({ jobs: 40, open: true });
    let hasRead = false;
    const slow = interceptedClient(client, async (call) => {
      const answer = await call.send();
      const isSelection =
        call.name === 'BatchGetCommand' && names.Jobs in (call.input.RequestItems as object) && !hasRead;
      hasRead ||= isSelection;
      if (isSelection) for (const job of jobs!.slice(0, count)) await stack.cancelJob(owner, job.id);
      return answer;
    });
    const act = actOf(db, 'job.cancel');
    await cancelJobs({ ...db, client: slow }, { userId: owner, batchId: id }, {}, { act });
    return (await sound()).jobs.filter(({ errors }) => errors !== null).length;
  }

  it.each([
    ['none of them', 0, 40, 1],
    ['more than the first that are changed together', 12, 28, 1],
    ['all of them', 40, 0, 0],
  ])('are no act, if they are %s', async (_, count, canceled, entries) => {
    expect(await overtaken(count)).toBe(canceled);
    expect(await acts()).toHaveLength(entries);
  });
});

describe('a caller who cancels batches of several owners', () => {
  it('gets for each what they would get for it alone, and finds all of others at once', async () => {
    const other = newNames().user;
    const [elsewhere, strange] = [uuid('c', 7), uuid('c', 8)];
    const own = await create({ jobs: 2 }, admin);
    const [small, large, theirs] = [await create(), await create({ jobs: 100 }), await create({}, other)];
    const ended = await create();
    await stack.cancelJob(owner, ended.jobs![0]!.id);
    const moved = { readable: await create(), unreadable: await create() };
    for (const [{ id }, project] of [
      [moved.readable, elsewhere],
      [moved.unreadable, strange],
    ] as const) {
      const [row] = (await ownerRows(client, names, owner)).batches.filter((each) => each.id === id);
      await client.send(new PutCommand({ TableName: names.Batches, Item: { ...row, project_id: project } }));
      const contributor = { project_id: project, user_id: owner };
      await client.send(new PutCommand({ TableName: names.Contributors, Item: contributor }));
    }
    const projects = JSON.stringify([...rolesOf('admin'), ...rolesOf('member', elsewhere)]);
    const missing = randomUUID();
    const wanted = [theirs, moved.readable, own, large, moved.unreadable, small].map(({ id }) => id);
    asked.length = 0;
    const body = { batch_ids: [...wanted, missing] };
    const { status, data } = await askAs('cancelBatches', { body, claims: { projects, user_name: 'Ada' } });
    expect(status).toBe(200);
    const text = words('canceled the batch');
    expect(data.batches.map((batch: Record<string, unknown>) => [batch.id, batch.device_status])).toEqual([
      [theirs.id, text],
      [own.id, null],
      [large.id, text],
      [small.id, text],
    ]);
    expect(data.errors).toEqual({
      [moved.readable.id]: 'Only its owner, or an administrator of its project, may do this.',
      [moved.unreadable.id]: 'There is no such batch.',
      [missing]: 'There is no such batch.',
    });
    const searches = asked.filter(({ body }) => body.includes(names.Contributors));
    expect(searches.map(({ operation }) => operation)).toEqual(['Query', 'Query']);
    const found = asked.filter(
      ({ operation, body }) => operation === 'BatchGetItem' && body.includes('"ConsistentRead":false'),
    );
    expect(found.filter(({ body }) => body.includes(names.Batches))).toHaveLength(1);
    expect((await acts()).map(({ target }) => target.batch_id).sort()).toEqual([theirs.id, large.id, small.id].sort());
    expect(await askAs('cancelBatches', { body, claims: { projects } })).toEqual({ status, data });
    expect(await acts()).toHaveLength(3);
  });

  it('looks for 25 batches of others at most, and says so of the rest', async () => {
    const batch_ids = Array.from({ length: 26 }, () => randomUUID());
    const projects = JSON.stringify(rolesOf('admin'));
    const { data } = await askAs('cancelBatches', { body: { batch_ids }, claims: { projects } });
    const reasons = batch_ids.map((id) => data.errors[id]);
    const rest = 'You have no such batch. Of others, a call cancels 25: name fewer.';
    expect(reasons).toEqual([...Array(25).fill('There is no such batch.'), rest]);
    const without = await askAs('cancelBatches', { body: { batch_ids }, claims: {} });
    expect(new Set(Object.values(without.data.errors))).toEqual(new Set(['There is no such batch.']));
  });
});

/** Acts that die, by what they do, and what the owner reads then. */
const deaths = {
  cancelBatch: {
    done: 'canceled the batch',
    perform: (through: typeof db, batch: Created, scheduleRecovery: ScheduleRecovery) =>
      cancelBatch(
        through,
        { userId: owner, batchId: batch.id },
        { act: actOf(through, 'batch.cancel'), scheduleRecovery },
      ),
  },
  cancelJobs: {
    done: 'canceled the job',
    perform: (through: typeof db, batch: Created, scheduleRecovery: ScheduleRecovery) =>
      cancelJobs(
        through,
        { userId: owner, batchId: batch.id },
        {},
        { act: actOf(through, 'job.cancel'), scheduleRecovery },
      ),
  },
  cancelJob: {
    done: 'canceled the job',
    perform: (through: typeof db, batch: Created) =>
      cancelJob(through, owner, batch.jobs![0]!.id, actOf(through, 'job.cancel')),
  },
  closeBatch: {
    done: 'closed the batch',
    perform: (through: typeof db, batch: Created) =>
      closeBatch(through, owner, batch.id, actOf(through, 'batch.close')),
  },
};
type Created = Awaited<ReturnType<typeof create>>;

function actOf(through: typeof db, action: 'batch.cancel' | 'batch.close' | 'job.cancel') {
  return administratorsAct(through, { userId: admin, claims: { user_name: 'Ada' } }, { owner, action });
}

describe.each(Object.entries(deaths))('%s of an administrator that dies', (name, { done, perform }) => {
  it.each(['a repetition', 'the recovery'])('is completed by %s, with its words and one entry', async (by) => {
    for (let most = 0, finished = false; !finished; most++) {
      ({ user: owner, device } = newNames());
      admin = `admin|${randomUUID()}`;
      const batch = await create({ jobs: name === 'cancelJob' ? 1 : 130, open: true });
      const messages: RecoveryRequest[] = [];
      const schedule: ScheduleRecovery = async ({ userId: user_id, batchId: batch_id, call }) => {
        messages.push({ user_id, batch_id, ...(call && { call }) });
      };
      finished = await isFinished(perform({ ...db, client: dyingClient(client, most).client }, batch, schedule));
      const isBegun = (await acts()).length > 0;
      expect(isBegun).toBe(finished || most > 0);
      if (by === 'a repetition') await perform(db, batch, schedule);
      else for (const message of messages) await recoverBatch(db, allResults, message);
      const rows = await sound();
      const said = [rows.batches[0]!.device_status, ...rows.jobs.flatMap(({ errors }) => errors ?? [])];
      const isMade = isBegun || by === 'a repetition';
      expect(new Set(said.filter((text) => text !== null))).toEqual(new Set(isMade ? [words(done)] : []));
      expect(rows.jobs.filter(({ status }) => status === 'PENDING').length > 0).toBe(!isMade || name === 'closeBatch');
      expect(await acts()).toHaveLength(isMade ? 1 : 0);
    }
  });
});

it('audits an administrator who repeats what a dead call of the owner has begun, and says who did the rest', async () => {
  const { id } = await create({ jobs: 130 });
  const dying = { ...db, client: dyingClient(client, 1).client };
  expect(await isFinished(cancelJobs(dying, { userId: owner, batchId: id }, {}))).toBe(false);
  expect((await askAs('cancelJobs', ofBatch(id))).status).toBe(200);
  const said = (await stored()).jobs.map(({ status, errors }) => `${status} ${errors}`);
  expect(new Set(said)).toEqual(new Set(['CANCELED null', `CANCELED ${words('canceled the job')}`]));
  expect(await acts()).toHaveLength(1);
});

describe('the calls that an administrator makes', () => {
  it('count for them, not for the owner', async () => {
    const { id } = await create({ jobs: 100 });
    const ofOwner = await heldPlaces(db, { userId: owner, kind: 'changes' }, 5);
    const ofAdmin = await heldPlaces(db, { userId: admin, kind: 'changes' }, 5);
    expect(await askAs('cancelBatch', ofBatch(id))).toMatchObject({
      status: 429,
      data: { reason: 'too_many_changes' },
    });
    await ofAdmin.end();
    expect((await askAs('cancelBatch', ofBatch(id))).status).toBe(200);
    await ofOwner.end();
  });
});

describe('a member who runs the batch of another again', () => {
  const member = { claims: { projects: JSON.stringify(rolesOf('member')) } };

  it('gets a batch of their own in the project, of the owner’s sequences and jobs', async () => {
    const { id } = await create({ jobs: 3 });
    const before = await stored();
    const again = () =>
      ask('rebatch', { userId: admin, ...member, ...ofBatch(id), headers: { 'Idempotency-Key': 'again' } });
    const { status, data } = await again();
    expect(status).toBe(200);
    expect(data).toMatchObject({
      user_id: admin,
      project_id,
      parent_id: id,
      jobs_count: 3,
      sequence_builder: sequenceText(),
    });
    expect(data.jobs.map((job: Record<string, unknown>) => [job.user_id, job.parent_id, job.runs])).toEqual(
      before.jobs.map((job) => [admin, job.id, job.runs]),
    );
    expect(await again()).toMatchObject({ status, data: { id: data.id } });
    expect(await stored()).toEqual(before);
    expect((await soundRows(client, names, admin)).batches.map((row) => row.id)).toEqual([data.id]);
    expect((await ask('getBatch', { userId: admin, ...ofBatch(data.id) })).data.sequence_builder).toBe(sequenceText());
    expect(await acts()).toEqual([]);
  });

  it('does not inherit the webhook', async () => {
    const { id } = await create();
    const [row] = (await stored()).batches;
    await client.send(
      new PutCommand({ TableName: names.Batches, Item: { ...row, webhook: 'https://receiver.example.org/' } }),
    );
    expect((await ask('rebatch', { userId: admin, ...member, ...ofBatch(id) })).data.webhook).toBeNull();
    expect((await asOwner('rebatch', ofBatch(id))).webhook).toBe('https://receiver.example.org/');
  });
});
