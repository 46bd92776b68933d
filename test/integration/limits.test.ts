/** What operators set as limits, and who may see it. */

import { describe, expect, it } from 'vitest';
import type { RouteName } from '../../functions/routes.ts';
import { ask } from '../support/ask.ts';
import { auditRows } from '../support/audit-rows.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import type { GatewayRequest } from '../support/gateway-event.ts';

const { client, names } = await functionEnvironment();

const operate = (route: RouteName, request: GatewayRequest) =>
  ask(route, { userId: 'auth0|op', scope: 'operator', ...request });

const put = (subject: string, body: unknown) => operate('putLimits', { path: { subject }, body });
const get = (subject: string) => operate('getLimits', { path: { subject } });
const remove = (subject: string) => operate('deleteLimits', { path: { subject } });

const project = '5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a';
/** As they are sent, and the subjects that they are. */
const hostileIds = [
  'auth0|a',
  '../default',
  'a/b',
  'all',
  'default',
  'user:x',
  'ä#?&=+ 中',
  '__proto__',
  '\u0000',
  ':',
];

describe('the limits of a subject', () => {
  it.each([
    ...hostileIds.map((id) => [`user:${id}`, `user:${id}`]),
    [`user:${encodeURIComponent('auth0|b')}`, 'user:auth0|b'],
    [`project:${project.toUpperCase().replaceAll('-', '')}`, `project:${project}`],
    ['default', 'default'],
  ])('are what was set last, under %j', async (sent, subject) => {
    expect((await get(sent)).status).toBe(404);
    expect((await remove(sent)).status).toBe(404);
    const all = { max_unfinished_batches: 0, max_job_seconds: 60, device_types: ['A', 'B'], highest_priority: 'LOW' };
    for (const limits of [all, { shots_per_month: null, creations_per_minute: 3 }, {}]) {
      const { data } = await put(sent, limits);
      expect(data).toEqual({ subject, limits, updated_at: expect.any(String) });
      const name = subject.startsWith('user:') ? { user_name: null } : {};
      expect((await get(sent)).data).toEqual({ ...data, ...name });
    }
    expect((await remove(sent)).data).toBeNull();
    expect((await get(sent)).status).toBe(404);
  });

  it.each([
    '',
    'user:',
    'user:%2541',
    'user:100%',
    `user:${'a'.repeat(257)}`,
    'project:1',
    'Default',
    'users:a',
    'user:\ud800',
  ])('are refused to %j', async (subject) => {
    for (const answer of [await put(subject, {}), await get(subject), await remove(subject)]) {
      expect([answer.status, answer.detail?.[0].loc]).toEqual([422, ['path', 'subject']]);
    }
  });

  it.each([
    { max_unfinished_batches: -1 },
    { max_unfinished_jobs: 1.5 },
    { creations_per_minute: 0 },
    { max_job_seconds: '1' },
    { device_types: 'FRESNEL' },
    { highest_priority: 'HIGHEST' },
    { max_batches: 1 },
    [],
    null,
  ])('are refused as %j', async (body) => {
    expect((await put('user:a', body)).status).toBe(422);
    expect((await get('user:a')).status).toBe(404);
  });

  it('are listed by pages, whose total is exact', async () => {
    const users = Array.from({ length: 12 }, (_, at) => `user:listed ${String(at).padStart(2, '0')}`);
    await Promise.all(
      [...users, 'default', `project:${project}`].map((subject) => put(subject, { max_unfinished_jobs: 7 })),
    );
    const listed: string[] = [];
    for (let offset = 0, total = 1; offset < total; offset += 5) {
      const { data, pagination } = await operate('listLimits', { query: { limit: '5', offset: String(offset) } });
      listed.push(...data.map(({ subject }: { subject: string }) => subject));
      total = pagination.total;
      expect(total).toBe(14);
    }
    expect(listed).toEqual(['default', `project:${project}`, ...users]);
    for (const subject of listed) await remove(subject);
    expect((await operate('listLimits', {})).pagination).toEqual({ total: 0, start: 0, end: 0 });
  });

  it('are changed with a row of the audit trail each, and none where nothing changes', async () => {
    const subject = 'user:audited';
    await put(subject, { max_unfinished_jobs: 1 });
    const { data } = await put(subject, { max_unfinished_jobs: 2 });
    expect((await put(subject, { max_unfinished_jobs: 2 })).data).toEqual(data);
    await remove(subject);
    await remove(subject);
    const rows = await auditRows(client, names);
    const acts = rows.filter(({ target }) => target.subject === subject);
    expect(
      acts.map(({ operator, action, target, before, after }) => [operator, action, target, before, after]),
    ).toEqual([
      ['auth0|op', 'limits.put', { subject, user_id: 'audited' }, null, { max_unfinished_jobs: 1 }],
      [
        'auth0|op',
        'limits.put',
        { subject, user_id: 'audited' },
        { max_unfinished_jobs: 1 },
        { max_unfinished_jobs: 2 },
      ],
      ['auth0|op', 'limits.delete', { subject, user_id: 'audited' }, { max_unfinished_jobs: 2 }, null],
    ]);
  });
});
