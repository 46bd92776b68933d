/** One user's creations by many senders at once: all of them contend for the same heads. */

import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { RouteName } from '../../functions/routes.ts';
import { ask } from '../support/ask.ts';
import { deep } from '../support/depth.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import type { GatewayRequest } from '../support/gateway-event.ts';
import { uuid } from '../support/new-batch.ts';
import { batchesAndJobs, recountOf } from '../support/owner-rows.ts';
import { sequenceText } from '../support/sequence-text.ts';

const { client, names } = await functionEnvironment();
const senders = deep ? 32 : 12;
const creationsEach = 2;
/** Of each creation in turn. */
const jobsOfCreation = [1, 3];

describe(`POST /api/v1/batches by ${senders} senders at once`, () => {
  it('fails for none, leaves no gap, and shows each batch everywhere at once', async () => {
    const user = `auth0|${randomUUID()}`;
    const succeed = async (route: RouteName, request: GatewayRequest) => {
      const answer = await ask(route, { userId: user, ...request });
      expect(answer).toMatchObject({ status: 200 });
      return answer;
    };
    const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

    const createAndFollow = async (sender: number, count: number) => {
      const jobs = Array.from({ length: count }, () => ({ runs: sender + 1 }));
      const request = { project_id: uuid('c', 1), device_type: 'FRESNEL', sequence_builder: sequenceText(), jobs };
      const { data: created } = await succeed('createBatch', {
        headers: { 'Idempotency-Key': randomUUID() },
        body: request,
      });
      const [read, jobsOfBatch, jobsByRuns, batchesById, newest] = await Promise.all([
        succeed('getBatch', { path: { batch_id: created.id } }),
        succeed('listJobs', {
          query: { batch_id: created.id, order_by: 'creation_order', order_by_direction: 'ASC' },
        }),
        succeed('listJobs', { query: `min_runs=${sender + 1}&max_runs=${sender + 1}` }),
        succeed('listBatches', { query: { id: created.id } }),
        succeed('listBatches', { query: 'status=PENDING&limit=100' }),
      ]);
      expect(created.jobs_count).toBe(count);
      expect(read.data).toMatchObject({ id: created.id, job_ids: idsOf(created.jobs), jobs: created.jobs });
      expect(idsOf(jobsOfBatch.data)).toEqual(idsOf(created.jobs));
      expect(idsOf(jobsByRuns.data)).toEqual(expect.arrayContaining(idsOf(created.jobs)));
      expect(idsOf(batchesById.data)).toEqual([created.id]);
      expect(idsOf(newest.data)).toContain(created.id);
      return created.id as string;
    };

    const created = await Promise.all(
      Array.from({ length: senders }, async (_, sender) => {
        const ids: string[] = [];
        for (let at = 0; at < creationsEach; at++) {
          ids.push(await createAndFollow(sender, jobsOfCreation[at % jobsOfCreation.length]!));
        }
        return ids;
      }),
    );

    const { batches, jobs } = await batchesAndJobs(client, names, user);
    expect(idsOf(batches).sort()).toEqual(created.flat().sort());
    expect(batches.map(({ seq }) => seq)).toEqual(batches.map((_, at) => at));
    expect(jobs.map(({ seq }) => seq)).toEqual(jobs.map((_, at) => at));
    for (const rows of [batches, jobs]) {
      const times = rows.map(({ created_at }) => created_at);
      expect(times).toEqual([...new Set(times)].sort());
    }
    for (const { id, jobs_count } of batches) {
      const orders = jobs.filter(({ batch_id }) => batch_id === id).map(({ creation_order }) => creation_order);
      expect(orders).toEqual(Array.from({ length: jobs_count }, (_, at) => at));
    }
    expect(await recountOf(client, names, user)).toEqual([]);
  });
});
