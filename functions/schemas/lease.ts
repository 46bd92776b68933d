/** What devices send and get: leases, and the work under them. */

import * as z from 'zod/mini';
import { isUserId } from '../identity/user-id.ts';
import { isJsonObject, parseJson } from '../values/json-text.ts';
import { queueKeyPattern } from '../values/queue-key-pattern.ts';
import { BatchProjection } from './batch.ts';
import { exampleSequence } from './example-sequence.ts';
import { reportFault } from './faults.ts';
import { UuidText } from './id-and-time-texts.ts';
import { JobProjection } from './job.ts';
import { onDemand } from './on-demand.ts';
import { boundedText, ErrorTexts, orNull, Time } from './sent-values.ts';
import { Count, JsonObject, Timestamp } from './values.ts';

/** Names a lease: its worker sends it with each call. It proves nothing by itself. */
export interface LeaseReference {
  readonly deviceType: string;
  /** Of the batch in the device's queue. */
  readonly key: string;
  /** The number of the lease. */
  readonly fence: number;
  /** The owner of the batch. */
  readonly userId: string;
  /**
   * The worker did not get the batch's sequence: beside that of the first job, the answer to its
   * claim had no room. So each job that runs the batch's sequence brings it.
   */
  readonly lacksSequence?: true;
}

const Members = z.tuple([
  boundedText(128),
  z.string().check(z.regex(queueKeyPattern)),
  // A release makes it one higher.
  Count.check(z.lt(Number.MAX_SAFE_INTEGER)),
  z.string().check(z.refine(isUserId)),
  z.optional(z.literal(true)),
]);

/**
 * The lease as a text for paths. It is no secret and proves nothing; its holder can read from it
 * who owns the batch.
 */
export function leaseText({ deviceType, key, fence, userId, lacksSequence }: LeaseReference): string {
  const members = [deviceType, key, fence, userId, ...(lacksSequence ? [true] : [])];
  return Buffer.from(JSON.stringify(members)).toString('base64url');
}

const exampleLease = leaseText({
  deviceType: 'EMU_MPS',
  key: '0000000000000024.2.2026-11-21T02:58:36.123000Z.b0741f07-553b-4f0b-b158-3ca53321ea6f',
  fence: 1,
  userId: '0f8d1c52-3b1e-4d59-9a53-6e2b7a1c4d10',
});

/** Reads the text of a lease. */
const LeaseText = z.pipe(
  z.string().register(z.globalRegistry, { examples: [exampleLease] }),
  z.transform((value, context): LeaseReference => {
    const members = Members.safeParse(parseJson(Buffer.from(value, 'base64url').toString()));
    if (members.success) {
      const [deviceType, key, fence, userId, lacksSequence] = members.data;
      return { deviceType, key, fence, userId, ...(lacksSequence && { lacksSequence }) };
    }
    return reportFault(context, { type: 'value_error', message: 'Input should be a lease' });
  }),
);

const pathFields = { lease: 'The lease, from the claim’s answer.', job_id: 'Id of the job.' };

export const LeasePath = z.object({ lease: LeaseText }).register(z.globalRegistry, { fields: pathFields });

/** The device of the lease that a call is under. */
export const deviceOfLease = ({ path }: { readonly path: z.output<typeof LeasePath> }) => path.lease.deviceType;

/** Parameters of a path that names a lease and a job of its batch. */
export const LeaseJobPath = z
  .object({ lease: LeaseText, job_id: UuidText })
  .register(z.globalRegistry, { fields: pathFields });

export const ClaimRequest = z.object({ worker: boundedText(128) }).register(z.globalRegistry, {
  id: 'ClaimRequest',
  fields: { worker: 'Name of the worker, so that operators can find a lost one.' },
  example: { worker: 'fresnel-1' },
});

export const HeartbeatRequest = z.object({ job_id: orNull(UuidText) }).register(z.globalRegistry, {
  id: 'HeartbeatRequest',
  fields: { job_id: 'The job that the worker runs; null while it waits for jobs.' },
  example: { job_id: '5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a' },
});

