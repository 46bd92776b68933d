import { administratorsAct } from '../../data/batches/administrators-act.ts';
import { cancelJobs } from '../../data/batches/cancellations.ts';
import { countLongCall, recoveryByQueue } from '../../data/lifecycle/schedule-recovery.ts';
import { asOwner } from '../../data/projects/access.ts';
import { InvalidInput } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { fitsLambdaResponse, success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import type { Job } from '../../schemas/job.ts';
import { operation } from './cancel-jobs.operation.ts';

const scheduleRecovery = recoveryByQueue();

/** What a job gains when it is canceled, or the reason why it is not. */
const bytesMorePerJob = 200;

/** What is canceled must be answered: so jobs that one answer cannot hold are refused first. */
function requireRoom(jobs: readonly Job[]): void {
  if (fitsLambdaResponse(JSON.stringify(jobs) + ' '.repeat(bytesMorePerJob * jobs.length))) return;
  const msg = 'The jobs are more than one answer holds: choose fewer';
  throw new InvalidInput([{ loc: ['query', 'id'], msg, type: 'page_too_large' }]);
}

export const handler = endpoint(
  routes.cancelJobs,
  operation,
  async ({ db, path: { batch_id: id }, query, ...caller }) => {
    const canceled = await countLongCall(db, { userId: caller.userId, scheduleRecovery }, (schedule) =>
      asOwner(db, caller, { right: 'end', table: 'Batches', id }, (owner) => {
        const act = administratorsAct(db, caller, { owner, action: 'job.cancel' });
        return cancelJobs(db, { userId: owner, batchId: id }, query, { act, requireRoom, scheduleRecovery: schedule });
      }),
    );
    return success(canceled);
  },
);
