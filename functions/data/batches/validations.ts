/** Answers what a call that creates would get, without making it. */

import { type InputFault, InvalidInput, listFaults, OverLimit, ServiceError } from '../../errors.ts';
import type { CreateBatchRequest } from '../../schemas/batch-request.ts';
import { noEstimate, type StartEstimate } from '../../schemas/estimate.ts';
import type { Validation } from '../../schemas/validation.ts';
import { lowerPriority } from '../../schemas/values.ts';
import type { Db } from '../dynamodb/db.ts';
import { tryCreation } from '../lifecycle/request-creation.ts';
import { ownLimits } from '../limits/used-of-limits.ts';
import { estimateNewBatch } from './new-batch-estimate.ts';
import {
  type CreationCall,
  type FurtherJobs,
  type NewBatchDb,
  planBatch,
  planJobs,
  requireProject,
} from './new-batches.ts';
import { getQueuedBatch } from './queue-counts.ts';

/**
 * The answer to a call whose input breaks its schemas. It has no estimate: the device is unknown.
 */
export async function validateInput(
  db: Db<'Batches' | 'Jobs' | 'Columns' | 'Limits' | 'Usage' | 'Counters'>,
  userId: string,
  faults: readonly InputFault[],
): Promise<Validation> {
  return { faults, left_to_device: [], ...noEstimate('unknown'), limits: await ownLimits(db, userId) };
}

/**
 * What createBatch would answer: all faults, and any other reason to refuse the call. Stores
 * nothing. Throws when the database is busy or fails. Costs the reads of a creation, of ownLimits
 * and of estimateNewBatch.
 */
export async function validateBatch(db: NewBatchDb, call: CreationCall, body: CreateBatchRequest): Promise<Validation> {
  const { userId: user_id, claims } = call;
  const project = await refusal(async () => requireProject(claims, body.project_id));
  const { requested, faults, leftToDevice } = await planBatch(db, call, body);
  const { create } = requested;
  const { device_type } = create;
  const [limits, refused] = await Promise.all([
    ownLimits(db, user_id),
    device_type === '' ? [] : refusal(() => tryCreation(db, user_id, requested)),
  ]);
  const queue_priority = lowerPriority(limits.limits.highest_priority ?? create.queue_priority, create.queue_priority);
  const start =
    device_type === ''
      ? noEstimate('unknown')
      : await estimateNewBatch(db, { user_id, device_type, queue_priority, jobs: body.jobs.length });
  return { faults: [...project, ...listFaults(faults), ...refused], left_to_device: leftToDevice, ...start, limits };
}

/**
 * What addJobs would answer: see validateBatch. The estimate is that of the batch. Throws NotFound
 * when the user has no such batch.
 */
export async function validateJobs(db: NewBatchDb, call: CreationCall, further: FurtherJobs): Promise<Validation> {
  const { userId: user_id } = call;
  const { batchId, body } = further;
  let start: StartEstimate = noEstimate('unknown');
  let faults: readonly InputFault[] = [];
  let left_to_device: Validation['left_to_device'] = [];
  const refused = await refusal(async () => {
    const planned = await planJobs(db, call, further);
    const { device_type, queue_priority, jobs_count } = planned.before;
    faults = planned.faults;
    left_to_device = planned.leftToDevice;
    if (jobs_count === 0) {
      start = await estimateNewBatch(db, { user_id, device_type, queue_priority, jobs: body.length });
    } else start = (await getQueuedBatch(db, user_id, batchId)) ?? start;
    await tryCreation(db, user_id, planned.requested);
  });
  const { estimated_start, estimated_start_reason } = start;
  const limits = await ownLimits(db, user_id);
  return {
    ...{ faults: [...listFaults(faults), ...refused], left_to_device },
    ...{ estimated_start, estimated_start_reason, limits },
  };
}

/** Why a call is refused; empty where it is not. Throws what is no refusal. */
async function refusal(attempt: () => Promise<unknown>): Promise<readonly InputFault[]> {
  try {
    await attempt();
    return [];
  } catch (error) {
    if (error instanceof InvalidInput) return error.faults;
    if (!isRefusal(error)) throw error;
    return [{ loc: ['body'], msg: error.message, type: error.reason }];
  }
}

function isRefusal(error: unknown): error is ServiceError {
  return error instanceof OverLimit || (error instanceof ServiceError && [403, 409].includes(error.status));
}
