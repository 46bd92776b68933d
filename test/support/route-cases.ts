/**
 * What each route with a token is tried with: the tests of isolation, of faults, of abuse and of
 * rights loop over this record. A new route does not compile without its cases.
 */

import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as fc from 'fast-check';
import { queueKey } from '../../functions/data/queue/fair-order.ts';
import { newQueueItem } from '../../functions/data/queue/queue-item.ts';
import type { RouteWithToken } from '../../functions/routes.ts';
import { AuditQuery } from '../../functions/schemas/audit.ts';
import type { BatchRow } from '../../functions/schemas/batch.ts';
import { BatchListQuery } from '../../functions/schemas/batch-list-query.ts';
import type { JobRow } from '../../functions/schemas/job.ts';
import { JobListQuery } from '../../functions/schemas/job-list-query.ts';
import { CancelJobsQuery, RebatchQuery } from '../../functions/schemas/job-selection.ts';
import { type LeaseReference, leaseText } from '../../functions/schemas/lease.ts';
import { ResultsQuery } from '../../functions/schemas/results.ts';
import { UsageQuery } from '../../functions/schemas/usage.ts';
import { isFinalBatchStatus } from '../../functions/statuses.ts';
import type { TableNames } from '../../functions/tables.ts';
import type { GatewayRequest } from './gateway-event.ts';
import { hostileText } from './hostile-text.ts';
import { newJob } from './new-batch.ts';
import { deviceContent, sequenceText } from './sequence-text.ts';

/**
 * What a user has: at least two batches, and jobs with results. Batches count their jobs right, the
 * first is open and running, and the second, which has jobs, closed.
 */
interface Belongings {
  readonly batches: readonly (Pick<
    BatchRow,
    'id' | 'project_id' | 'user_id' | 'device_type' | 'tags' | 'status' | 'jobs_count'
  > &
    Partial<Pick<BatchRow, 'end_datetime'>>)[];
  readonly jobs: readonly (Pick<JobRow, 'id' | 'project_id' | 'user_id' | 'status'> &
    Partial<Pick<JobRow, 'batch_id'>>)[];
}

/** A request of whichever user. */
export type UserRequest = Omit<GatewayRequest, 'userId'>;

export interface RouteCase {
  /**
   * By name, a request for each way in which the endpoint reads or writes; all are answered with
   * success.
   */
  ways(own: Belongings): Readonly<Record<string, UserRequest>>;
  /**
   * Requests that, with the ways, make every call that the role allows, where the ways alone do
   * not.
   */
  moreCalls?(own: Belongings): readonly UserRequest[];
  /** Requests of the same kind, by a user who has nothing but one open batch, or not even that. */
  callsOfNewcomers?(batchId: string): readonly UserRequest[];
  /**
   * Requests of a user whose heads are lost, answered 500: before it writes the first row of a
   * list, a function asks whether there are others.
   */
  callsWithoutHeads?(own: Belongings): readonly UserRequest[];
  /**
   * By name, each place of a request that can name something: with another user's thing, and with
   * a thing that no user has.
   */
  foreign(theirs: Belongings): Readonly<Record<string, readonly [theirs: UserRequest, nobodys: UserRequest]>>;
  /** Its reads name no user: faults, which are planned by user, cannot be aimed at them. */
  readonly readsNoUser?: true;
  /** Operators may see what others have. */
  readonly showsOperatorsMore?: true;
  /** Any request at all. */
  anything(own: Belongings): fc.Arbitrary<UserRequest>;
}

const unknownId = '00000000-0000-4000-8000-00000000abcd';

const byQuery = (name: string, theirs: string, nobodys: string) =>
  [{ query: { [name]: theirs } }, { query: { [name]: nobodys } }] as const;

/** Filters that both lists have. */
function foreignRow(row: { readonly id: string; readonly project_id: string; readonly user_id: string }) {
  return {
    id: byQuery('id', row.id, unknownId),
    id__starts_with: byQuery('id__starts_with', row.id.slice(0, 9), unknownId.slice(0, 9)),
    project_id: byQuery('project_id', row.project_id, unknownId),
    user_id: byQuery('user_id', row.user_id, 'auth0|nobody'),
  };
}

const callsOfLists: readonly UserRequest[] = [
  'limit=5',
  'limit=5&offset=30',
  'status=DONE',
  'order_by=updated_at&limit=3',
  'id__starts_with=0',
  'id__starts_with=01234567',
  'count_by=status',
].map((query) => ({ query }));

