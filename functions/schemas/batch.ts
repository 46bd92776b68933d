import * as z from 'zod/mini';
import { EstimatedStart, estimateFields, NoEstimateReason } from './estimate.ts';
import { idSpelling, UuidText } from './id-and-time-texts.ts';
import { Job } from './job.ts';
import { onDemand } from './on-demand.ts';
import { JsonText, WrittenAt } from './stored-values.ts';
import {
  BatchStatus,
  Count,
  JobStatus,
  JsonObject,
  NullableText,
  NullableTimestamp,
  NullableUuid,
  OptionalCount,
  ownerNameText,
  QueuePriority,
  RowRights,
  rightsText,
  Timestamp,
  Uuid,
} from './values.ts';
import { WebhookAttempt } from './webhook.ts';

const JobsCountPerStatus = z
  .strictObject(
    Object.fromEntries(JobStatus.options.map((status) => [status, Count])) as Record<JobStatus, typeof Count>,
  )
  .register(z.globalRegistry, { id: 'JobsCountPerStatus' });

/** Reads from a row what a Batch shows of it: all but `complete`, which follows from `open`. */
export const BatchProjection = z.object({
  id: Uuid,
  parent_id: NullableUuid,
  project_id: Uuid,
  user_id: z.string(),
  status: BatchStatus,
  open: z.boolean(),
  device_type: z.string().register(z.globalRegistry, { examples: ['EMU_MPS', 'FRESNEL'] }),
  queue_priority: QueuePriority,
  tags: z.array(z.string()),
  jobs_count: Count,
  jobs_count_per_status: JobsCountPerStatus,
  created_at: Timestamp,
  updated_at: Timestamp,
  start_datetime: NullableTimestamp,
  end_datetime: NullableTimestamp,
  device_status: NullableText,
  webhook: NullableText,
  configuration: z.nullable(JsonText),
  backend_configuration: NullableText,
  erased_at: NullableTimestamp,
});

/**
 * The key of a batch in the queue of its device; null while it is not there. Absent where no worker
 * may take it: it was made by an event.
 */
export const QueueKey = z.exactOptional(z.nullable(z.string()));

/** A batch as its table holds it: what is shown of it, and what the writers keep. */
export const BatchRow = onDemand(() =>
  z.extend(BatchProjection, {
    configuration: NullableText,
    /** Place among the owner’s batches, from 0, without gaps, in creation order. */
    seq: Count,
    /** Grows with every write of the row: the condition of the next one. */
    rev: Count,
    written_at: WrittenAt(),
    /** Not all jobs that it is created with are stored yet. */
    creating: z.exactOptional(z.literal(true)),
    /**
     * What was reported of the batch, while its status or its end is derived (see
     * lifecycle/derive-status.ts).
     */
    reported: z.exactOptional(
      z.strictObject({
        status: BatchStatus,
        updated_at: Timestamp,
        end_datetime: NullableTimestamp,
      }),
    ),
    /** The latest update of any of its jobs; absent until a job is updated. */
    jobs_updated_at: z.exactOptional(Timestamp),
    /**
     * It is being canceled, in several transactions: closed already, its status follows when its
     * jobs are canceled.
     */
    canceling: z.exactOptional(z.literal(true)),
    /** While it is being canceled by an operator: the `errors` of the jobs that are canceled. */
    cancel_reason: z.exactOptional(z.string()),
    /** Its content is being erased: some may still be there (see data/batches/erasures.ts). */
    erasing: z.exactOptional(z.literal(true)),
    /**
     * While it is being canceled: the job that a device ran, by its place, and for how many
     * microseconds.
     */
    ran: z.exactOptional(z.strictObject({ place: Count, device_us: Count })),
    queue_key: QueueKey,
    /**
     * What its user was charged for its place (see data/queue/fair-order.ts), until a device has
     * taken it.
     */
    queue_charges: z.exactOptional(z.array(z.tuple([Count, Count]))),
    /** When it entered the queue, in milliseconds since 1970, until a device has taken it. */
    queued_at: OptionalCount,
    /**
     * What its jobs have used and the sums of usage lack (lifecycle/sum-usage.ts): the day of the
     * ends, jobs done, in error and canceled, shots, microseconds of the device, and how many of
     * them are not counted as busy.
     */
    usage_to_add: z.exactOptional(z.tuple([z.string(), Count, Count, Count, Count, Count, Count])),
    /** Its months are limited, so it carries no usage. */
    sums_at_once: z.exactOptional(z.literal(true)),
    /** How long a job of it may run, by the limits of its user and project when it was created. */
    max_job_seconds: OptionalCount,
    /**
     * The calls that change its jobs in several transactions, and are under way (see
     * lifecycle/pending-calls.ts): the id of one that cancels some; of one that adds some also the
     * `creation_order` of its first job.
     */
    pending_calls: z.exactOptional(z.array(z.union([z.string(), z.strictObject({ id: z.string(), from: Count })]))),
    /**
     * Where unfinished jobs are limited: how many jobs calls under way have announced and not yet
     * added, by their ids.
     */
    jobs_to_come: z.exactOptional(z.record(z.string(), Count)),
    /**
     * The limits of its project whose counters have counted it and its jobs: these alone go down
     * when they end. So no counter is lowered by rows that are older than its limit.
     */
    counted_in_project: z.exactOptional(z.array(z.string())),
  }),
);
export type BatchRow = z.infer<ReturnType<typeof BatchRow>>;

