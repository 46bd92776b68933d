/**
 * Calls the local stack through types that openapi-typescript generated. `typescript.sh` compiles
 * and runs it.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import createClient from 'openapi-fetch';
import type { components, paths } from './api.d.ts';

const stack = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
const headers = { Authorization: `Bearer ${stack.users[0].token}` };
const api = createClient<paths>({ baseUrl: stack.baseUrl, headers });

const statuses: components['schemas']['BatchStatus'][] = ['DONE', 'RUNNING'];
const batches = await api.GET('/api/v1/batches', {
  params: { query: { status: statuses, order_by: 'jobs_count', order_by_direction: 'ASC', limit: 5 } },
  querySerializer: { array: { style: 'form', explode: true } },
});
assert(batches.data);
const { data: items, pagination } = batches.data;
assert(items.length > 0 && pagination.total >= items.length);
for (const batch of items) {
  const status: components['schemas']['BatchStatus'] = batch.status;
  assert(statuses.includes(status));
  // @ts-expect-error: a batch has no such member
  assert.equal(batch.colour, undefined);
}

const refused = await api.GET('/api/v1/batches', { params: { query: { limit: 0 } } });
assert.equal(refused.response.status, 422);
assert(refused.error && 'detail' in refused.error);
assert.deepEqual(refused.error.detail[0]?.loc, ['query', 'limit']);
// @ts-expect-error: not a column that batches can be ordered by
assert.equal((await api.GET('/api/v1/batches', { params: { query: { order_by: 'colour' } } })).response.status, 422);

// The newest may have been erased by other checks.
const jobs = await api.GET('/api/v2/jobs', {
  params: { query: { status: ['DONE'], order_by_direction: 'ASC', limit: 1 } },
});
const job = jobs.data?.data[0];
assert(job);
const link = await api.GET('/api/v1/jobs/{job_id}/results_link', { params: { path: { job_id: job.id } } });
const url: string | null | undefined = link.data?.data.results_link;
assert(url);
assert((await fetch(url)).ok);

const quizzes = await api.POST('/api/v1/quizzes', { body: { data: { 'quiz-1': [{ answer: 1 }, { answer: null }] } } });
assert.deepEqual(
  quizzes.data?.data.map(({ data }) => data),
  [{ answer: 1 }, { answer: null }],
);

const stranger = createClient<paths>({ baseUrl: stack.baseUrl });
assert.equal((await stranger.GET('/api/v1/batches')).error?.code, '401');
assert.equal((await stranger.GET('/health')).data?.data.healthy, true);
console.log('The generated TypeScript client works.');
