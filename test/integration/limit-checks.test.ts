/** Limits where creations meet them: never one too many, and no other user pays for it. */

import { randomUUID } from 'node:crypto';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { cancelBatch, cancelJob } from '../../functions/data/batches/cancellations.ts';
import { addJobs, createBatch } from '../../functions/data/batches/new-batches.ts';
import { rebatch } from '../../functions/data/batches/rebatches.ts';
import { recoverBatch } from '../../functions/data/batches/recovery.ts';
import type { ScheduleRecovery } from '../../functions/data/lifecycle/schedule-recovery.ts';
import { changeLimits, effectiveLimits } from '../../functions/data/limits/limits-of-subjects.ts';
import { usageKey } from '../../functions/data/limits/usage-sums.ts';
import { limitCounterKey, ownLimits } from '../../functions/data/limits/used-of-limits.ts';
import type { CreateBatchRequest } from '../../functions/schemas/batch-request.ts';
import { Claims } from '../../functions/schemas/claims.ts';
import type { Limits } from '../../functions/schemas/limits.ts';
import type { RecoveryRequest } from '../../functions/schemas/recovery-request.ts';
import { changeItem } from '../support/change-item.ts';
import { deep } from '../support/depth.ts';
import { dyingClient } from '../support/dying-client.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { newBatchRequest } from '../support/new-batch.ts';
import { ownTables } from '../support/own-tables.ts';
import { batchesAndJobs, recountOf } from '../support/owner-rows.ts';
import { seed } from '../support/seed.ts';
import { sideBySide } from '../support/side-by-side.ts';
import { testDb } from '../support/test-db.ts';
import { allResults } from '../support/worker-stack.ts';

const { client, tables } = await ownTables();
const start = Date.parse('2026-11-22T10:00:30Z');
let time = start;
beforeEach(() => {
  time = start;
});
const db = testDb(client, tables, { now: () => time });
const claims = Claims.parse({ queue_priority: 'CRITICAL' });
const add = (userId: string, batchId: string, body: CreateBatchRequest['jobs']) =>
  addJobs(db, { userId, claims }, { batchId, body });
const cancel = (userId: string, batchId: string) => cancelBatch(db, { userId, batchId });

const newUser = () => `auth0|${randomUUID()}`;
const limit = (subject: string, limits: Limits) => changeLimits(db, { operator: 'op', subject, limits });
const limitUser = (userId: string, limits: Limits) => limit(`user:${userId}`, limits);

function request(jobs: number, content: Partial<CreateBatchRequest> = {}): CreateBatchRequest {
  return { ...newBatchRequest(Math.max(jobs, 1)), ...(jobs === 0 && { jobs: [] }), ...content };
}

/** A batch that a user asks for, each time as another call; or why it is refused. */
function ask(userId: string, body = request(1), idempotencyKey?: string) {
  // biome-ignore lint/suspicious/noExplicitAny: a batch or an error
  return createBatch(db, { userId, idempotencyKey, claims }, body).catch((error: unknown) => error) as Promise<any>;
}

const counterOf = async (subject: string) =>
  (await client.send(new GetCommand({ TableName: tables.Counters, Key: limitCounterKey(subject) }))).Item;

