import { userResultsPrefix } from '../../../functions/results-key.ts';
import type { BatchStatus, JobOrigin, JobStatus, QueuePriority } from '../../../functions/schemas/values.ts';
import { type Account, accounts } from './accounts.ts';
import { type Random, seededRandom } from './seeded-random.ts';

/** How much to make up. */
export interface DemoDataSize {
  /** Of the first account; the second has a tenth of them. */
  readonly batches: number;
  /** On average; one batch has 300, few of them done. */
  readonly jobsPerBatch: number;
}

/** One account's data as it came to be: events in the order to send them, and the results that they speak of. */
export interface DemoData {
  readonly account: Account;
  /** Ids of all batches, in the order of their creation. */
  readonly batchIds: readonly string[];
  readonly events: readonly LifecycleEventInput[];
  readonly results: readonly DemoResults[];
}

/** As a machine sends it: functions/schemas/lifecycle-event.ts says what it may hold. */
export interface LifecycleEventInput {
  readonly id: string;
  readonly type: 'batch.created' | 'batch.updated' | 'job.updated';
  readonly time: string;
  readonly user_id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface DemoResults {
  readonly key: string;
  /** Bit strings of the runs as the client reads them: how often each came, and each in turn. */
  readonly content: { readonly counter: Readonly<Record<string, number>>; readonly raw: readonly string[] };
}

const days = 180;
const minute = 60_000;
const largeBatchJobs = 300;

const devices = ['EMU_FREE', 'EMU_SV', 'EMU_TN', 'EMU_MPS', 'EMU_FRESNEL', 'FRESNEL', 'FRESNEL_CAN1'] as const;
const tags = ['calibration', 'mis', 'ising', 'tutorial', 'benchmark', 'adiabatic', 'paper-2026', 'nightly'] as const;
const priorities: readonly QueuePriority[] = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'FREE'];
const allStatuses: readonly BatchStatus[] = [
  'TIMED_OUT',
  'ERROR',
  'CANCELED',
  'DONE',
  'PAUSED',
  'CANCELING',
  'PENDING',
  'RUNNING',
];

const oldStatuses = { DONE: 72, ERROR: 10, CANCELED: 10, TIMED_OUT: 8 } as const;
const recentStatuses = { PENDING: 35, RUNNING: 25, PAUSED: 8, CANCELING: 7, DONE: 20, ERROR: 5 } as const;
const origins = { CLIENT: 70, AZURE: 15, OVH: 12, UNKNOWN: 3 } as const;

/** What became of a batch's jobs, by the batch's status: one for the first jobs, one in the middle, one for the rest. */
const jobStatuses: Readonly<Record<BatchStatus, readonly [JobStatus, JobStatus, JobStatus]>> = {
  PENDING: ['PENDING', 'PENDING', 'PENDING'],
  RUNNING: ['DONE', 'RUNNING', 'PENDING'],
  DONE: ['DONE', 'DONE', 'DONE'],
  CANCELED: ['DONE', 'CANCELED', 'CANCELED'],
  CANCELING: ['DONE', 'CANCELING', 'CANCELED'],
  TIMED_OUT: ['DONE', 'ERROR', 'CANCELED'],
  ERROR: ['DONE', 'ERROR', 'ERROR'],
  PAUSED: ['DONE', 'PENDING', 'PENDING'],
};

const failures = [
  'The pulse sequence exceeds the maximum duration of the device.',
  'The register could not be assembled after 10 attempts.',
  'The emulator ran out of memory: reduce the number of qubits or the bond dimension.',
];

/**
 * Makes up the data of both accounts: always the same for the same size and day. Everything happened in the half year
 * before `now` (milliseconds since 1970), at the latest at its midnight.
 */
export function demoData(size: DemoDataSize, now: number): readonly DemoData[] {
  const [first, second] = accounts;
  const smaller = { ...size, batches: Math.ceil(size.batches / 10) };
  return [accountData(first, size, now), accountData(second, smaller, now)];
}

