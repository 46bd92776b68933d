/** Creates batches and adds jobs to them, as users ask for it. */

import { randomUUID } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { deviceModes } from '../../device-modes.ts';
import { Forbidden, type InputFault, InvalidInput, requireFound } from '../../errors.ts';
import type { BatchWithJobs } from '../../schemas/batch.ts';
import { type CreateBatchRequest, type JobRequest, jobFaults } from '../../schemas/batch-request.ts';
import type { Claims } from '../../schemas/claims.ts';
import type { Job, JobRow, NewJob } from '../../schemas/job.ts';
import { sequenceFacts } from '../../schemas/sequence.ts';
import { lowerPriority } from '../../schemas/values.ts';
import type { TableNames } from '../../tables.ts';
import { derivedUuid } from '../../values/uuid.ts';
import type { LifecycleOptions } from '../lifecycle/commit-tasks.ts';
import { digestOf } from '../lifecycle/draft.ts';
import { requireContent } from '../lifecycle/erase.ts';
import {
  type CreationTables,
  callsBefore,
  type RequestedCreation,
  requestCreation,
} from '../lifecycle/request-creation.ts';
import { openRules } from '../queue/device-rules.ts';
import { batchOf } from '../rows/batches.ts';
import { getDevice, listDevices } from '../rows/devices.ts';
import { jobOf } from '../rows/jobs.ts';
import { getBatchDetails, maxJobsShown } from './batch-details.ts';
import { findSequenceFaults } from './sequence-checks.ts';

/** Who asks, and by which call where it may be repeated. */
export interface CreationCall {
  readonly userId: string;
  readonly idempotencyKey?: string | undefined;
}

/**
 * The function that creates a batch with its jobs and sequences, in the order of the body. The
 * answer shows up to 100 jobs.
 *
 * - Without a device type, the batch is for the device whose specification has the name that its
 *   sequence's device has, and that is not retired. Throws InvalidInput where there is none.
 * - Its priority is the lower one of the body's and the token's. Throws Forbidden for a project
 *   that the token does not name.
 * - The same idempotency key and body within 15 days answers with the same batch. Throws
 *   AlreadyExists for the key with another body.
 *
 * Costs as much as requestCreation, and half a read unit for each 4 KB of all specifications where
 * the device type is not given.
 */
export function createBatch(
  client: DynamoDBDocumentClient,
  tables: CreationTables & TableNames<'Devices'>,
  options?: LifecycleOptions,
): (call: CreationCall, body: CreateBatchRequest, claims: Claims) => Promise<BatchWithJobs> {
  const create = requestCreation(client, tables, options);
  const plan = planBatch(client, tables);
  const isNew = isNewCall(client, tables);
  return async (call, body, claims) => {
    requireProject(claims, body.project_id);
    const { requested, faults } = await plan(call, body, claims);
    if (faults.length > 0 && (await isNew(call, requested))) throw new InvalidInput(faults);
    const rows = await create(call.userId, requested);
    const batch = { ...batchOf(rows.batch), sequence_builder: body.sequence_builder?.text ?? null };
    return rows.batch.jobs_count > body.jobs.length ? batch : withJobs(batch, rows.jobs);
  };
}

/** What a call asks for, and what the device would refuse of it. */
export interface PlannedCreation {
  readonly requested: RequestedCreation & Required<Pick<RequestedCreation, 'create'>>;
  readonly faults: readonly InputFault[];
}

/**
 * The function that plans a creation. Its device type is empty where a fault says that there is
 * none.
 */
export function planBatch(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Devices'>,
): (call: CreationCall, body: CreateBatchRequest, claims: Claims) => Promise<PlannedCreation> {
  const find = findDevice(client, tables);
  return async (call, body, claims) => {
    const { sequence_builder: sequence, jobs: requests, ...content } = body;
    const { device_type, specs, faults } = await find(body);
    const batchId =
      call.idempotencyKey === undefined ? randomUUID() : derivedUuid(['batch', call.userId, call.idempotencyKey]);
    const { jobs, sequences } = newJobs(requests, {
      operation: 'create',
      batchId,
      idempotencyKey: call.idempotencyKey,
    });
    if (sequence !== null) sequences.set(batchId, sequence.gzipped);
    const create = {
      ...content,
      id: batchId,
      parent_id: null,
      device_type,
      queue_priority: lowerPriority(claims.queue_priority, body.queue_priority),
      device_status: null,
    };
    const isUsed = body.open || requests.some((job) => job.sequence === null);
    const found = findSequenceFaults({
      sequence: isUsed ? sequence : null,
      place: ['body', 'sequence_builder'],
      jobs: requests,
      jobsPlace: ['body', 'jobs'],
      specs,
    });
    const requested = { batchId, create, jobs, sequences, request: rememberedCall('create', call, body) };
    return { requested, faults: [...faults, ...found] };
  };
}

/** The device that a batch is for, by its type or by the name that its sequence gives. */
function findDevice(client: DynamoDBDocumentClient, tables: TableNames<'Devices'>) {
  const devices = listDevices(client, tables);
  const deviceOf = getDevice(client, tables);
  return async ({ device_type, sequence_builder, jobs }: CreateBatchRequest) => {
    if (device_type !== null) return { device_type, specs: (await deviceOf(device_type))?.specs, faults: [] };
    const sequence = sequence_builder ?? jobs.find((job) => job.sequence !== null)?.sequence;
    const name = sequence?.deviceName;
    const candidates = name === undefined ? [] : await devices();
    const device = candidates.find((each) => each.name === name && deviceModes[(each.rules ?? openRules).mode].listed);
    if (device !== undefined) return { ...device, faults: [] };
    const msg =
      name === undefined
        ? 'Field required: no sequence names a device'
        : `Field required: no device has the name of the sequence's device, '${name.slice(0, 100)}'`;
    return { device_type: '', specs: undefined, faults: [{ loc: ['body', 'device_type'], msg, type: 'missing' }] };
  };
}

