import { defaultSubject } from '../../schemas/limits.ts';
import type { Preview } from '../../schemas/preview.ts';
import type { Db } from '../dynamodb/db.ts';
import { type LimitsChange, planLimits } from '../limits/limits-of-subjects.ts';
import { limitsWithUse } from '../limits/used-of-limits.ts';

/**
 * What changeLimits would do, with its errors; nothing is written. Limits are checked when work is
 * created, and a batch keeps the `max_job_seconds` of that time: so no batch that waits ends later.
 * Costs the reads of changeLimits and of ownLimits; for a project, a month's usage of all users.
 */
export async function previewLimits(
  db: Db<'Limits' | 'Audit' | 'Columns' | 'Usage' | 'Counters'>,
  change: LimitsChange,
): Promise<Preview> {
  const { held } = await planLimits(db, change);
  const limits = change.subject === defaultSubject ? null : await limitsWithUse(db, change.subject, held);
  // One batch of one job: whatever is counted, something of it must be left.
  const isSpent = limits && Object.values(limits.left).includes(0);
  const refuses_new = limits && (isSpent || limits.limits.device_types?.length === 0);
  return { batches: [], looked_at: 0, is_complete: true, limits, refuses_new };
}
