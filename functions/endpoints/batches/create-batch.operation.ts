import type { Operation } from '../../http/operation.ts';
import { CreateBatchRequest } from '../../schemas/batch-request.ts';
import { IdempotencyKeyHeader } from '../../schemas/idempotency-key.ts';
import { jsonBody } from '../../schemas/json-body.ts';
import { CreationAnswer, CreationQuery } from '../../schemas/validation.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Create a batch',
  description: `Creates a batch with all its jobs, or nothing. The answer has both; from then on all lists and reads show them.
Unknown members are ignored, and optional members may be null.

- Every job has a sequence: its own, or the batch’s. Its variables are the variables that the sequence declares, and \`qubits\` for a mappable register.
- A sequence that its device would refuse is refused (422, types \`sequence_…\`), with the place of each fault in its JSON. Its
  form is checked, the device that it was made for, and the specification that a QPU has announced. Amplitudes, detunings,
  durations and targets are checked with the values that each job gives to variables.
- Without \`device_type\` the batch is for the device whose specification has the name of the sequence’s device. A device type that
  is not announced yet is accepted: the batch waits, and its status says why.
- An open batch takes jobs until it is closed. While a device has it, the next job must come within 120 s (a device may set another
  time); otherwise the batch becomes TIMED_OUT. After an hour at the device, other batches go first.
- The priority is the token’s (claim \`queue_priority\`, otherwise \`MEDIUM\`); the body may ask for a lower one. If the token has a claim
  \`projects\`, the project must be one of them.
- Operators may limit unfinished work, usage in a month, calls in a minute and devices (\`GET /api/v1/limits\`). A refusal names
  the limit, with \`max\`, \`used\` and \`left\`. A call that has begun is never refused part-way.
- A call takes at most 5,000 jobs, 350 KB for each gzipped sequence, and 6 MB in all. The body may be gzipped; AWS refuses about
  4.4 MB and more of unzipped body (413).
- More than about 80 jobs take several transactions; 5,000 of up to 1 KB take 13 s, longer while other calls of the user write. A
  call that cannot end in time stops at 20 s (429, \`unfinished\`). If it stops, or dies part-way, repeat it with the same
  \`Idempotency-Key\` to go on; otherwise the batch and its jobs are CANCELED after ten minutes. A call without a key stops with
  413, and its batch is CANCELED at once. No device gets the batch before it is complete.
- \`validate_only=true\` stores nothing, and answers 200 with faults, what is left to the device, the estimated start and the caller’s limits, even if the call would be refused.`,
  query: CreationQuery,
  headers: IdempotencyKeyHeader,
  body: jsonBody(CreateBatchRequest),
  bodyMegabytes: 6,
  success: { status: 200, data: CreationAnswer },
  errors: [
    'project_not_allowed',
    'device_type_not_allowed',
    'batch_ended',
    'device_closed',
    'erased',
    'idempotency_key_reused',
    'limit_exceeded',
    'too_many_creations',
    'too_many_changes',
    'unfinished',
  ],
} satisfies Operation;
