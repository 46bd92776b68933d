/** Creates batches and adds jobs to them, as users ask for it. */

import { randomUUID } from 'node:crypto';
import { deviceModes } from '../../device-modes.ts';
import { Forbidden, type InputFault, InvalidInput, requireFound } from '../../errors.ts';
import type { BatchDetails, BatchWithJobs } from '../../schemas/batch.ts';
import { type CreateBatchRequest, type JobRequest, jobFaults } from '../../schemas/batch-request.ts';
import { type Claims, rightsIn, roleIn } from '../../schemas/claims.ts';
import type { Job, JobRow } from '../../schemas/job.ts';
import type { NewJob } from '../../schemas/new-batch.ts';
import { sequenceFacts } from '../../schemas/sequence.ts';
import type { Validation } from '../../schemas/validation.ts';
import { lowerPriority } from '../../schemas/values.ts';
import { derivedUuid } from '../../values/uuid.ts';
import type { Db } from '../dynamodb/db.ts';
import { digestOf } from '../lifecycle/draft.ts';
import { requireContent } from '../lifecycle/erase.ts';
import type { LifecycleTable } from '../lifecycle/lifecycle-db.ts';
import {
  type CreatedRows,
  type CreationDb,
  callsBefore,
  type RequestedCreation,
  requestCreation,
} from '../lifecycle/request-creation.ts';
import type { ScheduleRecovery } from '../lifecycle/schedule-recovery.ts';
import { openRules } from '../queue/device-rules.ts';
import { batchOf, showBatch } from '../rows/batches.ts';
import { getDevice, listDevices } from '../rows/devices.ts';
import { jobOf } from '../rows/jobs.ts';
import { getBatchDetails, maxJobsShown } from './batch-details.ts';
import { checkSequences } from './sequence-checks.ts';

/** A creation also reads which devices there are. */
export type NewBatchDb = Db<LifecycleTable | 'Limits' | 'Devices'>;

/** The caller, and the key of a call that may be repeated. */
export interface CreationCall {
  readonly userId: string;
  readonly claims: Claims;
  readonly idempotencyKey?: string | undefined;
}

/**
 * Creates a batch with its jobs and sequences, in the order of the body. The answer shows up to 100
 * jobs.
 *
 * - The device type may be left out. Then the batch is for the device whose specification has the
 *   same name as the device of the batch's sequence; retired devices do not count. Throws
 *   InvalidInput if there is none.
 * - The priority is the lower one of the body's and the token's. Throws Forbidden for a project
 *   that the token does not name.
 * - The same idempotency key and body within 15 days answers with the same batch. Throws
 *   AlreadyExists for the key with another body.
 *
 * Costs as much as requestCreation. Without a device type, also half a read unit for each 4 KB of
 * all specifications.
 */
export async function createBatch(
  db: NewBatchDb,
  call: CreationCall,
  body: CreateBatchRequest,
  scheduleRecovery?: ScheduleRecovery,
): Promise<BatchWithJobs> {
  requireProject(call.claims, body.project_id);
  const rows = await requestPlanned(db, call, await planBatch(db, call, body), scheduleRecovery);
  const batch = { ...batchOf(rows.batch), sequence_builder: body.sequence_builder?.text ?? null };
  return rows.batch.jobs_count > body.jobs.length ? batch : withJobs(batch, rows.jobs);
}

/** What a call asks for, and what the device would refuse of it. */
interface PlannedCreation {
  readonly requested: RequestedCreation;
  readonly faults: readonly InputFault[];
  /** What only the device will judge. */
  readonly leftToDevice: Validation['left_to_device'];
}

/**
 * Creates what is planned. Throws InvalidInput for its faults, unless the creation has begun
 * before: then it goes on.
 */
async function requestPlanned(
  db: CreationDb,
  { userId }: CreationCall,
  { requested, faults }: PlannedCreation,
  scheduleRecovery?: ScheduleRecovery,
): Promise<CreatedRows> {
  const { request } = requested;
  if (faults.length > 0) {
    const isNew = request === undefined || (await callsBefore(db, userId, request)).length === 0;
    if (isNew) throw new InvalidInput(faults);
  }
  return requestCreation(db, userId, requested, scheduleRecovery);
}

/** Plans a creation. Its device type is empty where a fault says that there is none. */
export async function planBatch(
  db: Db<'Devices'>,
  call: CreationCall,
  body: CreateBatchRequest,
): Promise<PlannedCreation & { readonly requested: Required<Pick<RequestedCreation, 'create'>> }> {
  const { userId, claims, idempotencyKey } = call;
  const { sequence_builder: sequence, jobs: requests, ...content } = body;
  const { device, faults } = await findDevice(db, body);
  const { device_type } = device;
  const batchId = idempotencyKey === undefined ? randomUUID() : derivedUuid(['batch', userId, idempotencyKey]);
  const { jobs, sequences } = newJobs(requests, { operation: 'create', batchId, idempotencyKey });
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
  const checked = await checkSequences({
    sequence: isUsed ? sequence : null,
    place: ['body', 'sequence_builder'],
    jobs: requests,
    jobsPlace: ['body', 'jobs'],
    device,
  });
  const request = rememberedCall('create', call, body);
  const requested = { batchId, create, jobs, sequences, request, userName: claims.user_name };
  return { requested, faults: [...faults, ...checked.faults], leftToDevice: checked.leftToDevice };
}

