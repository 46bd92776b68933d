/** What members of a project read of each other's rows there, and what it costs. */

import { randomUUID } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getBatchDetails } from '../../functions/data/batches/batch-details.ts';
import { asOwner } from '../../functions/data/projects/access.ts';
import { getJob } from '../../functions/data/rows/jobs.ts';
import { putWebhookAttempt } from '../../functions/data/webhooks/webhook-attempts.ts';
import type { RouteName } from '../../functions/routes.ts';
import { ask } from '../support/ask.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { heldPlaces } from '../support/held-places.ts';
import { measuredClient } from '../support/measured-client.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { startResultsStore } from '../support/results-store.ts';
import { testClient } from '../support/test-client.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const db = testDb(client, names);
const results = await startResultsStore();
const sink = await startMessageSink();
afterAll(() => Promise.all([results.stop(), sink.stop()]));

const [owner, reader] = ['auth0|owner', 'auth0|reader'];
const project_id = uuid('c', 1);
const viewer = { projects: [{ id: project_id, name: 'The project', role: 'viewer' as const }] };
const claims = { projects: JSON.stringify(viewer.projects) };
const [batch_id, many, job_id] = [uuid('b', 1), uuid('b', 2), uuid('a', 1)];
const keyOf = (id: string) => `results/${owner}/${id}.json`;

const jobsOf = (batch: number, count: number) =>
  Array.from({ length: count }, (_, at) => newJob(1_000 * (batch - 1) + at + 1, { variables: { at: [at] } }));

beforeAll(async () => {
  const writer = writeApi(db);
  const content = { project_id, webhook: 'https://receiver.example.org/' };
  await writer.createBatches(owner, [
    newBatch(1, { ...content, jobs: jobsOf(1, 3) }),
    newBatch(2, { ...content, jobs: jobsOf(2, 101) }),
  ]);
  for (const { id } of [jobsOf(1, 3)[0]!, ...jobsOf(2, 101)]) {
    await writer.recordJobStatus(owner, id, { status: 'DONE', results_key: keyOf(id) });
    await results.put(keyOf(id), { counter: { [id]: 1 } });
  }
  const attempted_at = '2026-03-01T00:00:00.000000Z';
  await putWebhookAttempt(
    db,
    { user_id: owner, batch_id },
    {
      outcome: 'DELIVERED',
      reason: null,
      type: 'batch.updated',
      job_id: null,
      attempts: 1,
      attempted_at,
      next_attempt_at: null,
    },
  );
});

const read = (route: RouteName, userId: string, id = batch_id) => {
  const path = { batch_id: id, job_id };
  return ask(route, { userId, path, ...(userId === reader && { claims }) });
};