const fields = {
  id: 'Id of the batch.',
  parent_id: 'The batch that this one repeats.',
  project_id: 'Project that owns the batch.',
  user_id: 'User who owns the batch.',
  status: 'Status of the batch.',
  open: 'Whether the batch still accepts jobs.',
  complete: 'Deprecated: the opposite of `open`.',
  device_type: 'Emulator or QPU that the batch is for.',
  queue_priority: 'Priority in the queue.',
  tags: 'Tags that identify the batch.',
  jobs_count: 'Number of jobs, in any status.',
  jobs_count_per_status: 'Number of jobs in each status, zeros included.',
  created_at: 'When the batch was created.',
  updated_at: 'When the batch last changed.',
  start_datetime: 'When the batch started, as the emulator or QPU reported.',
  end_datetime: 'When the batch finished, failed or was canceled; null until then.',
  device_status:
    'The last status from the device, why the batch timed out, or what an operator did to the batch, and why.',
  webhook: 'URL that is called about the batch.',
  configuration: 'Configuration of the emulator.',
  backend_configuration: 'Configuration of the backend, serialized.',
  erased_at: 'When its content and its jobs’ content was erased; null otherwise.',
} satisfies Record<keyof typeof BatchProjection.shape | 'complete', string>;

export { fields as batchFields };

/** A batch as the list shows it: every key always present. */
export const Batch = onDemand(() =>
  z
    .strictObject({ ...BatchProjection.shape, complete: z.boolean(), configuration: z.nullable(JsonObject()) })
    .register(z.globalRegistry, {
      id: 'ProducedBatchResponse',
      fields,
      examples: [
        {
          id: 'f575fbab-2bec-458e-b877-f5dcf5643560',
          parent_id: null,
          project_id: 'e9f4d87a-2437-4437-8081-20afd0341d87',
          user_id: '0f8d1c52-3b1e-4d59-9a53-6e2b7a1c4d10',
          status: 'RUNNING',
          open: false,
          complete: true,
          device_type: 'FRESNEL',
          queue_priority: 'LOW',
          tags: ['adiabatic'],
          jobs_count: 3,
          jobs_count_per_status: { PENDING: 1, RUNNING: 1, DONE: 1, ERROR: 0, CANCELED: 0, CANCELING: 0 },
          created_at: '2026-11-18T12:54:00.000387Z',
          updated_at: '2026-11-18T13:08:00.000885Z',
          start_datetime: '2026-11-18T13:01:00.000418Z',
          end_datetime: null,
          device_status: null,
          webhook: 'https://example.org/batches',
          configuration: { dt: 10 },
          backend_configuration: null,
          erased_at: null,
        },
      ],
    }),
);
export type Batch = z.infer<ReturnType<typeof Batch>>;

