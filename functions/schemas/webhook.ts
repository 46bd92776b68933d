/** What receivers of webhooks are sent, and what users see of it. */

import * as z from 'zod/mini';
import { onDemand } from './on-demand.ts';
import {
  BatchStatus,
  Count,
  JobStatus,
  NullableText,
  NullableTimestamp,
  NullableUuid,
  Timestamp,
  Uuid,
} from './values.ts';

const fields = {
  type: 'What happened.',
  timestamp: 'When it happened.',
  data: 'The subject of the message.',
  batch_id: 'Id of the batch.',
  job_id: 'Id of the job.',
  status: 'The status that it ended with.',
  results: 'The results document of the job; absent if there is none, or if it is larger than 20 kB.',
};

export const JobUpdated = onDemand(() =>
  z
    .strictObject({
      type: z.literal('job.updated'),
      timestamp: Timestamp,
      data: z
        .strictObject({
          batch_id: Uuid,
          job_id: Uuid,
          status: JobStatus,
          results: z.exactOptional(z.record(z.string(), z.unknown())),
        })
        .register(z.globalRegistry, { fields }),
    })
    .register(z.globalRegistry, {
      id: 'JobUpdated',
      fields,
      examples: [
        {
          type: 'job.updated',
          timestamp: '2026-11-18T13:07:00.000521Z',
          data: {
            batch_id: 'f575fbab-2bec-458e-b877-f5dcf5643560',
            job_id: '22afe093-6443-4460-bab2-60b21ccf278f',
            status: 'DONE',
            results: { counter: { '000': 8, '001': 3 } },
          },
        },
      ],
    }),
);

export const BatchUpdated = onDemand(() =>
  z
    .strictObject({
      type: z.literal('batch.updated'),
      timestamp: Timestamp,
      data: z.strictObject({ batch_id: Uuid, status: BatchStatus }).register(z.globalRegistry, { fields }),
    })
    .register(z.globalRegistry, {
      id: 'BatchUpdated',
      fields,
      examples: [
        {
          type: 'batch.updated',
          timestamp: '2026-11-18T13:08:00.000885Z',
          data: { batch_id: 'f575fbab-2bec-458e-b877-f5dcf5643560', status: 'DONE' },
        },
      ],
    }),
);

/** The body of a message that a user asked for, to try the receiver. */
export const WebhookTested = onDemand(() =>
  z
    .strictObject({
      type: z.literal('webhook.test'),
      timestamp: Timestamp,
      data: z.strictObject({ batch_id: Uuid }).register(z.globalRegistry, { fields }),
    })
    .register(z.globalRegistry, {
      id: 'WebhookTested',
      fields,
      examples: [
        {
          type: 'webhook.test',
          timestamp: '2026-11-18T13:09:00.000112Z',
          data: { batch_id: 'f575fbab-2bec-458e-b877-f5dcf5643560' },
        },
      ],
    }),
);

const WebhookOutcome = onDemand(() =>
  z
    .enum(['DELIVERED', 'RETRYING', 'GIVEN_UP', 'STOPPED', 'REFUSED'])
    .register(z.globalRegistry, { id: 'WebhookOutcome' }),
);

const WebhookMessageType = onDemand(() =>
  z.enum(['job.updated', 'batch.updated']).register(z.globalRegistry, { id: 'WebhookMessageType' }),
);

/** The last attempt to deliver a message about a batch or one of its jobs, as users see it. */
export const WebhookAttempt = onDemand(() =>
  z
    .strictObject({
      outcome: WebhookOutcome(),
      reason: NullableText,
      type: z.nullable(WebhookMessageType()),
      job_id: NullableUuid,
      attempts: Count,
      attempted_at: NullableTimestamp,
      next_attempt_at: NullableTimestamp,
    })
    .register(z.globalRegistry, {
      id: 'WebhookAttempt',
      fields: {
        outcome: [
          '`DELIVERED`: the receiver answered 2xx.',
          '`RETRYING`: it failed, and will be tried again.',
          '`GIVEN_UP`: the last attempt failed.',
          '`STOPPED`: the receiver answered 410, and gets no more messages about this batch.',
          '`REFUSED`: this webhook is never called.',
        ].join(' '),
        reason: 'Why it was not delivered; null if it was.',
        type: 'What the message was about; null if nothing was sent.',
        job_id: 'The job it was about; null for the batch.',
        attempts: 'How often this message was sent.',
        attempted_at: 'When it was sent.',
        next_attempt_at: 'When it is sent again.',
      },
    }),
);
export type WebhookAttempt = z.infer<ReturnType<typeof WebhookAttempt>>;

/** One call of a receiver, as users see it. */
export const WebhookDelivery = onDemand(() =>
  z
    .strictObject({
      type: z
        .enum([...WebhookMessageType().options, 'webhook.test'])
        .register(z.globalRegistry, { id: 'WebhookDeliveryType' }),
      job_id: NullableUuid,
      attempt: Count,
      sent_at: Timestamp,
      duration_ms: Count,
      status: z.nullable(Count),
      reason: NullableText,
    })
    .register(z.globalRegistry, {
      id: 'WebhookDelivery',
      fields: {
        type: 'What the message was about.',
        job_id: 'The job it was about; null for the batch, and for a test.',
        attempt: 'Number of the attempt at this message, from 1.',
        sent_at: 'When it was sent.',
        duration_ms: 'Milliseconds until the answer, or until the service stopped waiting for it.',
        status: 'The HTTP status of the receiver’s answer; null if there was none.',
        reason: 'Why it was not delivered; null if it was.',
      },
    }),
);
export type WebhookDelivery = z.infer<ReturnType<typeof WebhookDelivery>>;

export const BatchWebhook = onDemand(() =>
  z
    .strictObject({ webhook: NullableText, refusal: NullableText, deliveries: z.array(WebhookDelivery()) })
    .register(z.globalRegistry, {
      id: 'BatchWebhook',
      fields: {
        webhook: 'URL that is called about the batch; null if there is none.',
        refusal: 'Why it is never called; null if it is.',
        deliveries: 'The last ten calls, newest first, for 30 days after the last. Bodies of answers are never read.',
      },
    }),
);
export type BatchWebhook = z.infer<ReturnType<typeof BatchWebhook>>;

/** An attempt as its table holds it. */
export const WebhookAttemptRow = onDemand(() =>
  z.object({
    ...WebhookAttempt().shape,
    user_id: z.string(),
    batch_id: Uuid,
    /** Seconds since 1970. */
    expires_at: Count,
  }),
);

/** What webhooks are verified with. */
export const WebhookPublicKey = onDemand(() =>
  z.strictObject({ public_key: z.string(), previous_public_key: NullableText }).register(z.globalRegistry, {
    id: 'WebhookPublicKey',
    fields: {
      public_key:
        'The ed25519 key, in the form of the Standard Webhooks specification: `whpk_` and the base64 of its 32 bytes.',
      previous_public_key: 'The key before it, which also signs messages; null if there is none.',
    },
    examples: [{ public_key: 'whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=', previous_public_key: null }],
  }),
);
