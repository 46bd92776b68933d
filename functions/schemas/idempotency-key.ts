import * as z from 'zod/mini';
import { boundedText } from './sent-values.ts';

/** The header by which a call may be sent again without being carried out again. */
export const IdempotencyKeyHeader = z
  .object({ 'idempotency-key': z.optional(boundedText(256)) })
  .register(z.globalRegistry, {
    fields: {
      'idempotency-key':
        'Names this call. For 15 days, the same key with the same body gets the same batch; with another body it is refused (409). Two headers with different keys are refused (422).',
    },
  });
