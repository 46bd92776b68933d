import type { Act, NewAct } from '../../schemas/audit.ts';
import type { Batch, BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import type { Db } from '../dynamodb/db.ts';
import type { Write } from '../dynamodb/write-units.ts';
import { auditWrite } from '../rows/acts.ts';

/** What someone else than its owner does to a batch, or to jobs of it. */
export interface AuditedAct {
  /** The user id of who does it. */
  readonly actor: string;
  /** For the owner: the batch's `device_status`, and the `errors` of jobs that it cancels. */
  readonly text: string;
  /**
   * The act's row in the audit trail: written once, with the first transaction that changes
   * anything. An act on one job is given it.
   */
  readonly write: (batch: BatchRow, job?: JobRow) => Write;
}

export interface DescribedAct extends Pick<NewAct, 'at' | 'operator' | 'operator_name' | 'action' | 'reason'> {
  readonly text: string;
  /** What the act changes, as it was and as it is. */
  readonly changes: (batch: BatchRow, job?: JobRow) => Pick<Act, 'before' | 'after'>;
}

export function auditedAct(db: Db<'Audit'>, { text, changes, ...act }: DescribedAct): AuditedAct {
  return {
    actor: act.operator,
    text,
    write: (batch, job) =>
      auditWrite(db, {
        ...act,
        target: { ...targetOf(batch), ...(job && { job_id: job.id }) },
        ...changes(batch, job),
      }),
  };
}

/** How the audit trail names a batch. */
export function targetOf({ user_id, id, project_id, device_type }: Batch | BatchRow): Act['target'] {
  return { user_id, batch_id: id, project_id, device_type };
}