export const routeCases: Readonly<Record<RouteWithToken, RouteCase>> = {
  setBatchPriority: {
    // It must wait, and no row that is loaded does. First of all: the others end what waits.
    ways: () => ({}),
    callsWithoutHeads: (own) => [ofOperator(own, own.batches[2]!.id, newPriority)],
    foreign: () => ({}),
    anything: (own) =>
      anyActOn({ ...own, batches: own.batches.filter(({ status }) => status === 'PENDING') }, newPriority),
  },
  listBatches: {
    ways: ({ batches: [first, second] }) => ({
      'the newest batches': { query: 'limit=20' },
      'batches by filters and another order': {
        query: 'status=DONE&status=RUNNING&open=true&order_by=jobs_count&limit=5',
      },
      'a batch by its id': { query: `id=${first!.id}&id=${second!.id}` },
    }),
    moreCalls: () => [...callsOfLists, { query: 'device_type=RARE' }, { query: 'tag=a' }],
    foreign: ({ batches: [batch] }) => ({
      ...foreignRow(batch!),
      device_type: byQuery('device_type', batch!.device_type, 'DEVICE_nobody'),
      tag: byQuery('tag', batch!.tags[0]!, 'tag-nobody'),
    }),
    anything: ({ batches: [batch] }) => anyQuery(Object.keys(BatchListQuery.def.in.shape), batch!.id),
  },
  listJobs: {
    ways: ({ batches: [batch] }) => ({
      'the jobs of a batch': {
        query: `batch_id=${batch!.id}&order_by=creation_order&order_by_direction=ASC&limit=20`,
      },
      'jobs by filters and another order': { query: 'status=DONE&order_by=start_timestamp&limit=5' },
    }),
    moreCalls: ({ batches: [batch], jobs: [job] }) => [
      ...callsOfLists,
      { query: `id=${job!.id}` },
      { query: 'origin=OVH' },
      { query: `batch_id=${batch!.id}&status=DONE&limit=5` },
    ],
    foreign: ({ batches: [batch], jobs: [job] }) => ({
      ...foreignRow(job!),
      batch_id: byQuery('batch_id', batch!.id, unknownId),
    }),
    anything: ({ batches: [batch] }) => anyQuery(Object.keys(JobListQuery.shape), batch!.id),
  },
  createBatch: {
    // With a key, so that every repetition has the same answer.
    ways: ({ batches: [batch] }) => ({
      'a new batch': { headers: { 'Idempotency-Key': 'a new batch' }, body: newBatchBody(batch!.project_id) },
    }),
    // For a device to be found, and in several transactions.
    moreCalls: ({ batches: [batch] }) => [
      { body: { ...newBatchBody(batch!.project_id), device_type: null } },
      { body: { ...newBatchBody(batch!.project_id), jobs: Array.from({ length: 100 }, () => ({})) } },
    ],
    callsOfNewcomers: () => [{ body: newBatchBody(unknownId) }],
    foreign: () => ({}),
    anything: ({ batches: [batch] }) => anyBody(newBatchBody(batch!.project_id)),
  },
  addJobs: {
    ways: ({ batches: [batch] }) => ({
      'new jobs': {
        path: { batch_id: batch!.id },
        headers: { 'Idempotency-Key': 'new jobs' },
        body: [{ sequence: sequenceText() }],
      },
    }),
    // In several transactions, a repetition, and by another name.
    moreCalls: ({ batches: [batch] }) => [
      { path: { batch_id: batch!.id }, claims: { user_name: 'Ada' }, body: [{ sequence: sequenceText() }] },
      {
        path: { batch_id: batch!.id },
        headers: { 'Idempotency-Key': 'new jobs' },
        body: [{ sequence: sequenceText() }],
      },
      { path: { batch_id: batch!.id }, body: Array.from({ length: 60 }, () => ({ sequence: sequenceText() })) },
    ],
    // The second time the batch is in the queue.
    callsOfNewcomers: (batch_id) => Array(2).fill({ path: { batch_id }, body: [{ sequence: sequenceText() }] }),
    foreign: (theirs) =>
      Object.fromEntries(
        Object.entries(foreignBatch(theirs)).map(([place, [of, nobodys]]) => {
          const body = [{ sequence: sequenceText() }];
          return [
            place,
            [
              { ...of, body },
              { ...nobodys, body },
            ],
          ];
        }),
      ),
    anything: ({ batches }) =>
      fc
        .tuple(
          // Half of the time the first, which takes jobs: most of the others have ended.
          fc.oneof(fc.constant(batches[0]!.id), fc.constantFrom(...batches.map(({ id }) => id))),
          anyBody({ 0: { sequence: sequenceText() } }),
        )
        .map(([batch_id, request]) => ({ path: { batch_id }, ...request })),
  },
  getBatch: {
    ways: ({ batches: [batch] }) => ({ 'a batch with its jobs': { path: { batch_id: batch!.id } } }),
    // The statuses of the third batch's few jobs differ from its counts: the jobs are read again by
    // their ids. The fourth has many jobs, far apart.
    moreCalls: ({ batches }) => batches.slice(2, 4).map(({ id }) => ({ path: { batch_id: id } })),
    foreign: foreignBatch,
    anything: anyBatch,
  },
  getFullResults: {
    ways: ({ batches: [batch], jobs: [job] }) => ({
      'the results of a batch': { path: { batch_id: batch!.id } },
      'the results of a job': { path: { batch_id: batch!.id }, query: `job_id=${job!.id}` },
    }),
    // The third batch has few jobs, the fifth has jobs far apart. In both, the statuses of the jobs
    // differ from the batch's counts: the jobs are read again by their ids.
    moreCalls: ({ batches }) => batches.slice(2, 5).map(({ id }) => ({ path: { batch_id: id } })),
    foreign: foreignBatch,
    anything: anySelection(ResultsQuery),
  },
  getBatchStatus: {
    ways: ({ batches: [batch] }) => ({ 'the status of a batch': { path: { batch_id: batch!.id } } }),
    foreign: foreignBatch,
    anything: anyBatch,
  },
  getBatchWebhook: {
    ways: ({ batches: [batch] }) => ({ 'the webhook of a batch': { path: { batch_id: batch!.id } } }),
    foreign: foreignBatch,
    anything: anyBatch,
  },
  testWebhook: {
    // It needs a receiver, and no row that is loaded has one.
    ways: () => ({}),
    foreign: foreignBatch,
    anything: anyBatch,
  },
  getJob: {
    ways: ({ jobs: [job] }) => ({ 'a job with its sequence': { path: { job_id: job!.id } } }),
    foreign: foreignJob,
    anything: anyJob,
  },
  getJobStatus: {
    ways: ({ jobs: [job] }) => ({ 'the status of a job': { path: { job_id: job!.id } } }),
    foreign: foreignJob,
    anything: anyJob,
  },
  listDeviceSpecifications: {
    ways: () => ({ 'all specifications': {} }),
    foreign: () => ({}),
    readsNoUser: true,
    anything: () => fc.constant({}),
  },
  getDeviceSpecification: {
    ways: () => ({ 'one specification': { path: { device_type: 'FRESNEL' } } }),
    foreign: () => ({}),
    readsNoUser: true,
    anything: () =>
      fc.oneof(hostileText, fc.constantFrom('FRESNEL', 'EMU_MPS')).map((device_type) => ({ path: { device_type } })),
  },
  reportCalibration: {
    ways: () => ({ 'a calibration': { ...device, body: { ...calibration, document: { any: [1] } } } }),
    foreign: () => ({}),
    readsNoUser: true,
    anything: () =>
      fc
        .tuple(anyDevice, anyBody({ ...calibration, document: {}, valid_from: '2026-11-21' }))
        .map(([request, { body }]) => ({ ...request, body })),
  },
  listCalibrations: {
    ways: () => ({
      'the calibrations of a device': { path: { device_type: 'FRESNEL' } },
      'no calibrations': { path: { device_type: 'EMU_MPS' } },
    }),
    foreign: () => ({}),
    readsNoUser: true,
    anything: (own) =>
      fc
        .tuple(fc.oneof(hostileText, fc.constant('FRESNEL')), anyQuery(['limit', 'offset'], own.batches[0]!.id))
        .map(([device_type, { query }]) => ({ path: { device_type }, query: query! })),
  },
  getCalibration: {
    ways: () => ({
      'the latest calibration': { path: { device_type: 'FRESNEL', number: 'latest' } },
      'a calibration': { path: { device_type: 'FRESNEL', number: '1' } },
    }),
    foreign: () => ({}),
    readsNoUser: true,
    anything: () =>
      fc
        .tuple(
          fc.oneof(hostileText, fc.constant('FRESNEL')),
          fc.oneof(hostileText, fc.constantFrom('1', 'latest', '0', '-1', '1e3', '999999999', '1000000000')),
        )
        .map(([device_type, number]) => ({ path: { device_type, number } })),
  },
  getResultsLink: {
    ways: ({ jobs: [job] }) => ({ 'a results link': { path: { job_id: job!.id } } }),
    foreign: foreignJob,
    anything: anyJob,
  },
  announceDevice: {
    ways: () => ({ 'a device': { ...device, body: { status: 'UP', specs: '{"name":"FRESNEL"}' } } }),
    foreign: () => ({}),
    readsNoUser: true,
    anything: () =>
      fc
        .tuple(anyDevice, anyBody({ status: 'UP', specs: '{"name":"Fresnel"}' }))
        .map(([request, { body }]) => ({ ...request, body })),
  },
  setDevice: {
    ways: () => ({
      'a device': { scope: 'operator', path: { device_type: 'SET' }, body: { windows: [], max_job_seconds: 100_000 } },
      'what a pause would change': {
        ...{ scope: 'operator', path: { device_type: 'FRESNEL' }, query: 'preview=true' },
        body: { mode: 'PAUSED', reason: 'any' },
      },
    }),
    foreign: () => ({}),
    readsNoUser: true,
    anything: () =>
      fc
        .tuple(
          fc.constantFrom('SET', 'RETIRED'),
          anyBody({ mode: 'PAUSED', reason: 'any', windows: [{ starts_at: '2026-11-21', ends_at: 5, reason: 'x' }] }),
          anyPreview,
        )
        .map(([device_type, { body }, query]) => ({ scope: 'operator', path: { device_type }, ...query, body })),
  },
  listQueue: {
    ways: () => ({ 'a queue': { scope: 'operator', path: { device_type: 'FRESNEL' } } }),
    foreign: () => ({}),
    readsNoUser: true,
    anything: (own) =>
      fc
        .tuple(fc.oneof(hostileText, fc.constant('FRESNEL')), anyQuery(['limit', 'offset'], own.batches[0]!.id))
        .map(([device_type, { query }]) => ({ scope: 'operator', path: { device_type }, query: query! })),
  },
  getDevice: {
    ways: () => ({ 'a device with its workers': { scope: 'operator', path: { device_type: 'FRESNEL' } } }),
    foreign: () => ({}),
    readsNoUser: true,
    anything: () =>
      fc
        .oneof(hostileText, fc.constant('FRESNEL'))
        .map((device_type) => ({ scope: 'operator', path: { device_type } })),
  },
  listMinutes: {
    ways: () => ({ 'the minutes of a device': { path: { device_type: 'FRESNEL' } } }),
    foreign: () => ({}),
    readsNoUser: true,
    anything: (own) =>
      fc
        .tuple(fc.oneof(hostileText, fc.constant('FRESNEL')), anyQuery(['from', 'to', 'step'], own.batches[0]!.id))
        .map(([device_type, { query }]) => ({ path: { device_type }, query: query! })),
  },
  getMetrics: {
    ways: () => ({ metrics: { scope: 'operator' } }),
    foreign: () => ({}),
    readsNoUser: true,
    anything: () => fc.constant({ scope: 'operator' }),
  },
  removeDevice: {
    // It may be in use, or removed already.
    ways: () => ({}),
    foreign: () => ({}),
    readsNoUser: true,
    anything: () =>
      fc
        .oneof(hostileText, fc.constant('RETIRED'))
        .map((device_type) => ({ scope: device.scope, path: { device_type } })),
  },
  claimBatch: {
    ways: () => ({ 'a claim': { ...device, body: { worker: 'worker' } } }),
    foreign: () => ({}),
    readsNoUser: true,
    anything: () =>
      fc.tuple(anyDevice, anyBody({ worker: 'worker' })).map(([request, { body }]) => ({ ...request, body })),
  },
  extendLease: {
    ways: (own) => ({ 'a heartbeat': { ...underLease(own), body: { job_id: null } } }),
    foreign: () => ({}),
    readsNoUser: true,
    anything: (own) =>
      fc
        .tuple(anyLease(own), fc.oneof(anyBody({ job_id: null }), anyBody({ job_id: own.jobs[0]!.id })))
        .map(([request, { body }]) => ({ ...request, body })),
  },
  uploadResults: {
    ways: (own) => ({ 'a link for an upload': { ...underLease(own), body: upload } }),
    foreign: () => ({}),
    readsNoUser: true,
    anything: (own) => fc.tuple(anyLease(own), anyBody(upload)).map(([request, { body }]) => ({ ...request, body })),
  },
  reportJob: {
    ways: (own) => ({ 'a report': { ...underLease(own), body: { status: 'DONE' } } }),
    foreign: () => ({}),
    readsNoUser: true,
    anything: (own) =>
      fc
        .tuple(anyLease(own), fc.oneof(anyBody({ status: 'DONE' }), anyBody({ status: 'DONE', results_document: {} })))
        .map(([request, { body }]) => ({ ...request, body })),
  },
  nextJob: {
    ways: (own) => ({ 'the next job': underLease(own) }),
    foreign: () => ({}),
    readsNoUser: true,
    anything: anyLease,
  },
  releaseLease: {
    ways: (own) => ({ 'a release': underLease(own) }),
    foreign: () => ({}),
    readsNoUser: true,
    anything: anyLease,
  },
  listProjects: {
    ways: () => ({ 'the projects': {} }),
    // Its members, too.
    moreCalls: ({ batches: [batch] }) => [
      { claims: { projects: JSON.stringify([{ id: batch!.project_id, name: 'known', role: 'viewer' }]) } },
    ],
    foreign: () => ({}),
    anything: () => hostileText.map((project_status) => ({ query: { project_status } })),
  },
  listUsage: {
    ways: () => ({
      'the usage of a month': { query: 'group_by=project_id&group_by=device_type' },
      'the usage of everyone': { query: 'scope=all&period=month&group_by=user_id', scope: 'operator' },
    }),
    readsNoUser: true,
    showsOperatorsMore: true,
    foreign: ({ batches: [batch] }) => ({ user_id: byQuery('user_id', batch!.user_id, 'auth0|nobody') }),
    anything: ({ batches: [batch] }) => anyQuery(Object.keys(UsageQuery.shape), batch!.user_id),
  },
  submitQuizzes: {
    ways: () => ({
      quizzes: { body: { data: { a: [{ n: 1 }, { n: 2 }], b: { n: 3 } } } },
    }),
    foreign: ({ batches: [batch] }) => ({
      'a user': [
        { body: { data: { quiz: { user_id: batch!.user_id } }, user_id: batch!.user_id } },
        { body: { data: { quiz: { user_id: batch!.user_id } }, user_id: 'auth0|nobody' } },
      ],
    }),
    anything: () => {
      const body = fc.oneof(hostileText, fc.json(), fc.dictionary(hostileText, fc.jsonValue()).map(quizzesText));
      return body.map((text) => ({ body: text }));
    },
  },
  closeBatch: {
    ways: ({ batches: [batch] }) => ({ 'a batch that is closed': { path: { batch_id: batch!.id } } }),
    callsOfNewcomers: (batch_id) => [{ path: { batch_id } }],
    callsWithoutHeads: ({ batches: [batch] }) => [{ path: { batch_id: batch!.id } }],
    foreign: foreignBatch,
    anything: anyBatch,
  },
  setTags: {
    ways: ({ batches: [batch] }) => ({ 'the tags of a batch': { path: { batch_id: batch!.id }, body: ['a', 'new'] } }),
    // Batches whose end is lost get one, and are counted.
    moreCalls: ({ batches: [batch, ...others] }) => [
      { path: { batch_id: batch!.id }, body: [] },
      ...others
        .filter(({ status, end_datetime }) => isFinalBatchStatus(status) && end_datetime === null)
        .slice(0, 2)
        .map(({ id }) => ({ path: { batch_id: id }, body: ['a'] })),
    ],
    callsWithoutHeads: ({ batches: [batch] }) => [{ path: { batch_id: batch!.id }, body: ['another'] }],
    foreign: (theirs) => withBody(foreignBatch(theirs), ['a']),
    anything: (own) =>
      fc
        .tuple(anyBatch(own), fc.oneof(hostileText, fc.json(), fc.array(hostileText, { maxLength: 3 })))
        .map(([request, body]) => ({ ...request, body })),
  },
  cancelBatch: {
    ways: (own) => ({ 'a batch that is canceled': { path: { batch_id: batchWithFewJobs(own) } } }),
    // In several transactions.
    moreCalls: ({ batches: [batch] }) => [{ path: { batch_id: batch!.id } }],
    callsWithoutHeads: ({ batches: [, second] }) => [{ path: { batch_id: second!.id } }],
    foreign: foreignBatch,
    anything: anyBatch,
  },
  cancelJob: {
    ways: ({ jobs }) => ({
      'a job that is canceled': { path: { job_id: jobs.find(({ status }) => status === 'PENDING')!.id } },
    }),
    callsOfNewcomers: () => [{ path: { job_id: newJob(1).id } }],
    callsWithoutHeads: ({ jobs }) => [{ path: { job_id: jobs.find(({ status }) => status === 'PENDING')!.id } }],
    foreign: foreignJob,
    anything: anyJob,
  },
  cancelBatches: {
    ways: (own) => ({ 'batches that are canceled': { body: { batch_ids: [batchWithFewJobs(own), unknownId] } } }),
    moreCalls: ({ batches: [first, second] }) => [{ body: { batch_ids: [first!.id, second!.id] } }],
    callsWithoutHeads: ({ batches: [, second] }) => [{ body: { batch_ids: [second!.id] } }],
    // The answer names each id that it was asked for: cancel-endpoints.test.ts compares.
    foreign: () => ({}),
    anything: (own) =>
      fc
        .oneof(hostileText, fc.json(), fc.record({ batch_ids: fc.array(anyId(own.batches), { maxLength: 3 }) }))
        .map((body) => ({ body })),
  },
  getBatchOfUser: {
    ways: (own) => ({ 'a batch that an operator reads': ofOperator(own, own.batches[0]!.id, undefined) }),
    // As of getBatch.
    moreCalls: (own) => own.batches.slice(2, 4).map(({ id }) => ofOperator(own, id, undefined)),
    foreign: () => ({}),
    anything: (own) => anyActOn(own, { reason: 'why' }),
  },
  cancelBatchOfUser: {
    ways: (own) => ({
      'a batch that an operator cancels': ofOperator(own, batchWithFewJobs(own), { reason: 'why' }),
    }),
    callsWithoutHeads: (own) => [ofOperator(own, own.batches[1]!.id, { reason: 'why' })],
    foreign: () => ({}),
    anything: (own) => anyActOn(own, { reason: 'why' }),
  },
  listAudit: {
    ways: () => ({ 'what operators did': { scope: 'operator' } }),
    foreign: () => ({}),
    readsNoUser: true,
    anything: (own) =>
      anyQuery(Object.keys(AuditQuery.shape), own.batches[0]!.id).map((request) => ({ ...request, scope: 'operator' })),
  },
  cancelJobs: {
    ways: ({ batches: [batch] }) => ({
      'jobs of a batch that are canceled': { path: { batch_id: batch!.id }, query: 'min_runs=1' },
    }),
    moreCalls: ({ batches }) => batches.slice(1, 4).map(({ id }) => ({ path: { batch_id: id } })),
    callsOfNewcomers: (batch_id) => [{ path: { batch_id } }],
    foreign: foreignBatch,
    anything: anySelection(CancelJobsQuery),
  },
  eraseBatch: {
    ways: (own) => ({ 'a batch that is erased': { path: { batch_id: endedBatch(own) } } }),
    foreign: foreignBatch,
    anything: anyBatch,
  },
  rebatch: {
    ways: ({ batches: [, second] }) => ({
      'a batch that is run again': { headers: { 'Idempotency-Key': 'again' }, path: { batch_id: second!.id } },
    }),
    moreCalls: ({ batches: [, second] }) => [{ claims: { user_name: 'Ada King' }, path: { batch_id: second!.id } }],
    foreign: foreignBatch,
    anything: (own) =>
      fc
        .tuple(
          fc.oneof(anyBatch(own), fc.constant({ path: { batch_id: own.batches[1]!.id } })),
          anyQuery(Object.keys(RebatchQuery.shape), own.jobs[0]!.id),
        )
        .map(([{ path }, { query }]) => ({ path: path!, query: query! })),
  },
  getOwnLimits: {
    ways: () => ({ 'limits of the caller': {} }),
    foreign: () => ({}),
    anything: () => hostileText.map((subject) => ({ query: { subject, user_id: subject } })),
  },
  putLimits: {
    ways: () => ({
      'limits that are set': { ...ofSubject('user:limited'), body: { max_unfinished_batches: 5 } },
      'limits before they are set': {
        ...ofSubject('user:limited'),
        query: 'preview=true',
        body: { shots_per_month: 5 },
      },
    }),
    foreign: () => ({}),
    readsNoUser: true,
    anything: () =>
      fc
        .tuple(anySubject, anyBody({ max_unfinished_jobs: 1, device_types: ['A'], highest_priority: null }), anyPreview)
        .map(([request, { body }, query]) => ({ ...request, ...query, body })),
  },
  getLimits: {
    // They may have been removed.
    ways: () => ({}),
    foreign: () => ({}),
    readsNoUser: true,
    anything: () => anySubject,
  },
  listLimits: {
    ways: () => ({ 'all limits': { scope: 'operator' } }),
    foreign: () => ({}),
    readsNoUser: true,
    anything: (own) =>
      anyQuery(['limit', 'offset'], own.batches[0]!.id).map((request) => ({ ...request, scope: 'operator' })),
  },
  deleteLimits: {
    ways: () => ({}),
    foreign: () => ({}),
    readsNoUser: true,
    anything: () => fc.tuple(anySubject, anyPreview).map(([request, query]) => ({ ...request, ...query })),
  },
};