describe('a reader of the project', () => {
  it.each(['getBatch', 'getBatchStatus', 'getFullResults', 'getBatchWebhook', 'getJob', 'getJobStatus'] as const)(
    'is answered by %s as the owner is',
    async (route) => {
      const [{ status, data }, ofOwner] = [await read(route, reader), await read(route, owner)];
      expect(status).toBe(200);
      const { rights } = ofOwner.data;
      expect({ ...data, ...(rights && { rights }) }).toEqual(ofOwner.data);
      expect((await ask(route, { userId: reader, path: { batch_id, job_id } })).status).toBe(404);
    },
  );

  it('lists the jobs of a batch that is too large to show them, as clients ask for them', async () => {
    const walk = { batch_id: many, order_by: 'creation_order', order_by_direction: 'ASC', limit: '100' };
    const page = (userId: string, more: object = {}, of: object = claims) =>
      ask('listJobs', { userId, query: { ...walk, ...more } as never, claims: of as typeof claims });
    const idsOf = async (userId: string, offset: string) =>
      (await page(userId, { offset })).data.map(({ id }: { id: string }) => id);
    for (const offset of ['0', '100']) expect(await idsOf(reader, offset)).toEqual(await idsOf(owner, offset));
    expect((await page(reader)).pagination.total).toBe(101);
    expect((await page(reader, { count_by: 'status' })).pagination.counts.DONE).toBe(101);
    const elsewhere = { projects: JSON.stringify([{ id: uuid('c', 2), name: 'Another', role: 'admin' }]) };
    for (const of of [{}, elsewhere]) expect((await page(reader, {}, of)).pagination.total).toBe(0);
    expect((await page(reader, { batch_id: uuid('b', 3) })).pagination.total).toBe(0);
    expect((await page(reader, { user_id: reader })).pagination.total).toBe(0);
  });

  it('gets a link to the results below the owner’s prefix', async () => {
    const { status, data } = await read('getResultsLink', reader);
    expect(status).toBe(200);
    expect(decodeURIComponent(new URL(data.results_link).pathname)).toContain(`/${keyOf(job_id)}`);
    expect(await (await fetch(data.results_link)).json()).toEqual({ counter: { [job_id]: 1 } });
  });

  it('learns that results are gone, as the owner does', async () => {
    const erased = newJob(9_000);
    const Item = {
      user_id: owner,
      id: erased.id,
      project_id,
      written_at: {},
      updated_at: '2026-03-01T00:00:00.000000Z',
    };
    await client.send(
      new PutCommand({ TableName: names.Jobs, Item: { ...Item, results_key: null, erased_at: Item.updated_at } }),
    );
    const answers = await Promise.all(
      [owner, reader].map((userId) => ask('getResultsLink', { userId, claims, path: { job_id: erased.id } })),
    );
    expect(answers[1]).toMatchObject({ status: 404, data: { reason: 'results_erased' } });
    expect(answers[1]).toEqual(answers[0]);
  });

  it('takes a place of their own for the results of many jobs', async () => {
    const ofOwner = await heldPlaces(db, { userId: owner, kind: 'downloads' }, 5);
    const ofReader = await heldPlaces(db, { userId: reader, kind: 'downloads' }, 5);
    expect(await read('getFullResults', reader, many)).toMatchObject({
      status: 429,
      data: { reason: 'too_many_downloads' },
    });
    await ofReader.end();
    const { status, data } = await read('getFullResults', reader, many);
    expect([status, Object.keys(data).length]).toEqual([200, 101]);
    await ofOwner.end();
  });
});

describe('what it costs', () => {
  const measured = testClient(String(process.env.AWS_ENDPOINT_URL_DYNAMODB));
  const measure = measuredClient(measured);
  const through = { ...db, client: measured };
  /** What the work of one request takes; calls at the same time in the order of their names. */
  async function costOf(work: () => Promise<unknown>) {
    const { cost, calls } = await measure(() => work().catch(() => undefined));
    return { units: cost.readUnits, calls: calls.map(({ name }) => name).sort() };
  }
  const alone = (userId: string) => costOf(() => getBatchDetails(through, userId, batch_id));
  const details = (userId: string, projects = viewer.projects, id = batch_id) =>
    costOf(() =>
      asOwner(through, { userId, claims: { projects } }, { right: 'read', table: 'Batches', id }, (of) =>
        getBatchDetails(through, of, id),
      ),
    );

  it('is for the owner what the read alone takes, whatever their role', async () => {
    expect(await details(owner)).toEqual(await alone(owner));
    expect(await details(owner, [])).toEqual(await alone(owner));
  });

  it('is without a role what a miss takes', async () => {
    expect(await details(reader, [])).toEqual(await alone(reader));
    expect(await details(reader, [{ id: project_id, name: 'without a role' } as never])).toEqual(await alone(reader));
  });

  it('is for others the miss, half a unit for each contributor, a query, and the read', async () => {
    for (const contributors of [1, 6]) {
      for (let at = 1; at < contributors; at++) {
        const Item = { project_id, user_id: `auth0|contributor ${at}` };
        await client.send(new PutCommand({ TableName: names.Contributors, Item }));
      }
      const [miss, found] = [await alone(reader), await alone(owner)];
      const search = ['BatchGetItem', 'Query'];
      const units = miss.units + 0.5 + 0.5 * contributors;
      const [theirs, nobodys] = [await details(reader), await details(reader, viewer.projects, randomUUID())];
      expect(theirs.calls).toEqual([...miss.calls, ...search, ...found.calls].sort());
      expect(theirs.units).toBeLessThanOrEqual(units + found.units);
      expect(nobodys.calls).toEqual([...miss.calls, ...search].sort());
      expect(nobodys.units).toBeLessThanOrEqual(units);
    }
    const job = { right: 'read', table: 'Jobs', id: job_id } as const;
    const { cost } = await measure(() =>
      asOwner(through, { userId: reader, claims: viewer }, job, (of) => getJob(through, of, job_id)),
    );
    expect(cost.readUnits).toBeLessThanOrEqual(1 + 0.5 + 0.5 * 6 + 1);
    expect(cost.depth).toBe(4);
  });
});
