import type { Db } from '../../functions/data/dynamodb/db.ts';
import { commitTask } from '../../functions/data/lifecycle/commit-tasks.ts';
import { type Change, reportedBatch, withRows } from '../../functions/data/lifecycle/draft.ts';
import type { LifecycleTable } from '../../functions/data/lifecycle/lifecycle-db.ts';
import { effectiveLimits } from '../../functions/data/limits/limits-of-subjects.ts';
import { rowLimits } from '../../functions/limits.ts';
import type { BatchRow } from '../../functions/schemas/batch.ts';
import { projectSubject } from '../../functions/schemas/limits.ts';
import { isFinalBatchStatus } from '../../functions/statuses.ts';
import { readBatch, readBatchItems } from './stored-batches.ts';

interface ProjectCount {
  readonly db: Db<LifecycleTable | 'Limits'>;
  readonly fix: boolean;
  /** Only batches of this user. */
  readonly userId?: string | undefined;
}

/**
 * Finds batches that have not ended and are older than a limit of their project, so that they do
 * not count for it. With `fix` they count from now on: each changes with its counter in one
 * transaction, beside writers. Returns how many it found. Reads all batches, of one user or of all.
 */
export async function countInProjects({ db, fix, userId }: ProjectCount): Promise<number> {
  const areCounted = new Map<string, boolean>();
  let found = 0;
  for await (const item of readBatchItems({ db, userId, condition: 'attribute_exists(project_id)' })) {
    const row = readBatch(item);
    if (row === undefined || !isLeftOut(row)) continue;
    const { user_id, project_id, id } = row;
    if (!areCounted.has(project_id)) areCounted.set(project_id, await isProjectCounted(db, user_id, project_id));
    if (!areCounted.get(project_id)) continue;
    found += 1;
    if (fix) await commitTask(db, { userId: user_id }, { changes: [countBatch(id)] });
  }
  return found;
}

function isLeftOut({ status, counted_in_project = [] }: BatchRow): boolean {
  return !isFinalBatchStatus(status) && rowLimits.some((name) => !counted_in_project.includes(name));
}

async function isProjectCounted(db: Db<'Limits'>, userId: string, projectId: string): Promise<boolean> {
  const held = await effectiveLimits(db, userId, projectId);
  return held.some(({ subject, isCounted }) => subject === projectSubject(projectId) && isCounted === true);
}

/** The transaction derives what changes in the counter. */
function countBatch(id: string): Change {
  return {
    batchIds: [id],
    jobIds: [],
    apply(draft) {
      const batch = reportedBatch(draft, id);
      if (batch === undefined || !isLeftOut(batch)) return draft;
      return withRows(draft, { batches: [{ ...batch, rev: batch.rev + 1, counted_in_project: [...rowLimits] }] });
    },
  };
}
