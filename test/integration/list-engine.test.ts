import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { countBatches, listBatches } from '../../functions/data/rows/batches.ts';
import { countJobs, listJobs } from '../../functions/data/rows/jobs.ts';
import { type BatchListQuery, batchOrderings } from '../../functions/schemas/batch-list-query.ts';
import { type JobListQuery, jobOrderings } from '../../functions/schemas/job-list-query.ts';
import { BatchStatus, JobOrigin, JobStatus, QueuePriority } from '../../functions/schemas/values.ts';
import { fromMicroseconds, toMicroseconds } from '../../functions/values/timestamp.ts';
import { cases } from '../support/depth.ts';
import { frozenClient } from '../support/frozen-client.ts';
import { answerOf, countsOf, listOf } from '../support/list-oracle.ts';
import { loadList, type Sealed } from '../support/load-list.ts';
import { ownTables } from '../support/own-tables.ts';
import { batchRows, deviceTypes, jobRows, projectIds, tags, times } from '../support/random-rows.ts';
import { seed } from '../support/seed.ts';
import { sideBySide } from '../support/side-by-side.ts';
import { smallLists } from '../support/small-lists.ts';
import { testDb } from '../support/test-db.ts';
import { withoutRole } from '../support/without-role.ts';

const formats = smallLists(16);
const pageLimit = 7;
const randomQueries = cases(300, 2_000);
const user = 'auth0|one';

const { client, tables } = await ownTables();
const sample = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.sample(arbitrary, { numRuns: 1, seed })[0] as Value;
const batches = sample(batchRows(user, 230));
const jobs = sample(
  jobRows(
    user,
    batches.slice(0, 12).map((batch) => batch.id),
    300,
  ),
);
const counted = batches.map((batch) => ({
  ...batch,
  // Where a batch's jobs are read by their place in it, its own count is the total.
  ...(batches.indexOf(batch) < 14 && { jobs_count: jobs.filter((job) => job.batch_id === batch.id).length }),
}));
const guests = sample(batchRows('guest', 40));

/** Most columns of most old segments are, each segment in another mixture. */
const sealed: Sealed = (segment, { key }) => (3 * segment + key.charCodeAt(0)) % 5 > 0;

beforeAll(async () => {
  await loadList(client, tables, { list: formats.batch, userId: user, rows: counted, sealed });
  await loadList(client, tables, { list: formats.job, userId: user, rows: jobs, sealed });
  await loadList(client, tables, { list: formats.batch, userId: 'guest', rows: guests });
});

/** Some of the values, so that a query has none, one or several of them. */
const some = <Value>(values: readonly Value[]) =>
  fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 });
/** Up to three of the filters: more of them hardly ever leave a row. */
const upToThree = <Filters extends Record<string, fc.Arbitrary<unknown>>>(filters: Filters) =>
  fc
    .subarray(Object.entries(filters), { maxLength: 3 })
    .chain((chosen) => fc.record({ ...page, ...Object.fromEntries(chosen) }));
const page = {
  order_by_direction: fc.constantFrom('ASC' as const, 'DESC' as const),
  limit: fc.oneof(fc.integer({ min: 1, max: 10 }), fc.constantFrom(30, 100)),
  offset: fc.oneof(
    { arbitrary: fc.constant(0), weight: 4 },
    { arbitrary: fc.integer({ min: 0, max: 320 }), weight: 4 },
    { arbitrary: fc.constant(Number.MAX_SAFE_INTEGER), weight: 1 },
  ),
};
const idsOf = (rows: readonly { id: string }[]) => ({
  id: fc.uniqueArray(fc.oneof(fc.constantFrom(...rows.map((row) => row.id)), fc.uuid()), {
    minLength: 1,
    maxLength: 100,
  }),
  id__starts_with: fc
    .tuple(fc.constantFrom(...rows.map((row) => row.id)), fc.constantFrom(0, 1, 2, 4, 9, 36))
    .map(([id, length]) => id.slice(0, length)),
});

/** Times of creation, times between them, and times beyond all of them. */
const creationTimes = (rows: readonly { created_at: string }[]) =>
  fc
    .tuple(
      fc.constantFrom(...rows.map((row) => toMicroseconds(row.created_at))),
      fc.constantFrom(-1e12, -1, 0, 0, 1, 1e12),
    )
    .map(([time, shift]) => fromMicroseconds(time + shift));

