/** What calls that create would be answered, without making them. */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type InputFault, InvalidInput, listFaults, OverLimit, ServiceError } from '../../errors.ts';
import type { CreateBatchRequest, JobRequest } from '../../schemas/batch-request.ts';
import type { Claims } from '../../schemas/claims.ts';
import { noEstimate, type StartEstimate } from '../../schemas/estimate.ts';
import type { Validation } from '../../schemas/validation.ts';
import { lowerPriority } from '../../schemas/values.ts';
import type { TableNames } from '../../tables.ts';
import type { LifecycleOptions } from '../lifecycle/commit-tasks.ts';
import { type CreationTables, tryCreation } from '../lifecycle/request-creation.ts';
import { ownLimits } from '../limits/used-of-limits.ts';
import { estimateNewBatch } from './new-batch-estimate.ts';
import { type CreationCall, planBatch, planJobs, requireProject } from './new-batches.ts';
import { getQueuedBatch } from './queue-counts.ts';

type Tables = CreationTables & TableNames<'Devices'>;

/**
 * The function that says what a call would be answered whose input breaks its schemas: where its
 * work would wait is not known.
 */
export function validateInput(
  client: DynamoDBDocumentClient,
  tables: Tables,
): (userId: string, faults: readonly InputFault[]) => Promise<Validation> {
  const limitsOf = ownLimits(client, tables);
  return async (userId, faults) => ({ faults, ...noEstimate('unknown'), limits: await limitsOf(userId) });
}

/**
 * The function that says what createBatch would answer: all faults, and why it would be refused
 * otherwise. Stores nothing. Throws where the database is busy or fails. Costs the reads of a
 * creation, of ownLimits and of estimateNewBatch.
 */
export function validateBatch(
  client: DynamoDBDocumentClient,
  tables: Tables,
  options?: LifecycleOptions,
): (call: CreationCall, body: CreateBatchRequest, claims: Claims) => Promise<Validation> {
  const plan = planBatch(client, tables);
  const attempt = tryCreation(client, tables, options);
  const limitsOf = ownLimits(client, tables);
  const estimate = estimateNewBatch(client, tables);
  return async (call, body, claims) => {
    const { userId: user_id } = call;
    const project = await refusal(async () => requireProject(claims, body.project_id));
    const { requested, faults } = await plan(call, body, claims);
    const { create } = requested;
    const [limits, refused] = await Promise.all([
      limitsOf(user_id),
      create.device_type === '' ? [] : refusal(() => attempt(user_id, requested)),
    ]);
    const { device_type } = create;
    const queue_priority = lowerPriority(
      limits.limits.highest_priority ?? create.queue_priority,
      create.queue_priority,
    );
    const start =
      device_type === ''
        ? noEstimate('unknown')
        : await estimate({ user_id, device_type, queue_priority, jobs: body.jobs.length });
    return { faults: [...project, ...listFaults(faults), ...refused], ...start, limits };
  };
}

/**
 * The function that says what addJobs would answer: see validateBatch. The estimate is that of the
 * batch. Throws NotFound when the user has no such batch.
 */
export function validateJobs(
  client: DynamoDBDocumentClient,
  tables: Tables,
  options?: LifecycleOptions,
): (call: CreationCall, batchId: string, body: readonly JobRequest[], claims: Claims) => Promise<Validation> {
  const plan = planJobs(client, tables, options);
  const attempt = tryCreation(client, tables, options);
  const limitsOf = ownLimits(client, tables);
  const estimate = estimateNewBatch(client, tables);
  const queued = getQueuedBatch(client, tables);
  return async (call, batchId, body, claims) => {
    const { userId: user_id } = call;
    let start: StartEstimate = noEstimate('unknown');
    let faults: readonly InputFault[] = [];
    const refused = await refusal(async () => {
      const planned = await plan(call, batchId, body, claims);
      const { device_type, queue_priority, jobs_count } = planned.before;
      faults = planned.faults;
      if (jobs_count === 0) start = await estimate({ user_id, device_type, queue_priority, jobs: body.length });
      else {
        const batch = await queued(user_id, batchId);
        if (batch !== undefined) start = batch;
      }
      await attempt(user_id, planned.requested);
    });
    const { estimated_start, estimated_start_reason } = start;
    const limits = await limitsOf(user_id);
    return { faults: [...listFaults(faults), ...refused], estimated_start, estimated_start_reason, limits };
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
