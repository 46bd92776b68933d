import type { Operation } from '../../http/operation.ts';
import { CreateBatchRequest } from '../../schemas/batch-request.ts';
import { IdempotencyKeyHeader } from '../../schemas/idempotency-key.ts';
import { jsonBody } from '../../schemas/json-body.ts';
import { CreationAnswer, CreationQuery } from '../../schemas/validation.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Create a batch',
  description: `Creates a batch with all its jobs, or nothing, and answers with both. All lists and reads show it when the call returns.
Unknown members are ignored, and what may be left out may be null.

- Every job has a sequence: its own, or the batch’s. Its variables are those that the sequence declares, and \`qubits\` for a mappable register.
- A sequence that its device would refuse is refused with all faults at their places in its JSON (422, types \`sequence_…\`): by its form, by the
  device that it was made for, and by what a QPU has announced.
- Without \`device_type\` the batch is for the device whose specification has the name of the sequence’s device. A device type that no device
  has announced is accepted: the batch waits, and its status says why.
- An open batch takes jobs until it is closed. While a device has it, the next job must come within 120 s (a device may set another time);
  otherwise the batch is TIMED_OUT. After an hour at the device, others go first.
- The priority is the token’s (claim \`queue_priority\`, otherwise \`MEDIUM\`); the body may ask for a lower one. If the token has a claim
  \`projects\`, the project must be one of them.
- Operators may limit what has not ended, what is used in a month, the calls of a minute and the devices (\`GET /api/v1/limits\`). A refusal names the
  limit, with \`max\`, \`used\` and \`left\`. What a call has begun is never refused part-way.
- A call takes at most 5,000 jobs, 350 KB for each sequence once gzipped, and 6 MB in all. The body may be gzipped; AWS refuses about
  4.4 MB and more once unzipped (413).
- More than about 80 jobs take several transactions; 5,000 of up to 1 KB take 13 s, longer while other calls of the user write. At 20 s a call that would
  not end in time stops (429, \`unfinished\`). If it does, or dies part-way, repeat it with the same \`Idempotency-Key\` to go on; otherwise the
  batch and its jobs are CANCELED after ten minutes. A call without a key stops with 413, and its batch is CANCELED at once. No device gets the batch before it is complete.
- \`validate_only=true\` stores nothing, and answers with faults, the estimated start and the caller’s limits: 200 also where it would be refused.`,
  query: CreationQuery,
  headers: IdempotencyKeyHeader,
  body: jsonBody(CreateBatchRequest),
  bodyMegabytes: 6,
  success: { status: 200, data: () => CreationAnswer },
  errors: [
    'project_not_allowed',
    'device_type_not_allowed',
    'batch_ended',
    'device_closed',
    'erased',
    'idempotency_key_reused',
    'limit_exceeded',
    'too_many_creations',
    'unfinished',
  ],
} satisfies Operation;
