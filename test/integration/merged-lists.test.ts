import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Member } from '../../functions/data/projects/access.ts';
import { countBatches, listBatches } from '../../functions/data/rows/batches.ts';
import { countJobs, listJobs } from '../../functions/data/rows/jobs.ts';
import { type ProjectRole, projectRoleNames } from '../../functions/project-roles.ts';
import { batchOrderings } from '../../functions/schemas/batch-list-query.ts';
import { jobOrderings } from '../../functions/schemas/job-list-query.ts';
import { BatchStatus, JobStatus, QueuePriority } from '../../functions/schemas/values.ts';
import { fromMicroseconds, toMicroseconds } from '../../functions/values/timestamp.ts';
import { derivedUuid } from '../../functions/values/uuid.ts';
import { cases, deep } from '../support/depth.ts';
import { frozenClient } from '../support/frozen-client.ts';
import { answerOf, countsOf, listOf } from '../support/list-oracle.ts';
import { loadList, type Sealed, writeAll } from '../support/load-list.ts';
import { newBatch } from '../support/new-batch.ts';
import { ownTables } from '../support/own-tables.ts';
import { batchesAndJobs } from '../support/owner-rows.ts';
import { batchRows, deviceTypes, jobRows, projectIds, tags, times } from '../support/random-rows.ts';
import { seed } from '../support/seed.ts';
import { sideBySide } from '../support/side-by-side.ts';
import { smallLists } from '../support/small-lists.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const formats = smallLists(16);
const randomQueries = cases(250, 3_000);
const { client, tables } = await ownTables();

/** Not in the order in which they are written, and one has nothing. */
const sizes = { zoe: 230, 'auth0|ann': 150, bob: 90, 'auth0|cy': 40, dot: 1, eve: 0 };
const users = Object.keys(sizes);

let samples = 0;
/** Another one with each call: users have different rows. */
const sample = <Value>(arbitrary: fc.Arbitrary<Value>) =>
  fc.sample(arbitrary, { numRuns: 1, seed: seed + samples++ })[0] as Value;

/** Rows of all users are created in turn, and often at once. */
function atOwnTimes<Row extends { readonly seq: number }>(rows: readonly Row[]): (Row & { created_at: string })[] {
  let time = toMicroseconds('2026-01-01T00:00:00.000000Z');
  const gaps = sample(
    fc.array(fc.constantFrom(1, 1_000_000, 1_000_000, 7_000_000), { minLength: rows.length, maxLength: rows.length }),
  );
  return rows.map((row, at) => {
    time += gaps[at] as number;
    return { ...row, created_at: fromMicroseconds(time) };
  });
}

/** Generated ids are often alike: no id is of two users. */
const withOwnIds = <Row extends { readonly id: string; readonly user_id: string }>(rows: readonly Row[]) =>
  rows.map((row) => ({ ...row, id: derivedUuid([row.user_id, row.id]) }));

const ofUsers = users.map((user, at) => {
  const batches = withOwnIds(atOwnTimes(sample(batchRows(user, sizes[user as keyof typeof sizes]))));
  const ids = batches.slice(0, 8).map(({ id }) => id);
  const jobs = ids.length === 0 ? [] : withOwnIds(atOwnTimes(sample(jobRows(user, ids, 2 * batches.length + at))));
  return { user, batches, jobs };
});
const inOrder = <Row extends { readonly created_at: string; readonly user_id: string }>(rows: readonly Row[]) =>
  rows.toSorted((a, b) => compare(a.created_at, b.created_at) || compare(a.user_id, b.user_id));
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const allBatches = inOrder(ofUsers.flatMap(({ batches }) => batches));
const allJobs = inOrder(ofUsers.flatMap(({ jobs }) => jobs));

const sealed: Sealed = (segment, { key }) => (3 * segment + key.charCodeAt(0)) % 5 > 0;

beforeAll(async () => {
  for (const { user, batches, jobs } of ofUsers) {
    await loadList(client, tables, { list: formats.batch, userId: user, rows: batches, sealed });
    await loadList(client, tables, { list: formats.job, userId: user, rows: jobs, sealed });
  }
  const pairs = new Set([...allBatches, ...allJobs].map(({ project_id, user_id }) => `${project_id} ${user_id}`));
  const items = Array.from(pairs, (pair) => {
    const [project_id, user_id] = pair.split(' ');
    return [tables.Contributors, { project_id, user_id, user_name: `The ${user_id}` }] as const;
  });
  await writeAll(client, items);
});

