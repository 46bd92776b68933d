/**
 * The bodies by which users create batches and add to them. Members that the service does not know
 * are ignored: later clients send more. What may be left out may be null.
 */

import * as z from 'zod/mini';
import { isObject } from '../values/json-text.ts';
import { exampleSequence } from './example-sequence.ts';
import { type Fault, printable, whole } from './faults.ts';
import { UuidText } from './id-and-time-texts.ts';
import { boundedText, deviceName, jsonObject, orNull, Tags } from './sent-values.ts';
import { type SequenceFacts, SequenceText, undeclaredVariables } from './sequence.ts';
import { QueuePriority } from './values.ts';

const maxJobs = 5_000;
const maxBatches = 100;

/** A job to be created. Emulators choose a number of runs themselves where none is given. */
export const JobRequest = z
  .object({
    runs: orNull(z.int().check(z.gte(1))),
    variables: orNull(jsonObject(32_000)),
    sequence: orNull(SequenceText),
  })
  .register(z.globalRegistry, {
    id: 'ConsumedJobRequest',
    fields: {
      runs: 'How often to run the sequence; null: the device chooses.',
      variables: 'Values of the sequence’s variables, and `qubits` for a mappable register.',
      sequence: 'The job’s own sequence; null: the batch’s. A job with its own takes no variables.',
    },
  });
export type JobRequest = z.output<typeof JobRequest>;

const JobRequests = z.array(JobRequest).check(z.maxLength(maxJobs));

/**
 * Jobs to be added to a batch: at least one. Whether they fit the batch's sequence is `jobFaults`'
 * to say.
 */
export const AddJobsRequest = JobRequests.check(
  whole((jobs) => (Array.isArray(jobs) && jobs.length === 0 ? [tooFew([])] : jobFaults(jobs, undefined, []))),
);

export const CreateBatchRequest = z
  .object({
    project_id: UuidText,
    sequence_builder: orNull(SequenceText),
    jobs: orEmpty(JobRequests),
    /** Whether jobs may be added later. */
    open: z.pipe(
      z._default(z.nullable(z.boolean()), false),
      z.transform((open) => open ?? false),
    ),
    /** Null: the device that the sequence was made for. */
    device_type: orNull(deviceName),
    queue_priority: orNull(QueuePriority),
    webhook: orNull(boundedText(2_048)),
    configuration: orNull(jsonObject(12_000)),
    /** Kept as it is: clients' texts may hold `Infinity`, which is no JSON. */
    backend_configuration: orNull(boundedText(24_000)),
    tags: orEmpty(Tags),
  })
  .check(
    whole((batch) => {
      if (!isObject(batch)) return [];
      const { jobs, open, sequence_builder = null } = batch;
      const isEmpty = open !== true && Array.isArray(jobs) && jobs.length === 0;
      return isEmpty ? [tooFew(['jobs'])] : jobFaults(jobs, sequence_builder, ['jobs']);
    }),
  )
  .register(z.globalRegistry, {
    id: 'ConsumedCreateBatchRequest',
    fields: {
      project_id: 'Project of the batch.',
      sequence_builder: 'The sequence of jobs without their own: Pulser’s abstract representation, a JSON text.',
      jobs: 'The first jobs: at least one, unless the batch is open.',
      open: 'Whether jobs may be added later. A device that has the batch waits 120 s for the next job, or its `idle_seconds` in `GET /api/v1/devices`; then the batch becomes `TIMED_OUT`.',
      device_type: 'The device; null: the one whose specification has the name of the sequence’s device.',
      queue_priority: 'A lower priority than the token’s.',
      webhook: 'URL that is called about the batch.',
      configuration: 'Configuration of the emulator.',
      backend_configuration: 'Configuration of the backend: any text, kept as it is.',
      tags: 'Tags that identify the batch.',
    },
    example: {
      project_id: '28f69c3b-e076-4ad3-b3f9-cbfc3f84e51e',
      sequence_builder: exampleSequence,
      jobs: [{ runs: 100, variables: { omega: 4.4 } }],
      open: false,
      device_type: 'EMU_MPS',
      tags: ['first'],
    },
  });
export type CreateBatchRequest = z.output<typeof CreateBatchRequest>;

export const CancelBatchesRequest = z.object({
  batch_ids: z.pipe(
    z.array(UuidText).check(z.maxLength(maxBatches)),
    z.transform((ids) => [...new Set(ids)]),
  ),
});

/** The tags that a batch is to have from now on. */
export const TagsRequest = Tags;

/**
 * What is wrong between jobs and their sequences. `sequence` is the batch's: null when it has none;
 * undefined when it is not known yet, and then nothing is reported that depends on it. Parts with
 * faults of their own are passed over.
 */
export function* jobFaults(jobs: unknown, sequence: unknown, path: Fault['path']): Generator<Fault> {
  if (!Array.isArray(jobs)) return;
  for (const [place, job] of jobs.entries()) {
    const { sequence: own = null, variables = null } = (job ?? {}) as Partial<Record<keyof JobRequest, unknown>>;
    const given = isObject(variables) ? variables : {};
    const at = [...path, place];
    if (own !== null) {
      if (Object.keys(given).length === 0) continue;
      const message = 'A job with a sequence of its own takes no variables';
      yield { type: 'value_error', path: [...at, 'variables'], message };
    } else if (sequence === null) {
      const message = 'Field required: neither the job nor the batch has a sequence';
      yield { type: 'missing', path: [...at, 'sequence'], message };
    } else if (isSequence(sequence)) {
      for (const name of undeclaredVariables(sequence, given)) {
        const message = 'The sequence declares no such variable';
        yield { type: 'extra_forbidden', path: [...at, 'variables', printable(name)], message };
      }
    }
  }
}

function tooFew(path: Fault['path']): Fault {
  return { type: 'too_short', path, message: 'List should have at least 1 item' };
}

function orEmpty<Item>(list: z.ZodMiniType<Item[], unknown>) {
  return z.pipe(
    z._default(z.nullable(list), null),
    z.transform((items) => items ?? []),
  );
}

function isSequence(value: unknown): value is SequenceFacts {
  return isObject(value) && value.variables instanceof Set;
}
