/**
 * The rows that the benchmark lists: one user's batches and jobs, made from a fixed seed so that
 * runs can be compared.
 */

import type { BatchRow } from '../../functions/schemas/batch.ts';
import type { JobRow } from '../../functions/schemas/job.ts';
import { type BatchStatus, type JobOrigin, JobStatus, QueuePriority } from '../../functions/schemas/values.ts';
import { finalBatchStatuses, finalJobStatuses } from '../../functions/statuses.ts';
import { fromMicroseconds, toMicroseconds } from '../../functions/values/timestamp.ts';
import { randomNumbers } from '../../infra/local/demo/seeded-random.ts';

export interface BenchRows {
  /** In creation order. */
  readonly batches: readonly BatchRow[];
  /** In creation order. The jobs of the large batch are the latest and alternate with others. */
  readonly jobs: readonly JobRow[];
  readonly largeBatchId: string;
}

/** Size of each row as DynamoDB counts it. A filler makes it so. */
const rowBytes = 800;
const maxJobsOfOneBatch = 10_000;
const second = 1_000_000;
const firstCreation = toMicroseconds('2025-01-01T00:00:00.000000Z');

/** Values with their shares, in percent. */
const shares = {
  batchStatus: {
    DONE: 85,
    CANCELED: 5,
    PENDING: 3,
    RUNNING: 2.5,
    ERROR: 2,
    TIMED_OUT: 1.5,
    PAUSED: 0.5,
    CANCELING: 0.5,
  },
  // DONE on FRESNEL with HIGH priority: 3 percent together.
  deviceType: { EMU_FREE: 35, EMU_MPS: 20, FRESNEL: 20, EMU_SV: 10, EMU_TN: 5, EMU_FRESNEL: 5, FRESNEL_CAN1: 5 },
  queuePriority: { MEDIUM: 40, LOW: 20, FREE: 19.4, HIGH: 17.6, CRITICAL: 3 },
  project: { 1: 50, 2: 30, 3: 15, 4: 5 },
  jobStatus: { DONE: 85, CANCELED: 5, PENDING: 4, RUNNING: 3, ERROR: 2, CANCELING: 1 },
  origin: { CLIENT: 80, AZURE: 10, OVH: 8, UNKNOWN: 2 },
} as const satisfies Record<string, Record<string, number>> & {
  batchStatus: Record<BatchStatus, number>;
  jobStatus: Record<JobStatus, number>;
};

const tagShares = { calibration: 5, nightly: 20, 'run#7': 1 };

const notStarted = new Set<string>(['PENDING', 'PAUSED']);
const finalStatuses = new Set<string>([...finalBatchStatuses, ...finalJobStatuses]);

/**
 * `size` batches and `size` jobs of them. One more, large batch has another `size` jobs, at most
 * 10,000.
 */
export function benchRows(userId: string, size: number): BenchRows {
  const random = randomNumbers(size);
  const batches = benchBatches(userId, size, random);
  const largeBatchId = batches[Math.floor(size / 2)]?.id ?? '';
  const jobsOfLargeBatch = Math.min(size, maxJobsOfOneBatch);
  const jobCount = size + jobsOfLargeBatch;
  const orders = new Map<string, number>();
  const jobs = Array.from({ length: jobCount }, (_, seq) => {
    const isOfLarge = seq >= size - jobsOfLargeBatch && seq % 2 === 1;
    const other = batches[Math.floor((seq / jobCount) * size)] as BatchRow;
    const batch = isOfLarge || other.id !== largeBatchId ? other : (batches[0] as BatchRow);
    const batchId = isOfLarge ? largeBatchId : batch.id;
    const creationOrder = orders.get(batchId) ?? 0;
    orders.set(batchId, creationOrder + 1);
    return jobRow(userId, seq, random, batchId, creationOrder);
  });
  return { batches, jobs, largeBatchId };
}

/** The batches alone. */
export function benchBatches(userId: string, size: number, random = randomNumbers(size)): BatchRow[] {
  const largeBatch = Math.floor(size / 2);
  return Array.from({ length: size }, (_, seq) =>
    batchRow(
      userId,
      seq,
      random,
      seq === largeBatch ? Math.min(size, maxJobsOfOneBatch) : Math.floor(300 * random() ** 4),
    ),
  );
}

