import { fromMilliseconds } from '../../values/timestamp.ts';
import type { Db } from '../dynamodb/db.ts';
import { type AuditedAct, auditedAct, type DescribedAct } from '../lifecycle/audited-act.ts';
import type { Member } from '../projects/access.ts';

interface ActOnWork extends Pick<DescribedAct, 'changes'> {
  /** For the owner. */
  readonly words: string;
}

/**
 * What administrators of a project do to the work of others. The audit trail keeps no words for the
 * owner: the name in them could not be erased there.
 */
const acts = {
  'batch.cancel': {
    words: 'canceled the batch',
    changes: ({ status, open, jobs_count_per_status }) => ({
      before: { status, open, jobs_count_per_status },
      after: { status: 'CANCELED', open: false },
    }),
  },
  'batch.close': {
    words: 'closed the batch',
    changes: ({ open }) => ({ before: { open }, after: { open: false } }),
  },
  'job.cancel': {
    words: 'canceled the job',
    changes: ({ jobs_count_per_status }, job) => ({
      before: job === undefined ? { jobs_count_per_status } : { status: job.status },
      after: { status: 'CANCELED' },
    }),
  },
} as const satisfies Partial<Record<DescribedAct['action'], ActOnWork>>;

/** The trace of what the caller does to the work of this owner; undefined where both are one. */
export function administratorsAct(
  db: Db<'Audit'>,
  { userId, claims }: Member,
  { owner, action }: { readonly owner: string; readonly action: keyof typeof acts },
): AuditedAct | undefined {
  if (owner === userId) return undefined;
  const { words, changes } = acts[action];
  const text = `${claims.user_name ?? userId}, who administers the project, ${words}.`;
  const at = fromMilliseconds(db.clock.now());
  return auditedAct(db, { at, operator: userId, operator_name: claims.user_name, action, reason: null, text, changes });
}