describe('a limit of what has not ended', () => {
  it('refuses what is beyond it, says what is used and left, and gives room again', async () => {
    const user = newUser();
    await limitUser(user, { max_unfinished_batches: 2, max_unfinished_jobs: 5 });
    const first = await ask(user, request(3));
    const subject = `user:${user}`;
    expect(await ask(user, request(3))).toMatchObject({
      reason: 'limit_exceeded',
      message: 'The limit max_unfinished_jobs of the user is 5: 3 used, 2 left, and the call adds 3.',
      details: { limit: 'max_unfinished_jobs', subject, max: 5, used: 3, left: 2 },
    });
    await expect(add(user, first.id, request(1).jobs)).rejects.toMatchObject({ reason: 'batch_closed' });
    const open = await ask(user, request(1, { open: true }));
    expect(await ask(user, request(0, { open: true }))).toMatchObject({
      details: { limit: 'max_unfinished_batches', subject, max: 2, used: 2, left: 0 },
    });
    await expect(add(user, open.id, request(2).jobs)).rejects.toMatchObject({
      details: { limit: 'max_unfinished_jobs', used: 4, left: 1 },
    });
    await add(user, open.id, request(1).jobs);
    expect(await ownLimits(db, user)).toMatchObject({
      limits: { max_unfinished_batches: 2, max_unfinished_jobs: 5, shots_per_month: null },
      used: { max_unfinished_batches: 2, max_unfinished_jobs: 5, creations_per_minute: null },
      left: { max_unfinished_batches: 0, max_unfinished_jobs: 0, shots_per_month: null },
      month_ends_at: '2026-12-01T00:00:00.000000Z',
    });
    await cancel(user, first.id);
    const repeated = await rebatch(db, { userId: user, claims }, { batchId: first.id, query: {} });
    expect(repeated.jobs_count).toBe(3);
    expect(await ask(user)).toMatchObject({ reason: 'limit_exceeded' });
  });

  it('is lowered below what waits: that stays, and what is new is refused', async () => {
    const user = newUser();
    const { id } = await ask(user, request(4));
    await limitUser(user, { max_unfinished_jobs: 2 });
    expect(await ask(user)).toMatchObject({ details: { max: 2, used: 4, left: 0 } });
    expect((await ownLimits(db, user)).left.max_unfinished_jobs).toBe(0);
    await cancelJob(db, user, (await batchesAndJobs(client, tables, user)).jobs[0]!.id);
    expect(await ask(user)).toMatchObject({ details: { used: 3 } });
    await cancel(user, id);
    expect(await ask(user)).toMatchObject({ status: 'PENDING' });
  });

  it('of a project holds for all its users together, and counts from its first limit on', async () => {
    const [project_id, users] = [randomUUID(), [newUser(), newUser()]];
    const body = request(2, { project_id });
    await ask(users[0]!, body);
    await limit(`project:${project_id}`, { max_unfinished_jobs: 4 });
    const counted = [await ask(users[0]!, body), await ask(users[1]!, body)];
    expect(await ask(users[1]!, body)).toMatchObject({
      message: `The limit max_unfinished_jobs of project ${project_id} is 4: 4 used, 0 left, and the call adds 2.`,
      details: { subject: `project:${project_id}`, used: 4, left: 0 },
    });
    expect(await ask(users[1]!)).toMatchObject({ status: 'PENDING' });
    await cancel(users[0]!, counted[0].id);
    expect(await counterOf(`project:${project_id}`)).toMatchObject({
      max_unfinished_batches: 1,
      max_unfinished_jobs: 2,
    });
    expect(await ask(users[1]!, body)).toMatchObject({ status: 'PENDING' });
  });

  it.each<[string, Limits | undefined]>([
    ['removed', undefined],
    ['replaced by another', { highest_priority: 'HIGH' }],
  ])('of a project that is %s and set again counts what is there', async (_, between) => {
    const [project_id, userId] = [randomUUID(), newUser()];
    const subject = `project:${project_id}`;
    const body = request(2, { project_id });
    await limit(subject, { max_unfinished_jobs: 9 });
    const before = await ask(userId, body);
    await changeLimits(db, { operator: 'op', subject, limits: between });
    await changeLimits(db, { operator: 'op', subject: `project:${randomUUID()}`, limits: { max_unfinished_jobs: 1 } });
    await ask(userId, body);
    await cancel(userId, before.id);
    await ask(userId, body);
    await limit(subject, { max_unfinished_batches: 2, max_unfinished_jobs: 5 });
    expect(await counterOf(subject)).toMatchObject({ max_unfinished_batches: 2, max_unfinished_jobs: 4 });
    expect(await ask(userId, body)).toMatchObject({ details: { max: 2, used: 2, left: 0 } });
    await changeLimits(db, { operator: 'op', subject, limits: undefined });
    expect((await effectiveLimits(db, userId, project_id)).map((each) => each.subject)).toEqual([subject]);
    expect(await effectiveLimits(db, userId, randomUUID())).toEqual([]);
  });

  it('of a project that is younger than rows is not lowered by their end', async () => {
    const [userId, project_id] = [newUser(), randomUUID()];
    const subject = `project:${project_id}`;
    const body = request(3, { project_id });
    const before = [await ask(userId, body), await ask(userId, body)];
    // The first was created by a release that had one of the limits.
    const Key = { user_id: userId, id: before[0].id };
    await changeItem(client, tables.Batches, { Key, attributes: { counted_in_project: ['max_unfinished_batches'] } });
    const attributes = { rev: 1, max_unfinished_batches: 1 };
    await changeItem(client, tables.Counters, { Key: limitCounterKey(subject), attributes });
    await limit(subject, { max_unfinished_jobs: 3 });
    const counted = await ask(userId, body);
    for (const batches of [2, 1, 1]) {
      expect(await counterOf(subject)).toMatchObject({ max_unfinished_batches: batches, max_unfinished_jobs: 3 });
      expect(await ask(userId, body)).toMatchObject({ details: { used: 3, left: 0 } });
      const ended = before.shift();
      if (ended !== undefined) await cancel(userId, ended.id);
    }
    await cancel(userId, counted.id);
    expect(await counterOf(subject)).toMatchObject({ max_unfinished_batches: 0, max_unfinished_jobs: 0 });
    expect(await ask(userId, body)).toMatchObject({ jobs_count: 3 });
    expect(await ask(userId, body)).toMatchObject({ details: { used: 3, left: 0 } });
  });

  it.each(['max_unfinished_jobs', 'creations_per_minute'] as const)(
    'of %s refuses no repetition that meets the call that it repeats',
    async (name) => {
      const [userId, project_id] = [newUser(), randomUUID()];
      for (const subject of [`user:${userId}`, `project:${project_id}`]) {
        await limit(subject, { [name]: 1 });
        const body = request(1, { project_id });
        let first: ReturnType<typeof ask> | undefined;
        const meeting = interceptedClient(client, async ({ input, send }) => {
          // Rows were read, the counter is not yet.
          const isCounter = tables.Counters in ((input as ReadInput).RequestItems ?? {});
          if (isCounter) first ??= ask(userId, body, subject);
          if (isCounter) await first;
          return send();
        });
        const repeated = createBatch({ ...db, client: meeting }, { userId, idempotencyKey: subject, claims }, body);
        expect((await repeated).id).toBe((await first).id);
        await changeLimits(db, { operator: 'op', subject, limits: undefined });
      }
    },
  );

  /** Senders who meet read and write anew: their calls grow with the square. */
  const [senders, room] = deep ? [32, 20] : [6, 5];
  it.each(['user', 'project'] as const)(
    `of a %s lets ${senders} senders create as many, never one more`,
    async (kind) => {
      const [project_id, one, max] = [randomUUID(), newUser(), room];
      const subject = kind === 'user' ? `user:${one}` : `project:${project_id}`;
      await limit(subject, { max_unfinished_jobs: max });
      const users = Array.from({ length: senders }, () => (kind === 'user' ? one : newUser()));
      const sizes = users.map((_, at) => 1 + ((seed + at * 7) % 3));
      const keys = users.map(() => randomUUID());
      const send = async (at: number) => {
        for (;;) {
          const made = await ask(users[at]!, request(sizes[at]!, { project_id }), keys[at]);
          // A repetition must find what was made, and nothing that was refused.
          if (made?.reason !== 'busy') return made;
        }
      };
      const outcomes = await Promise.all(users.map((_, at) => send(at)));
      const repeated = await Promise.all(users.map((_, at) => (outcomes[at].id === undefined ? undefined : send(at))));
      expect(
        repeated.map((batch) => batch?.id),
        `seed ${seed}`,
      ).toEqual(outcomes.map(({ id }) => id));
      for (const { id, details } of outcomes) {
        if (id === undefined) expect(details, `seed ${seed}`).toMatchObject({ limit: 'max_unfinished_jobs', subject });
      }
      const rows = await Promise.all([...new Set(users)].map((user) => batchesAndJobs(client, tables, user)));
      const jobs = rows.flatMap((each) => each.jobs).length;
      expect(jobs, `seed ${seed}`).toBe(sizes.reduce((sum, size, at) => sum + (outcomes[at].id ? size : 0), 0));
      expect(jobs, `seed ${seed}`).toBeLessThanOrEqual(max);
      // The smallest of those refused had no room.
      const refused = sizes.filter((_, at) => outcomes[at].id === undefined);
      expect(jobs + Math.max(...refused), `seed ${seed}`).toBeGreaterThan(max);
      if (kind === 'project') expect(await counterOf(subject)).toMatchObject({ max_unfinished_jobs: jobs });
      for (const user of new Set(users)) expect(await recountOf(client, tables, user)).toEqual([]);
    },
  );

  const many = deep ? 10_000 : 10;
  it(`lets exactly as many of ${many} creations through as it says`, async () => {
    const [user, max] = [newUser(), deep ? 300 : 5];
    await limitUser(user, { max_unfinished_batches: max });
    let [made, refused] = [0, 0];
    await sideBySide(Array.from({ length: many }), deep ? 8 : 5, async () => {
      for (;;) {
        const outcome = await ask(user);
        if (outcome.reason === 'busy') continue;
        if (outcome.id === undefined) expect(outcome.reason).toBe('limit_exceeded');
        if (outcome.id === undefined) refused++;
        else made++;
        return;
      }
    });
    expect([made, refused]).toEqual([max, many - max]);
    expect((await ownLimits(db, user)).used.max_unfinished_batches).toBe(max);
  });
});

