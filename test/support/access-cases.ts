/**
 * Who may do what with whose: for each route with a token, what each kind of caller is answered
 * about each kind of thing. A new route does not compile without its case.
 */

import { queueKey } from '../../functions/data/queue/fair-order.ts';
import type { Reason } from '../../functions/reasons.ts';
import type { RouteWithToken } from '../../functions/routes.ts';
import { leaseText } from '../../functions/schemas/lease.ts';
import { projectSubject, userSubject } from '../../functions/schemas/limits.ts';
import { newBatchBody, type UserRequest } from './route-cases.ts';
import { sequenceText } from './sequence-text.ts';

/**
 * No one, viewer, member and admin have a token that names the project, the latter three with that
 * role in it; an operator's names no project.
 */
export const callers = ['none', 'viewer', 'member', 'admin', 'operator', 'machine'] as const;
export type CallerKind = (typeof callers)[number];

/**
 * The caller's own, in the project; a fellow's, in the project; that fellow's in another project;
 * of a user with whom the caller has no project in common; what no user has.
 */
export const things = ['own', 'fellow’s', 'other project’s', 'stranger’s', 'missing'] as const;
export type ThingKind = (typeof things)[number];

/** A batch with one job, its owner and its project. */
export interface Thing {
  readonly user_id: string;
  readonly batch_id: string;
  readonly job_id: string;
  readonly project_id: string;
}

/** Success, success that shows nothing, or why it is refused. */
export type Verdict = 'ok' | 'empty' | Reason;

/** In the order of the things. */
type Row = readonly [Verdict, Verdict, Verdict, Verdict, Verdict];

export interface AccessCase {
  /** The same for every caller. */
  request(thing: Thing): UserRequest;
  readonly answers: Readonly<Record<CallerKind, Row>>;
  /** The batch has ended, with results; by default it waits, open, without any. */
  readonly ended?: true;
}

const all = (verdict: Verdict): Row => [verdict, verdict, verdict, verdict, verdict];
const ownOnly: Row = ['ok', 'not_found', 'not_found', 'not_found', 'not_found'];
const ofProject: Row = ['ok', 'ok', 'not_found', 'not_found', 'not_found'];
const butNotFellows: Row = ['ok', 'not_the_owner', 'not_found', 'not_found', 'not_found'];
const ofAnyone: Row = ['ok', 'ok', 'ok', 'ok', 'not_found'];

const machine = all('device_token');
const reads = { none: ownOnly, viewer: ofProject, member: ofProject, admin: ofProject, operator: ownOnly, machine };
const ends = { ...reads, viewer: butNotFellows, member: butNotFellows };
const changes = { ...ends, admin: butNotFellows };

/** It names nothing that belongs to anyone, or it is not looked at. */
function everyUser(verdict: Verdict = 'ok') {
  const row = all(verdict);
  return { none: row, viewer: row, member: row, admin: row, operator: row, machine };
}

/** What belongs to no user. */
function everyToken() {
  return { ...everyUser(), machine: all('ok') };
}

function onlyMachines(verdict: Verdict) {
  return { ...everyUser('insufficient_scope'), machine: all(verdict) };
}

function onlyOperators(operator: Row) {
  return { ...onlyMachines('insufficient_scope'), operator };
}

const aboutProjects = (known: Verdict, unknown: Verdict) => ({
  ...onlyOperators([known, known, known, known, unknown]),
  admin: [known, known, 'insufficient_scope', 'insufficient_scope', 'insufficient_scope'] as const,
});

const lists = { ...everyUser(), none: ['ok', 'empty', 'empty', 'empty', 'empty'] as const };
const ownList = Object.fromEntries(
  Object.keys(everyUser()).map((caller) => [caller, caller === 'machine' ? machine : lists.none]),
) as Record<CallerKind, Row>;

const allowed: Row = ['ok', 'ok', 'project_not_allowed', 'project_not_allowed', 'project_not_allowed'];

const batch = ({ batch_id }: Thing) => ({ path: { batch_id } });
const job = ({ job_id }: Thing) => ({ path: { job_id } });
const ofUser = ({ user_id, batch_id }: Thing) => ({ path: { user_id, batch_id } });
const device = { path: { device_type: 'UNKNOWN' } };
const leaseKey = (batchId: string) =>
  queueKey({ tag: 1, priority: 'LOW', created_at: '2026-03-01T00:00:00.000000Z', batchId });
const lease = ({ user_id, job_id, batch_id }: Thing) => ({
  path: {
    lease: leaseText({ deviceType: 'UNKNOWN', key: leaseKey(batch_id), fence: 1, userId: user_id }),
    job_id,
  },
});
const sha256 = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a';

