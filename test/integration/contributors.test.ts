/** Who has batches in a project, and what they are called there. */

import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { addJobs, createBatch } from '../../functions/data/batches/new-batches.ts';
import { nameTag } from '../../functions/data/columns/head.ts';
import { AddJobsRequest, CreateBatchRequest } from '../../functions/schemas/batch-request.ts';
import { ask } from '../support/ask.ts';
import { dyingClient, isFinished } from '../support/dying-client.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { contention, failures, killed } from '../support/faults.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import type { GatewayRequest } from '../support/gateway-event.ts';
import { contributorItems, itemsOfOwner } from '../support/items-of-owner.ts';
import { loadDevices } from '../support/load-devices.ts';
import { measuredClient } from '../support/measured-client.ts';
import { newBatch, uuid } from '../support/new-batch.ts';
import { overtakenClient } from '../support/overtaken-client.ts';
import { soundRows } from '../support/owner-rows.ts';
import { sequenceText } from '../support/sequence-text.ts';
import { countingClient, strikeEach, struckClient } from '../support/strike-each.ts';
import { testClient } from '../support/test-client.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const db = testDb(client, names);
const writer = writeApi(db);
beforeAll(() => loadDevices(client, names));

const newUser = () => `auth0|${randomUUID()}`;
const project = (number: number) => uuid('c', number);
const bodyOf = (number: number, content: object = {}) => ({
  project_id: project(number),
  device_type: 'FRESNEL',
  sequence_builder: sequenceText(),
  jobs: [{ runs: 5 }],
  ...content,
});
const callOf = (userId: string, user_name?: string, idempotencyKey?: string) => ({
  userId,
  idempotencyKey,
  claims: { queue_priority: 'MEDIUM' as const, user_name },
});
const create = (userId: string, number: number, name?: string, content: object = {}, through = db) =>
  createBatch(through, callOf(userId, name), CreateBatchRequest.parse(bodyOf(number, content)));
/** What the user is called in projects, by the numbers of these; null without a name. */
async function namesIn(userId: string): Promise<Record<number, string | null>> {
  const found = await contributorItems(client, names.Contributors, userId);
  return Object.fromEntries(found.map(({ project_id, user_name = null }) => [Number(project_id.slice(-3)), user_name]));
}

/** The rows of a user, and what projects know of them: both, or neither. */
async function expectBothOrNeither(userId: string, name: string | null) {
  const { batches } = await soundRows(client, names, userId);
  expect(await namesIn(userId)).toEqual(batches.length === 0 ? {} : { 1: name });
  return batches;
}

async function headOf(userId: string) {
  const items = await itemsOfOwner(client, names.Columns, userId);
  return items.find(({ key }) => key === 'b#head');
}

describe('a first batch in a project', () => {
  it('makes the user known there, by the name of the token', async () => {
    const [ada, grace] = [newUser(), newUser()];
    const claims = { user_name: 'Ada Lovelace' };
    expect((await ask('createBatch', { userId: ada, claims, body: bodyOf(1) })).status).toBe(200);
    expect((await ask('createBatch', { userId: grace, body: bodyOf(1) })).status).toBe(200);
    expect(await namesIn(ada)).toEqual({ 1: 'Ada Lovelace' });
    expect(await namesIn(grace)).toEqual({ 1: null });
  });

  it('makes its owner known where a machine reports it, or where it repeats another', async () => {
    const user = newUser();
    await writer.createBatches(user, [newBatch(1), newBatch(2), newBatch(4)]);
    expect(await namesIn(user)).toEqual({ 1: null, 2: null });
    const { id: batch_id } = await create(user, 3);
    const claims = { user_name: 'Ada' };
    expect((await ask('rebatch', { userId: user, claims, path: { batch_id } })).status).toBe(200);
    expect(await namesIn(user)).toEqual({ 1: 'Ada', 2: 'Ada', 3: 'Ada' });
  });

  it('takes 2 write units more than a second one, whether the token says a name or not', async () => {
    const measured = testClient(dynamodbEndpoint);
    const measure = measuredClient(measured);
    const through = { ...db, client: measured };
    for (const name of [undefined, 'Ada']) {
      const user = newUser();
      const unitsOf = async (number: number, content: object) =>
        (await measure(() => create(user, number, name, content, through))).cost;
      await create(user, 0, name);
      for (const content of [{}, { jobs: [], open: true }]) {
        const first = await unitsOf(Object.keys(content).length + 1, content);
        const second = await unitsOf(Object.keys(content).length + 1, content);
        expect(first.writeUnits).toBe(second.writeUnits + 2);
        expect({ ...first, writeUnits: 0, bytes: 0 }).toEqual({ ...second, writeUnits: 0, bytes: 0 });
      }
    }
  });

  it('makes the user known once, however many calls come at the same time', async () => {
    const user = newUser();
    const counting = countingClient(client);
    await Promise.all(Array.from({ length: 6 }, () => create(user, 1, 'Ada', {}, { ...db, client: counting.client })));
    expect(await expectBothOrNeither(user, 'Ada')).toHaveLength(6);
    expect(await headOf(user)).toMatchObject({ n: nameTag('Ada'), next_seq: 6 });
  });

  it('writes nothing where it is only validated', async () => {
    const user = newUser();
    const query = 'validate_only=true';
    const claims = { user_name: 'Ada' };
    expect((await ask('createBatch', { userId: user, claims, query, body: bodyOf(1) })).data).toMatchObject({});
    expect(await namesIn(user)).toEqual({});
    const { id: batch_id } = await create(user, 1, 'Ada', { open: true });
    const request: GatewayRequest = { userId: user, claims: { user_name: 'Grace' }, query };
    await ask('createBatch', { ...request, body: bodyOf(2) });
    await ask('addJobs', { ...request, path: { batch_id }, body: [{ runs: 1 }] });
    expect(await namesIn(user)).toEqual({ 1: 'Ada' });
  });
});

