/** Reporting and reading calibrations, as machines and users call it. */

import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { RouteName } from '../../functions/routes.ts';
import { ask } from '../support/ask.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import type { GatewayRequest } from '../support/gateway-event.ts';

await functionEnvironment();

const read = (route: RouteName, request: GatewayRequest) => ask(route, { userId: 'auth0|ada', ...request });
const report = (device_type: string, body: unknown, scope = 'device:*') =>
  ask('reportCalibration', { userId: 'machine', scope, path: { device_type }, body });
const numbers = { p_false_pos: 0.012, temperature: 27.5 };

describe('a calibration', () => {
  it('is answered as it was reported, and read by number, as the latest, and in the list without its document', async () => {
    const device_type = `D-${randomUUID()}`;
    const document = { layout: [{ x: 1.5, y: null }], operator: 'Zoë' };
    const first = await report(device_type, { numbers, document, valid_from: '2026-11-21T02:00:00+01:00' });
    expect(first).toMatchObject({ status: 200 });
    const { created_at } = first.data;
    expect(first.data).toEqual({
      ...{ number: 1, device_type, numbers, document, created_at },
      valid_from: '2026-11-21T01:00:00.000000Z',
    });
    const second = await report(device_type, { numbers: { x: 1 }, document: null });
    expect(second.data).toMatchObject({ number: 2, document: null, valid_from: second.data.created_at });
    const get = async (number: string) => (await read('getCalibration', { path: { device_type, number } })).data;
    expect(await get('1')).toEqual(first.data);
    expect([await get('2'), await get('latest')]).toEqual([second.data, second.data]);
    const listed = await read('listCalibrations', { path: { device_type } });
    const [{ document: _, ...newest }, { document: __, ...oldest }] = [second.data, first.data];
    expect(listed).toMatchObject({ data: [newest, oldest], pagination: { total: 2, start: 0, end: 2 } });
    expect(listed.data[0]).not.toHaveProperty('document');
    const page = await read('listCalibrations', { path: { device_type }, query: { limit: ['1'], offset: ['1'] } });
    expect(page).toMatchObject({ data: [oldest], pagination: { total: 2, start: 1, end: 2 } });
  });

  it('keeps each name and each double, however they are written', async () => {
    const device_type = `D-${randomUUID()}`;
    const names = [
      ['__proto__', 1] as const,
      ['constructor', 5e-324] as const,
      ['a.b-c_D', -1.7976931348623157e308] as const,
    ];
    const text = `{${names.map(([name, value]) => `"${name}":${value}`).join()},"7":0,"n":1e2}`;
    const { status } = await report(device_type, {
      numbers: { ...JSON.parse(text), document: JSON.rawJSON('1.0'), variables: JSON.rawJSON('1e0') },
    });
    expect(status).toBe(200);
    const { data } = await read('getCalibration', { path: { device_type, number: 'latest' } });
    expect(Object.entries(data.numbers).sort()).toEqual(
      [...Object.entries(JSON.parse(text)), ['document', 1], ['variables', 1]].sort(),
    );
  });

  it.each([
    ['no numbers', {}, ['body', 'numbers']],
    ['an empty object', { numbers: {} }, ['body', 'numbers']],
    ['a list', { numbers: [1] }, ['body', 'numbers']],
    [
      '51 numbers',
      { numbers: Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`n${at}`, at])) },
      ['body', 'numbers'],
    ],
    ['a text', { numbers: { a: 1, b: '1' } }, ['body', 'numbers', 'b']],
    ['null', { numbers: { b: null } }, ['body', 'numbers', 'b']],
    ['a name with a space', { numbers: { 'b c': 1 } }, ['body', 'numbers', 'b c']],
    ['a long name', { numbers: { ['x'.repeat(65)]: 1 } }, ['body', 'numbers', 'x'.repeat(65)]],
    ['an empty name', { numbers: { '': 1 } }, ['body', 'numbers', '']],
    ['a document of more than 64 KB', { numbers, document: { a: 'x'.repeat(65_536 - 7) } }, ['body', 'document']],
    ['a document that is a text', { numbers, document: '{}' }, ['body', 'document']],
    ['a time before 1970', { numbers, valid_from: '1969-12-31T23:59:59Z' }, ['body', 'valid_from']],
    ['no time', { numbers, valid_from: 'soon' }, ['body', 'valid_from']],
  ])('with %s is refused, and the fault names the place', async (_, body, loc) => {
    const { status, detail } = await report(`D-${randomUUID()}`, body);
    expect([status, (detail as { loc: unknown }[]).map((each) => each.loc)]).toEqual([422, [loc]]);
  });

  it('takes 50 numbers and a document of 64 KB, however many quotation marks it has', async () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`${at}${'n'.repeat(60)}`, Math.PI * at]));
    const device_type = `D-${randomUUID()}`;
    const document = { a: '"'.repeat((65_536 - 8) / 2) };
    expect(JSON.stringify(document)).toHaveLength(65_536);
    const { status, data } = await report(device_type, { numbers: many, document });
    expect(status).toBe(200);
    expect((await read('getCalibration', { path: { device_type, number: '1' } })).data).toEqual(data);
  });

  it('of another device needs the scope of that device', async () => {
    const { status } = await report('MINE', { numbers }, 'device:OTHER');
    expect(status).toBe(403);
    expect((await report('MINE', { numbers }, 'device:MINE')).status).toBe(200);
  });

  it('is not found where there is none; an announced device has an empty list', async () => {
    const device_type = `D-${randomUUID()}`;
    const list = () => read('listCalibrations', { path: { device_type } });
    const get = (number: string) => read('getCalibration', { path: { device_type, number } });
    expect((await list()).status).toBe(404);
    for (const number of ['latest', '1', '999999999']) expect((await get(number)).status).toBe(404);
    for (const number of ['0', '01', '-1', '1.0', 'Latest', '1000000000', ''])
      expect((await get(number)).status).toBe(422);
    await ask('announceDevice', {
      userId: 'machine',
      scope: 'device:*',
      path: { device_type },
      body: { status: 'UP' },
    });
    expect(await list()).toMatchObject({ status: 200, data: [], pagination: { total: 0 } });
    expect((await get('latest')).status).toBe(404);
  });

  it('is refused while 10 are to come', async () => {
    const device_type = `D-${randomUUID()}`;
    for (let hour = 0; hour < 10; hour++) {
      const valid_from = new Date(Date.now() + (1 + hour) * 3_600_000).toISOString();
      expect((await report(device_type, { numbers, valid_from })).status).toBe(200);
    }
    const valid_from = new Date(Date.now() + 20 * 3_600_000).toISOString();
    expect(await report(device_type, { numbers, valid_from })).toMatchObject({
      status: 409,
      data: { reason: 'limit_exceeded' },
    });
    expect((await report(device_type, { numbers })).data.number).toBe(11);
  });
});
