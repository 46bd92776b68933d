import { describe, expect, it } from 'vitest';
import { listBatches } from '../../../../functions/data/rows/batches.ts';
import { CorruptData } from '../../../../functions/errors.ts';
import { BatchListQuery } from '../../../../functions/schemas/batch-list-query.ts';
import { recordedReads } from '../../../support/recorded-reads.ts';
import { testDb } from '../../../support/test-db.ts';
import { withoutRole } from '../../../support/without-role.ts';

const alice = 'auth0|alice';
const tables = {
  Batches: 'batches-table',
  Columns: 'columns-table',
  Sequences: 'sequences-table',
  Contributors: 'contributors-table',
};
const project = (number: number) => `00000000-0000-0000-0000-00000000000${number}`;

function recorded(rows: Parameters<typeof recordedReads>[0]) {
  const { client, reads } = recordedReads(rows);
  return { db: testDb(client, tables), reads };
}

function row(seq: number, members: object = {}) {
  return {
    user_id: alice,
    id: `${seq}0000000-0000-4000-8000-000000000000`,
    seq,
    rev: 1,
    parent_id: null,
    project_id: project(1),
    status: 'PENDING',
    open: true,
    device_type: 'EMU_FREE',
    queue_priority: 'LOW',
    tags: ['a'],
    jobs_count: 5,
    jobs_count_per_status: { PENDING: 5, RUNNING: 0, DONE: 0, ERROR: 0, CANCELED: 0, CANCELING: 0 },
    created_at: `2026-01-01T00:00:0${seq}.000000Z`,
    updated_at: '2026-02-01T00:00:00.000000Z',
    start_datetime: '2026-03-01T00:00:00.000000Z',
    end_datetime: '2026-04-01T00:00:00.000000Z',
    device_status: null,
    webhook: null,
    configuration: '{"a":{"b":[1.5]}}',
    backend_configuration: null,
    erased_at: null,
    ...members,
  };
}

const rows = [
  row(0),
  row(1, { status: 'DONE', open: false, tags: [] }),
  row(2, { start_datetime: null, end_datetime: null, tags: ['b', 'c'] }),
];
const foreign = row(3, { user_id: 'auth0|bob' });
const ids = [...rows, foreign].map(({ id }) => id);

const query = (parameters: Record<string, string[]>) => BatchListQuery.parse(parameters);

describe('listBatches', () => {
  it.each([[['auth0|bob']], [['', 'auth0|alic', 'AUTH0|ALICE', 'auth0|alice ']]])(
    'reads nothing when the caller is not among %j',
    async (userIds) => {
      const { db, reads } = recorded(rows);
      const page = await listBatches(db, withoutRole(alice), query({ id: ids, user_id: userIds }));
      expect(page).toEqual({ items: [], total: 0 });
      expect(reads).toEqual([]);
    },
  );

  it('shows a batch with all its keys, and nothing that only writers need', async () => {
    const { db, reads } = recorded(rows);
    const page = await listBatches(db, withoutRole(alice), query({ id: ids, user_id: [alice], limit: ['2'] }));
    const shown = ({ seq, rev, ...batch }: (typeof rows)[number]) => ({
      ...batch,
      complete: !batch.open,
      user_name: null,
      configuration: { a: { b: [1.5] } },
    });
    expect(page).toEqual({ items: [rows[2]!, rows[1]!].map(shown), total: 3 });
    expect(reads).toEqual([
      {
        command: 'BatchGetCommand',
        input: {
          RequestItems: {
            'batches-table': { Keys: ids.map((id) => ({ user_id: alice, id })), ConsistentRead: false },
          },
        },
      },
    ]);
  });

  it('shows a configuration with every member that was stored', async () => {
    const configuration = '{"__proto__":{"a":[1]},"constructor":null}';
    const { db } = recorded([row(0, { configuration })]);
    const { items } = await listBatches(db, withoutRole(alice), query({ id: ids }));
    expect(JSON.stringify(items[0]?.configuration)).toBe(configuration);
  });

  it.each([{ webhook: 5 }, { configuration: '[]' }, { configuration: '{' }])(
    'shows no row that breaks its schema: %j',
    async (members) => {
      const { db } = recorded([row(0, members)]);
      await expect(listBatches(db, withoutRole(alice), query({ id: ids }))).rejects.toThrow(CorruptData);
    },
  );
});
