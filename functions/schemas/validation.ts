/** What a call would be answered that only asks whether it may be made (`validate_only`). */

import * as z from 'zod/mini';
import type { InputFault } from '../errors.ts';
import { BatchWithJobs } from './batch.ts';
import { ValidationError } from './error-body.ts';
import { EstimatedStart, estimateFields, NoEstimateReason, type StartEstimate } from './estimate.ts';
import { OwnLimits } from './limits.ts';
import { FlagFilter } from './query-parameters.ts';

/** Parameters of a call that creates. */
export const CreationQuery = z.object({ validate_only: FlagFilter }).register(z.globalRegistry, {
  fields: {
    validate_only:
      'Only say what the answer would be: nothing is stored, no `Idempotency-Key` remembered. Faults and refusals are in `faults`, and the status is 200.',
  },
});

const Validation = z
  .strictObject({
    faults: z.array(ValidationError),
    estimated_start: z.nullable(EstimatedStart),
    estimated_start_reason: z.nullable(NoEstimateReason),
    limits: OwnLimits,
  })
  .register(z.globalRegistry, {
    id: 'ProducedValidationResponse',
    fields: {
      ...estimateFields,
      faults:
        'Why the call would be refused, up to the first 99 faults and how many follow; empty if it would not be. Of a refusal that is no fault of the input, `type` is the reason that the error would name.',
      limits: 'The limits of the caller, as `GET /api/v1/limits` answers.',
    },
  });

export interface Validation extends StartEstimate {
  readonly faults: readonly InputFault[];
  readonly limits: OwnLimits;
}

/** The answer to a creation. */
export const CreationAnswer = z.union([BatchWithJobs, Validation]);