const anyPreview = fc.constantFrom({}, { query: 'preview=true' }, { query: 'preview=TRUE' }, { query: 'preview=2' });

function ofSubject(subject: string): UserRequest {
  return { scope: 'operator', path: { subject } };
}

/** Never the default, which would bound the users of other cases. */
const anySubject = fc
  .oneof(
    fc.constant('user:limited'),
    hostileText.map((id) => `user:${id}`),
    fc.constantFrom(
      'all',
      'user:',
      'user:%',
      'user:%7C',
      'project:x',
      'default:',
      'project:5D6A3F0E6F2B4C0E9A516D3C6F6F1F2A',
    ),
  )
  .map(ofSubject);

const newPriority = { queue_priority: 'CRITICAL', reason: 'why' };

/** What an operator asks for about a batch of this user. */
function ofOperator({ batches: [batch] }: Belongings, batch_id: string, body: unknown): UserRequest {
  return { scope: 'operator', path: { user_id: batch!.user_id, batch_id }, body };
}

function anyActOn(own: Belongings, right: Readonly<Record<string, unknown>>): fc.Arbitrary<UserRequest> {
  const ids = own.batches.map(({ id }) => id);
  const mostly = <Value>(usual: fc.Arbitrary<Value>, other: fc.Arbitrary<Value>) =>
    fc.oneof({ weight: 3, arbitrary: usual }, { weight: 1, arbitrary: other });
  return fc
    .record({
      user_id: mostly(fc.constant(own.batches[0]!.user_id), hostileText),
      batch_id: mostly(fc.constantFrom(...ids), anyId([])),
      request: mostly(fc.constant({ body: right } as UserRequest), anyBody(right)),
    })
    .map(({ request, ...path }) => ({ scope: 'operator', path, ...request }));
}