describe('a name', () => {
  it('follows the token, in the project that is written to and in the 20 newest others', async () => {
    const user = newUser();
    await writer.createBatches(
      user,
      Array.from({ length: 25 }, (_, number) => newBatch(100 + number, { project_id: project(number) })),
    );
    expect(new Set(Object.values(await namesIn(user)))).toEqual(new Set([null]));
    // More jobs than a transaction holds beside 21 items.
    await create(user, 0, 'Ada', { jobs: Array.from({ length: 90 }, () => ({ runs: 1 })) });
    const named = await namesIn(user);
    expect(named).toMatchObject({ 0: 'Ada', 1: null, 4: null, 5: 'Ada', 24: 'Ada' });
    expect(Object.values(named).filter((name) => name === 'Ada')).toHaveLength(21);
    await create(user, 25, 'Ada King');
    expect(await namesIn(user)).toMatchObject({ 0: 'Ada', 4: null, 5: 'Ada King', 24: 'Ada King', 25: 'Ada King' });
    await soundRows(client, names, user);
  });

  it('stays where a call or an event says none', async () => {
    const user = newUser();
    await create(user, 1, 'Ada');
    await create(user, 1);
    await writer.createBatch(user, newBatch(1));
    expect(await namesIn(user)).toEqual({ 1: 'Ada' });
    await writer.createBatch(user, newBatch(2));
    expect(await namesIn(user)).toEqual({ 1: 'Ada', 2: null });
    // The same name once more: the new project learns it.
    await create(user, 1, 'Ada');
    expect(await namesIn(user)).toEqual({ 1: 'Ada', 2: 'Ada' });
  });

  it('follows calls that add jobs, once', async () => {
    const user = newUser();
    const { id: batch_id } = await create(user, 1, 'Ada', { open: true });
    const measured = testClient(dynamodbEndpoint);
    const measure = measuredClient(measured);
    const body = AddJobsRequest.parse([{ runs: 1 }]);
    const unitsOf = async (name: string) => {
      const call = () => addJobs({ ...db, client: measured }, callOf(user, name), { batchId: batch_id, body });
      return (await measure(call)).cost.writeUnits;
    };
    const before = await unitsOf('Ada');
    expect(await unitsOf('Ada')).toBe(before);
    // The name's item, and the head that remembers the name.
    expect(await unitsOf('Grace')).toBe(before + 4);
    expect(await unitsOf('Grace')).toBe(before);
    expect(await namesIn(user)).toEqual({ 1: 'Grace' });
    await soundRows(client, names, user);
  });

  it('does not follow a repetition of a call that was made before', async () => {
    const user = newUser();
    const request = CreateBatchRequest.parse(bodyOf(1));
    const first = await createBatch(db, callOf(user, 'Ada', 'key'), request);
    const again = await createBatch(db, callOf(user, 'Grace', 'key'), request);
    expect(again.id).toBe(first.id);
    expect(await namesIn(user)).toEqual({ 1: 'Ada' });
  });

  it('is the later one of two calls at the same time, in every project', async () => {
    const user = newUser();
    for (const number of [1, 2, 3]) await create(user, number, 'Ada');
    const overtaken = overtakenClient(client, () => create(user, 2, 'Grace'));
    await create(user, 1, 'Ada King', {}, { ...db, client: overtaken.client });
    expect(overtaken.isOvertaken).toBe(true);
    expect(await namesIn(user)).toEqual({ 1: 'Ada King', 2: 'Ada King', 3: 'Ada King' });
  });
});

describe('a creation that fails on its way', () => {
  const faults = { ...contention, ...failures, 'an end of the function': killed };

  it('leaves the batch and its place in the project, or neither', async () => {
    const counting = countingClient(client);
    await create(newUser(), 1, 'Ada', {}, { ...db, client: counting.client });
    let [made, missed] = [0, 0];
    const faultsAt = (place: number) =>
      Object.fromEntries(Object.entries(faults).filter(([, { commands }]) => commands.includes(counting.made[place]!)));
    const places = [...counting.made.keys()].filter((place) => Object.keys(faultsAt(place)).length > 0);
    await strikeEach({ places, faultsAt, at: 0 }, async (strike) => {
      const user = newUser();
      const struck = struckClient(client, strike);
      const outcome = await create(user, 1, 'Ada', {}, { ...db, client: struck.client }).catch((error: Error) => error);
      const batches = await expectBothOrNeither(user, 'Ada');
      if (!(outcome instanceof Error)) expect(batches).toHaveLength(1);
      batches.length > 0 ? made++ : missed++;
      await create(user, 1, 'Ada King');
      await expectBothOrNeither(user, 'Ada King');
    });
    expect([made > 0, missed > 0]).toEqual([true, true]);
  });

  it('is known from its first part on, where several transactions make it', async () => {
    const user = newUser();
    const request = CreateBatchRequest.parse(bodyOf(1, { jobs: Array.from({ length: 100 }, () => ({ runs: 1 })) }));
    const dying = dyingClient(client, 1);
    const call = callOf(user, 'Ada', 'key');
    expect(await isFinished(createBatch({ ...db, client: dying.client }, call, request))).toBe(false);
    await expectBothOrNeither(user, 'Ada');
    await createBatch(db, call, request);
    expect(await expectBothOrNeither(user, 'Ada')).toMatchObject([{ jobs_count: 100 }]);
  });
});