describe('a creation in several transactions', () => {
  const subjects = (userId: string, project_id: string) => [`user:${userId}`, `project:${project_id}`];
  const dyingDb = () => ({ ...db, client: dyingClient(client, 1).client });
  /** Keeps what is announced to the recovery. */
  const noting =
    (announced: RecoveryRequest[]): ScheduleRecovery =>
    async ({ userId, batchId, call }) =>
      void announced.push({ user_id: userId, batch_id: batchId, ...(call && { call }) });

  it.each(['user', 'project'])(
    'counts as a whole from its first on, at a limit of the %s, until it is given up',
    async (kind) => {
      const [userId, project_id] = [newUser(), randomUUID()];
      const subject = subjects(userId, project_id)[kind === 'user' ? 0 : 1]!;
      await limit(subject, { max_unfinished_jobs: 250 });
      const body = request(200, { project_id });
      const announced: RecoveryRequest[] = [];
      const call = { userId, idempotencyKey: 'k', claims };
      const createInPart = (idempotencyKey: string) =>
        createBatch(dyingDb(), { ...call, idempotencyKey }, body, noting(announced));
      await expect(createInPart('k')).rejects.toThrow('killed');
      const other = request(51, { project_id });
      expect(await ask(userId, other)).toMatchObject({
        details: { limit: 'max_unfinished_jobs', used: 200, left: 50 },
      });
      // Lowered meanwhile: what has begun goes on.
      await limit(subject, { max_unfinished_jobs: 100 });
      expect((await createBatch(db, call, body)).jobs_count).toBe(200);
      expect((await createBatch(db, call, body)).jobs_count).toBe(200);
      await limit(subject, { max_unfinished_jobs: 400 });
      await expect(createInPart('l')).rejects.toThrow('killed');
      expect(await ask(userId, request(1, { project_id }))).toMatchObject({ details: { used: 400, left: 0 } });
      const outcomes = await Promise.all(announced.map((each) => recoverBatch(db, allResults, each)));
      expect(outcomes).toEqual(['finished', 'canceled']);
      expect(await ask(userId, request(200, { project_id }))).toMatchObject({ jobs_count: 200 });
      expect(await ask(userId, request(1, { project_id }))).toMatchObject({ details: { used: 400, left: 0 } });
      expect(await counterOf(`user:${userId}`)).toMatchObject({ jobs_to_come: 0 });
      if (kind === 'project')
        expect(await counterOf(subject)).toMatchObject({ max_unfinished_batches: 2, max_unfinished_jobs: 400 });
    },
  );

  it('that adds jobs does so, too', async () => {
    const userId = newUser();
    const { id } = await ask(userId, request(1, { open: true }));
    await limitUser(userId, { max_unfinished_jobs: 301 });
    const announced: RecoveryRequest[] = [];
    const further = { batchId: id, body: request(200).jobs };
    await expect(addJobs(dyingDb(), { userId, claims }, further, noting(announced))).rejects.toThrow('killed');
    expect(await ask(userId, request(101))).toMatchObject({ details: { used: 201, left: 100 } });
    expect(await ask(userId, request(100))).toMatchObject({ jobs_count: 100 });
    expect(await recoverBatch(db, allResults, announced[0]!)).toBe('canceled');
    expect(await ownLimits(db, userId)).toMatchObject({
      used: { max_unfinished_jobs: 101 },
      left: { max_unfinished_jobs: 200 },
    });
  });
});

