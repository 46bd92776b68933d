import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ListedBatch } from '../../functions/schemas/batch.ts';
import { ListedJob } from '../../functions/schemas/job.ts';
import specs from '../../infra/local/demo/device-specs.json' with { type: 'json' };
import {
  type Answer,
  batchCreated,
  call,
  demo,
  guest,
  jobUpdated,
  makeToken,
  newUser,
  sendEvents,
} from '../support/local-stack.ts';
import { sequenceText } from '../support/sequence-text.ts';

/** All items of a list, page by page; the total must not change meanwhile. */
async function walk(path: string, token: string): Promise<Answer['body'][]> {
  const items: Answer['body'][] = [];
  for (let offset = 0, total = 1; offset < total; ) {
    const { status, body } = await call(`${path}${path.includes('?') ? '&' : '?'}limit=7&offset=${offset}`, { token });
    expect(status).toBe(200);
    items.push(...body.data);
    total = body.pagination.total;
    offset = body.pagination.end;
  }
  return items;
}

describe('GET /api/v1/batches', () => {
  it('lists the demo data of every status, page by page', async () => {
    const batches = await walk('/api/v1/batches', demo.token);
    expect(batches).toHaveLength(16);
    for (const batch of batches) expect(ListedBatch().parse(batch).user_id).toBe(demo.userId);
    expect(new Set(batches.map(({ status }) => status)).size).toBe(8);
    expect(Math.max(...batches.map(({ jobs_count }) => jobs_count))).toBe(300);
    expect(Math.min(...batches.map(({ jobs_count }) => jobs_count))).toBe(0);
    const created = batches.map(({ created_at }) => created_at);
    expect(created).toEqual([...created].sort().reverse());
  });

  it('says which part of the list it is, to scripts in browsers too', async () => {
    const { headers } = await call('/api/v1/batches?limit=5', { token: demo.token });
    expect(headers.get('content-range')).toBe('1-5/16');
    expect(headers.get('access-control-expose-headers')).toContain('Content-Range');
  });

  it('filters and sorts, with repeated parameters', async () => {
    const all = await walk('/api/v1/batches', demo.token);
    const found = await walk(
      '/api/v1/batches?status=DONE&status=PENDING&order_by=jobs_count&order_by_direction=ASC',
      demo.token,
    );
    const wanted = all.filter(({ status }) => status === 'DONE' || status === 'PENDING');
    expect(found.map(({ id }) => id).sort()).toEqual(wanted.map(({ id }) => id).sort());
    const counts = found.map(({ jobs_count }) => jobs_count);
    expect(counts).toEqual([...counts].sort((left, right) => left - right));
  });
});

describe('GET /api/v2/jobs', () => {
  it('lists the jobs of a batch in their order, page by page', async () => {
    const [largest] = (await call('/api/v1/batches?order_by=jobs_count&limit=1', { token: demo.token })).body.data;
    const jobs = await walk(
      `/api/v2/jobs?batch_id=${largest.id}&order_by=creation_order&order_by_direction=ASC`,
      demo.token,
    );
    expect(jobs.map(({ creation_order }) => creation_order)).toEqual(Array.from({ length: 300 }, (_, index) => index));
    for (const job of jobs) expect(ListedJob().parse(job).batch_id).toBe(largest.id);
  });

  it('counts the jobs as their batches do', async () => {
    const batches = await walk('/api/v1/batches', demo.token);
    for (const status of ['PENDING', 'RUNNING', 'DONE', 'ERROR', 'CANCELED', 'CANCELING']) {
      const { body } = await call(`/api/v2/jobs?status=${status}&limit=1`, { token: demo.token });
      const counted = batches.reduce((sum, batch) => sum + batch.jobs_count_per_status[status], 0);
      expect(body.pagination.total).toBe(counted);
      expect(counted).toBeGreaterThan(0);
    }
  });
});

describe('POST /api/v1/batches', () => {
  const project_id = randomUUID();
  const device = JSON.parse(specs.FRESNEL);
  const [layout] = device.pre_calibrated_layouts;
  const [x, y] = layout.coordinates[0];
  const variables = { omega: { type: 'float', value: [0] } };
  const register = [{ name: 'q0', x, y }];
  const sequence_builder = sequenceText({ variables, device, layout, register });
  const batch = { project_id, sequence_builder, jobs: [{ runs: 5, variables: { omega: 1 } }], open: true };
  const json = { 'Content-Type': 'application/json' };

  it('creates what comes gzipped, as the clients send it, and all lists and reads show it at once', async () => {
    const { token } = await newUser();
    const headers = { ...json, 'Content-Encoding': 'gzip' };
    const post = (path: string, body: unknown) =>
      call(path, { method: 'POST', token, headers, body: gzipSync(JSON.stringify(body)) });
    const created = await post('/api/v1/batches', { ...batch, device_type: null });
    expect(created.status).toBe(200);
    const { id } = created.body.data;
    expect(created.body.data).toMatchObject({ device_type: 'FRESNEL', jobs_count: 1, sequence_builder });
    const added = await post(`/api/v2/batches/${id}/jobs`, [{ runs: 7 }]);
    expect(added.body.data.jobs).toHaveLength(2);
    const shown = await call(`/api/v2/batches/${id}`, { token });
    expect(shown.body.data.jobs).toEqual(added.body.data.jobs);
    expect((await walk('/api/v1/batches?status=PENDING&device_type=FRESNEL', token)).map((each) => each.id)).toEqual([
      id,
    ]);
    expect(await walk(`/api/v2/jobs?batch_id=${id}`, token)).toHaveLength(2);
  });

  it('hands on what the token says of priority and projects', async () => {
    const token = await makeToken({ queue_priority: 'LOW', projects: [{ id: project_id, name: 'Mine' }] });
    const post = (content: object) =>
      call('/api/v1/batches', { method: 'POST', token, headers: json, body: JSON.stringify({ ...batch, ...content }) });
    expect((await post({})).body.data).toMatchObject({ queue_priority: 'LOW' });
    expect((await post({ project_id: randomUUID() })).status).toBe(403);
  });

  it('announces a creation of several transactions, and the message can be delivered', async () => {
    const { token } = await newUser();
    const jobs = Array.from({ length: 120 }, () => ({ runs: 5 }));
    const body = JSON.stringify({ ...batch, jobs });
    const created = await call('/api/v1/batches', { method: 'POST', token, headers: json, body });
    expect(created.body.data).toMatchObject({ jobs_count: 120 });
  });
});