export const accessCases: Readonly<Record<RouteWithToken, AccessCase>> = {
  getBatch: { request: batch, answers: reads },
  getBatchStatus: { request: batch, answers: reads },
  getFullResults: { request: batch, answers: reads, ended: true },
  getBatchWebhook: { request: batch, answers: reads },
  getJob: { request: job, answers: reads },
  getJobStatus: { request: job, answers: reads },
  getResultsLink: { request: job, answers: reads, ended: true },

  closeBatch: { request: batch, answers: ends },
  cancelBatch: { request: batch, answers: ends },
  cancelBatches: { request: ({ batch_id }) => ({ body: { batch_ids: [batch_id] } }), answers: ends },
  cancelJobs: { request: batch, answers: ends },
  cancelJob: { request: job, answers: ends },

  setTags: { request: (thing) => ({ ...batch(thing), body: ['a'] }), answers: changes },
  eraseBatch: { request: batch, answers: changes, ended: true },
  addJobs: {
    request: (thing) => ({ ...batch(thing), body: [{ sequence: sequenceText() }] }),
    answers: {
      ...changes,
      viewer: ['project_not_allowed', 'not_the_owner', 'not_found', 'not_found', 'not_found'],
    },
  },
  testWebhook: {
    request: batch,
    answers: {
      none: ['no_webhook', 'not_found', 'not_found', 'not_found', 'not_found'],
      viewer: ['no_webhook', 'not_the_owner', 'not_found', 'not_found', 'not_found'],
      member: ['no_webhook', 'not_the_owner', 'not_found', 'not_found', 'not_found'],
      admin: ['no_webhook', 'not_the_owner', 'not_found', 'not_found', 'not_found'],
      operator: ['no_webhook', 'not_found', 'not_found', 'not_found', 'not_found'],
      machine,
    },
  },
  rebatch: {
    request: batch,
    ended: true,
    answers: {
      ...reads,
      viewer: ['project_not_allowed', 'project_not_allowed', 'not_found', 'not_found', 'not_found'],
    },
  },
  createBatch: {
    request: ({ project_id }) => ({ body: newBatchBody(project_id) }),
    answers: {
      ...{ none: allowed, viewer: all('project_not_allowed'), member: allowed, admin: allowed },
      ...{ operator: all('ok'), machine },
    },
  },

  listBatches: { request: ({ batch_id }) => ({ query: { id: batch_id } }), answers: ownList },
  listJobs: { request: ({ job_id }) => ({ query: { id: job_id } }), answers: ownList },
  listProjects: { request: () => ({}), answers: everyUser() },
  getOwnLimits: { request: () => ({}), answers: everyUser() },
  submitQuizzes: { request: () => ({ body: { data: { quiz: { n: 1 } } } }), answers: everyUser() },
  listDeviceSpecifications: { request: () => ({}), answers: everyUser() },
  getDeviceSpecification: { request: () => ({ path: { device_type: 'FRESNEL' } }), answers: everyUser() },
  listCalibrations: { request: () => ({ path: { device_type: 'FRESNEL' } }), answers: everyToken() },
  getCalibration: { request: () => ({ path: { device_type: 'FRESNEL', number: '1' } }), answers: everyToken() },
  listMinutes: { request: () => ({ path: { device_type: 'FRESNEL' } }), answers: everyToken() },

  listUsage: {
    request: ({ project_id }) => ({ query: { project_id } }),
    answers: { ...aboutProjects('ok', 'ok'), machine },
  },
  listAudit: { request: ({ project_id }) => ({ query: { project_id } }), answers: aboutProjects('ok', 'empty') },
  getLimits: {
    request: ({ project_id }) => ({ path: { subject: projectSubject(project_id) } }),
    answers: aboutProjects('ok', 'not_found'),
  },
  listLimits: { request: () => ({}), answers: onlyOperators(all('ok')) },
  putLimits: {
    request: ({ project_id }) => ({ path: { subject: projectSubject(project_id) }, body: projectLimits }),
    answers: onlyOperators(all('ok')),
  },
  deleteLimits: {
    request: ({ user_id }) => ({ path: { subject: userSubject(user_id) } }),
    answers: onlyOperators(all('not_found')),
  },
  getBatchOfUser: { request: ofUser, answers: onlyOperators(ofAnyone) },
  cancelBatchOfUser: {
    request: (thing) => ({ ...ofUser(thing), body: { reason: 'why' } }),
    answers: onlyOperators(ofAnyone),
  },
  setBatchPriority: {
    request: (thing) => ({ ...ofUser(thing), body: { queue_priority: 'HIGH', reason: 'why' } }),
    answers: onlyOperators(ofAnyone),
  },
  setDevice: { request: () => ({ ...device, body: { max_job_seconds: 3_600 } }), answers: onlyOperators(all('ok')) },
  listQueue: { request: () => ({ path: { device_type: 'FRESNEL' } }), answers: onlyOperators(all('ok')) },
  getDevice: { request: () => ({ path: { device_type: 'FRESNEL' } }), answers: onlyOperators(all('ok')) },
  getMetrics: { request: () => ({}), answers: onlyOperators(all('ok')) },

  announceDevice: {
    request: () => ({ path: { device_type: 'FRESNEL' }, body: { status: 'UP' } }),
    answers: onlyMachines('ok'),
  },
  reportCalibration: {
    request: () => ({ path: { device_type: 'FRESNEL' }, body: { numbers: { p_false_pos: 0.01 } } }),
    answers: onlyMachines('ok'),
  },
  removeDevice: { request: () => ({ path: { device_type: 'GONE' } }), answers: onlyMachines('not_found') },
  claimBatch: {
    request: () => ({ path: { device_type: 'IDLE' }, body: { worker: 'worker' } }),
    answers: onlyMachines('ok'),
  },
  // The lease is of no batch in a queue. These three say so in their answer.
  extendLease: {
    request: (thing) => ({ ...lease(thing), body: { job_id: null } }),
    answers: onlyMachines('ok'),
  },
  nextJob: { request: lease, answers: onlyMachines('ok') },
  releaseLease: { request: lease, answers: onlyMachines('ok') },
  uploadResults: {
    request: (thing) => ({ ...lease(thing), body: { bytes: 2, sha256 } }),
    answers: onlyMachines('lease_lost'),
  },
  reportJob: {
    request: (thing) => ({ ...lease(thing), body: { status: 'DONE' } }),
    answers: onlyMachines('lease_lost'),
  },
};

/** Of each project that there is. */
export const projectLimits = { max_unfinished_batches: 1_000_000 };
