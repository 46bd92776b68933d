/**
 * A queue that is run to its end on a simulated clock, by the real code: batches of several users
 * and priorities, and workers that take a drawn time for each job. Two of them with the same seed
 * are twins: what happens to one alone shows what an act changes.
 */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { assign } from '../../functions/data/dynamodb/assign.ts';
import { claimBatch } from '../../functions/data/leases/claim-batch.ts';
import { deviceTimesKey, workerNote } from '../../functions/data/queue/job-times.ts';
import { updateItem } from '../../functions/data/queue/update-item.ts';
import { type DeviceModeName, deviceModes } from '../../functions/device-modes.ts';
import type { QueuePriority } from '../../functions/schemas/values.ts';
import type { TableNames } from '../../functions/tables.ts';
import { randomNumbers } from '../../infra/local/demo/seeded-random.ts';
import { leaseFrom, newNames, workerStack } from './worker-stack.ts';

interface WorldBatch {
  readonly user: number;
  readonly priority: QueuePriority;
  /** How long each of its jobs takes, in seconds. */
  readonly jobs: readonly number[];
}

export interface WorldPlan {
  readonly workers: number;
  readonly batches: readonly WorldBatch[];
  /** What the device has reported before. */
  readonly history: readonly number[];
  /** After how many reports an operator acts. */
  readonly reports: number;
  readonly seed: number;
}

interface Worker {
  readonly name: string;
  /** When it does something next, in milliseconds since 1970; infinite while nothing waits. */
  next: number;
  has?: { readonly lease: ReturnType<typeof leaseFrom>; readonly id: string; readonly job: string } | undefined;
  heard: number;
}

/** What an operator sets. */
export interface WorldSettings {
  readonly mode?: DeviceModeName;
  readonly reason?: string;
  readonly windows?: readonly object[];
  readonly max_job_seconds?: number | null;
}

export type TwinWorld = Awaited<ReturnType<typeof twinWorld>>;

/** A world whose batches are created and whose workers have begun. */
export async function twinWorld(client: DynamoDBDocumentClient, tables: TableNames, plan: WorldPlan) {
  const clock = { now: Date.parse('2026-11-22T12:00:00Z') };
  const stack = workerStack(client, tables, clock);
  const { device, user } = newNames();
  const random = randomNumbers(plan.seed ^ 0x2545f491);
  const workers = Array.from(
    { length: plan.workers },
    (_, at): Worker => ({ name: `worker ${at}`, next: 0, heard: 0 }),
  );
  const ids = await fill(stack, { clock, device, user }, plan);
  const done = new Map<string, number>();
  /** When each batch has ended. */
  const ends = new Map<string, number>();
  let mode: DeviceModeName = 'OPEN';
  let maxJobSeconds = Number.POSITIVE_INFINITY;
  let reports = 0;

  const soon = () => clock.now + random() * 3_000;
  const isWaiting = () => ids.some((id) => !ends.has(id) && workers.every(({ has }) => has?.id !== id));
  const begin = (worker: Worker, has: NonNullable<Worker['has']>) => {
    const seconds = plan.batches[ids.indexOf(has.id)]!.jobs[done.get(has.id) ?? 0]!;
    Object.assign(worker, { has, heard: clock.now, next: clock.now + 1_000 * Math.min(seconds, maxJobSeconds) });
  };
  const ask = async (worker: Worker) => {
    const claim = await claimBatch(stack.db, device, worker.name);
    if ('lease' in claim) return begin(worker, { lease: leaseFrom(claim), id: claim.batch.id, job: claim.job.id });
    worker.next = isWaiting() ? clock.now + claim.retry_after * 1_000 : Number.POSITIVE_INFINITY;
  };
  const report = async (worker: Worker) => {
    const { lease, id, job } = worker.has!;
    const { job: next } = await stack.report(lease, job);
    reports += 1;
    done.set(id, (done.get(id) ?? 0) + 1);
    if (next !== null) return begin(worker, { lease, id, job: next.id });
    worker.has = undefined;
    if (done.get(id) === plan.batches[ids.indexOf(id)]!.jobs.length) ends.set(id, clock.now);
    else for (const each of workers) if (each.has === undefined) each.next = Math.min(each.next, soon());
    await ask(worker);
  };
  const step = async () => {
    const worker = workers.reduce((first, each) => (each.next < first.next ? each : first));
    clock.now = Math.max(clock.now, Math.round(worker.next));
    for (const { has, ...each } of workers) {
      if (has !== undefined && clock.now - each.heard > 40_000) await beat(each.name);
    }
    await (worker.has === undefined ? ask(worker) : report(worker));
  };
  const beat = async (name: string) => {
    const worker = workers.find((each) => each.name === name)!;
    await stack.heartbeat(worker.has!.lease, worker.has!.job);
    worker.heard = clock.now;
  };
  const beatAll = async () => {
    for (const { name, has } of workers) if (has !== undefined) await beat(name);
  };
  const isOver = (until: number) =>
    ends.size === ids.length ||
    workers.every(({ next }) => next > until) ||
    (!deviceModes[mode].claims && workers.every(({ has }) => has === undefined));

  for (const worker of workers) worker.next = soon();

  return {
    ...{ stack, device, clock, ids, ends },
    userOf: (id: string) => `${user} ${plan.batches[ids.indexOf(id)]!.user}`,
    held: () => workers.flatMap(({ has }) => has?.id ?? []),
    /** Goes on until the number of reports of its plan. */
    async warmUp() {
      while (reports < plan.reports && ends.size < ids.length) await step();
      clock.now += Math.floor(random() * 3_000);
      await beatAll();
    },
    /** An operator sets the device. */
    async set(settings: WorldSettings) {
      await stack.set(device, settings);
      mode = settings.mode ?? mode;
      if (settings.max_job_seconds !== undefined) maxJobSeconds = settings.max_job_seconds ?? Number.POSITIVE_INFINITY;
    },
    /** Goes on for some seconds. */
    async wait(seconds: number) {
      const until = clock.now + seconds * 1_000;
      while (!isOver(until)) await step();
      clock.now = until;
      await beatAll();
    },
    /** Until all have ended, or nothing more happens within a day. */
    async finish() {
      const until = clock.now + 86_400_000;
      while (!isOver(until)) await step();
    },
  };
}

interface Place {
  readonly clock: { now: number };
  readonly device: string;
  readonly user: string;
}

/** Writes the device's history, and creates the batches. Returns their ids. */
async function fill(
  { db, announce, create }: Pick<ReturnType<typeof workerStack>, 'db' | 'announce' | 'create'>,
  { clock, device, user }: Place,
  { history, batches }: WorldPlan,
): Promise<string[]> {
  await announce(device, {});
  const reported = history.map((seconds, at) => workerNote('before', clock.now, { seconds, shots: 1 + (at % 2) }));
  const { assignments, values } = assign(Object.assign({}, ...reported));
  await updateItem(
    db,
    { device_type: device, key: deviceTimesKey },
    { UpdateExpression: `SET ${assignments}`, ExpressionAttributeValues: values },
  );
  clock.now += 600_000;
  const ids: string[] = [];
  for (const { user: of, priority, jobs } of batches) {
    clock.now += 500;
    ids.push((await create(`${user} ${of}`, { device_type: device, jobs: jobs.length, priority })).id);
  }
  return ids;
}
