/** When a batch that waits is likely to start. */

import * as z from 'zod/mini';
import { onDemand } from './on-demand.ts';
import { Timestamp } from './values.ts';

/** The time of something that is estimated, such as starts. */
export function estimatedTime(id: string, what: string) {
  return z.strictObject({ earliest: Timestamp, likely: Timestamp, latest: Timestamp }).register(z.globalRegistry, {
    id,
    fields: {
      earliest: `At least four of five ${what} lie between it and \`latest\`.`,
      likely: `About half of all ${what} lie before it.`,
      latest: 'See `earliest`.',
    },
  });
}

export const EstimatedStart = onDemand(() => estimatedTime('EstimatedStart', 'starts'));
export type EstimatedStart = z.infer<ReturnType<typeof EstimatedStart>>;

/** Why the start of a batch cannot be estimated. */
export const NoEstimateReason = onDemand(() =>
  z
    .enum(['paused', 'closed', 'no_worker', 'unknown', 'ended', 'running'])
    .register(z.globalRegistry, { id: 'NoEstimateReason' }),
);
export type NoEstimateReason = z.infer<ReturnType<typeof NoEstimateReason>>;

/** Exactly one of the two is null. */
export interface StartEstimate {
  readonly estimated_start: EstimatedStart | null;
  readonly estimated_start_reason: NoEstimateReason | null;
}

export function noEstimate(reason: NoEstimateReason): StartEstimate {
  return { estimated_start: null, estimated_start_reason: reason };
}

export const estimateFields = {
  estimated_start:
    'When it is likely to start: estimated from the times of jobs on its device, the batches before it, the workers of the last minute and the device’s windows. Up to 10 s old.',
  estimated_start_reason:
    'Why `estimated_start` is null: `paused` (by an operator, without an end), `closed`, `no_worker` (none was seen in the last minute), `unknown` (too little is known yet, or more than 1,000 batches are before it), `running` or `ended`. Otherwise null.',
};

/** What the OpenAPI document says of the header of the statuses of batches and jobs. */
export const nextLook =
  'Until it has ended, `Retry-After` says when to look again: after 1 s while it is at work or next, later the more batches are before it, at most after 60 s.';
