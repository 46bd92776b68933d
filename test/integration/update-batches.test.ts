/** What users change of a batch: closing it, and its tags. */

import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RouteName } from '../../functions/routes.ts';
import type { Batch } from '../../functions/schemas/batch.ts';
import { ask } from '../support/ask.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { ownerRows, recountOf } from '../support/owner-rows.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const { createBatch, recordJobStatus, recordBatchStatus, addJobs } = writeApi(testDb(client, names));
const batchId = uuid('b', 1);
let user: string;
beforeEach(() => {
  user = `auth0|${randomUUID()}`;
});

const askAs = (route: RouteName, body?: unknown, userId = user, batch_id = batchId) =>
  ask(route, { userId, path: { batch_id }, ...(body !== undefined && { body }) });

/** The batch as the answer showed it, as the reads show it, and nothing of its columns wrong. */
async function expectStored(shown: Batch) {
  const { sequence_builder, job_ids, jobs, rights, ...read } = (await askAs('getBatch')).data;
  expect(read).toEqual(shown);
  expect(await recountOf(client, names, user)).toEqual([]);
}

describe('PATCH /api/v2/batches/{batch_id}/complete', () => {
  it('closes an open batch, which then takes no jobs; again it changes nothing', async () => {
    await createBatch(user, newBatch(1, { jobs: [newJob(1)], open: true }));
    const { status, data } = await askAs('closeBatch');
    expect(status).toBe(200);
    expect(data).toMatchObject({ id: batchId, open: false, complete: true, status: 'PENDING', end_datetime: null });
    await expectStored(data);
    await expect(addJobs(user, batchId, [newJob(2)])).rejects.toMatchObject({ status: 409 });
    const rows = await ownerRows(client, names, user);
    expect(await askAs('closeBatch')).toMatchObject({ status: 200, data });
    expect(await ownerRows(client, names, user)).toEqual(rows);
  });

  it('ends a batch whose jobs have all ended, and one without jobs', async () => {
    await createBatch(user, newBatch(1, { jobs: [newJob(1)], open: true }));
    await createBatch(user, newBatch(2, { open: true }));
    await recordJobStatus(user, uuid('a', 1), { status: 'DONE' });
    const { data } = await askAs('closeBatch');
    expect(data.status).toBe('DONE');
    await expectStored(data);
    expect((await askAs('closeBatch', undefined, user, uuid('b', 2))).data.status).toBe('DONE');
    expect(await askAs('closeBatch')).toMatchObject({ status: 200, data });
  });

  it('closes a batch that has failed while it was open', async () => {
    await createBatch(user, newBatch(1, { open: true }));
    await recordBatchStatus(user, batchId, { status: 'ERROR' });
    expect(await askAs('closeBatch')).toMatchObject({ status: 200, data: { status: 'ERROR', open: false } });
  });
});

describe('PATCH /api/v1/batches/{batch_id}/tags', () => {
  it('replaces all tags, of a batch in any status, and the lists find it by them', async () => {
    await createBatch(user, newBatch(1, { tags: ['old', 'kept'] }));
    await recordBatchStatus(user, batchId, { status: 'DONE' });
    const { status, data } = await askAs('setTags', ['kept', 'new', 'new']);
    expect(status).toBe(200);
    expect(data).toMatchObject({ tags: ['kept', 'new'], status: 'DONE' });
    await expectStored(data);
    for (const [tag, total] of [
      ['old', 0],
      ['kept', 1],
      ['new', 1],
    ] as const) {
      expect((await ask('listBatches', { userId: user, query: { tag } })).pagination.total).toBe(total);
    }
    expect(await askAs('setTags', ['kept', 'new'])).toMatchObject({ status: 200, data });
    expect((await askAs('setTags', [])).data.tags).toEqual([]);
  });

  it.each([
    [undefined, ['body'], 'missing'],
    ['[', ['body'], 'json_invalid'],
    [{}, ['body'], 'list_type'],
    [['a', 7], ['body', 1], 'string_type'],
    [[''], ['body', 0], 'string_too_short'],
    [Array.from({ length: 21 }, (_, at) => String(at)), ['body'], 'too_long'],
  ])('refuses %j', async (body, loc, type) => {
    await createBatch(user, newBatch(1, { tags: ['a'] }));
    expect(await askAs('setTags', body)).toMatchObject({ status: 422, detail: [{ loc, type }] });
    expect((await askAs('getBatch')).data.tags).toEqual(['a']);
  });
});

describe.each([
  ['closeBatch', undefined],
  ['setTags', ['x']],
] as const)('%s', (route, body) => {
  it('answers 404 for another user’s batch, for a job and for nothing, and changes nothing', async () => {
    await createBatch(user, newBatch(1, { jobs: [newJob(1)], open: true, tags: ['mine'] }));
    const rows = await ownerRows(client, names, user);
    expect((await askAs(route, body, 'auth0|mallory')).status).toBe(404);
    for (const id of [uuid('a', 1), uuid('b', 9)]) expect((await askAs(route, body, user, id)).status).toBe(404);
    expect((await askAs(route, body, user, 'b1')).status).toBe(422);
    expect(await ownerRows(client, names, user)).toEqual(rows);
  });
});
