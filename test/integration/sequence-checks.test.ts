/**
 * Sequences that their device would refuse, when they come: rules are tried in test/unit/sequences.
 */

import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { closeBatch } from '../../functions/data/batches/batch-updates.ts';
import { changeLimits } from '../../functions/data/limits/limits-of-subjects.ts';
import type { RouteName } from '../../functions/routes.ts';
import specs from '../../infra/local/demo/device-specs.json' with { type: 'json' };
import { ask } from '../support/ask.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import type { GatewayRequest } from '../support/gateway-event.ts';
import { itemsOfOwner } from '../support/items-of-owner.ts';
import { putDevice } from '../support/load-devices.ts';
import { batchesAndJobs } from '../support/owner-rows.ts';
import { deviceContent, sequenceText, sequenceWith } from '../support/sequence-text.ts';
import { testDb } from '../support/test-db.ts';

const { client, names } = await functionEnvironment();
const db = testDb(client, names);
const device_type = 'CHECKED_QPU';
const device = { ...JSON.parse(specs.FRESNEL), name: device_type };
const announce = (content: object, type = device_type) =>
  putDevice(
    client,
    names,
  )({
    ...{ device_type: type, name: type, status: 'UP', public: true, announced_at: '2026-11-21T10:00:00.000000Z' },
    specs: JSON.stringify({ ...device, name: type, ...content }),
  });
beforeAll(() => announce({}));

async function askAs(route: RouteName, userId: string, request: GatewayRequest) {
  const { status, data, detail } = await ask(route, { userId, ...request });
  const faults = (detail ?? []).map(({ loc, type }: { loc: unknown[]; type: string }) => `${loc.join('.')}: ${type}`);
  return { status, data, faults };
}

const layout = { coordinates: device.pre_calibrated_layouts[0].coordinates };
const [x, y] = layout.coordinates[0];
const register = [{ name: 'q0', x, y }];
const omega = { expression: 'index', lhs: { variable: 'omega' }, rhs: 0 };
const shift = { op: 'phase_shift', basis: 'ground-rydberg', targets: [0], phi: omega };
const sequence = (content: object = {}) => sequenceText({ device, layout, register, ...content });
const parametrized = sequence({ variables: { omega: { type: 'float', value: [0] } }, operations: [shift] });
const bodyOf = (content: object) => ({ project_id: randomUUID(), device_type, jobs: [{ runs: 10 }], ...content });
const create = (userId: string, content: object, headers = {}) =>
  askAs('createBatch', userId, { body: bodyOf(content), headers });