/** What a device sends with every request. */
const device = { scope: 'device:*', path: { device_type: 'FRESNEL' } };

const anyDevice = fc
  .oneof(hostileText, fc.constantFrom('FRESNEL', 'EMU_MPS', 'specs', '%', 'a/b'))
  .map((device_type) => ({ scope: device.scope, path: { device_type } }));

const calibration = { numbers: { p_false_pos: 0.01 } };

const upload = { bytes: 2, sha256: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a' };

/** The lease of the first batch, which putFirstLease makes valid. */
function firstLease({ batches: [batch] }: Belongings): LeaseReference {
  const place = { tag: 7, priority: 'LOW', created_at: '2026-03-01T00:00:00.000000Z', batchId: batch!.id } as const;
  return { deviceType: 'FRESNEL', key: queueKey(place), fence: 1, userId: batch!.user_id };
}

/** A request under the lease of the first batch, about its first job. */
function underLease(own: Belongings): UserRequest {
  return { scope: device.scope, path: { lease: leaseText(firstLease(own)), job_id: firstJob(own) } };
}

function firstJob({ batches: [batch], jobs }: Belongings): string {
  return (jobs.find(({ batch_id }) => batch_id === batch!.id) ?? jobs[0]!).id;
}

/** Rows as they are where a device has the first batch and runs its first job. */
export function leaseFirstBatch<
  Batch extends Belongings['batches'][number],
  Job extends Belongings['jobs'][number],
>(own: { readonly batches: readonly Batch[]; readonly jobs: readonly Job[] }): { batches: Batch[]; jobs: Job[] } {
  const job_id = firstJob(own);
  const { key } = firstLease(own);
  return {
    batches: own.batches.map((row, at) => (at === 0 ? { ...row, queue_key: key } : row)),
    jobs: own.jobs.map((row) => (row.id === job_id ? { ...row, status: 'RUNNING', end_timestamp: null } : row)),
  };
}

/** Puts the first batch into the queue, as leaseFirstBatch says. */
export async function putFirstLease(client: DynamoDBDocumentClient, names: TableNames<'DeviceQueue'>, own: Belongings) {
  const { deviceType: device_type, key, fence, userId: user_id } = firstLease(own);
  const item = newQueueItem({ device_type, key, user_id, jobs_left: 1 });
  const Item = { ...item, fence, lease_until: Date.now() + 3_600_000 };
  await client.send(new PutCommand({ TableName: names.DeviceQueue, Item }));
}

function anyLease(own: Belongings): fc.Arbitrary<UserRequest> {
  const right = firstLease(own);
  const forged = fc
    .record(
      {
        deviceType: fc.oneof(hostileText, fc.constant('EMU_MPS')),
        key: hostileText,
        fence: fc.oneof(fc.integer(), fc.double()),
        userId: hostileText,
      },
      { requiredKeys: [] },
    )
    .map((changes) => leaseText({ ...right, ...changes } as LeaseReference));
  const lease = fc.oneof({ weight: 3, arbitrary: fc.constant(leaseText(right)) }, forged, hostileText);
  return fc
    .tuple(lease, fc.oneof(fc.constant(firstJob(own)), anyId(own.jobs)))
    .map(([text, job_id]) => ({ scope: device.scope, path: { lease: text, job_id } }));
}

export const routesWithToken = Object.keys(routeCases) as RouteWithToken[];

/** A path that names a job, with what another user has. */
function foreignJob({ batches: [batch], jobs: [job] }: Belongings): ReturnType<RouteCase['foreign']> {
  return {
    'a job': [{ path: { job_id: job!.id } }, { path: { job_id: unknownId } }],
    'a batch': [{ path: { job_id: batch!.id } }, { path: { job_id: unknownId } }],
  };
}

function foreignBatch({ batches: [batch], jobs: [job] }: Belongings): ReturnType<RouteCase['foreign']> {
  return {
    'a batch': [{ path: { batch_id: batch!.id } }, { path: { batch_id: unknownId } }],
    'a job': [{ path: { batch_id: job!.id } }, { path: { batch_id: unknownId } }],
  };
}

/** The id of an unfinished batch that is canceled in one transaction. */
function batchWithFewJobs({ batches }: Belongings): string {
  return batches.find(({ status, jobs_count }) => jobs_count <= 20 && (status === 'PENDING' || status === 'RUNNING'))!
    .id;
}

/** The id of a batch that has ended, with all its jobs. */
function endedBatch({ batches }: Belongings): string {
  return (batches.find(({ status, jobs_count }) => jobs_count === 0 && status === 'DONE') ?? batches[0]!).id;
}

function withBody(places: ReturnType<RouteCase['foreign']>, body: unknown): ReturnType<RouteCase['foreign']> {
  return Object.fromEntries(
    Object.entries(places).map(([place, [theirs, nobodys]]) => [
      place,
      [
        { ...theirs, body },
        { ...nobodys, body },
      ],
    ]),
  );
}

function anyJob({ jobs }: Belongings): fc.Arbitrary<UserRequest> {
  return anyId(jobs).map((job_id) => ({ path: { job_id } }));
}

function anyBatch({ batches }: Belongings): fc.Arbitrary<UserRequest> {
  return anyId(batches).map((batch_id) => ({ path: { batch_id } }));
}

/** Any batch, with any query that chooses from its jobs. */
function anySelection({ shape }: { readonly shape: object }): RouteCase['anything'] {
  return (own) =>
    fc
      .tuple(anyBatch(own), anyQuery(Object.keys(shape), own.jobs[0]!.id))
      .map(([{ path }, { query }]) => ({ path: path!, query: query! }));
}

function anyId(rows: readonly { readonly id: string }[]): fc.Arbitrary<string> {
  const strange = [hostileText, fc.uuid()];
  return fc.oneof(...strange, ...(rows.length === 0 ? [] : [fc.constantFrom(...rows.map(({ id }) => id))]));
}

/** What a user posts to create a batch. */
export function newBatchBody(project_id: string): Readonly<Record<string, unknown>> {
  const sequence_builder = sequenceText({
    device: deviceContent('FRESNEL'),
    variables: { omega: { type: 'float', value: [0] } },
  });
  return { project_id, device_type: 'FRESNEL', sequence_builder, jobs: [{ runs: 5, variables: { omega: 1 } }, {}] };
}

/**
 * Any body: anything, or a right body with any members replaced or added. It is an array if the
 * members are numbered.
 */
function anyBody(right: Readonly<Record<string, unknown>>): fc.Arbitrary<UserRequest> {
  const anything = fc.oneof(hostileText, fc.jsonValue(), fc.constant(right));
  const changed = fc
    .dictionary(fc.oneof(fc.constantFrom(...Object.keys(right)), hostileText), anything, { maxKeys: 3 })
    .map((changes) => {
      const body = { ...right, ...changes };
      return JSON.stringify('0' in right ? Object.values(body) : body);
    });
  const bodies = fc.oneof({ weight: 4, arbitrary: changed }, hostileText, fc.json());
  return bodies.map((body) => ({ body }));
}

function anyQuery(parameters: readonly string[], id: string): fc.Arbitrary<UserRequest> {
  const strange = fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', 'limit[]', 'id[0]');
  const name = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...parameters) },
    { weight: 1, arbitrary: strange },
    { weight: 1, arbitrary: hostileText },
  );
  const words = ['DONE', 'RUNNING', 'ASC', 'DESC', 'id', 'runs', 'LOW', 'CLIENT', 'EMU_MPS', 'true', id];
  const bounds = ['0', '-1', '1', '9007199254740991', '-9007199254740991', '0001-01-01', '9999-12-31T23:59:59Z'];
  const known = fc.constantFrom(...words, ...bounds);
  const values = fc.oneof(
    { weight: 8, arbitrary: fc.array(fc.oneof(hostileText, known), { minLength: 1, maxLength: 4 }) },
    { weight: 1, arbitrary: fc.constantFrom(100, 101, 2_000).map((length) => Array<string>(length).fill(id)) },
  );
  return fc.array(fc.tuple(name, values), { maxLength: 4 }).map((pairs) => ({ query: Object.fromEntries(pairs) }));
}

function quizzesText(data: object): string {
  return JSON.stringify({ data });
}