/** The function that says whether nothing is remembered of a call: what has begun goes on. */
function isNewCall(client: DynamoDBDocumentClient, tables: TableNames<'Columns'>) {
  const before = callsBefore(client, tables);
  return async ({ userId }: CreationCall, { request }: RequestedCreation) =>
    request === undefined || (await before(userId, request)).length === 0;
}

/**
 * The function that adds jobs to a batch, after those it has, in the order of the body. The answer
 * shows all its jobs where they are at most 100. Throws NotFound when the user has no such batch;
 * Forbidden when the token does not name its project; InvalidInput when a job has no sequence or
 * variables that the batch's sequence does not declare; IllegalTransition when the batch is closed
 * or has ended. Idempotency keys are createBatch's.
 */
export function addJobs(
  client: DynamoDBDocumentClient,
  tables: CreationTables & TableNames<'Devices'>,
  options: LifecycleOptions = {},
): (call: CreationCall, batchId: string, body: readonly JobRequest[], claims: Claims) => Promise<BatchWithJobs> {
  const create = requestCreation(client, tables, options);
  const plan = planJobs(client, tables, options);
  const isNew = isNewCall(client, tables);
  return async (call, batchId, body, claims) => {
    const { before, requested, faults } = await plan(call, batchId, body, claims);
    if (faults.length > 0 && (await isNew(call, requested))) throw new InvalidInput(faults);
    const rows = await create(call.userId, requested);
    const batch = batchOf(rows.batch);
    if (before.jobs === undefined || batch.jobs_count > maxJobsShown) return batch;
    const added = rows.jobs.map(jobOf);
    const others = before.jobs.filter(({ id }) => !added.some((job) => job.id === id));
    const known = [...others, ...added].sort((a, b) => a.creation_order - b.creation_order);
    return known.length === batch.jobs_count ? { ...batch, jobs: known } : batch;
  };
}

/**
 * The function that plans jobs for a batch of the user. Throws what addJobs throws of batch and
 * project.
 */
export function planJobs(
  client: DynamoDBDocumentClient,
  tables: CreationTables & TableNames<'Devices'>,
  options: LifecycleOptions = {},
) {
  const detailsOf = getBatchDetails(client, tables, options.lists);
  const deviceOf = getDevice(client, tables);
  return async (call: CreationCall, batchId: string, body: readonly JobRequest[], claims: Claims) => {
    const before = requireFound(await detailsOf(call.userId, batchId), 'batch');
    requireProject(claims, before.project_id);
    requireContent(before);
    const { sequence_builder: sequence, device_type, project_id: projectId } = before;
    const facts = sequence === null ? null : sequenceFacts(sequence);
    const misfits = [...jobFaults(body, facts, ['body'])].slice(0, 100);
    const { specs } = (await deviceOf(device_type)) ?? {};
    const found = findSequenceFaults({ sequence: facts, jobs: body, jobsPlace: ['body'], specs });
    const { jobs, sequences } = newJobs(body, { operation: 'add', batchId, idempotencyKey: call.idempotencyKey });
    const request = rememberedCall('add', call, [batchId, body]);
    const requested: RequestedCreation = { batchId, projectId, jobs, sequences, request };
    const faults = [...misfits.map(({ path, message, type }) => ({ loc: path, msg: message, type })), ...found];
    return { before, requested, faults };
  };
}

/** Throws Forbidden when the token names projects, but not this one. */
export function requireProject({ projects }: Claims, projectId: string): void {
  if (projects === undefined || projects.some(({ id }) => id === projectId)) return;
  throw new Forbidden('project_not_allowed', 'The token does not name this project.');
}

/**
 * What the ids of jobs follow from where a call may be repeated: a key that two operations are
 * called with names two calls.
 */
interface JobsOrigin {
  readonly operation: CreatingOperation;
  readonly batchId: string;
  readonly idempotencyKey: string | undefined;
}

type CreatingOperation = 'create' | 'add';

/**
 * The jobs with ids of their own, and the gzipped sequences that some of them have. The same call
 * gives the same ids.
 */
function newJobs(requests: readonly JobRequest[], { operation, batchId, idempotencyKey }: JobsOrigin) {
  const sequences = new Map<string, Uint8Array>();
  const jobs = requests.map(({ runs, variables, sequence }, place): NewJob => {
    const id =
      idempotencyKey === undefined ? randomUUID() : derivedUuid([operation, 'job', batchId, idempotencyKey, place]);
    if (sequence !== null) sequences.set(id, sequence.gzipped);
    return { id, runs, variables, origin: 'CLIENT', parent_id: null };
  });
  return { jobs, sequences };
}

/** A call that may be repeated, as it is remembered. */
function rememberedCall(operation: CreatingOperation, { userId, idempotencyKey }: CreationCall, body: unknown) {
  if (idempotencyKey === undefined) return undefined;
  return {
    id: `request#${derivedUuid([operation, userId, idempotencyKey])}`,
    digest: digestOf(body, replaceForDigest),
  };
}

/**
 * For JSON.stringify. How a sequence is compressed makes no other body; a Buffer is JSON before it
 * is `value`.
 */
function replaceForDigest(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  if (this[name] instanceof Uint8Array) return undefined;
  return value instanceof Set ? [...value] : value;
}

/** The batch with these jobs, which are all that it has, unless an answer does not show so many. */
export function withJobs<Shown extends object>(batch: Shown, jobs: readonly JobRow[]): Shown & { jobs?: Job[] } {
  return jobs.length > maxJobsShown ? batch : { ...batch, jobs: jobs.map(jobOf) };
}
