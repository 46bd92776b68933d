import { addJobs } from '../../data/batches/new-batches.ts';
import { validateInput, validateJobs } from '../../data/batches/validations.ts';
import { countLongCall, recoveryByQueue } from '../../data/lifecycle/schedule-recovery.ts';
import { asOwner } from '../../data/projects/access.ts';
import { answerFaultsOnly } from '../../http/answer-faults-only.ts';
import { endpoint } from '../../http/endpoint.ts';
import { firstThatFits, success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './add-jobs.operation.ts';

const scheduleRecovery = recoveryByQueue();

export const handler = endpoint(
  routes.addJobs,
  operation,
  async ({ db, userId, claims, path, headers, query, body }) => {
    const call = { userId, claims, idempotencyKey: headers['idempotency-key'] };
    const further = { batchId: path.batch_id, body };
    const row = { right: 'change', table: 'Batches', id: path.batch_id } as const;
    if (query.validate_only) return success(await asOwner(db, call, row, () => validateJobs(db, call, further)));
    const batch = await countLongCall(db, { userId, scheduleRecovery }, (schedule) =>
      asOwner(db, call, row, () => addJobs(db, call, further, schedule)),
    );
    const { jobs, ...withoutJobs } = batch;
    return firstThatFits(batch, withoutJobs);
  },
  answerFaultsOnly(validateInput),
);
