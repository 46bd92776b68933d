/** What users read by id, and of devices: whole answers, as openapi.json describes them. */

import { gzipSync } from 'node:zlib';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { sequenceItem } from '../../functions/data/rows/sequences.ts';
import type { RouteName } from '../../functions/routes.ts';
import { ask } from '../support/ask.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import type { GatewayRequest } from '../support/gateway-event.ts';
import { loadDevices } from '../support/load-devices.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { sequenceText } from '../support/sequence-text.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const writer = writeApi(testDb(client, names));
const user = 'auth0|alice';
const [small, large, unknown] = [uuid('b', 1), uuid('b', 2), uuid('b', 9)];
const [done, ownSequence] = [uuid('a', 1), uuid('a', 2)];
const largeSequence = `{"name":"${'x'.repeat(4_500_000)}"}`;

const askAs = (route: RouteName, request: GatewayRequest = {}, userId = user) => ask(route, { userId, ...request });

beforeAll(async () => {
  const { createBatches, recordJobStatus } = writer;
  const variables = { text: 'x'.repeat(31_000) };
  await createBatches(user, [
    newBatch(1, { jobs: [newJob(1), newJob(2), newJob(3, { runs: null, variables: { omega: [1] } })], tags: ['a'] }),
    newBatch(2, { jobs: Array.from({ length: 60 }, (_, at) => newJob(1_000 + at, { variables })) }),
  ]);
  await recordJobStatus(user, done, { status: 'DONE' });
  for (const [id, text] of [
    [small, sequenceText()],
    [large, largeSequence],
    [ownSequence, sequenceText({ name: 'own' })],
  ] as const) {
    const Item = sequenceItem(user, id, gzipSync(text));
    await client.send(new PutCommand({ TableName: names.Sequences, Item }));
  }
  await loadDevices(client, names);
});

describe('GET /api/v2/batches/{batch_id}', () => {
  it('shows the batch with its sequence and its jobs', async () => {
    const { status, data } = await askAs('getBatch', { path: { batch_id: small } });
    expect(status).toBe(200);
    expect(data).toMatchObject({
      id: small,
      user_id: user,
      status: 'PENDING',
      open: false,
      complete: true,
      tags: ['a'],
      jobs_count: 3,
      sequence_builder: sequenceText(),
      job_ids: [1, 2, 3].map((number) => uuid('a', number)),
      jobs: [
        { id: done, status: 'DONE', runs: 100, errors: null },
        { id: ownSequence, status: 'PENDING' },
        { id: uuid('a', 3), runs: null, variables: { omega: [1] } },
      ],
    });
    for (const job of (data as { jobs: object[] }).jobs) expect(job).not.toHaveProperty('sequence');
  });

  it('leaves out the jobs where they and the sequence exceed one answer', async () => {
    const { data } = await askAs('getBatch', { path: { batch_id: large } });
    expect(data).toMatchObject({ jobs_count: 60, sequence_builder: largeSequence });
    expect(data).not.toHaveProperty('jobs');
    expect((data as { job_ids: string[] }).job_ids).toHaveLength(60);
  });
});

describe('the rights of a batch and of a job', () => {
  it('are all that owners may do, as far as their token lets them submit to the project', async () => {
    const rightsFor = async (projects?: object[]) => {
      const claims = projects === undefined ? {} : { projects: JSON.stringify(projects) };
      const [batch, job] = await Promise.all([
        askAs('getBatch', { path: { batch_id: small }, claims }),
        askAs('getJob', { path: { job_id: done }, claims }),
      ]);
      expect(job.data.rights).toEqual(batch.data.rights);
      return batch.data.rights;
    };
    const { project_id: id } = (await askAs('getBatch', { path: { batch_id: small } })).data;
    const [all, without] = [
      ['read', 'repeat', 'end', 'change'],
      ['read', 'end', 'change'],
    ];
    expect(await rightsFor()).toEqual(all);
    expect(await rightsFor([{ id, name: 'Mine' }])).toEqual(all);
    expect(await rightsFor([{ id, name: 'Mine', role: 'member' }])).toEqual(all);
    expect(await rightsFor([{ id, name: 'Mine', role: 'viewer' }])).toEqual(without);
    expect(await rightsFor([])).toEqual(without);
  });
});

describe('the status of a batch and of a job', () => {
  it('is little more than the status', async () => {
    const jobs_count_per_status = { PENDING: 2, RUNNING: 0, DONE: 1, ERROR: 0, CANCELED: 0, CANCELING: 0 };
    expect((await askAs('getBatchStatus', { path: { batch_id: small } })).data).toEqual({
      id: small,
      status: 'PENDING',
      jobs_count: 3,
      jobs_count_per_status,
      queue_position: null,
      queue_reason: null,
      estimated_start: null,
      estimated_start_reason: 'unknown',
      webhook_attempt: null,
    });
    expect((await askAs('getJobStatus', { path: { job_id: done } })).data).toEqual({ id: done, status: 'DONE' });
  });
});