/** S3 takes up to 5 GB at once; no result is near that. */
const maxResultsBytes = 256 * 1024 * 1024;

export const ResultsRequest = z
  .object({
    bytes: z.int().check(z.gte(1), z.lte(maxResultsBytes)),
    sha256: z
      .string()
      .check(z.regex(/^[0-9a-fA-F]{64}$/), z.toLowerCase())
      .register(z.globalRegistry, { examples: ['44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'] }),
  })
  .register(z.globalRegistry, {
    id: 'ResultsRequest',
    fields: { bytes: 'Length of the document.', sha256: 'Its SHA-256, in hexadecimal.' },
    example: { bytes: 2, sha256: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a' },
  });
export type ResultsRequest = z.output<typeof ResultsRequest>;

/** How a job ended. */
const ReportedStatus = z.enum(['DONE', 'ERROR']).register(z.globalRegistry, { id: 'ReportedStatus' });

/** The largest document that a report may carry, in bytes of its JSON text. */
export const maxReportedBytes = 1024 * 1024;

/** The text of a results document, as a report brings it: see jsonBodyWithText. */
const ResultsText = z
  .custom<string>((text) => isJsonObject(text as string), {
    message: 'Input should be a valid dictionary',
    params: { type: 'dict_type' },
    abort: true,
  })
  .check(
    z.refine((text) => Buffer.byteLength(text) <= maxReportedBytes, {
      error: `A report carries at most ${maxReportedBytes} bytes of results: upload larger ones by a link`,
      params: { type: 'bytes_too_long' },
    }),
  )
  .register(z.globalRegistry, { type: 'object' });

export const ReportRequest = z
  .object({
    status: ReportedStatus,
    start_timestamp: orNull(Time),
    end_timestamp: orNull(Time),
    errors: orNull(ErrorTexts),
    results_document: orNull(ResultsText),
    results: z._default(z.boolean(), false),
  })
  .check(
    z.refine(({ results, results_document }) => !results || results_document === null, {
      error: 'Input should be null where `results` is true: a job has one document',
      path: ['results_document'],
    }),
  )
  .register(z.globalRegistry, {
    id: 'ReportRequest',
    fields: {
      status: 'How the job ended.',
      start_timestamp: 'When it started; by default when it was handed out.',
      end_timestamp: 'When it ended; by default now.',
      errors: 'What went wrong, for the user.',
      results_document:
        'Its results: a JSON object of at most 1 MB (1,048,576 bytes of text), which is stored as it was sent.',
      results: 'Whether its results were uploaded under this lease, by a link.',
    },
    example: {
      status: 'DONE',
      end_timestamp: '2026-11-21T02:59:36Z',
      results_document: { counter: { '011': 62, '001': 38 } },
    },
  });
export type ReportRequest = z.output<typeof ReportRequest>;

/** A job as a device gets it. */
export const LeasedJob = onDemand(() =>
  z
    .strictObject({
      id: JobProjection.shape.id,
      runs: JobProjection.shape.runs,
      variables: z.nullable(JsonObject()),
      sequence: z.nullable(z.string()),
    })
    .register(z.globalRegistry, {
      id: 'LeasedJob',
      fields: {
        id: 'Id of the job.',
        runs: 'How often to run the sequence; null: the device chooses.',
        variables: 'Values of the sequence’s variables.',
        sequence: 'The sequence to run; null: the batch’s, from the claim’s answer.',
      },
    }),
);
export type LeasedJob = z.infer<ReturnType<typeof LeasedJob>>;

/** A batch as a device gets it. */
export const LeasedBatch = onDemand(() =>
  z
    .strictObject({
      id: BatchProjection.shape.id,
      open: BatchProjection.shape.open,
      device_type: BatchProjection.shape.device_type,
      configuration: z.nullable(JsonObject()),
      backend_configuration: BatchProjection.shape.backend_configuration,
      sequence_builder: z.nullable(z.string()),
    })
    .register(z.globalRegistry, {
      id: 'LeasedBatch',
      fields: {
        id: 'Id of the batch.',
        open: 'Whether further jobs may be added.',
        device_type: 'Device that the batch is for.',
        configuration: 'Configuration of the emulator.',
        backend_configuration: 'Configuration of the backend, serialized.',
        sequence_builder:
          'The sequence of its jobs. Null if each job has its own, or if one answer cannot hold both: then each job brings its sequence.',
      },
    }),
);
export type LeasedBatch = z.infer<ReturnType<typeof LeasedBatch>>;

export const Claim = onDemand(() =>
  z
    .strictObject({
      lease: z.string(),
      expires_at: Timestamp,
      heartbeat_seconds: Count,
      batch: LeasedBatch(),
      job: LeasedJob(),
    })
    .register(z.globalRegistry, {
      id: 'Claim',
      fields: {
        lease: 'Identifies the lease in all further calls: an opaque text.',
        expires_at: 'When the lease ends without a heartbeat.',
        heartbeat_seconds:
          'How often to send a heartbeat. Each claim, report and question for the next job counts as one.',
        batch: 'The batch: it stays with this worker until it ends.',
        job: 'The job to run.',
      },
      example: {
        lease: exampleLease,
        expires_at: '2026-11-21T02:59:36.123000Z',
        heartbeat_seconds: 20,
        batch: {
          id: 'b0741f07-553b-4f0b-b158-3ca53321ea6f',
          open: true,
          device_type: 'EMU_MPS',
          configuration: null,
          backend_configuration: null,
          sequence_builder: exampleSequence,
        },
        job: { id: '5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a', runs: 100, variables: { omega: 4.4 }, sequence: null },
      },
    }),
);
export type Claim = z.infer<ReturnType<typeof Claim>>;

/** The claim for an answer that cannot hold two sequences: jobs bring the batch's one by one. */
export function withoutBatchSequence(claim: Claim): Claim {
  const lease = leaseText({ ...LeaseText.parse(claim.lease), lacksSequence: true });
  return { ...claim, lease, batch: { ...claim.batch, sequence_builder: null } };
}

export const Heartbeat = onDemand(() =>
  z.strictObject({ expires_at: Timestamp, cancel: z.boolean() }).register(z.globalRegistry, {
    id: 'Heartbeat',
    fields: {
      expires_at: 'When the lease ends without another heartbeat.',
      cancel: 'Whether to stop the job: it was canceled, or has run for too long.',
    },
  }),
);
export type Heartbeat = z.infer<ReturnType<typeof Heartbeat>>;

export const UploadLink = onDemand(() =>
  z.strictObject({ url: z.string(), headers: z.record(z.string(), z.string()) }).register(z.globalRegistry, {
    id: 'UploadLink',
    fields: { url: 'Where to PUT the document, within 300 s.', headers: 'Headers to send with it, unchanged.' },
    example: {
      url: 'https://results.s3.eu-west-3.amazonaws.com/results/u/1.json?X-Amz-Signature=0123',
      headers: {
        'Content-Length': '35',
        'x-amz-checksum-sha256': 'RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=',
      },
    },
  }),
);
export type UploadLink = z.infer<ReturnType<typeof UploadLink>>;

export const NextJob = onDemand(() =>
  z
    .strictObject({ job: z.nullable(LeasedJob()), done: z.boolean(), retry_after: z.nullable(Count) })
    .register(z.globalRegistry, {
      id: 'NextJob',
      fields: {
        job: 'The next job to run; null if there is none.',
        done: 'Whether the lease has ended. Either the batch has ended, or it waits without this worker: jobs are being added, other batches go first, or an operator has paused the device.',
        retry_after: 'Seconds after which to ask again for the next job; null unless the batch waits for more jobs.',
      },
    }),
);
export type NextJob = z.infer<ReturnType<typeof NextJob>>;