/** The device that a batch is for, by its type or by the name that its sequence gives. */
async function findDevice(db: Db<'Devices'>, { device_type, sequence_builder, jobs }: CreateBatchRequest) {
  if (device_type !== null) return { device: await findTyped(db, device_type), faults: [] };
  const sequence = sequence_builder ?? jobs.find((job) => job.sequence !== null)?.sequence;
  const name = sequence?.deviceName;
  const candidates = name === undefined ? [] : await listDevices(db);
  const device = candidates.find((each) => each.name === name && deviceModes[(each.rules ?? openRules).mode].listed);
  if (device !== undefined) return { device: { ...device, isAnnounced: true }, faults: [] };
  const msg =
    name === undefined
      ? 'Field required: no sequence names a device'
      : `Field required: no device has the name of the sequence's device, '${name.slice(0, 100)}'`;
  const none = { device_type: '', isAnnounced: false };
  return { device: none, faults: [{ loc: ['body', 'device_type'], msg, type: 'missing' }] };
}

async function findTyped(db: Db<'Devices'>, device_type: string) {
  const device = await getDevice(db, device_type);
  return { device_type, isAnnounced: device !== undefined, specs: device?.specs };
}

/** Jobs for a batch that exists. */
export interface FurtherJobs {
  readonly batchId: string;
  readonly body: readonly JobRequest[];
}

/**
 * Adds jobs to a batch, after those it has, in the order of the body. The answer shows all its jobs
 * where they are at most 100. Throws NotFound when the user has no such batch; Forbidden when the
 * token does not name its project; InvalidInput when a job has no sequence or variables that the
 * batch's sequence does not declare; IllegalTransition when the batch is closed or has ended.
 * Idempotency keys are createBatch's.
 */
export async function addJobs(
  db: NewBatchDb,
  call: CreationCall,
  further: FurtherJobs,
  scheduleRecovery?: ScheduleRecovery,
): Promise<BatchWithJobs> {
  const { before, ...planned } = await planJobs(db, call, further);
  const rows = await requestPlanned(db, call, planned, scheduleRecovery);
  const batch = await showBatch(db, rows.batch);
  if (before.jobs === undefined || batch.jobs_count > maxJobsShown) return batch;
  const added = rows.jobs.map(jobOf);
  const others = before.jobs.filter(({ id }) => !added.some((job) => job.id === id));
  const known = [...others, ...added].sort((a, b) => a.creation_order - b.creation_order);
  return known.length === batch.jobs_count ? { ...batch, jobs: known } : batch;
}

/** Plans jobs for a batch of the user. Throws what addJobs throws of batch and project. */
export async function planJobs(
  db: Db<'Batches' | 'Jobs' | 'Columns' | 'Sequences' | 'Devices'>,
  call: CreationCall,
  { batchId, body }: FurtherJobs,
): Promise<PlannedCreation & { readonly before: BatchDetails }> {
  const before = requireFound(await getBatchDetails(db, call.userId, batchId), 'batch');
  requireProject(call.claims, before.project_id);
  requireContent(before);
  const { sequence_builder: sequence, device_type, project_id: projectId } = before;
  const facts = sequence === null ? null : sequenceFacts(sequence);
  const misfits = [...jobFaults(body, facts, ['body'])].slice(0, 100);
  const device = await findTyped(db, device_type);
  const checked = await checkSequences({ sequence: facts, jobs: body, jobsPlace: ['body'], device });
  const { jobs, sequences } = newJobs(body, { operation: 'add', batchId, idempotencyKey: call.idempotencyKey });
  const request = rememberedCall('add', call, [batchId, body]);
  const requested = { batchId, projectId, jobs, sequences, request, userName: call.claims.user_name };
  const faults = [...misfits.map(({ path, message, type }) => ({ loc: path, msg: message, type })), ...checked.faults];
  return { before, requested, faults, leftToDevice: checked.leftToDevice };
}

/** Throws Forbidden when the token names projects, but not this one, or as one to read only. */
export function requireProject(claims: Claims, projectId: string): void {
  if (rightsIn(claims, projectId).includes('submit')) return;
  const role = roleIn(claims, projectId);
  const why =
    role === undefined ? 'The token does not name this project.' : `A ${role} of the project may not submit to it.`;
  throw new Forbidden('project_not_allowed', why);
}

/**
 * What the ids of jobs are derived from when a call may be repeated. The operation is part of it:
 * one key sent to two operations names two calls.
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
 * For JSON.stringify. A body stays the same body if its sequence is compressed in another way. A
 * Buffer has become JSON before it arrives here as `value`.
 */
function replaceForDigest(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  if (this[name] instanceof Uint8Array) return undefined;
  return value instanceof Set ? [...value] : value;
}

/**
 * The batch with these jobs, which are all of its jobs; without them if it has more than an answer
 * shows.
 */
export function withJobs<Shown extends object>(batch: Shown, jobs: readonly JobRow[]): Shown & { jobs?: Job[] } {
  return jobs.length > maxJobsShown ? batch : { ...batch, jobs: jobs.map(jobOf) };
}