describe.each([
  ['getBatchStatus', 3, { batch_id: uuid('b', 3) }],
  ['getJobStatus', 4, { job_id: uuid('a', 40) }],
] as const)('%s', (route, batch, path) => {
  it('says when to look again until it has ended', async () => {
    const { createBatch, recordJobStatus, recordBatchStatus } = writer;
    const change = (status: 'RUNNING' | 'DONE') =>
      route === 'getJobStatus'
        ? recordJobStatus(user, path.job_id, { status })
        : recordBatchStatus(user, path.batch_id, { status });
    await createBatch(user, newBatch(batch, { jobs: [newJob(10 * batch)] }));
    const waiting = { status: 200, data: { status: 'PENDING' }, headers: { 'Retry-After': '30' } };
    // Parameters that are not known change nothing.
    for (const query of ['', 'wait=20', 'wait=soon', 'unknown=1']) {
      expect(await askAs(route, { path, query }), query).toMatchObject(waiting);
    }
    await change('RUNNING');
    expect(await askAs(route, { path })).toMatchObject({
      data: { status: 'RUNNING' },
      headers: { 'Retry-After': '1' },
    });
    await change('DONE');
    const { data, headers } = await askAs(route, { path });
    expect(data).toMatchObject({ status: 'DONE' });
    expect(headers).not.toHaveProperty('Retry-After');
  });
});

describe('GET /api/v2/jobs/{job_id}', () => {
  it('shows the job with the sequence that it has of its own', async () => {
    const own = await askAs('getJob', { path: { job_id: ownSequence.toUpperCase() } });
    expect(own.data).toMatchObject({ id: ownSequence, batch_id: small, sequence: sequenceText({ name: 'own' }) });
    expect((await askAs('getJob', { path: { job_id: done } })).data).toMatchObject({ status: 'DONE', sequence: null });
  });
});

describe.each([
  ['getBatch', 'batch_id'],
  ['getBatchStatus', 'batch_id'],
  ['getJob', 'job_id'],
  ['getJobStatus', 'job_id'],
] as const)('%s', (route, parameter) => {
  const theirs = parameter === 'batch_id' ? small : done;

  it('answers 404 for what is not there or another’s, and for the other kind of thing', async () => {
    expect(await askAs(route, { path: { [parameter]: theirs } })).toMatchObject({ status: 200 });
    for (const [id, caller] of [
      [unknown, user],
      [theirs, 'auth0|mallory'],
      [parameter === 'batch_id' ? done : small, user],
    ] as const) {
      expect(await askAs(route, { path: { [parameter]: id } }, caller)).toMatchObject({ status: 404 });
    }
  });

  it('answers 422 for what is no id', async () => {
    expect(await askAs(route, { path: { [parameter]: 'b1' } })).toMatchObject({ status: 422 });
  });
});

describe('the devices', () => {
  it('are shown to everyone, all or some', async () => {
    const unset = { mode: 'OPEN', status_message: null, available_at: null, windows: [] };
    const unknown = {
      average_queue_time: null,
      idle_seconds: 120,
      max_atom_num: null,
      channels: null,
      calibration: null,
    };
    const announced = { status: 'UP', availability: 'ACTIVE', queue_length: 0 };
    const fresnel = { device_type: 'FRESNEL', is_emulator: false, ...announced, ...unset, ...unknown };
    const emulator = { ...fresnel, device_type: 'EMU_MPS', is_emulator: true };
    expect((await askAs('listDevices')).data).toEqual([emulator, fresnel]);
    expect((await askAs('listDevices', { query: 'device_type=FRESNEL' })).data).toEqual([fresnel]);
    expect((await askAs('listDevices', { query: 'device_type=LOST&device_type=EMU_MPS' })).data).toEqual([emulator]);
    expect((await askAs('listDevices', { query: `device_type=${'x'.repeat(257)}` })).status).toBe(422);
  });

  it('have specifications, which come as they were announced', async () => {
    const specs = { FRESNEL: '{"name": "FRESNEL",  "n": 1.0}', EMU_MPS: '{"name": "EMU_MPS",  "n": 1.0}' };
    expect((await askAs('listDeviceSpecifications')).data).toEqual(specs);
    const one = await askAs('getDeviceSpecification', { path: { device_type: 'EMU_MPS' } });
    expect(one.data).toEqual({ device_type: 'EMU_MPS', specs: specs.EMU_MPS });
    for (const device_type of ['LOST', 'fresnel', '%00']) {
      expect((await askAs('getDeviceSpecification', { path: { device_type } })).status).toBe(404);
    }
    for (const device_type of ['', 'x'.repeat(129)]) {
      expect((await askAs('getDeviceSpecification', { path: { device_type } })).status).toBe(422);
    }
    expect((await askAs('listPublicSpecifications')).data).toEqual([{ device_type: 'FRESNEL', specs: specs.FRESNEL }]);
  });
});