function accountData(account: Account, { batches, jobsPerBatch }: DemoDataSize, now: number): DemoData {
  const random = seededRandom(account.username);
  const latest = now - (now % (24 * 60 * minute)) - 60 * minute;
  const projects = Array.from({ length: account === accounts[0] ? 4 : 2 }, () => random.uuid());
  const created: LifecycleEventInput[] = [];
  const updates: LifecycleEventInput[] = [];
  const results: DemoResults[] = [];
  const batchIds: string[] = [];
  const largest = account === accounts[0] ? Math.floor(batches / 3) : -1;
  for (let index = 0; index < batches; index++) {
    const makeEvent = (type: LifecycleEventInput['type'], id: string, at: number, data: Record<string, unknown>) => ({
      id: `${type}/${id}`,
      type,
      time: timestamp(at, random),
      user_id: account.userId,
      data,
    });
    const share = (index + 1) / batches;
    const batchId = random.uuid();
    const createdAt = latest - Math.round((1 - share) * days * 24 * 60 * minute) - 30 * minute;
    const status = index === largest ? 'RUNNING' : statusOf(index, batches, share, random);
    const active = ['PENDING', 'RUNNING', 'PAUSED'].includes(status);
    const emptyByDesign = index === batches - 2;
    const open = emptyByDesign || (active && random.chance(0.4));
    const device = random.pick(devices);
    const average = Math.max(random.whole(0, 2 * jobsPerBatch), jobsPerBatch > 0 && !open ? 1 : 0);
    const empty = emptyByDesign || (open && status === 'PENDING' && random.chance(0.5));
    const count = index === largest ? largeBatchJobs : empty ? 0 : average;
    const isParametrized = random.chance(0.6);
    const jobs = Array.from({ length: count }, () => ({
      id: random.uuid(),
      runs: random.pick([50, 100, 200, 500]),
      origin: random.weighted<JobOrigin>(origins),
      ...(isParametrized && { variables: { omega: random.decimal(1, 12), duration: random.whole(4, 400) * 10 } }),
    }));
    batchIds.push(batchId);
    created.push(
      makeEvent('batch.created', batchId, createdAt, {
        id: batchId,
        project_id: random.pick(projects),
        ...(index > 0 && random.chance(0.08) && { parent_id: random.pick(batchIds.slice(0, -1)) }),
        device_type: device,
        queue_priority: random.pick(priorities),
        open: open || random.chance(0.2),
        ...(random.chance(0.5) && { tags: random.sample(tags, random.whole(1, 3)) }),
        ...(random.chance(0.1) && { webhook: 'https://example.com/hooks/batch-done' }),
        ...configurationOf(device, random),
        jobs,
      }),
    );

    const startedAt = createdAt + random.whole(1, 9) * minute;
    const endedAt = startedAt + random.whole(2, 18) * minute;
    const ended = ['DONE', 'ERROR', 'TIMED_OUT'].includes(status) || (status === 'CANCELED' && random.chance(0.5));
    const started = ended || ['RUNNING', 'PAUSED', 'CANCELING'].includes(status);
    const doneShare = status === 'DONE' ? 1 : index === largest ? 0.1 : random.decimal(0, 1);
    const firstTurn = Math.floor(count * doneShare);
    for (const [place, job] of jobs.entries()) {
      const turn = place < firstTurn ? 0 : place === firstTurn ? 1 : 2;
      const planned = jobStatuses[status][turn];
      const jobStatus = planned === 'DONE' && random.chance(0.05) ? 'ERROR' : planned;
      if (jobStatus === 'PENDING') continue;
      const ran = started && jobStatus !== 'CANCELED';
      const jobEnded = jobStatus !== 'RUNNING' && jobStatus !== 'CANCELING';
      const slot = (endedAt - startedAt) / count;
      const key = `${userResultsPrefix(account.userId)}${job.id}.json`;
      updates.push(
        makeEvent('job.updated', job.id, startedAt + slot * (place + 1), {
          job_id: job.id,
          status: jobStatus,
          ...(ran && { start_timestamp: timestamp(startedAt + slot * place, random) }),
          ...(ran && jobEnded && { end_timestamp: timestamp(startedAt + slot * (place + 0.9), random) }),
          ...(jobStatus === 'ERROR' && { errors: [random.pick(failures)] }),
          ...(jobStatus === 'DONE' && { results_key: key }),
        }),
      );
      if (jobStatus === 'DONE') results.push({ key, content: measurements(job.runs, random) });
    }
    if (status !== 'PENDING') {
      updates.push(
        makeEvent('batch.updated', batchId, ended ? endedAt : startedAt, {
          batch_id: batchId,
          status,
          ...(!open && { open: false }),
          ...(started && { start_datetime: timestamp(startedAt, random) }),
          ...(ended && { end_datetime: timestamp(endedAt, random) }),
          ...(device.startsWith('FRESNEL') && { device_status: random.pick(['UP', 'CALIBRATING', 'DOWN']) }),
        }),
      );
    }
  }
  return { account, batchIds, events: [...created, ...updates], results };
}

/** The youngest batches go through all statuses, the last one is RUNNING: even a small set has each; old ones have ended. */
function statusOf(index: number, batches: number, share: number, random: Random): BatchStatus {
  const fromEnd = batches - 1 - index;
  if (fromEnd < allStatuses.length) return allStatuses[allStatuses.length - 1 - fromEnd]!;
  return share < 0.8 ? random.weighted<BatchStatus>(oldStatuses) : random.weighted<BatchStatus>(recentStatuses);
}

/** In the form that the client reads for the device. */
function configurationOf(device: string, random: Random) {
  if (device === 'EMU_FREE' && random.chance(0.5)) return { configuration: { with_noise: random.chance(0.5) } };
  if (device === 'EMU_TN' && random.chance(0.8)) {
    return { configuration: { dt: 10, precision: random.pick(['low', 'normal', 'high']), max_bond_dim: 500 } };
  }
  return {};
}

/** Measured bit strings, a few of them likely. */
function measurements(runs: number, random: Random): DemoResults['content'] {
  const qubits = random.whole(3, 6);
  const bits = () =>
    random
      .whole(0, 2 ** qubits - 1)
      .toString(2)
      .padStart(qubits, '0');
  const likely = [bits(), bits(), bits()];
  const raw = Array.from({ length: runs }, () => (random.chance(0.85) ? random.pick(likely) : bits()));
  const counter = Object.fromEntries([...Map.groupBy(raw, (each) => each)].map(([each, all]) => [each, all.length]));
  return { counter, raw };
}

function timestamp(milliseconds: number, random: Random): string {
  const whole = new Date(milliseconds).toISOString().slice(0, -1);
  return `${whole}${String(random.whole(0, 999)).padStart(3, '0')}Z`;
}