/** Every filter of a query: one that is missing does not compile. */
type Filters<Query> = Record<
  Exclude<keyof Query, keyof typeof page | 'order_by' | 'count_by' | 'scope'>,
  fc.Arbitrary<unknown>
>;

const batchFilters = {
  created_after: creationTimes(counted),
  created_before: creationTimes(counted),
  id: idsOf(counted).id,
  id__starts_with: idsOf(counted).id__starts_with,
  project_id: some([...projectIds, '00000000-0000-0000-0000-00000000ffff']),
  device_type: some([...deviceTypes, 'NEW_DEVICE']),
  status: some(BatchStatus.options),
  open: fc.boolean(),
  queue_priority: some(QueuePriority.options),
  has_errors: fc.boolean(),
  min_jobs: fc.integer({ min: -1, max: 6 }),
  max_jobs: fc.integer({ min: 0, max: 1_000 }),
  start_date: times,
  end_date: times,
  tag: some([...tags, 'none', '']),
  user_id: fc.constantFrom([user], [user, 'guest'], ['guest']),
} satisfies Filters<BatchListQuery>;
const batchQueries = fc
  .tuple(upToThree(batchFilters), fc.constantFrom(...batchOrderings))
  .map(([query, order_by]) => ({ ...query, order_by }));

const jobFilters = {
  created_after: creationTimes(jobs),
  created_before: creationTimes(jobs),
  id: idsOf(jobs).id,
  id__starts_with: idsOf(jobs).id__starts_with,
  batch_id: some(counted.slice(0, 14).map((batch) => batch.id)),
  project_id: some(projectIds),
  status: some(JobStatus.options),
  origin: some(JobOrigin.options),
  errors: fc.boolean(),
  min_runs: fc.integer({ min: 0, max: 4 }),
  max_runs: fc.integer({ min: 0, max: 1_000 }),
  start_date: times,
  end_date: times,
  user_id: fc.constantFrom([user], [user, 'guest'], ['guest']),
} satisfies Filters<JobListQuery>;
const jobQueries = fc
  .tuple(upToThree(jobFilters), fc.constantFrom(...jobOrderings))
  .map(([query, order_by]) => ({ ...query, order_by }));

/**
 * Several at once: each query is independent, and DynamoDB Local answers one at a time too slowly.
 */
async function compareAll<Query>(
  queries: fc.Arbitrary<Query>,
  rows: readonly Record<string, unknown>[],
  list: (query: Query) => Promise<{ items: readonly { id: string }[]; total: number }>,
  count: (query: Query) => Promise<Readonly<Record<string, number>>>,
) {
  const all = fc.sample(queries, { numRuns: randomQueries, seed });
  let filledPages = 0;
  await sideBySide(all, 6, async (query) => {
    const answer = answerOf(await list(query));
    expect(answer, `seed ${seed}: ${JSON.stringify(query)}`).toEqual(listOf(rows, query as never));
    if (answer.ids.length > 0) filledPages++;
    // Of every other query: counts take as long as pages.
    if (all.indexOf(query) % 2 === 0) {
      expect(await count(query), `seed ${seed}: ${JSON.stringify(query)}`).toEqual(countsOf(rows, query as never));
    }
  });
  expect(filledPages).toBeGreaterThan(randomQueries / 4);
}

describe('the list engine on blocks of 16 rows, segments of 32 and pages of 7 items', () => {
  it(`answers ${randomQueries} random batch queries like an array`, async () => {
    const db = testDb(frozenClient(client, pageLimit), tables, { formats });
    await compareAll(
      batchQueries,
      counted,
      (query) => listBatches(db, withoutRole(user), query as never),
      (query) => countBatches(db, withoutRole(user), query as never),
    );
  });

  it(`answers ${randomQueries} random job queries like an array`, async () => {
    const db = testDb(frozenClient(client, pageLimit), tables, { formats });
    await compareAll(
      jobQueries,
      jobs,
      (query) => listJobs(db, withoutRole(user), query as never),
      (query) => countJobs(db, withoutRole(user), query as never),
    );
  });
});