/** The rows that a caller asks for and may see, by the words of the specification. */
function visible<Row extends { readonly user_id: string; readonly project_id: string }>(
  rows: readonly Row[],
  { userId, claims }: Member,
  { scope, user_id }: { readonly scope?: unknown; readonly user_id?: readonly string[] | undefined },
): Row[] {
  const readable = new Set((claims.projects ?? []).filter(({ role }) => role !== undefined).map(({ id }) => id));
  return rows.filter((row) => {
    const isOwn = row.user_id === userId;
    if (user_id !== undefined && !user_id.includes(row.user_id)) return false;
    if (scope === 'project') return readable.has(row.project_id);
    return isOwn || (user_id !== undefined && readable.has(row.project_id));
  });
}

const callers = fc.record({
  userId: fc.constantFrom(...users, 'nobody'),
  roles: fc.array(fc.constantFrom(undefined, ...projectRoleNames), { minLength: 4, maxLength: 4 }),
});
const memberOf = ({ userId, roles }: { userId: string; roles: readonly unknown[] }) =>
  ({
    userId,
    claims: {
      user_name: 'Me',
      projects: projectIds.map((id, at) => ({ id, name: id, ...(roles[at] !== undefined && { role: roles[at] }) })),
    },
  }) as Member;

const some = <Value>(values: readonly Value[]) =>
  fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 });
const page = {
  scope: fc.constantFrom('project' as const, 'project' as const, undefined),
  user_id: fc.option(some([...users, 'nobody']), { nil: undefined }),
  order_by_direction: fc.constantFrom('ASC' as const, 'DESC' as const),
  limit: fc.constantFrom(1, 3, 10, 30, 100),
  offset: fc.oneof(
    { arbitrary: fc.constant(0), weight: 4 },
    { arbitrary: fc.integer({ min: 0, max: 500 }), weight: 4 },
    { arbitrary: fc.constant(Number.MAX_SAFE_INTEGER), weight: 1 },
  ),
};
const upTo = (most: number, filters: Record<string, fc.Arbitrary<unknown>>) =>
  fc
    .subarray(Object.entries(filters), { maxLength: most })
    .chain((chosen) => fc.record({ ...page, ...Object.fromEntries(chosen) }));
const createdOf = (rows: readonly { created_at: string }[]) => fc.constantFrom(...rows.map((row) => row.created_at));
const idFilters = (rows: readonly { id: string; created_at: string }[]) => ({
  created_after: createdOf(rows),
  created_before: createdOf(rows),
  id: some(rows.map(({ id }) => id)),
  id__starts_with: fc
    .tuple(fc.constantFrom(...rows.map(({ id }) => id)), fc.constantFrom(0, 1, 2, 9))
    .map(([id, length]) => id.slice(0, length)),
  project_id: some([...projectIds, '00000000-0000-0000-0000-00000000ffff']),
});
const batchFilters = {
  ...idFilters(allBatches),
  device_type: some([...deviceTypes, 'NEW_DEVICE']),
  status: some(BatchStatus.options),
  open: fc.boolean(),
  queue_priority: some(QueuePriority.options),
  has_errors: fc.boolean(),
  min_jobs: fc.integer({ min: -1, max: 6 }),
  start_date: times,
  end_date: times,
  tag: some([...tags, 'none']),
};
const jobFilters = {
  ...idFilters(allJobs),
  // Of one batch alone a fellow's jobs are listed, too, like all that is read by its id.
  batch_id: fc.uniqueArray(
    fc.constantFrom(...ofUsers.flatMap(({ batches }) => batches.slice(0, 8).map(({ id }) => id))),
    { minLength: 2, maxLength: 4 },
  ),
  status: some(JobStatus.options),
  min_runs: fc.integer({ min: 0, max: 5 }),
  errors: fc.boolean(),
  start_date: times,
};

/** Without zeros: an empty array does not say what its rows would be. */
const counted = (counts: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));