describe('other limits', () => {
  it('of a month refuse once they are reached, until the next month', async () => {
    const user = newUser();
    const body = request(1);
    const use = (shots: number, device_us: number) => {
      const place = { userId: user, day: '2026-11-20', projectId: body.project_id, deviceType: 'FRESNEL' };
      const Item = { ...usageKey(place), device_type: 'FRESNEL', shots, device_us };
      return client.send(new PutCommand({ TableName: tables.Usage, Item }));
    };
    const project = `project:${body.project_id}`;
    for (const subject of [`user:${user}`, project]) {
      await use(99, 9_999_999);
      await limit(subject, { shots_per_month: 100, device_seconds_per_month: 10 });
      expect(await ask(user, body)).toMatchObject({ status: 'PENDING' });
      await use(99, 10_000_000);
      expect(await ask(user, body)).toMatchObject({
        details: { limit: 'device_seconds_per_month', subject, max: 10, used: 10, left: 0 },
      });
      await use(100, 0);
      const refused = await ask(user, body);
      expect(refused.details).toMatchObject({
        limit: 'shots_per_month',
        begins_anew_at: '2026-12-01T00:00:00.000000Z',
      });
      expect(refused.message).toContain('begins anew on 2026-12-01');
      time = Date.parse('2026-12-01T00:00:00Z');
      expect(await ask(user, body)).toMatchObject({ status: 'PENDING' });
      time = start;
      await changeLimits(db, { operator: 'op', subject, limits: undefined });
    }
  });

  it.each(['user', 'project'])('of creations in a minute of a %s say when to try again', async (kind) => {
    const [userId, project_id] = [newUser(), randomUUID()];
    await limit(kind === 'user' ? `user:${userId}` : `project:${project_id}`, { creations_per_minute: 3 });
    const body = request(1, { project_id, open: true });
    const outcomes = await Promise.all(
      Array.from({ length: deep ? 10 : 4 }, (_, at) => ask(userId, body, `key ${at}`)),
    );
    const made = outcomes.flatMap((each, at) => (each.id === undefined ? [] : [at]));
    expect(made).toHaveLength(3);
    for (const at of made) expect(await ask(userId, body, `key ${at}`)).toMatchObject({ id: outcomes[at].id });
    const refused = await add(userId, outcomes[made[0]!].id, body.jobs).catch((error: unknown) => error);
    expect(refused).toMatchObject({ reason: 'too_many_creations', headers: { 'Retry-After': '30' } });
    if (kind === 'user') expect((await ownLimits(db, userId)).left.creations_per_minute).toBe(0);
    time += 30_000;
    expect(await ask(userId, body)).toMatchObject({ status: 'PENDING' });
    if (kind === 'user') expect((await ownLimits(db, userId)).left.creations_per_minute).toBe(2);
  });

  it('allow devices, lower priorities, and bound the seconds of a job by the strictest', async () => {
    const [userId, project_id] = [newUser(), randomUUID()];
    await limitUser(userId, { device_types: ['FRESNEL', 'EMU_MPS'], highest_priority: 'MEDIUM', max_job_seconds: 60 });
    await limit(`project:${project_id}`, { device_types: ['FRESNEL'], highest_priority: 'LOW', max_job_seconds: 30 });
    expect(await ask(userId, request(1, { device_type: 'OTHER' }))).toMatchObject({
      reason: 'device_type_not_allowed',
      details: { limit: 'device_types', subject: `user:${userId}` },
    });
    expect(await ask(userId, request(1, { device_type: 'EMU_MPS', project_id }))).toMatchObject({
      details: { limit: 'device_types', subject: `project:${project_id}` },
    });
    const wishes = { queue_priority: 'CRITICAL', device_type: 'FRESNEL' } as const;
    expect(await ask(userId, request(1, wishes))).toMatchObject({ queue_priority: 'MEDIUM' });
    expect(await ask(userId, request(1, { ...wishes, project_id }))).toMatchObject({ queue_priority: 'LOW' });
    expect(await ask(userId, request(1, { ...wishes, queue_priority: 'FREE' }))).toMatchObject({
      queue_priority: 'FREE',
    });
    const secondsOf = async () =>
      (await batchesAndJobs(client, tables, userId)).batches.map(({ max_job_seconds }) => max_job_seconds);
    expect(await secondsOf()).toEqual([60, 30, 60]);
    const { id } = await ask(userId, request(0, { open: true }));
    await limitUser(userId, { max_job_seconds: 20 });
    await add(userId, id, request(1).jobs);
    expect(await secondsOf()).toEqual([60, 30, 60, 20]);
  });
});

