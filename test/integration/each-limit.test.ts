/**
 * Each limit of the record, of a user and of a project: what exceeds it is refused, and nothing
 * else.
 */

import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { cancelBatch } from '../../functions/data/batches/cancellations.ts';
import { createBatch } from '../../functions/data/batches/new-batches.ts';
import { claimBatch } from '../../functions/data/leases/claim-batch.ts';
import { extendLease } from '../../functions/data/leases/leases.ts';
import { changeLimits } from '../../functions/data/limits/limits-of-subjects.ts';
import { type LimitName, limitNames } from '../../functions/limits.ts';
import type { Batch } from '../../functions/schemas/batch.ts';
import type { CreateBatchRequest } from '../../functions/schemas/batch-request.ts';
import type { Limits } from '../../functions/schemas/limits.ts';
import { newBatchRequest } from '../support/new-batch.ts';
import { ownTables } from '../support/own-tables.ts';
import { testDb } from '../support/test-db.ts';
import { leaseFrom } from '../support/worker-stack.ts';

const { client, tables } = await ownTables();
let time = Date.parse('2026-11-22T10:00:00Z');
const db = testDb(client, tables, { now: () => time });

/** What one user does in one project, at a device that no other user has. */
function newWorld() {
  const [userId, project_id, device_type] = [`auth0|${randomUUID()}`, randomUUID(), `DEVICE ${randomUUID()}`];
  const create = (jobs = 1, content: Partial<CreateBatchRequest> = {}): Promise<unknown> =>
    createBatch(
      db,
      { userId, claims: { queue_priority: 'CRITICAL' } },
      { ...newBatchRequest(jobs), project_id, device_type, ...content },
    ).catch((error: Error) => error);
  const cancel = (created: unknown) => cancelBatch(db, { userId, batchId: (created as Batch).id });
  /** Whether a worker is to cancel the user's first job when it has run for `seconds` seconds. */
  const runFor = async (seconds: number) => {
    const claim = await claimBatch(db, device_type, 'worker');
    if (!('lease' in claim)) throw new Error('There was nothing to claim.');
    time += seconds * 1_000;
    return extendLease(db, leaseFrom(claim), claim.job.id);
  };
  return { userId, project_id, create, cancel, runFor };
}

interface Scenario<Name extends LimitName> {
  readonly limit: NonNullable<Limits[Name]>;
  /** The limit that `within` stays within, where it is another. */
  readonly enough?: NonNullable<Limits[Name]>;
  /** Stays within the limit, beside what it must not count. */
  within(world: ReturnType<typeof newWorld>): Promise<unknown>;
  /** Goes beyond the limit. */
  exceed(world: ReturnType<typeof newWorld>): Promise<unknown>;
  /** What comes of it under the limit, and not without. */
  readonly outcome: object;
}

const refusal = (reason: string, limit: LimitName) => ({ reason, details: { limit } });

/** What has ended does not count: as many jobs are canceled before these are created. */
const afterOthersEnded =
  (jobs: number) =>
  async ({ create, cancel }: ReturnType<typeof newWorld>) => {
    await cancel(await create(jobs));
    return create(jobs);
  };

/** Total over the limits: `tsc` names one that nothing here exceeds. */
const scenarios: { readonly [Name in LimitName]: Scenario<Name> } = {
  max_unfinished_batches: {
    limit: 1,
    within: afterOthersEnded(1),
    exceed: async ({ create }) => [await create(), await create()][1],
    outcome: refusal('limit_exceeded', 'max_unfinished_batches'),
  },
  max_unfinished_jobs: {
    limit: 2,
    within: afterOthersEnded(2),
    exceed: ({ create }) => create(3),
    outcome: refusal('limit_exceeded', 'max_unfinished_jobs'),
  },
  shots_per_month: {
    limit: 0,
    enough: 1,
    within: ({ create }) => create(),
    exceed: ({ create }) => create(),
    outcome: refusal('limit_exceeded', 'shots_per_month'),
  },
  device_seconds_per_month: {
    limit: 0,
    enough: 1,
    within: ({ create }) => create(),
    exceed: ({ create }) => create(),
    outcome: refusal('limit_exceeded', 'device_seconds_per_month'),
  },
  creations_per_minute: {
    limit: 1,
    within: async ({ create }) => {
      await create();
      time += 60_000;
      return create();
    },
    exceed: async ({ create }) => [await create(), await create()][1],
    outcome: refusal('too_many_creations', 'creations_per_minute'),
  },
  max_job_seconds: {
    limit: 10,
    within: async ({ create, runFor }) => [await create(), await runFor(9)][1],
    exceed: async ({ create, runFor }) => [await create(), await runFor(11)][1],
    outcome: { cancel: true },
  },
  device_types: {
    limit: ['ANOTHER'],
    within: ({ create }) => create(1, { device_type: 'ANOTHER' }),
    exceed: ({ create }) => create(),
    outcome: refusal('device_type_not_allowed', 'device_types'),
  },
  highest_priority: {
    limit: 'LOW',
    within: ({ create }) => create(1, { queue_priority: 'FREE' }),
    exceed: ({ create }) => create(1, { queue_priority: 'HIGH' }),
    outcome: { queue_priority: 'LOW' },
  },
};

describe.each(['user', 'project'] as const)('of a %s', (kind) => {
  const limited = async (limits: Limits) => {
    const world = newWorld();
    const subject = kind === 'user' ? `user:${world.userId}` : `project:${world.project_id}`;
    await changeLimits(db, { operator: 'op', subject, limits });
    return world;
  };

  it.each(limitNames)('%s holds', async (name) => {
    const { limit, exceed, outcome } = scenarios[name];
    expect(await exceed(newWorld())).not.toMatchObject(outcome);
    expect(await exceed(await limited({ [name]: limit }))).toMatchObject(outcome);
  });

  it.each(limitNames)('%s lets what is within it pass', async (name) => {
    const { limit, enough = limit, within, outcome } = scenarios[name];
    const passed = await within(await limited({ [name]: enough }));
    expect(passed).not.toBeInstanceOf(Error);
    expect(passed).not.toMatchObject(outcome);
  });
});
