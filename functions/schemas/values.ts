/** Values that several schemas share, in the form in which they are stored and answered. */

import * as z from 'zod/mini';
import { rowRights } from '../project-roles.ts';
import { batchStatusNames, jobStatusNames } from '../statuses.ts';
import { onDemand } from './on-demand.ts';

/** Canonical UUID: lower case with hyphens, any variant and version. */
export const Uuid = z
  .string()
  .check(z.regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/))
  .register(z.globalRegistry, { format: 'uuid', examples: ['5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a'] });

/** UTC, fixed width, microseconds. */
export const Timestamp = z
  .string()
  .check(z.regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/))
  .register(z.globalRegistry, { format: 'date-time', examples: ['2026-11-21T02:59:36.123000Z'] });

export const JsonObject = onDemand(() =>
  z.record(z.string(), z.unknown()).register(z.globalRegistry, { id: 'JsonObject' }),
);

/** A whole number from 0. */
export const Count = z.int().check(z.nonnegative());

export const OptionalCount = z.exactOptional(Count);

export const NullableUuid = z.nullable(Uuid);
export const NullableTimestamp = z.nullable(Timestamp);
export const NullableText = z.nullable(z.string());

/** In their sort order. */
export const BatchStatus = z.enum(batchStatusNames).register(z.globalRegistry, { id: 'BatchStatus' });
export type BatchStatus = z.infer<typeof BatchStatus>;

/** In the order of the specification, which is also their sort order. */
export const QueuePriority = z
  .enum(['CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'FREE'])
  .register(z.globalRegistry, { id: 'QueuePriority' });
export type QueuePriority = z.infer<typeof QueuePriority>;

/** Of two priorities the one that waits longer. */
export function lowerPriority(most: QueuePriority, wanted: QueuePriority | null): QueuePriority {
  const rank = (priority: QueuePriority) => QueuePriority.options.indexOf(priority);
  return wanted !== null && rank(wanted) > rank(most) ? wanted : most;
}

/** In their sort order. */
export const JobStatus = z.enum(jobStatusNames).register(z.globalRegistry, { id: 'JobStatus' });
export type JobStatus = z.infer<typeof JobStatus>;

/** What the reader of a batch or job may do with it. */
export const RowRights = onDemand(() => z.array(z.enum(rowRights).register(z.globalRegistry, { id: 'RowRight' })));

export const ownerNameText = 'What the owner is called; null where that is not known.';

export const rightsText =
  'What the caller may do with it: `read`, `repeat` (run it again), `end` (cancel and close it), `change` (anything else).';

/** Where a job came from. */
export const JobOrigin = z.enum(['CLIENT', 'AZURE', 'OVH', 'UNKNOWN']).register(z.globalRegistry, { id: 'JobOrigin' });
export type JobOrigin = z.infer<typeof JobOrigin>;