describe('the default', () => {
  it('holds for all, member by member as far as a user has no own, which may be none', async () => {
    const users = Array.from({ length: 3 }, newUser) as [string, string, string];
    await limit('default', { max_unfinished_batches: 1, max_unfinished_jobs: 3 });
    await limitUser(users[1], { max_unfinished_batches: 2 });
    await limitUser(users[2], { max_unfinished_batches: null, max_unfinished_jobs: 5 });
    const counts = await Promise.all(
      users.map(async (user) => {
        const outcomes = [];
        for (const jobs of [2, 2, 1, 1]) outcomes.push((await ask(user, request(jobs))).details?.limit ?? 'created');
        return outcomes;
      }),
    );
    expect(counts).toEqual([
      ['created', 'max_unfinished_batches', 'max_unfinished_batches', 'max_unfinished_batches'],
      ['created', 'max_unfinished_jobs', 'created', 'max_unfinished_batches'],
      ['created', 'created', 'created', 'max_unfinished_jobs'],
    ]);
    expect((await ownLimits(db, users[2])).limits).toMatchObject({
      max_unfinished_batches: null,
      max_unfinished_jobs: 5,
    });
    await changeLimits(db, { operator: 'op', subject: 'default', limits: undefined });
    expect(await ask(users[0])).toMatchObject({ status: 'PENDING' });
  });
});

