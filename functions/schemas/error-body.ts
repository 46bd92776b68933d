/**
 * The body of every error, as the OpenAPI document and the tests read it; http/error-reply.ts
 * writes it.
 */

import * as z from 'zod/mini';
import { type Reason, reasons } from '../reasons.ts';
import { onDemand } from './on-demand.ts';
import { Timestamp } from './values.ts';

const failure = {
  status: z.enum(['fail', 'error']).register(z.globalRegistry, {
    id: 'Failure',
    description: '`fail`: the request is at fault (4xx). `error`: the service is at fault (5xx).',
  }),
  message: z.string().check(z.describe('Name of the status.')),
  code: z.string().check(z.describe('The status.')),
};

/** Why, for programs. Its description lists what each reason means. */
const ErrorReason = onDemand(() =>
  z.enum(Object.keys(reasons) as [Reason, ...Reason[]]).register(z.globalRegistry, {
    id: 'ErrorReason',
    description: Object.entries(reasons)
      .map(([reason, { status, meaning }]) => `- \`${reason}\` (${status}): ${meaning}`)
      .join('\n'),
  }),
);

/** Of a limit that an operator has set. */
const limit = {
  limit: z.exactOptional(z.string().check(z.describe('The limit that was reached.'))),
  subject: z.exactOptional(z.string().check(z.describe('Whose it is: `user:ID` or `project:ID`.'))),
  max: z.exactOptional(z.number()),
  used: z.exactOptional(z.number()),
  left: z.exactOptional(z.number()),
  begins_anew_at: z.exactOptional(Timestamp.check(z.describe('When the counted month ends.'))),
};

export const ErrorBody = onDemand(() =>
  z
    .strictObject({ ...failure, data: z.strictObject({ reason: ErrorReason(), description: z.string(), ...limit }) })
    .register(z.globalRegistry, { id: 'ErrorResponse' }),
);

export const ValidationError = onDemand(() =>
  z
    .strictObject({
      loc: z
        .array(z.union([z.string(), z.int()]))
        .check(
          z.describe('Where: the part of the request, then names and indexes.'),
          z.meta({ examples: [['query', 'status', 0]] }),
        ),
      msg: z.string(),
      type: z.string().check(z.describe('Kind of fault, named as in pydantic 2.'), z.meta({ examples: ['enum'] })),
    })
    .register(z.globalRegistry, { id: 'ValidationError' }),
);

export const ValidationErrorBody = onDemand(() =>
  z
    .strictObject({
      ...failure,
      data: z.strictObject({ reason: z.literal('invalid_input'), description: z.array(ValidationError()) }),
      detail: z.array(ValidationError()).check(z.describe('Every fault of the request.')),
    })
    .register(z.globalRegistry, { id: 'HTTPValidationError' }),
);