/** A batch as the list shows it, of any owner. */
export const ListedBatch = onDemand(() =>
  z
    .strictObject({ ...Batch().shape, user_name: NullableText })
    .register(z.globalRegistry, { id: 'ProducedListedBatchResponse', fields: { ...fields, user_name: ownerNameText } }),
);

const sequenceText = 'The sequence of its jobs; null if each has its own.';
const shownJobs = 'All its jobs, in creation order; absent if there are more than 100, or they exceed one answer.';

const detailFields = {
  ...fields,
  sequence_builder: sequenceText,
  job_ids: 'Ids of all its jobs, in creation order.',
  jobs: shownJobs,
};

/** A batch with what belongs to it. */
export const BatchDetails = onDemand(() =>
  z
    .strictObject({
      ...Batch().shape,
      sequence_builder: z.nullable(z.string()),
      job_ids: z.array(Uuid),
      jobs: z.exactOptional(z.array(Job())),
    })
    .register(z.globalRegistry, { id: 'ProducedBatchDetailsResponse', fields: detailFields }),
);
export type BatchDetails = z.infer<ReturnType<typeof BatchDetails>>;

/** The same, with what its reader may do. */
export const ReadBatch = onDemand(() =>
  z
    .strictObject({ ...BatchDetails().shape, rights: RowRights() })
    .register(z.globalRegistry, { id: 'ProducedReadBatchResponse', fields: { ...detailFields, rights: rightsText } }),
);
export type ReadBatch = z.infer<ReturnType<typeof ReadBatch>>;

/** A batch as the answer to a call that adds to it. */
export const BatchWithJobs = onDemand(() =>
  z
    .strictObject({
      ...Batch().shape,
      sequence_builder: z.exactOptional(z.nullable(z.string())),
      jobs: z.exactOptional(z.array(Job())),
    })
    .register(z.globalRegistry, {
      id: 'ProducedBatchWithJobsResponse',
      fields: { ...fields, sequence_builder: sequenceText, jobs: shownJobs },
    }),
);
export type BatchWithJobs = z.infer<ReturnType<typeof BatchWithJobs>>;

/** What became of batches that were to be canceled. */
export const CanceledBatches = onDemand(() =>
  z.strictObject({ batches: z.array(Batch()), errors: z.record(Uuid, z.string()) }).register(z.globalRegistry, {
    id: 'ProducedCanceledBatchesResponse',
    fields: { batches: 'The canceled batches.', errors: 'Why the others were not canceled, by id.' },
  }),
);

export const BatchPath = z
  .object({ batch_id: UuidText })
  .register(z.globalRegistry, { fields: { batch_id: `Id of the batch. ${idSpelling}` } });

const { id, status, jobs_count, jobs_count_per_status } = BatchProjection.shape;

/** What a client that waits for a batch asks for again and again. */
export const BatchProgress = onDemand(() =>
  z
    .strictObject({
      id,
      status,
      jobs_count,
      jobs_count_per_status,
      queue_position: z.nullable(Count),
      queue_reason: z.nullable(z.string()),
      estimated_start: z.nullable(EstimatedStart()),
      estimated_start_reason: z.nullable(NoEstimateReason()),
      webhook_attempt: z.nullable(WebhookAttempt()),
    })
    .register(z.globalRegistry, {
      id: 'ProducedBatchStatusResponse',
      fields: {
        ...fields,
        queue_position:
          'Number of batches before it in its device’s queue, up to 10 s old; null beyond 1,000, and if it does not wait there.',
        queue_reason:
          'Why it waits: its device takes no batches now (with an operator’s reason), or no machine has announced itself as its device (then the position is null). Otherwise null.',
        ...estimateFields,
        webhook_attempt: 'The last attempt to call the webhook; null if there is no webhook, or it was not called yet.',
      },
    }),
);
export type BatchProgress = z.infer<ReturnType<typeof BatchProgress>>;
