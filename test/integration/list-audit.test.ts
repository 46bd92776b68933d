/** The list of what operators did: filters, order, totals and what a page costs. */

import { randomUUID } from 'node:crypto';
import { PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { createBatch } from '../../functions/data/batches/new-batches.ts';
import { auditWrite, listAudit } from '../../functions/data/rows/acts.ts';
import { type Act, AuditAction, AuditQuery } from '../../functions/schemas/audit.ts';
import { fromMilliseconds } from '../../functions/values/timestamp.ts';
import { ask } from '../support/ask.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { newBatchRequest } from '../support/new-batch.ts';
import { testDb } from '../support/test-db.ts';

const { client, names } = await functionEnvironment();
const db = testDb(client, names);
const day = 24 * 3_600_000;
const now = Date.now();

/** Every 11 days, in all kinds, over more than 400 days; the oldest are not shown any more. */
const acts: Act[] = Array.from({ length: 40 }, (_, at) => ({
  at: fromMilliseconds(now - at * 11 * day),
  operator: `operator|${at % 3}`,
  operator_name: at % 2 === 0 ? null : `Operator ${at % 3}`,
  action: AuditAction.options[at % 5]!,
  target: at % 5 === 0 ? { device_type: `D${at % 2}` } : { user_id: `user ${at % 4}`, device_type: `D${at % 2}` },
  reason: at % 7 === 0 ? null : `reason ${at}`,
  before: at % 2 === 0 ? null : { at },
  after: at % 3 === 0 ? null : { at, list: [1, { deep: 'x' }] },
}));
const shown = acts.filter(({ at }) => at >= fromMilliseconds(now - 400 * day));

function put(act: Act) {
  return client.send(new TransactWriteCommand({ TransactItems: [auditWrite(db, act)] }));
}

beforeAll(async () => {
  for (const act of [...acts].reverse()) await put(act);
});

async function list(query: Record<string, string | string[]> = {}, scope = 'operator') {
  const { status, data, pagination, headers } = await ask('listAudit', { userId: 'anyone', scope, query });
  return { status, data: data as Act[], total: pagination?.total, range: headers['Content-Range'] };
}

describe('GET /api/v1/audit', () => {
  it('lists all acts of 400 days, newest first, page by page', async () => {
    expect(shown.length).toBeLessThan(acts.length);
    expect(await list()).toEqual({
      status: 200,
      data: shown,
      total: shown.length,
      range: `1-${shown.length}/${shown.length}`,
    });
    const collected: Act[] = [];
    for (let offset = 0; offset < shown.length; offset += 7) {
      const { data, total } = await list({ limit: '7', offset: String(offset) });
      expect(total).toBe(shown.length);
      collected.push(...data);
    }
    expect(collected).toEqual(shown);
  });

  const [newer, older] = [shown[10]!.at, shown[20]!.at];
  it.each<[Record<string, string | string[]>, (act: Act) => boolean]>([
    [{ operator: 'operator|1' }, ({ operator }) => operator === 'operator|1'],
    [{ action: ['batch.cancel', 'limits.put'] }, ({ action }) => ['batch.cancel', 'limits.put'].includes(action)],
    [{ user_id: ['user 1', 'user 2'] }, ({ target }) => ['user 1', 'user 2'].includes(target.user_id!)],
    [
      { device_type: 'D1', operator: ['operator|0', 'x'] },
      (act) => act.target.device_type === 'D1' && act.operator.endsWith('0'),
    ],
    [{ from: older }, ({ at }) => at >= older],
    [{ to: newer }, ({ at }) => at <= newer],
    [
      { from: older, to: newer, user_id: 'user 3' },
      ({ at, target }) => at >= older && at <= newer && target.user_id === 'user 3',
    ],
    [
      { from: `${older.slice(0, 7)}-01`, to: `${newer.slice(0, 7)}-01` },
      ({ at }) => at >= older.slice(0, 7) && at <= `${newer.slice(0, 7)}-01T00:00:00.000000Z`,
    ],
    [{ from: newer, to: older }, () => false],
    [{ from: '9999-01-01' }, () => false],
    [{ to: '1970-01-01' }, () => false],
    [{ operator: 'operator' }, () => false],
    [{ user_id: 'undefined' }, () => false],
  ])('filters by %j', async (query, isMeant) => {
    const { data, total } = await list({ ...query, limit: '100' });
    expect(data).toEqual(shown.filter(isMeant));
    expect(total).toBe(data.length);
  });

  it('shows what operators and users are called, as far as that is known', async () => {
    const [operator, ada, bob] = [`operator|${randomUUID()}`, `auth0|${randomUUID()}`, `auth0|${randomUUID()}`];
    await createBatch(db, { userId: ada, claims: { queue_priority: 'LOW', user_name: 'Ada' } }, newBatchRequest(1));
    for (const [name, user] of [
      ['Grace', ada],
      ['Grace', bob],
      [undefined, ada],
    ] as const) {
      const claims: Record<string, string> = name === undefined ? {} : { user_name: name };
      const path = { subject: `user:${user}` };
      const request = { userId: operator, scope: 'operator', claims, path };
      expect(
        (await ask('putLimits', { ...request, body: { max_unfinished_batches: claims.user_name ? 1 : 2 } })).status,
      ).toBe(200);
    }
    const { data } = await list({ operator });
    expect(data.map(({ operator_name, target }) => [operator_name, target])).toEqual([
      [null, { subject: `user:${ada}`, user_id: ada, user_name: 'Ada' }],
      ['Grace', { subject: `user:${bob}`, user_id: bob }],
      ['Grace', { subject: `user:${ada}`, user_id: ada, user_name: 'Ada' }],
    ]);
  });

  it('shows acts of a release that kept no names', async () => {
    const at = fromMilliseconds(Date.now());
    const { operator_name, ...act } = { ...shown[1]!, at, operator: `operator|${randomUUID()}` };
    const Item = { month: at.slice(0, 7), key: `${at}#`, ...act };
    await client.send(new PutCommand({ TableName: names.Audit, Item }));
    expect((await list({ operator: act.operator })).data).toEqual([{ ...act, operator_name: null }]);
  });

  it('shows an act as soon as its call has answered, and two of one moment both', async () => {
    const at = fromMilliseconds(Date.now());
    const operator = `operator|${randomUUID()}`;
    const act: Act = { ...shown[1]!, at, operator };
    for (const reason of ['a', 'b']) await put({ ...act, reason });
    const { data } = await list({ operator });
    expect(data.map(({ reason }) => reason).sort()).toEqual(['a', 'b']);
  });

  it.each([{ action: 'batch.delete' }, { from: 'yesterday' }, { limit: '0' }, { limit: '101' }, { offset: '-1' }])(
    'refuses %j',
    async (query) => expect((await list(query)).status).toBe(422),
  );

  it('reads each month once, and refuses more than 10 MB', async () => {
    let queries = 0;
    const endless = interceptedClient(client, async (call) => {
      if (call.name !== 'QueryCommand') return call.send();
      queries++;
      const output = (await call.send()) as { Items: { key: string }[] };
      // As if every page were full.
      const last = output.Items.at(-1);
      return last === undefined ? output : { ...output, LastEvaluatedKey: { month: 'x', key: last.key } };
    });
    const counting = interceptedClient(client, (call) => {
      if (call.name === 'QueryCommand') queries++;
      return call.send();
    });
    const query = (more: object) => AuditQuery.parse(more) as never;
    await listAudit({ ...db, client: counting }, query({ from: [fromMilliseconds(now - 59 * day)] }));
    expect(queries).toBeLessThanOrEqual(3);
    queries = 0;
    // Each month takes two queries: the second finds nothing more.
    await expect(listAudit({ ...db, client: endless }, query({}))).rejects.toMatchObject({
      faults: [{ loc: ['query', 'from'] }],
    });
    expect(queries).toBeLessThanOrEqual(2 * 11);
    const first = await listAudit({ ...db, client: endless }, query({ from: [fromMilliseconds(now - 40 * day)] }));
    expect(first.items.filter(({ operator }) => operator.length < 12)).toEqual(
      shown.filter(({ at }) => at >= fromMilliseconds(now - 40 * day)),
    );
  });
});