describe('a creation', () => {
  it('is refused with all faults at their places, and stores nothing', async () => {
    const user = `auth0|${randomUUID()}`;
    const wrong = sequence({
      layout: undefined,
      operations: [{ op: 'delay', channel: 'lost', time: 100 }],
      measurement: 'XY',
    });
    const refused = await create(user, {
      sequence_builder: parametrized,
      jobs: [
        { runs: 2_001 },
        { sequence: wrong },
        { sequence: '{"version":"1"}', runs: 1 },
        { variables: { omega: [1, 2] } },
      ],
    });
    expect(refused.status).toBe(422);
    const missing = ['channels', 'device', 'measurement', 'name', 'operations', 'register', 'variables'];
    expect(refused.faults).toEqual([
      'body.jobs.0.variables.omega: sequence_variable_missing',
      'body.jobs.0.runs: sequence_runs',
      'body.jobs.1.sequence.measurement: sequence_measurement',
      'body.jobs.1.sequence.operations.0.channel: sequence_undeclared_channel',
      'body.jobs.1.sequence.layout: sequence_layout_required',
      ...missing.map((name) => `body.jobs.2.sequence.${name}: sequence_missing`),
      'body.jobs.3.variables.omega: sequence_variable_size',
    ]);
    expect(await batchesAndJobs(client, names, user)).toEqual({ batches: [], jobs: [] });
  });

  it('is judged by the device whose name its sequence has, with the missing device among the faults', async () => {
    const user = `auth0|${randomUUID()}`;
    const named = await create(user, { device_type: null, sequence_builder: sequence({ layout: undefined }) });
    expect(named.faults).toEqual(['body.sequence_builder.layout: sequence_layout_required']);
    const nowhere = sequence({ device: { ...device, name: 'NOWHERE', max_atom_num: 1 }, measurement: 'XY' });
    expect((await create(user, { device_type: null, sequence_builder: nowhere })).faults).toEqual([
      'body.device_type: missing',
      'body.sequence_builder.measurement: sequence_measurement',
    ]);
  });

  it('passes unchecked what no job runs, and what only an unannounced device could refuse', async () => {
    const user = `auth0|${randomUUID()}`;
    const unused = { sequence_builder: '{}', jobs: [{ sequence: sequence() }] };
    expect((await create(user, unused)).status).toBe(200);
    const elsewhere = { device_type: 'NEVER_SEEN', sequence_builder: sequenceText(), jobs: [{ runs: 1_000_000 }] };
    expect((await create(user, elsewhere)).status).toBe(200);
  });

  it('has faults of bounded size, whatever names it holds', async () => {
    const long = 'x'.repeat(100_000);
    const channels = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`${at}${'y'.repeat(10_000)}`, 'none']));
    const refused = await create('auth0|long', {
      sequence_builder: sequenceText({ channels: { ...channels, [long]: long } }),
    });
    expect(refused.faults).toHaveLength(100);
    expect(JSON.stringify(refused.data).length).toBeLessThan(100_000);
  });

  it('that has begun goes on when its device announces other bounds', async () => {
    const user = `auth0|${randomUUID()}`;
    const key = { 'Idempotency-Key': 'once' };
    const body = { ...bodyOf({ sequence_builder: sequence() }), open: true };
    const send = () => askAs('createBatch', user, { body, headers: key });
    const first = await send();
    expect(first.status).toBe(200);
    const addition = { path: { batch_id: first.data.id }, body: [{ runs: 20 }], headers: key };
    expect((await askAs('addJobs', user, addition)).status).toBe(200);
    await announce({ max_runs: 5 });
    try {
      expect((await send()).data.id).toBe(first.data.id);
      expect((await askAs('addJobs', user, addition)).data.jobs_count).toBe(2);
      expect((await askAs('addJobs', user, { ...addition, headers: {} })).faults).toEqual([
        'body.0.runs: sequence_runs',
      ]);
      expect((await askAs('createBatch', user, { body, headers: {} })).faults).toEqual([
        'body.jobs.0.runs: sequence_runs',
      ]);
    } finally {
      await announce({});
    }
  });
});

describe('added jobs', () => {
  it('are judged by the batch’s device and sequence', async () => {
    const user = `auth0|${randomUUID()}`;
    const { data } = await create(user, { sequence_builder: parametrized, jobs: [], open: true });
    const add = (...body: object[]) => askAs('addJobs', user, { path: { batch_id: data.id }, body });
    expect(
      (await add({}, { sequence: sequenceWith('omega') }, { variables: { omega: 1 }, runs: 9_999 })).faults,
    ).toEqual([
      'body.0.variables.omega: sequence_variable_missing',
      'body.1.sequence.layout: sequence_layout_required',
      'body.2.runs: sequence_runs',
    ]);
    expect((await add({ variables: { omega: 1 } }, { sequence: sequence() })).status).toBe(200);
    const other = sequence({ device: deviceContent('OTHER', { rydberg_level: 70 }) });
    expect((await add({ sequence: other })).faults).toEqual([
      'body.0.sequence.device.rydberg_level: sequence_rydberg_level',
    ]);
  });
});

