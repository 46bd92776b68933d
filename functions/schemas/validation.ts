/** What a call would be answered that only asks whether it may be made (`validate_only`). */

import * as z from 'zod/mini';
import type { InputFault } from '../errors.ts';
import { BatchWithJobs } from './batch.ts';
import { ValidationError } from './error-body.ts';
import { EstimatedStart, estimateFields, NoEstimateReason, type StartEstimate } from './estimate.ts';
import { OwnLimits } from './limits.ts';
import { onDemand } from './on-demand.ts';
import { FlagFilter } from './query-parameters.ts';

/** Parameters of a call that creates. */
export const CreationQuery = z.object({ validate_only: FlagFilter }).register(z.globalRegistry, {
  fields: {
    validate_only:
      'Only check the request: nothing is stored, and no `Idempotency-Key` is remembered. Faults and refusals are in `faults`, and the status is 200.',
  },
});

const Validation = onDemand(() =>
  z
    .strictObject({
      faults: z.array(ValidationError()),
      left_to_device: z.array(
        z.omit(ValidationError(), { type: true }).register(z.globalRegistry, { id: 'LeftToDevice' }),
      ),
      estimated_start: z.nullable(EstimatedStart()),
      estimated_start_reason: z.nullable(NoEstimateReason()),
      limits: OwnLimits(),
    })
    .register(z.globalRegistry, {
      id: 'ProducedValidationResponse',
      fields: {
        ...estimateFields,
        faults:
          'Why the call would be refused: all faults, or the first 99 and how many follow; empty if it would not be refused. For a refusal that is no fault of the input, `type` is the error’s reason.',
        left_to_device:
          'What the check did not look at, in words: at most ten entries, empty if it could look at all that it knows. The device judges it when the job runs; beside this the waits between pulses, phases and detuning maps.',
        limits: 'The limits of the caller, as in `GET /api/v1/limits`.',
      },
    }),
);

export interface Validation extends StartEstimate {
  readonly faults: readonly InputFault[];
  readonly left_to_device: readonly Pick<InputFault, 'loc' | 'msg'>[];
  readonly limits: OwnLimits;
}

export const CreationAnswer = onDemand(() => z.union([BatchWithJobs(), Validation()]));
