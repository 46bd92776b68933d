/** Long variables and configurations lie beside the sequences, and are shown as if in the rows. */

import { randomBytes, randomUUID } from 'node:crypto';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { getBatchDetails } from '../../functions/data/batches/batch-details.ts';
import { eraseBatch } from '../../functions/data/batches/erasures.ts';
import { createBatch } from '../../functions/data/batches/new-batches.ts';
import { rebatch } from '../../functions/data/batches/rebatches.ts';
import { listBatches } from '../../functions/data/rows/batches.ts';
import { constantsId } from '../../functions/data/rows/constants.ts';
import { listJobs } from '../../functions/data/rows/jobs.ts';
import { BatchListQuery } from '../../functions/schemas/batch-list-query.ts';
import { CreateBatchRequest } from '../../functions/schemas/batch-request.ts';
import { JobListQuery } from '../../functions/schemas/job-list-query.ts';
import { ask } from '../support/ask.ts';
import { changeItem } from '../support/change-item.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { itemsOfOwner } from '../support/items-of-owner.ts';
import { measuredClient } from '../support/measured-client.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { batchesAndJobs, soundRows } from '../support/owner-rows.ts';
import { startResultsStore } from '../support/results-store.ts';
import { sequenceText } from '../support/sequence-text.ts';
import { testClient } from '../support/test-client.ts';
import { testDb } from '../support/test-db.ts';
import { withoutRole } from '../support/without-role.ts';
import { allResults, leaseFrom, workerStack } from '../support/worker-stack.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const sink = await startMessageSink();
const results = await startResultsStore();
afterAll(() => Promise.all([sink.stop(), results.stop()]));
const db = testDb(client, names);
const stack = workerStack(client, names, { now: Date.now() });
const events = writeApi(db);

let user: string;
let device: string;
beforeEach(() => {
  user = `auth0|${randomUUID()}`;
  device = `DEVICE ${randomUUID()}`;
});

const keepDigits = (_: string, value: unknown, { source }: { source?: string } = {}) =>
  typeof value === 'number' ? JSON.rawJSON(source!) : value;

/** Numbers whose JSON has about this number of bytes. */
const numbersOf = (bytes: number) => Array.from({ length: bytes / 20 }, () => Math.random());
const variable = (size: number) => ({ type: 'float', value: Array.from({ length: size }, () => 0) });
const configuration = { dt: 10.0, exact: 1e300, text: 'ü'.repeat(300) };
const backend_configuration = `{"x": Infinity, "y": "${'z'.repeat(500)}"}`;

const long = {
  project_id: uuid('c', 1),
  sequence_builder: sequenceText({ variables: { omega: variable(200) } }),
  configuration,
  backend_configuration,
  jobs: [4_000, 4_000].map((bytes) => ({ runs: 10, variables: { omega: numbersOf(bytes) } })),
};
const create = (content: object = {}, headers = {}) =>
  ask('createBatch', { userId: user, body: { ...long, device_type: device, ...content }, headers });
const of = (batch_id: string) => ({ userId: user, path: { batch_id } });
const shownJobs = long.jobs.map(({ variables }) => ({ variables }));
const shown = { configuration, backend_configuration };

