import type { BatchStatus, JobOrigin, JobStatus, QueuePriority } from '../../../functions/schemas/values.ts';
import { userResultsPrefix } from '../../../functions/values/results-key.ts';
import type { DemoDataSize } from '../folder/data-folder.ts';
import { type Account, accounts, projectAccounts } from '../issuer/accounts.ts';
import { type Random, seededRandom } from './seeded-random.ts';

/** One account's data: events in the order to send them, and the results that they refer to. */
export interface DemoData {
  readonly account: Account;
  readonly events: readonly LifecycleEventInput[];
  readonly results: readonly DemoResults[];
}

/** As a machine sends it: functions/schemas/lifecycle-event.ts says what it may hold. */
interface LifecycleEventInput {
  readonly id: string;
  readonly type: 'batch.created' | 'batch.updated' | 'job.updated';
  readonly time: string;
  readonly user_id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface DemoResults {
  readonly key: string;
  /**
   * The measured bit strings as the client reads them: how often each was measured, and all of them
   * in order.
   */
  readonly content: { readonly counter: Readonly<Record<string, number>>; readonly raw: readonly string[] };
}

const days = 180;
const minute = 60_000;
const largeBatchJobs = 300;

const devices = ['EMU_FREE', 'EMU_SV', 'EMU_TN', 'EMU_MPS', 'EMU_FRESNEL', 'FRESNEL', 'FRESNEL_CAN1'] as const;
const tags = ['calibration', 'mis', 'ising', 'tutorial', 'benchmark', 'adiabatic', 'paper-2026', 'nightly'] as const;
const priorities: readonly QueuePriority[] = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'FREE'];
const oldStatuses = { DONE: 72, ERROR: 10, CANCELED: 10, TIMED_OUT: 8 } as const;
const recentStatuses = { PENDING: 35, RUNNING: 25, PAUSED: 8, CANCELING: 7, DONE: 20, ERROR: 5 } as const;
const origins = { CLIENT: 70, AZURE: 15, OVH: 12, UNKNOWN: 3 } as const;

/**
 * The statuses of a batch's jobs by the batch's own: of the first jobs, of the one in the middle,
 * of the rest. The last batches of an account have these statuses, in this order.
 */
const jobStatuses: Readonly<Record<BatchStatus, readonly [JobStatus, JobStatus, JobStatus]>> = {
  TIMED_OUT: ['DONE', 'ERROR', 'CANCELED'],
  ERROR: ['DONE', 'ERROR', 'ERROR'],
  CANCELED: ['DONE', 'CANCELED', 'CANCELED'],
  DONE: ['DONE', 'DONE', 'DONE'],
  PAUSED: ['DONE', 'PENDING', 'PENDING'],
  CANCELING: ['DONE', 'CANCELING', 'CANCELED'],
  PENDING: ['PENDING', 'PENDING', 'PENDING'],
  RUNNING: ['DONE', 'RUNNING', 'PENDING'],
};
const allStatuses = Object.keys(jobStatuses) as BatchStatus[];

const failures = [
  'The pulse sequence exceeds the maximum duration of the device.',
  'The register could not be assembled after 10 attempts.',
  'The emulator ran out of memory: reduce the number of qubits or the bond dimension.',
];

/**
 * Makes the data of two accounts, and of a project's admin and member. It is the same
 * for the same size and day. Everything happened in the half year before `now` (milliseconds since
 * 1970), and before the midnight that `now` follows.
 */
export function demoData(size: DemoDataSize, now: number): readonly DemoData[] {
  const [first, second] = accounts;
  const part = (divisor: number) => ({ ...size, batches: Math.ceil(size.batches / divisor) });
  const [admin, member] = projectAccounts;
  return [
    accountData(first, size, now),
    accountData(second, part(10), now),
    accountData(admin, part(5), now),
    accountData(member, part(5), now),
  ];
}

function accountData(account: Account, size: DemoDataSize, now: number): DemoData {
  const random = seededRandom(account.username);
  const isFirst = account === accounts[0];
  const history: AccountHistory = {
    account,
    random,
    size,
    latest: now - (now % (24 * 60 * minute)) - 60 * minute,
    projects:
      account.project === undefined
        ? Array.from({ length: isFirst ? 4 : 2 }, () => random.uuid())
        : [account.project.id],
    largest: isFirst ? Math.floor(size.batches / 3) : -1,
    batchIds: [],
    events: [],
    results: [],
  };
  for (let index = 0; index < size.batches; index++) {
    const batch = makeBatch(history, index);
    addCreation(history, batch);
    addUpdates(history, batch);
  }
  const { events, results } = history;
  return { account, events, results };
}

/**
 * An account's data while it is made. The order in which `random` is asked decides what the data
 * is.
 */
interface AccountHistory {
  readonly account: Account;
  readonly random: Random;
  readonly size: DemoDataSize;
  /** When the youngest batch was created, in milliseconds since 1970. */
  readonly latest: number;
  readonly projects: readonly string[];
  /** The index of the batch with very many jobs; -1: there is none. */
  readonly largest: number;
  readonly batchIds: string[];
  readonly events: LifecycleEventInput[];
  readonly results: DemoResults[];
}

interface DemoBatch {
  readonly id: string;
  readonly createdAt: number;
  readonly status: BatchStatus;
  readonly open: boolean;
  readonly device: string;
  readonly isLargest: boolean;
  readonly jobs: readonly { readonly id: string; readonly runs: number }[];
}

