/** When a batch that waits is likely to start. */

import * as z from 'zod/mini';
import { Timestamp } from './values.ts';

export const EstimatedStart = z
  .strictObject({ earliest: Timestamp, likely: Timestamp, latest: Timestamp })
  .register(z.globalRegistry, {
    id: 'EstimatedStart',
    fields: {
      earliest: 'At least four starts of five are between it and `latest`.',
      likely: 'About as many starts are before it as after.',
      latest: 'See `earliest`.',
    },
  });
export type EstimatedStart = z.infer<typeof EstimatedStart>;

/** Why nobody can say when a batch starts. */
export const NoEstimateReason = z
  .enum(['paused', 'closed', 'no_worker', 'unknown', 'ended', 'running'])
  .register(z.globalRegistry, { id: 'NoEstimateReason' });
export type NoEstimateReason = z.infer<typeof NoEstimateReason>;

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
    'When it is likely to start, by how long jobs on its device have taken, the batches before it, the workers of the last minute and the windows of the device. Up to 10 s old.',
  estimated_start_reason:
    'Why `estimated_start` is null: `paused` (an operator lets the device take no batches, without an end), `closed`, `no_worker` (none was seen in the last minute), `unknown` (too little is known yet, or more than 1,000 batches are before it), `running` or `ended`. Otherwise null.',
};