describe('long constants', () => {
  it('are in no row, and in every answer that shows batches or jobs', async () => {
    const created = await create({ open: true });
    expect(created).toMatchObject({ status: 200, data: { ...shown, jobs: shownJobs } });
    const { id } = created.data;
    const added = await ask('addJobs', { ...of(id), body: long.jobs });
    const all = [...shownJobs, ...shownJobs];
    expect(added.data).toMatchObject({ ...shown, jobs: all });
    const { batches, jobs: rows } = await soundRows(client, names, user);
    expect(JSON.stringify([batches, rows]).length).toBeLessThan(5 * 1_000);
    expect(await itemsOfOwner(client, names.Sequences, user)).toHaveLength(1 + 1 + 4);

    expect((await ask('getBatch', of(id))).data).toMatchObject({ ...shown, jobs: all });
    expect((await ask('listBatches', { userId: user })).data).toMatchObject([shown]);
    const query = `batch_id=${id}&order_by=creation_order&order_by_direction=ASC`;
    expect((await ask('listJobs', { userId: user, query })).data).toMatchObject(all);
    const job = { userId: user, path: { job_id: rows[1]!.id } };
    expect((await ask('getJob', job)).data).toMatchObject(shownJobs[1]!);
    const operator = { userId: 'op', claims: { scope: 'operator' } };
    expect((await ask('getBatchOfUser', { ...operator, path: { user_id: user, batch_id: id } })).data).toMatchObject({
      ...shown,
      jobs: all,
    });
    expect((await ask('listQueue', { ...operator, path: { device_type: device } })).data).toMatchObject([shown]);
    const prioritized = { path: { user_id: user, batch_id: id }, body: { queue_priority: 'LOW', reason: 'x' } };
    expect((await ask('setBatchPriority', { ...operator, ...prioritized })).data).toMatchObject(shown);
    expect((await ask('setTags', { ...of(id), body: ['a'] })).data).toMatchObject(shown);
    expect((await ask('getBatchStatus', of(id))).status).toBe(200);

    const claim = await stack.claimed(device);
    expect(claim).toMatchObject({ batch: shown, job: { variables: shownJobs[0]!.variables } });
    const { job: next } = await stack.report(leaseFrom(claim), claim.job.id);
    expect(next).toMatchObject(shownJobs[1]!);

    expect((await ask('cancelJob', job)).data).toMatchObject(shownJobs[1]!);
    const canceled = await ask('cancelJobs', { ...of(id), query: `id=${rows[2]!.id}` });
    expect(canceled.data.jobs).toMatchObject([shownJobs[0]!]);
    expect((await ask('closeBatch', of(id))).data).toMatchObject(shown);
    expect((await ask('cancelBatches', { userId: user, body: { batch_ids: [id] } })).data.batches).toMatchObject([
      shown,
    ]);
    expect((await ask('cancelBatch', of(id))).data).toMatchObject(shown);
    expect((await ask('rebatch', of(id))).data).toMatchObject({ ...shown, jobs: all });
    const again = await stack.claimed(device);
    expect(again).toMatchObject({ batch: shown, job: shownJobs[0]! });
    await soundRows(client, names, user);
  });

  it('keep their digits', async () => {
    const digits = `{"exact":[${Array.from({ length: 40 }, (_, at) => `12345678901234567890.${at}0`)}]}`;
    const body = { ...long, device_type: device, configuration: JSON.parse(digits, keepDigits) };
    const { data } = await ask('createBatch', { userId: user, body });
    const [item] = (await batchesAndJobs(client, names, user)).batches;
    expect(item?.configuration).toMatch(/^#/);
    expect(JSON.stringify((await stack.batch(user, data.id))!.configuration)).toBe(digits);
  });

  it('may look like a marker', async () => {
    const text = `#${'x'.repeat(22)}`;
    const { data } = await create({ configuration: null, backend_configuration: text });
    expect(data.backend_configuration).toBe(text);
    expect((await stack.batch(user, data.id))!.backend_configuration).toBe(text);
    expect((await stack.claimed(device)).batch.backend_configuration).toBe(text);
  });

  it('are the same, or others, when a call or an event comes again', async () => {
    const key = { 'Idempotency-Key': 'a' };
    const first = await create({}, key);
    expect((await create({}, key)).data).toEqual(first.data);
    expect(await create({ backend_configuration: 'x'.repeat(400) }, key)).toMatchObject({ status: 409 });
    const variables = { note: 'x'.repeat(1_000) };
    const batch = (content: object) => newBatch(7, { jobs: [newJob(7, content)], configuration: variables });
    await events.createBatch(user, batch({ variables }));
    const [row] = (await batchesAndJobs(client, names, user)).jobs.filter(({ id }) => id === uuid('a', 7));
    await events.createBatch(user, batch({ variables }));
    await expect(events.createBatch(user, batch({ variables: { note: 'y'.repeat(1_000) } }))).rejects.toThrow(
      'variables',
    );
    const backend = (backend_configuration: string) => newBatch(8, { jobs: [], backend_configuration });
    await events.createBatch(user, backend('x'.repeat(1_000)));
    const marked = (await batchesAndJobs(client, names, user)).batches.find(({ id }) => id === newBatch(8).id);
    expect(marked!.backend_configuration).toMatch(/^#/);
    await expect(events.createBatch(user, backend(marked!.backend_configuration!))).rejects.toThrow('backend');
    // As an earlier release wrote it.
    const attributes = { variables: JSON.stringify(variables) };
    await changeItem(client, names.Jobs, { Key: { user_id: user, id: row!.id }, attributes });
    await events.createBatch(user, batch({ variables }));
    await expect(events.createBatch(user, batch({ variables: { note: 'y'.repeat(1_000) } }))).rejects.toThrow(
      'variables',
    );
    expect((await stack.job(user, row!.id))!.variables).toEqual(variables);
  });

  it('are read again where a replica does not have them yet', async () => {
    const { data } = await create();
    const reads: unknown[] = [];
    const lagging = interceptedClient(client, async ({ name, input, send }) => {
      const answer = await send();
      const asked = name === 'BatchGetCommand' && (input.RequestItems as never)[names.Sequences];
      if (!asked) return answer;
      reads.push((asked as { ConsistentRead: boolean }).ConsistentRead);
      return (asked as { ConsistentRead: boolean }).ConsistentRead ? answer : { ...answer, Responses: {} };
    });
    const lagged = workerStack(lagging, names, { now: Date.now() });
    expect(await lagged.batch(user, data.id)).toMatchObject(shown);
    expect(reads).toEqual([false, true]);
  });

  it('go with their batch when it is erased; a row that was read before shows nulls', async () => {
    const { data } = await create();
    await stack.cancel(user, data.id);
    const erased: unknown[] = [];
    const erasing = interceptedClient(client, async ({ name, send }) => {
      const answer = await send();
      if (name === 'GetCommand' && erased.length === 0) {
        erased.push(true);
        await eraseBatch(db, allResults, { userId: user, batchId: data.id });
      }
      return answer;
    });
    const before = await workerStack(erasing, names, { now: Date.now() }).batch(user, data.id);
    expect(before).toMatchObject({ configuration: null, backend_configuration: null, erased_at: null });
    expect(await itemsOfOwner(client, names.Sequences, user)).toEqual([]);
    const { batches, jobs: rows } = await soundRows(client, names, user);
    expect([...batches, ...rows].map((row) => ('variables' in row ? row.variables : row.configuration))).toEqual([
      null,
      null,
      null,
    ]);
  });

  /** A client whose reads of this table go on only when the batch has ended and was erased. */
  const erasingAfter = (table: 'Batches' | 'Jobs', batchId: string) => {
    let isErased = false;
    return interceptedClient(client, async ({ input, send }) => {
      const answer = await send();
      const asked = input.TableName === names[table] || names[table] in ((input.RequestItems as object) ?? {});
      if (asked && !isErased) {
        isErased = true;
        await stack.cancel(user, batchId);
        await eraseBatch(db, allResults, { userId: user, batchId });
      }
      return answer;
    });
  };

  it('are null in lists whose rows are older than the erasure', async () => {
    const first = await create();
    const old = testDb(erasingAfter('Batches', first.data.id), names);
    expect(await listBatches(old, withoutRole(user), BatchListQuery.parse({}))).toMatchObject({
      items: [{ status: 'PENDING', configuration: null }],
    });
    const second = await create();
    const older = testDb(erasingAfter('Jobs', second.data.id), names);
    const ofSecond = JobListQuery.parse({ batch_id: [second.data.id] });
    expect(await listJobs(older, withoutRole(user), ofSecond)).toMatchObject({
      items: [{ variables: null }, { variables: null }],
    });
    const third = await create();
    const oldest = testDb(erasingAfter('Jobs', third.data.id), names);
    expect(await getBatchDetails(oldest, user, third.data.id)).toMatchObject({
      jobs: [{ variables: null }, { variables: null }],
    });
  });

  it.each(['Batches', 'Jobs'] as const)(
    'are not run again as none: the batch is erased after a read of %s',
    async (table) => {
      const { data } = await create();
      await stack.cancel(user, data.id);
      const late = testDb(erasingAfter(table, data.id), names);
      const call = { userId: user, claims: { queue_priority: 'HIGH' } } as const;
      await expect(rebatch(late, call, { batchId: data.id, query: {} })).rejects.toThrow('erased');
      expect((await batchesAndJobs(client, names, user)).batches).toHaveLength(1);
    },
  );

  it('that are lost are never handed out as none', async () => {
    const { data } = await create();
    const Key = { user_id: user, id: constantsId(data.jobs[0]) };
    await client.send(new DeleteCommand({ TableName: names.Sequences, Key }));
    await expect(stack.claim(device, 'worker')).rejects.toThrow(/constants of .* are missing/);
    expect(await ask('getJob', { userId: user, path: { job_id: data.jobs[0].id } })).toMatchObject({ status: 500 });
    expect(await ask('getJob', { userId: user, path: { job_id: data.jobs[1].id } })).toMatchObject({ status: 200 });
  });

  it('cost a job of 4 KB at most 20 write units in its whole life', async () => {
    const own = testClient(dynamodbEndpoint);
    const measure = measuredClient(own);
    const measured = workerStack(own, names, { now: Date.now() });
    const life = async (variables: readonly object[]) => {
      const userId = `auth0|${randomUUID()}`;
      const device_type = `DEVICE ${randomUUID()}`;
      const body = { ...long, ...{ device_type, configuration: null, backend_configuration: null } };
      const jobs = variables.map((each) => ({ runs: 10, variables: each }));
      const sequence_builder = sequenceText({ variables: { note: variable(1) } });
      const request = CreateBatchRequest.parse({ ...body, jobs, sequence_builder });
      const { cost } = await measure(async () => {
        await createBatch(measured.db, { userId, claims: { queue_priority: 'HIGH' } }, request);
        const claim = await measured.claimed(device_type);
        for (let job: { id: string } | null = claim.job; job !== null; ) {
          job = (await measured.report(leaseFrom(claim), job.id)).job;
        }
      });
      return cost.writeUnits;
    };
    const note = (bytes: number) => ({ note: randomBytes((bytes * 3) / 4 - 16).toString('base64') });
    const short = () => ({ note: 'x' });
    const [one, four] = [await life([short()]), await life([1, 2, 3, 4].map(short))];
    const [oneLong, fourLong] = [await life([note(4_096)]), await life([1, 2, 3, 4].map(() => note(4_096)))];
    // Its own rows take 9 of it. Of four jobs, usage takes 2.
    expect([one, four]).toEqual([54, 105]);
    expect(oneLong - one).toBeLessThanOrEqual(8);
    expect(fourLong - four).toBeLessThanOrEqual(4 * 8);
  });
});
