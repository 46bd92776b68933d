/** The audit trail: what operators did, and administrators of projects to the work of others. */

import * as z from 'zod/mini';
import { onDemand } from './on-demand.ts';
import { IdsFilter, many, pageParameters, Text, TextsFilter, TimeFilter } from './query-parameters.ts';
import { JsonObject, NullableText, Timestamp } from './values.ts';

export const AuditAction = z
  .enum([
    'device.set',
    'batch.cancel',
    'batch.priority',
    'limits.put',
    'limits.delete',
    'batch.close',
    'job.cancel',
    'batch.read',
  ])
  .register(z.globalRegistry, { id: 'AuditAction' });

/** One act, as its row holds it. */
export const Act = z.object({
  at: Timestamp,
  /** The user id of the operator, or of the administrator of a project. */
  operator: z.string(),
  /** What the operator's token called them; older acts have none. */
  operator_name: z._default(NullableText, null),
  action: AuditAction,
  /**
   * What it was done to. The list filters by its `user_id`, `project_id` and `device_type`, if it
   * has them.
   */
  target: z.record(z.string(), z.string()),
  reason: NullableText,
  /** What the act changed, as it was and as it is. Null where there was or is nothing. */
  before: z.nullable(JsonObject()),
  after: z.nullable(JsonObject()),
});
export type Act = z.infer<typeof Act>;

/** An act as it is written. */
export type NewAct = z.input<typeof Act>;

/** An act as the list shows it. */
export const AuditEntry = onDemand(() =>
  z.strictObject({ ...Act.shape, operator_name: NullableText }).register(z.globalRegistry, {
    id: 'ProducedAuditEntryResponse',
    fields: {
      at: 'When it was done.',
      operator: 'Who did it: the `sub` of the token of an operator, or of an administrator of the project.',
      operator_name: 'What that token called them; null where it did not say.',
      action: 'What was done.',
      target:
        'What it affected: `user_id`, with `user_name` if that is known, `batch_id`, `job_id`, `project_id`, `device_type`, `subject`, as far as there are any.',
      reason: 'Why, in the operator’s words; null if none were asked for.',
      before: 'The values before the change; null if there were none.',
      after: 'The values after the change; null if none are left.',
    },
    examples: [
      {
        at: '2026-11-21T02:59:36.123000Z',
        operator: 'operator',
        operator_name: 'Grace Hopper',
        action: 'batch.priority',
        target: {
          user_id: '0f8d1c52-3b1e-4d59-9a53-6e2b7a1c4d10',
          user_name: 'Ada Lovelace',
          batch_id: 'f575fbab-2bec-458e-b877-f5dcf5643560',
          project_id: 'e9f4d87a-2437-4437-8081-20afd0341d87',
          device_type: 'FRESNEL',
        },
        reason: 'The demonstration is at noon.',
        before: { queue_priority: 'LOW' },
        after: { queue_priority: 'HIGH' },
      },
    ],
  }),
);

export const AuditQuery = z
  .object({
    from: TimeFilter,
    to: TimeFilter,
    operator: TextsFilter,
    action: many(z.pipe(Text, AuditAction)),
    user_id: TextsFilter,
    project_id: IdsFilter,
    device_type: TextsFilter,
    ...pageParameters,
  })
  .register(z.globalRegistry, {
    fields: {
      from: 'From this time on; by default 400 days ago, the time for which acts are kept.',
      to: 'Up to this time; by default now.',
      operator: 'Who did it.',
      action: 'What was done.',
      user_id: 'Whom it affected: the owner of the batch, or the user whose limits were set.',
      project_id: 'The project it was about: of the batch, or whose limits were set. Its administrators name it.',
      device_type: 'The device it was about.',
      limit: 'Page size.',
      offset: 'Number of items to skip.',
    },
  });
export type AuditQuery = z.output<typeof AuditQuery>;