describe('who has no limit', () => {
  /**
   * Calls, and read units as AWS counts them. One of the calls is for limits. AWS charges for keys
   * without a row, DynamoDB Local does not.
   */
  const most = [
    { jobs: 1, calls: 5, units: 5.5 },
    { jobs: 1, key: 'a', calls: 5, units: 7.5 },
    { jobs: 50, calls: 5, units: 14.5 },
    { jobs: 200, key: 'b', calls: 12, units: 54 },
  ];
  it.each(most)('pays no call and no unit more: $jobs jobs, key $key', async ({ jobs, key, ...most }) => {
    const user = newUser();
    await Promise.all([limitUser(newUser(), { max_unfinished_jobs: 1 }), ask(user)]);
    const creation = async () => {
      let [calls, units] = [0, 0];
      const counting = interceptedClient(client, ({ input, send }) => {
        // The specification of the device is read to check sequences by it.
        if (input.TableName === tables.Devices) return send();
        const { RequestItems, TransactItems, ...one } = input as ReadInput;
        const reads = RequestItems ? Object.values(RequestItems) : TransactItems ? [] : [{ Keys: [{}], ...one }];
        for (const { Keys, ConsistentRead } of reads) units += Keys.length * (ConsistentRead ? 1 : 0.5);
        calls++;
        return send();
      });
      await createBatch({ ...db, client: counting }, { userId: user, idempotencyKey: key, claims }, request(jobs));
      return { calls, units };
    };
    const { calls, units } = await creation();
    expect(calls).toBeLessThanOrEqual(most.calls);
    expect(units).toBeLessThanOrEqual(most.units);
    // A repetition asks for no limits.
    if (key !== undefined) expect((await creation()).calls).toBe(Math.ceil(jobs / 80) * 2);
  });
});

interface ReadInput {
  readonly RequestItems?: Readonly<
    Record<string, { readonly Keys: readonly object[]; readonly ConsistentRead?: boolean }>
  >;
  readonly TransactItems?: readonly object[];
  readonly ConsistentRead?: boolean;
}