function makeBatch({ random, size, latest, largest, batchIds }: AccountHistory, index: number): DemoBatch {
  const { batches, jobsPerBatch } = size;
  const share = (index + 1) / batches;
  const id = random.uuid();
  const isLargest = index === largest;
  const status = isLargest ? 'RUNNING' : statusOf({ fromEnd: batches - 1 - index, share }, random);
  const isActive = ['PENDING', 'RUNNING', 'PAUSED'].includes(status);
  const isEmptyOne = index === batches - 2;
  const open = isEmptyOne || (isActive && random.chance(0.4));
  const device = random.pick(devices);
  const average = Math.max(random.whole(0, 2 * jobsPerBatch), jobsPerBatch > 0 && !open ? 1 : 0);
  const isEmpty = isEmptyOne || (open && status === 'PENDING' && random.chance(0.5));
  const isParametrized = random.chance(0.6);
  const jobs = Array.from({ length: isLargest ? largeBatchJobs : isEmpty ? 0 : average }, () => ({
    id: random.uuid(),
    runs: random.pick([50, 100, 200, 500]),
    origin: random.weighted<JobOrigin>(origins),
    ...(isParametrized && { variables: { omega: random.decimal(1, 12), duration: random.whole(4, 400) * 10 } }),
  }));
  batchIds.push(id);
  const createdAt = latest - Math.round((1 - share) * days * 24 * 60 * minute) - 30 * minute;
  return { id, createdAt, status, open, device, isLargest, jobs };
}

function addCreation(history: AccountHistory, { id, createdAt, open, device, jobs }: DemoBatch) {
  const { random, projects, batchIds, events } = history;
  const data = {
    id,
    project_id: random.pick(projects),
    ...(batchIds.length > 1 && random.chance(0.08) && { parent_id: random.pick(batchIds.slice(0, -1)) }),
    device_type: device,
    queue_priority: random.pick(priorities),
    open: open || random.chance(0.2),
    ...(random.chance(0.5) && { tags: random.sample(tags, random.whole(1, 3)) }),
    ...(random.chance(0.1) && { webhook: 'https://example.com/hooks/batch-done' }),
    ...configurationOf(device, random),
    jobs,
  };
  events.push(makeEvent(history, { type: 'batch.created', id, at: createdAt, data }));
}

/** The jobs run one after the other, at the same pace; the batch's own update comes last. */
function addUpdates(history: AccountHistory, { id, createdAt, status, open, device, isLargest, jobs }: DemoBatch) {
  const { account, random, events, results } = history;
  const startedAt = createdAt + random.whole(1, 9) * minute;
  const endedAt = startedAt + random.whole(2, 18) * minute;
  const hasEnded = ['DONE', 'ERROR', 'TIMED_OUT'].includes(status) || (status === 'CANCELED' && random.chance(0.5));
  const hasStarted = hasEnded || ['RUNNING', 'PAUSED', 'CANCELING'].includes(status);
  const doneShare = status === 'DONE' ? 1 : isLargest ? 0.1 : random.decimal(0, 1);
  const middle = Math.floor(jobs.length * doneShare);
  const jobTime = (endedAt - startedAt) / jobs.length;
  for (const [index, job] of jobs.entries()) {
    const usual = jobStatuses[status][index < middle ? 0 : index === middle ? 1 : 2];
    const jobStatus = usual === 'DONE' && random.chance(0.05) ? 'ERROR' : usual;
    if (jobStatus === 'PENDING') continue;
    const hasRun = hasStarted && jobStatus !== 'CANCELED';
    const jobHasEnded = jobStatus !== 'RUNNING' && jobStatus !== 'CANCELING';
    const key = `${userResultsPrefix(account.userId)}${job.id}.json`;
    const start = startedAt + jobTime * index;
    const data = {
      job_id: job.id,
      status: jobStatus,
      ...(hasRun && { start_timestamp: timestamp(start, random) }),
      ...(hasRun && jobHasEnded && { end_timestamp: timestamp(startedAt + jobTime * (index + 0.9), random) }),
      ...(jobStatus === 'ERROR' && { errors: [random.pick(failures)] }),
      ...(jobStatus === 'DONE' && { results_key: key }),
    };
    events.push(makeEvent(history, { type: 'job.updated', id: job.id, at: startedAt + jobTime * (index + 1), data }));
    if (jobStatus === 'DONE') results.push({ key, content: measurements(job.runs, random) });
  }
  if (status === 'PENDING') return;
  const data = {
    batch_id: id,
    status,
    ...(!open && { open: false }),
    ...(hasStarted && { start_datetime: timestamp(startedAt, random) }),
    ...(hasEnded && { end_datetime: timestamp(endedAt, random) }),
    ...(device.startsWith('FRESNEL') && { device_status: random.pick(['UP', 'CALIBRATING', 'DOWN']) }),
  };
  events.push(makeEvent(history, { type: 'batch.updated', id, at: hasEnded ? endedAt : startedAt, data }));
}

/** `at` is in milliseconds since 1970, `id` that of the batch or job. */
function makeEvent(
  { account, random }: AccountHistory,
  event: Pick<LifecycleEventInput, 'type' | 'data'> & { readonly id: string; readonly at: number },
): LifecycleEventInput {
  const { type, id, at, data } = event;
  return { id: `${type}/${id}`, type, time: timestamp(at, random), user_id: account.userId, data };
}

/**
 * The youngest batches have each status once, so that even a small set has them all. The last is
 * RUNNING. Old ones have ended.
 */
function statusOf({ fromEnd, share }: { fromEnd: number; share: number }, random: Random): BatchStatus {
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