function batchRow(userId: string, seq: number, random: () => number, jobsCount: number): BatchRow {
  const created = firstCreation + seq * 310 * second + Math.floor(random() * 300 * second);
  const status = pick(shares.batchStatus, random) as BatchStatus;
  const times = timesOf(created, status, random);
  return filled('configuration', {
    user_id: userId,
    id: uuid(random),
    parent_id: null,
    project_id: projectId(random),
    status,
    // A closed batch without unfinished jobs would have ended.
    open: random() < 0.1 || status === 'PENDING',
    device_type: pick(shares.deviceType, random),
    queue_priority: QueuePriority.parse(pick(shares.queuePriority, random)),
    tags: Object.entries(tagShares).flatMap(([tag, share]) => (random() * 100 < share ? [tag] : [])),
    jobs_count: jobsCount,
    jobs_count_per_status: countsByStatus(jobsCount),
    created_at: fromMicroseconds(created),
    updated_at: times.updated,
    start_datetime: times.start,
    end_datetime: times.end,
    device_status: null,
    webhook: null,
    configuration: null,
    backend_configuration: null,
    erased_at: null,
    seq,
    rev: 3,
    written_at: {},
  });
}

function jobRow(userId: string, seq: number, random: () => number, batchId: string, creationOrder: number): JobRow {
  const created = firstCreation + seq * 150 * second + Math.floor(random() * 140 * second);
  const status = pick(shares.jobStatus, random) as JobStatus;
  const times = timesOf(created, status, random);
  return filled('variables', {
    user_id: userId,
    id: uuid(random),
    parent_id: null,
    batch_id: batchId,
    project_id: projectId(random),
    status,
    runs: 10 * Math.ceil(200 * random()),
    origin: pick(shares.origin, random) as JobOrigin,
    creation_order: creationOrder,
    created_at: fromMicroseconds(created),
    updated_at: times.updated,
    start_timestamp: times.start,
    end_timestamp: times.end,
    variables: null,
    errors: status === 'ERROR' ? ['The sequence ran out of time.'] : null,
    results_key: null,
    seq,
    rev: 3,
    written_at: {},
  });
}

/** Job statuses in about their usual shares. */
function countsByStatus(jobsCount: number): Record<JobStatus, number> {
  const share = (status: JobStatus) => Math.floor((jobsCount * shares.jobStatus[status]) / 100);
  const counts = Object.fromEntries(JobStatus.options.map((status) => [status, share(status)])) as Record<
    JobStatus,
    number
  >;
  return { ...counts, DONE: counts.DONE + jobsCount - Object.values(counts).reduce((sum, count) => sum + count) };
}

/** Work starts within two hours of its creation and takes up to one hour. */
function timesOf(created: number, status: string, random: () => number) {
  const start = created + Math.floor((30 + 7_200 * random() ** 3) * second);
  const end = start + Math.floor((1 + 3_600 * random() ** 3) * second);
  const started = notStarted.has(status) ? null : start;
  const ended = finalStatuses.has(status) ? end : null;
  const text = (time: number | null) => (time === null ? null : fromMicroseconds(time));
  return { start: text(started), end: text(ended), updated: fromMicroseconds(ended ?? started ?? created) };
}

function filled<Row extends object>(attribute: keyof Row & string, row: Row): Row {
  const wrapping = itemBytes({ [attribute]: JSON.stringify({ note: '' }) }) - itemBytes({ [attribute]: null });
  const missing = rowBytes - itemBytes(row) - wrapping;
  return missing < 0 ? row : { ...row, [attribute]: filler(missing) };
}

const fillers = new Map<number, string>();

/** One string for all rows that need the same: millions of rows fit into memory. */
function filler(length: number): string {
  const known = fillers.get(length) ?? JSON.stringify({ note: 'x'.repeat(length) });
  fillers.set(length, known);
  return known;
}

/**
 * The size of an item by DynamoDB's documentation: names and values, and for each map or list 3
 * bytes and 1 byte an element.
 */
export function itemBytes(item: object): number {
  return Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(value), 0);
}

function valueBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (value instanceof Uint8Array) return value.length;
  if (typeof value === 'number') return 1 + Math.ceil(String(value).replace(/[-.]|0+$/g, '').length / 2);
  if (Array.isArray(value)) return value.reduce<number>((sum, element) => sum + 1 + valueBytes(element), 3);
  if (typeof value === 'object' && value !== null) return 3 + Object.keys(value).length + itemBytes(value);
  return 1;
}

function pick(choices: Readonly<Record<string, number>>, random: () => number): string {
  let rest = random() * 100;
  for (const [value, share] of Object.entries(choices)) {
    rest -= share;
    if (rest < 0) return value;
  }
  return Object.keys(choices)[0] ?? '';
}

function projectId(random: () => number): string {
  return `7a9c0d4e-1b2f-4c3d-8e5f-00000000000${pick(shares.project, random)}`;
}

function uuid(random: () => number): string {
  const hex = Array.from({ length: 4 }, () =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0'),
  ).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}
