import { describe, expect, it } from 'vitest';
import { listJobs } from '../../../../functions/data/rows/jobs.ts';
import { CorruptData } from '../../../../functions/errors.ts';
import { JobListQuery } from '../../../../functions/schemas/job-list-query.ts';
import { recordedReads } from '../../../support/recorded-reads.ts';
import { testDb } from '../../../support/test-db.ts';
import { withoutRole } from '../../../support/without-role.ts';

const alice = 'auth0|alice';
const tables = {
  Batches: 'batches-table',
  Jobs: 'jobs-table',
  Columns: 'columns-table',
  Sequences: 'sequences-table',
  Contributors: 'contributors-table',
};
const project = (number: number) => `00000000-0000-0000-0000-00000000000${number}`;
const batch = (number: number) => `b0000000-0000-0000-0000-00000000000${number}`;

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
    batch_id: batch(1),
    project_id: project(1),
    status: 'PENDING',
    runs: 5,
    origin: 'CLIENT',
    creation_order: seq,
    created_at: `2026-01-01T00:00:0${seq}.000000Z`,
    updated_at: '2026-02-01T00:00:00.000000Z',
    start_timestamp: '2026-03-01T00:00:00.000000Z',
    end_timestamp: '2026-04-01T00:00:00.000000Z',
    variables: '{"omega":[1.5]}',
    errors: null,
    results_key: 'results/auth0|alice/x.json',
    ...members,
  };
}

const rows = [
  row(0),
  row(1, { status: 'ERROR', errors: ['timeout'], calibration: 7 }),
  row(2, { start_timestamp: null, end_timestamp: null, errors: [], results_key: null }),
];
const foreign = row(3, { user_id: 'auth0|bob' });
const ids = [...rows, foreign].map(({ id }) => id);

const query = (parameters: Record<string, string[]>) => JobListQuery.parse(parameters);

describe('listJobs', () => {
  it('shows a job with all its keys, and nothing that only writers need', async () => {
    const { db, reads } = recorded(rows);
    const page = await listJobs(db, withoutRole(alice), query({ id: ids, user_id: [alice], limit: ['2'] }));
    const shown = ({ seq, rev, results_key, ...job }: (typeof rows)[number] & { calibration?: number }) => ({
      ...job,
      variables: { omega: [1.5] },
      calibration: job.calibration ?? null,
      user_name: null,
    });
    expect(page).toEqual({ items: [rows[2]!, rows[1]!].map(shown), total: 3 });
    expect(reads).toEqual([
      {
        command: 'BatchGetCommand',
        input: {
          RequestItems: { 'jobs-table': { Keys: ids.map((id) => ({ user_id: alice, id })), ConsistentRead: false } },
        },
      },
    ]);
  });

  it('shows no row that breaks its schema', async () => {
    const { db } = recorded([row(0, { variables: '5' })]);
    await expect(listJobs(db, withoutRole(alice), query({ id: ids }))).rejects.toThrow(CorruptData);
  });
});
