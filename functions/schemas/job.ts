import * as z from 'zod/mini';
import { idSpelling, UuidText } from './id-and-time-texts.ts';
import { onDemand } from './on-demand.ts';
import { JsonText, WrittenAt } from './stored-values.ts';
import {
  Count,
  JobOrigin,
  JobStatus,
  JsonObject,
  NullableText,
  NullableTimestamp,
  NullableUuid,
  OptionalCount,
  ownerNameText,
  RowRights,
  rightsText,
  Timestamp,
  Uuid,
} from './values.ts';

/** Reads from a row what a Job shows of it. */
export const JobProjection = z.object({
  id: Uuid,
  parent_id: NullableUuid,
  batch_id: Uuid,
  project_id: Uuid,
  user_id: z.string(),
  status: JobStatus,
  runs: z.nullable(Count),
  origin: JobOrigin,
  creation_order: Count,
  created_at: Timestamp,
  updated_at: Timestamp,
  start_timestamp: NullableTimestamp,
  end_timestamp: NullableTimestamp,
  variables: z.nullable(JsonText),
  errors: z.nullable(z.array(z.string())),
  calibration: z._default(z.nullable(Count), null),
});

/**
 * A job as its table holds it: what is shown of it, where its results are, and what the writers
 * keep.
 */
export const JobRow = onDemand(() =>
  z.extend(JobProjection, {
    variables: NullableText,
    /**
     * The device's calibration when the job was handed out under its last lease: set only while it
     * runs and after, and only if there was one.
     */
    calibration: OptionalCount,
    /** Key of its results in the bucket; null until there are any. */
    results_key: NullableText,
    /** Its batch has a webhook: the table's stream brings its end (tables.ts). */
    has_webhook: z.exactOptional(z.literal(true)),
    /** When its content was erased. From then on no event changes it. */
    erased_at: z.exactOptional(Timestamp),
    /** Place among the owner’s jobs, from 0, without gaps, in creation order. */
    seq: Count,
    /** Grows with every write of the row: the condition of the next one. */
    rev: Count,
    written_at: WrittenAt(),
    /**
     * What was reported of the job, while its status or its end is derived (see
     * lifecycle/derive-status.ts).
     */
    reported: z.exactOptional(
      z.strictObject({
        status: JobStatus,
        updated_at: Timestamp,
        errors: z.nullable(z.array(z.string())),
        end_timestamp: NullableTimestamp,
      }),
    ),
    /**
     * Of the lease under which a device reported its end: distinguishes a repeated report from a
     * late one.
     */
    fence: OptionalCount,
    /**
     * How long devices worked on it under leases, in microseconds: on a job that runs, under those
     * before.
     */
    device_us: OptionalCount,
    /** The sum of its results' counter, when the request left open how often to run the job. */
    shots: OptionalCount,
  }),
);
export type JobRow = z.infer<ReturnType<typeof JobRow>>;

const fields = {
  id: 'Id of the job.',
  parent_id: 'The job that this one repeats.',
  batch_id: 'Batch of the job.',
  project_id: 'Project that owns the job.',
  user_id: 'User who owns the job.',
  status: 'Status of the job.',
  runs: 'How often to run the sequence; null: the device chooses.',
  origin: 'Where the job came from.',
  creation_order: 'Place within its batch, from 0, without gaps.',
  created_at: 'When the job was created.',
  updated_at: 'When the job last changed.',
  start_timestamp: 'When the job started.',
  end_timestamp: 'When the job ended; null until then.',
  variables: 'Values of the sequence’s variables.',
  errors: 'What went wrong.',
  calibration:
    'Number of the device’s calibration that was in force when the job was last handed out; null until then, if there was none, and for jobs that run outside the queue.',
} satisfies Record<keyof typeof JobProjection.shape, string>;

/** A job as the list shows it, without its results: every key always present. */
export const Job = onDemand(() =>
  z
    .strictObject({ ...JobProjection.shape, variables: z.nullable(JsonObject()), calibration: z.nullable(Count) })
    .register(z.globalRegistry, {
      id: 'ProducedPartialJobResponseV2',
      fields,
      examples: [
        {
          id: '22afe093-6443-4460-bab2-60b21ccf278f',
          parent_id: null,
          batch_id: 'f575fbab-2bec-458e-b877-f5dcf5643560',
          project_id: 'e9f4d87a-2437-4437-8081-20afd0341d87',
          user_id: '0f8d1c52-3b1e-4d59-9a53-6e2b7a1c4d10',
          status: 'DONE',
          runs: 100,
          origin: 'CLIENT',
          creation_order: 0,
          created_at: '2026-11-18T12:54:00.000387Z',
          updated_at: '2026-11-18T13:08:00.000885Z',
          start_timestamp: '2026-11-18T13:01:00.000418Z',
          end_timestamp: '2026-11-18T13:07:00.000521Z',
          variables: { omega_max: 9.4 },
          errors: null,
          calibration: 42,
        },
      ],
    }),
);
export type Job = z.infer<ReturnType<typeof Job>>;

/** A job as the list shows it, of any owner. */
export const ListedJob = onDemand(() =>
  z.strictObject({ ...Job().shape, user_name: NullableText }).register(z.globalRegistry, {
    id: 'ProducedListedJobResponse',
    fields: { ...fields, user_name: ownerNameText },
  }),
);

/** What became of jobs that were to be canceled. */
export const CanceledJobs = onDemand(() =>
  z.strictObject({ jobs: z.array(Job()), errors: z.record(Uuid, z.string()) }).register(z.globalRegistry, {
    id: 'ProducedCanceledJobsResponse',
    fields: { jobs: 'The canceled jobs.', errors: 'Why the others were not canceled, by id.' },
  }),
);

/** A job with the sequence that it has of its own, and with what its reader may do. */
export const ReadJob = onDemand(() =>
  z.strictObject({ ...Job().shape, sequence: z.nullable(z.string()), rights: RowRights() }).register(z.globalRegistry, {
    id: 'ProducedJobResponseV2',
    fields: { ...fields, sequence: 'The job’s own sequence; null: it runs its batch’s.', rights: rightsText },
  }),
);
export type ReadJob = z.infer<ReturnType<typeof ReadJob>>;

/** What a client that waits for a job asks for again and again. */
export const JobProgress = onDemand(() =>
  z
    .strictObject({ id: JobProjection.shape.id, status: JobProjection.shape.status })
    .register(z.globalRegistry, { id: 'ProducedJobStatusResponse', fields }),
);

export const JobPath = z
  .object({ job_id: UuidText })
  .register(z.globalRegistry, { fields: { job_id: `Id of the job. ${idSpelling}` } });