async function compareAll(
  queries: fc.Arbitrary<readonly [Parameters<typeof memberOf>[0], Record<string, unknown>]>,
  rows: readonly (Record<string, unknown> & { user_id: string; project_id: string })[],
  {
    list,
    count,
  }: {
    list: (caller: Member, query: never) => Promise<{ items: readonly { id: string }[]; total: number }>;
    count: (caller: Member, query: never) => Promise<Readonly<Record<string, number>>>;
  },
) {
  const all = fc.sample(queries, { numRuns: randomQueries, seed });
  let filled = 0;
  await sideBySide(all, 6, async ([who, query]) => {
    const caller = memberOf(who);
    const place = `seed ${seed}: ${JSON.stringify([who, query])}`;
    const { scope, user_id, ...rest } = query;
    const seen = visible(rows, caller, query as never);
    const answer = await list(caller, query as never);
    expect(answerOf(answer), place).toEqual(listOf(seen, rest as never));
    if (answer.items.length > 0) filled++;
    if (all.findIndex(([, other]) => other === query) % 3 === 0) {
      expect(counted(await count(caller, query as never)), place).toEqual(counted(countsOf(seen, rest as never)));
    }
  });
  expect(filled).toBeGreaterThan(randomQueries / 6);
}

describe('a list over the members of projects, on small blocks and pages', () => {
  it(`answers ${randomQueries} random batch queries like an array`, async () => {
    const db = testDb(frozenClient(client, 7), tables, { formats });
    await compareAll(
      fc
        .tuple(callers, upTo(2, batchFilters), fc.constantFrom(...batchOrderings))
        .map(([who, query, order_by]) => [who, { ...query, order_by }]),
      allBatches,
      {
        list: (caller, query) => listBatches(db, caller, query),
        count: (caller, query) => countBatches(db, caller, query),
      },
    );
  });

  it(`answers ${randomQueries} random job queries like an array`, async () => {
    const db = testDb(frozenClient(client, 7), tables, { formats });
    await compareAll(
      fc
        .tuple(callers, upTo(2, jobFilters), fc.constantFrom(...jobOrderings))
        .map(([who, query, order_by]) => [who, { ...query, order_by }]),
      allJobs,
      {
        list: (caller, query) => listJobs(db, caller, query),
        count: (caller, query) => countJobs(db, caller, query),
      },
    );
  });

  const [people, steps] = deep ? [20, 600] : [5, 40];

  it(`answers like an array while ${people} people join, leave, change roles and submit, in ${steps} steps`, async () => {
    const random = <Value>(values: readonly Value[]) => sample(fc.constantFrom(...values));
    const projects = Array.from({ length: deep ? 8 : 3 }, () => randomUUID());
    const persons = Array.from({ length: people }, (_, at) => `person ${at}`);
    const roles = new Map<string, ProjectRole>();
    const place = (person: string, project: string) => `${person} ${project}`;
    const live = testDb(client, tables, { formats, now: () => Date.parse('2026-05-01T00:00:00Z') });
    const { createBatch } = writeApi(live);
    let compared = 0;
    for (let step = 0; step < steps; step++) {
      const [person, project] = [random(persons), random(projects)];
      const act = random(['join', 'leave', 'submit', 'submit', 'submit'] as const);
      if (act === 'join') roles.set(place(person, project), random(projectRoleNames));
      if (act === 'leave') roles.delete(place(person, project));
      if (act === 'submit') await createBatch(person, newBatch(step, { id: randomUUID(), project_id: project }));
      if (step % 4 !== 3) continue;
      const named = projects.map((id) => ({ id, name: id, role: roles.get(place(person, id)) }));
      const caller = { userId: person, claims: { projects: named as never } };
      const rows = (await Promise.all(persons.map((each) => batchesAndJobs(client, tables, each)))).flatMap(
        ({ batches }) => batches,
      );
      const query = {
        order_by: random(['created_at', 'project_id', 'user_id']),
        order_by_direction: random(['ASC', 'DESC']),
      };
      for (const asked of [{ scope: 'project' }, { user_id: persons.slice(1) }, {}]) {
        const page = { ...query, offset: random([0, 0, 3]), limit: random([2, 100]) };
        const answer = await listBatches(live, caller, { ...page, ...asked } as never);
        const seen = visible(inOrder(rows), caller, asked);
        expect(answerOf(answer), `seed ${seed}, step ${step}: ${JSON.stringify([person, page, asked])}`).toEqual(
          listOf(seen, page as never),
        );
        compared += answer.items.length;
      }
    }
    expect(compared).toBeGreaterThan(steps / 4);
  });
});
