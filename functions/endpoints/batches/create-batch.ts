import { createBatch } from '../../data/batches/new-batches.ts';
import { validateBatch, validateInput } from '../../data/batches/validations.ts';
import { countLongCall, recoveryByQueue } from '../../data/lifecycle/schedule-recovery.ts';
import { answerFaultsOnly } from '../../http/answer-faults-only.ts';
import { endpoint } from '../../http/endpoint.ts';
import { firstThatFits, success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './create-batch.operation.ts';

const scheduleRecovery = recoveryByQueue();

export const handler = endpoint(
  routes.createBatch,
  operation,
  async ({ db, userId, claims, headers, query, body }) => {
    const call = { userId, claims, idempotencyKey: headers['idempotency-key'] };
    if (query.validate_only) return success(await validateBatch(db, call, body));
    const batch = await countLongCall(db, { userId, scheduleRecovery }, (schedule) =>
      createBatch(db, call, body, schedule),
    );
    const { jobs, ...withoutJobs } = batch;
    return firstThatFits(batch, withoutJobs);
  },
  answerFaultsOnly(validateInput),
);