describe('the values of jobs', () => {
  const variables = { omega: { type: 'float', value: [0] } };
  const constant = (value: unknown) => ({ kind: 'constant', duration: 400, value });
  const swept = sequence({
    ...{ pulser_version: '1.9.1', variables },
    operations: [
      {
        ...{ op: 'pulse', channel: 'ising', protocol: 'min-delay', phase: 0, post_phase_shift: 0 },
        ...{ amplitude: constant(omega), detuning: constant(0) },
      },
    ],
  });
  const jobs = [2, 300, '300', 4].map((value) => ({ runs: 10, variables: { omega: value } }));
  const fault = (...place: unknown[]) => `${[...place, 'variables', 'omega'].join('.')}: sequence_amplitude`;
  const uncertain = expect.stringContaining('the check cannot compute all of them exactly');

  it('are judged in a creation, in further jobs, and where only faults are asked for', async () => {
    const user = `auth0|${randomUUID()}`;
    const refused = await create(user, { sequence_builder: swept, jobs });
    expect(refused).toMatchObject({ status: 422, faults: [fault('body', 'jobs', 1)] });
    const query = { validate_only: 'true' };
    const body = bodyOf({ sequence_builder: swept, jobs });
    const { data: validated } = await askAs('createBatch', user, { body, query });
    expect(validated.faults).toEqual([
      {
        ...{ loc: ['body', 'jobs', 1, 'variables', 'omega'], type: 'sequence_amplitude' },
        msg: expect.stringMatching(
          /^operations\[0\]: The amplitude \(300 rad\/µs\) is above the maximum .* \(12\.\d+ /,
        ),
      },
    ]);
    expect(validated.left_to_device).toEqual([{ loc: ['body', 'jobs', 2], msg: uncertain }]);
    const open = await create(user, { sequence_builder: swept, jobs: [], open: true });
    const path = { batch_id: open.data.id };
    expect(await askAs('addJobs', user, { path, body: jobs })).toMatchObject({
      status: 422,
      faults: [fault('body', 1)],
    });
    const { data: further } = await askAs('addJobs', user, { path, body: jobs, query });
    expect(further.faults).toEqual([{ ...validated.faults[0], loc: ['body', 1, 'variables', 'omega'] }]);
    expect(further.left_to_device).toEqual([{ loc: ['body', 2], msg: uncertain }]);
    expect((await askAs('addJobs', user, { path, body: [jobs[0], jobs[2]] })).status).toBe(200);
  });

  it('may be missing, as may a device: what is left to it is said', async () => {
    const left = async (content: object) => {
      const request = { body: bodyOf(content), query: { validate_only: 'true' } };
      const { data } = await askAs('createBatch', `auth0|${randomUUID()}`, request);
      expect(data.faults).toEqual([]);
      return data.left_to_device.map(({ loc, msg }: { loc: string[]; msg: string }) => `${loc.join('.')}: ${msg}`);
    };
    expect(await left({ sequence_builder: swept, jobs: [], open: true })).toEqual([
      'body.sequence_builder: What depends on these variables: omega. No job gives them values yet.',
    ]);
    expect(await left({ sequence_builder: '{"a":1}', device_type: 'NEW_QPU' })).toEqual([
      'body.device_type: What NEW_QPU allows: no device of this type has been announced.',
      'body.sequence_builder: The whole sequence: it does not say `"version": "1"`.',
    ]);
    await announce({ newer: 1 }, 'LATER_QPU');
    expect(await left({ sequence_builder: sequence(), device_type: 'LATER_QPU' })).toEqual([
      'body.device_type: What LATER_QPU allows: it has announced no specification that the check can read.',
    ]);
    expect(await left({ sequence_builder: sequence() })).toEqual([]);
  });

  it('do not matter where the text is no sequence of Pulser, and a QPU runs these', async () => {
    const user = `auth0|${randomUUID()}`;
    expect((await create(user, { sequence_builder: '{"a":1}' })).faults).toEqual([
      'body.sequence_builder: sequence_form',
    ]);
    expect((await create(user, { jobs: [{ sequence: '{"a":1}' }] })).faults).toEqual([
      'body.jobs.0.sequence: sequence_form',
    ]);
    await announce({ is_virtual: true }, 'EMULATOR');
    const accepted = [{ device_type: 'EMULATOR' }, { device_type: 'UNKNOWN' }];
    for (const content of accepted)
      expect((await create(user, { ...content, sequence_builder: '{"a":1}' })).status).toBe(200);
  });
});

describe('validate_only', () => {
  const query = { validate_only: 'true' };
  const validate = async (userId: string, request: GatewayRequest, route: RouteName = 'createBatch') => {
    const { status, data } = await askAs(route, userId, { ...request, query });
    expect(status).toBe(200);
    return { ...data, types: data.faults.map(({ type }: { type: string }) => type) };
  };
  const nothing = { batches: [], jobs: [] };

  it('says what limits, project, device and sequence say, and stores nothing', async () => {
    const user = `auth0|${randomUUID()}`;
    const body = { ...bodyOf({ sequence_builder: sequence() }), project_id: randomUUID() };
    const headers = { 'Idempotency-Key': 'validated' };
    expect(await validate(user, { body, headers })).toMatchObject({
      ...{ faults: [], estimated_start: null, estimated_start_reason: 'no_worker' },
      limits: { limits: { max_unfinished_jobs: null }, used: { max_unfinished_jobs: 0 } },
    });
    await changeLimits(db, {
      ...{ operator: 'op', subject: `user:${user}` },
      limits: { max_unfinished_jobs: 2, device_types: [device_type] },
    });
    const many = { ...body, jobs: [{}, {}, { runs: 9_999 }] };
    const claims = { projects: JSON.stringify([{ id: randomUUID(), name: 'other' }]) };
    const refused = await validate(user, { body: many, headers, claims });
    expect(refused.types).toEqual(['project_not_allowed', 'sequence_runs', 'limit_exceeded']);
    expect(refused.limits).toMatchObject({ limits: { max_unfinished_jobs: 2 }, left: { max_unfinished_jobs: 2 } });
    const elsewhere = { ...body, device_type: 'EMU_ELSEWHERE' };
    expect((await validate(user, { body: elsewhere })).types).toEqual(['device_type_not_allowed']);
    const wrong = { ...body, device_type: null, jobs: [{ runs: 0 }] };
    expect((await validate(user, { body: wrong })).types).toEqual(['greater_than_equal']);
    const nowhere = { ...body, device_type: null, sequence_builder: sequenceText({ device: 'MockDevice' }) };
    expect((await validate(user, { body: nowhere })).types).toEqual(['missing']);
    const far = Array.from({ length: 150 }, (_, at) => ({ name: `q${at}`, x: 900, y: at * 9 }));
    const lost = await validate(user, { body: { ...body, sequence_builder: sequence({ register: far }) } });
    expect(lost.types).toHaveLength(100);
    expect(lost.types.at(-1)).toBe('more_faults');
    expect(await batchesAndJobs(client, names, user)).toEqual(nothing);
    expect(await itemsOfOwner(client, names.Columns, user)).toEqual([]);
    expect(await itemsOfOwner(client, names.Sequences, user)).toEqual([]);
    const another = { ...body, tags: ['another'] };
    expect((await askAs('createBatch', user, { body: another, headers })).status).toBe(200);
  });

  it('says where another body has used the key, and refuses no repetition', async () => {
    const user = `auth0|${randomUUID()}`;
    const headers = { 'Idempotency-Key': 'used' };
    const body = bodyOf({ sequence_builder: sequence(), open: true });
    const { data } = await askAs('createBatch', user, { body, headers });
    await changeLimits(db, { operator: 'op', subject: `user:${user}`, limits: { max_unfinished_jobs: 1 } });
    const another = { ...body, tags: ['another'] };
    expect((await validate(user, { body: another, headers })).types).toEqual(['idempotency_key_reused']);
    expect((await validate(user, { body, headers })).types).toEqual([]);
    expect((await validate(user, { body })).types).toEqual(['limit_exceeded']);
    const jobs = { path: { batch_id: data.id }, body: [{ runs: 1 }], headers };
    expect((await validate(user, jobs, 'addJobs')).types).toEqual(['limit_exceeded']);
  });

  it('says what closed devices and batches say to further jobs, of many as of one', async () => {
    const user = `auth0|${randomUUID()}`;
    const { data } = await create(user, { sequence_builder: sequence(), jobs: [], open: true });
    const path = { batch_id: data.id };
    const jobs = Array.from({ length: 300 }, () => ({ sequence: sequence() }));
    const before = await batchesAndJobs(client, names, user);
    expect(await validate(user, { path, body: jobs }, 'addJobs')).toMatchObject({ faults: [], estimated_start: null });
    expect(await batchesAndJobs(client, names, user)).toEqual(before);
    await closeBatch(db, user, data.id);
    expect((await validate(user, { path, body: [{ runs: 9_999 }] }, 'addJobs')).types).toEqual([
      'sequence_runs',
      'batch_closed',
    ]);
    expect((await validate(user, { path, body: [] }, 'addJobs')).types).toEqual(['too_short']);
    const closed = {
      path: { device_type: 'CLOSED_QPU' },
      body: { mode: 'CLOSED', reason: 'Moved.' },
      scope: 'operator',
    };
    expect((await askAs('setDevice', 'operator', closed)).status).toBe(200);
    const late = await validate(user, { body: bodyOf({ device_type: 'CLOSED_QPU', sequence_builder: sequence() }) });
    expect(late).toMatchObject({ types: ['device_closed'], estimated_start_reason: 'closed' });
    const foreign = await askAs('addJobs', 'auth0|other', { path, query, body: jobs });
    expect(foreign.status).toBe(404);
    expect((await askAs('addJobs', user, { path, query: { validate_only: 'maybe' }, body: jobs })).faults).toEqual([
      'query.validate_only: bool_parsing',
    ]);
    expect((await askAs('createBatch', user, { query })).faults).toEqual(['body: missing']);
  });
});