describe('the devices', () => {
  it('of the demo are known to everyone', async () => {
    const { status, body } = await call('/api/v1/devices?device_type=FRESNEL', {
      headers: { Authorization: 'Bearer ' },
    });
    expect(status).toBe(200);
    expect(body.data).toMatchObject([{ device_type: 'FRESNEL', status: 'UP', availability: 'ACTIVE' }]);
    const specs = (await call('/api/v1/devices/public-specs')).body.data;
    for (const each of specs) expect(JSON.parse(each.specs).name).toBe(each.device_type);
    const types = specs.map((each: { device_type: string }) => each.device_type);
    expect(types).toEqual(['EMU_FREE', 'EMU_MPS', 'EMU_SV']);
  });
});

describe('isolation', () => {
  it('never shows data of one user to another, whatever the filter', async () => {
    const [batch] = (await call('/api/v1/batches?limit=1', { token: demo.token })).body.data;
    const [job] = (await call('/api/v2/jobs?limit=1', { token: demo.token })).body.data;
    for (const path of [
      `/api/v1/batches?id=${batch.id}`,
      `/api/v1/batches?id__starts_with=${batch.id.slice(0, 8)}`,
      `/api/v1/batches?user_id=${demo.userId}`,
      `/api/v1/batches?project_id=${batch.project_id}`,
      `/api/v2/jobs?id=${job.id}`,
      `/api/v2/jobs?batch_id=${job.batch_id}`,
      `/api/v2/jobs?user_id=${demo.userId}`,
    ]) {
      const { status, body } = await call(path, { token: guest.token });
      expect(status).toBe(200);
      expect(body).toMatchObject({ data: [], pagination: { total: 0 } });
    }
    const ids = (items: { id: string }[]) => items.map(({ id }) => id);
    const own = ids(await walk('/api/v1/batches', guest.token));
    expect(own.length).toBeGreaterThan(0);
    expect(ids(await walk('/api/v1/batches', demo.token)).filter((id) => own.includes(id))).toEqual([]);
  });
});

describe('POST /_local/events', () => {
  it('applies events that arrive repeated and in the wrong order', async () => {
    const { userId, token } = await newUser();
    const created = batchCreated(userId, 3);
    const [first, second] = [created.data.jobs[0]!, created.data.jobs[1]!];
    const done = jobUpdated(userId, first.id, { status: 'DONE', results_key: `results/${userId}/${first.id}.json` });
    const failed = jobUpdated(userId, second.id, { status: 'ERROR', errors: ['It broke.'] });
    expect(await sendEvents(done, failed, created, created, done)).toEqual({ accepted: 5, pending: 0, failures: [] });
    const [batch] = (await call('/api/v1/batches', { token })).body.data;
    expect(batch).toMatchObject({ jobs_count: 3, jobs_count_per_status: { PENDING: 1, DONE: 1, ERROR: 1 } });
    const { body } = await call('/api/v2/jobs?errors=true', { token });
    expect(body.data).toMatchObject([{ id: second.id, errors: ['It broke.'] }]);
  });

  it('puts a bad event among the dead letters, with its reason, and applies the others', async () => {
    const { userId, token } = await newUser();
    const bad = { ...batchCreated(userId, 1), type: 'batch.exploded' };
    const { accepted, failures } = await sendEvents(bad, batchCreated(userId, 1));
    expect([accepted, failures.length]).toEqual([1, 1]);
    expect(failures[0]!.reason).not.toBe('');
    expect((await call('/api/v1/batches', { token })).body.pagination.total).toBe(1);
    const letters = await call('/_local/dead-letters');
    expect(letters.body).toContainEqual({ ...failures[0], body: JSON.stringify(bad) });
  });

  it.each([
    ['what is not JSON', '{', 'not JSON'],
    ['JSON that is nested too deeply', '['.repeat(100_000) + ']'.repeat(100_000), 'too deeply'],
  ])('refuses %s', async (_, body, message) => {
    const answer = await call('/_local/events', { method: 'POST', body });
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(message)]);
  });

  it('shows what is in the queues', async () => {
    const { status, body } = await call('/_local/queues');
    expect(status).toBe(200);
    expect(body).toContainEqual({
      name: expect.stringContaining('Events'),
      url: expect.stringMatching(/^http:/),
      messages: expect.any(Array),
    });
  });

  it('rotates secrets, in the steps of their function', async () => {
    const { status, body } = await call('/_local/rotate-secrets', { method: 'POST' });
    expect([status, body]).toEqual([200, { message: 'Each secret has a new version.' }]);
  });
});
