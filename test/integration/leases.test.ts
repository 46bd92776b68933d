/**
 * What workers do with batches, step by step: claims, leases that end, reports, open batches,
 * cancellations.
 */

import { randomUUID } from 'node:crypto';
import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { cancelJobs } from '../../functions/data/batches/cancellations.ts';
import { listJobsOfBatch } from '../../functions/data/rows/jobs.ts';
import { CorruptData, LeaseLost } from '../../functions/errors.ts';
import { CancelJobsQuery } from '../../functions/schemas/job-selection.ts';
import type { Claim } from '../../functions/schemas/lease.ts';
import { changeItem } from '../support/change-item.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { writeAll } from '../support/load-list.ts';
import { measuredClient } from '../support/measured-client.ts';
import { uuid } from '../support/new-batch.ts';
import { overtakenClient } from '../support/overtaken-client.ts';
import { ownTables } from '../support/own-tables.ts';
import { recountOf } from '../support/owner-rows.ts';
import { testClient } from '../support/test-client.ts';
import { leaseFrom, newNames, workerStack } from '../support/worker-stack.ts';

const { client, tables: names } = await ownTables();
const clock = { now: Date.parse('2026-11-21T12:00:00Z') };
const stack = workerStack(client, names, clock);
const sha256 = 'a'.repeat(64);
const seconds = (number: number) => {
  clock.now += number * 1000;
};

/** As `claimed`, by a worker that sends the first heartbeat. */
async function claimedAndSeen(device: string): Promise<Claim> {
  const claim = await stack.claimed(device);
  await stack.heartbeat(leaseFrom(claim), claim.job.id);
  return claim;
}

describe('a claim', () => {
  it('gives a batch with its first job, and both are running', async () => {
    const { device, user, batch, claim } = await stack.held({ jobs: 2 });
    expect(claim).toMatchObject({
      expires_at: '2026-11-21T12:01:00.000000Z',
      heartbeat_seconds: 20,
      batch: { id: batch.id, open: false, device_type: device, configuration: null, backend_configuration: null },
      job: { id: batch.jobs![0]!.id, runs: 1, variables: null, sequence: null },
    });
    expect(JSON.parse(claim.batch.sequence_builder!)).toMatchObject({ version: '1' });
    expect(await stack.batch(user, batch.id)).toMatchObject({
      status: 'RUNNING',
      start_datetime: '2026-11-21T12:00:00.000000Z',
    });
    expect(await stack.job(user, claim.job.id)).toMatchObject({
      status: 'RUNNING',
      start_timestamp: '2026-11-21T12:00:00.000000Z',
    });
    expect((await stack.job(user, batch.jobs![1]!.id))!.status).toBe('PENDING');
  });

  it('gives nothing if the queue is empty, to another device, or if a worker has the batch', async () => {
    const { device, user } = newNames();
    expect(await stack.claim(device, 'worker')).toBeUndefined();
    await stack.create(user, { device_type: device });
    expect(await stack.claim(`${device} `, 'worker')).toBeUndefined();
    await stack.claimed(device);
    expect(await stack.claim(device, 'worker')).toBeUndefined();
  });

  it('gives an open batch only once it has a job', async () => {
    const { device, user } = newNames();
    const batch = await stack.create(user, { device_type: device, open: true, jobs: 0 });
    expect(await stack.claim(device, 'worker')).toBeUndefined();
    const { jobs } = await stack.add(user, batch.id, 1);
    expect((await stack.claimed(device)).job.id).toBe(jobs![0]!.id);
  });

  it('passes over a batch that is canceled, and one whose jobs all are', async () => {
    const { device, user } = newNames();
    const first = await stack.create(user, { device_type: device });
    await stack.cancel(user, first.id);
    const second = await stack.create(user, { device_type: device, open: true });
    await stack.cancelJob(user, second.jobs![0]!.id);
    expect(await stack.claim(device, 'worker')).toBeUndefined();
    const { jobs } = await stack.add(user, second.id, 1);
    expect((await stack.claimed(device)).job.id).toBe(jobs![1]!.id);
  });

  it('takes what two claims at once want for one of them, and the next for the other', async () => {
    const { device, user } = newNames();
    const batches = [];
    for (let at = 0; at < 3; at++) batches.push(await stack.create(user, { device_type: device }));
    const claims = await Promise.all(Array.from({ length: 5 }, (_, at) => stack.claim(device, `worker ${at}`)));
    expect(claims.flatMap((claim) => claim?.batch.id ?? []).sort()).toEqual(batches.map(({ id }) => id).sort());
  });

  it('goes on to further batches where many are leased', async () => {
    const { device, user, lease } = await stack.held();
    const { key } = lease;
    // A page of the queue has 25: others with the same lease come behind the first.
    const { Item } = await client.send(
      new GetCommand({ TableName: names.DeviceQueue, Key: { device_type: device, key } }),
    );
    const leased = Array.from({ length: 50 }, (_, at) => ({ ...Item, key: key.replace(/[^.]+$/, uuid('f', at)) }));
    await writeAll(
      client,
      leased.map((item) => [names.DeviceQueue, item]),
    );
    const batches = [];
    for (let at = 0; at < 3; at++) batches.push(await stack.create(user, { device_type: device }));
    const ids = [];
    for (let at = 0; at < 3; at++) ids.push((await stack.claimed(device)).batch.id);
    expect(ids).toEqual(batches.map(({ id }) => id));
    expect(await stack.claim(device, 'worker')).toBeUndefined();
  });
});

describe('a batch whose first jobs have ended, very many', () => {
  it('is begun by one claim, which asks the index once', async () => {
    const { device, user } = newNames();
    const batch = await stack.create(user, { device_type: device, jobs: 40 });
    await cancelJobs(stack.db, { userId: user, batchId: batch.id }, CancelJobsQuery.parse({ max_runs: ['30'] }));
    let queries = 0;
    const counting = interceptedClient(client, (call) => {
      if (call.input.IndexName === 'by_creation') queries += 1;
      return call.send();
    });
    const claim = await workerStack(counting, names, clock).claimed(device);
    expect(queries).toBe(1);
    const first = await stack.jobRow(leaseFrom(claim), claim.job.id);
    expect(first?.creation_order).toBe(30);
    // The jobs that were passed over cost the batch no device.
    expect((await stack.report(leaseFrom(claim), claim.job.id)).job).not.toBeNull();
  });
});

describe('jobs that others lie between', () => {
  it('are handed out in their order', async () => {
    const { device, user } = newNames();
    const [first, second] = [
      await stack.create(user, { device_type: device, open: true, jobs: 2 }),
      await stack.create(user, { device_type: device, open: true, jobs: 2 }),
    ];
    for (const { id } of [first, second, first, second]) await stack.add(user, id, 1);
    for (let batches = 0; batches < 2; batches++) {
      const claim = await stack.claimed(device);
      const { items } = await listJobsOfBatch(stack.db, { userId: user, batchId: claim.batch.id }, 9);
      expect([items.length, items[0]!.id]).toEqual([4, claim.job.id]);
      const lease = leaseFrom(claim);
      const next = [];
      for (const { id: jobId } of items) next.push((await stack.report(lease, jobId)).job?.id);
      expect(next).toEqual([...items.slice(1).map((job) => job.id), undefined]);
    }
  });

  it('are started by a report at the cost of jobs that follow each other', async () => {
    const measured = testClient(dynamodbEndpoint);
    const measure = measuredClient(measured);
    const measuring = workerStack(measured, names, clock);
    const costs = async (between: boolean) => {
      const { device, user } = newNames();
      const batch = await stack.create(user, { device_type: device, open: true, jobs: 1 });
      const other = await stack.create(user, { device_type: `${device} of others`, open: true, jobs: 1 });
      for (let added = 0; added < 3; added++) {
        await stack.add(user, batch.id, 1);
        if (between) await stack.add(user, other.id, 1);
      }
      const claim = await stack.claimed(device);
      const next = await stack.report(leaseFrom(claim), claim.job.id);
      const { cost } = await measure(() => measuring.report(leaseFrom(claim), next.job!.id));
      return [cost.calls, cost.readUnits, cost.writeUnits, cost.depth];
    };
    expect(await costs(true)).toEqual(await costs(false));
  });

  it('keep no other batch waiting where a row is damaged', async () => {
    const { device, user, batch, lease, claim } = await stack.held({ jobs: 2 });
    const Key = { user_id: user, id: batch.jobs![1]!.id };
    await changeItem(client, names.Jobs, { Key, attributes: { seq: 0 } });
    expect((await stack.report(lease, claim.job.id)).job?.id).toBe(Key.id);
    const other = await stack.create(`${user} other`, { device_type: device });
    expect((await stack.claimed(device)).batch.id).toBe(other.id);
  });

  it('are found where the item of the queue does not say where they are', async () => {
    const { device, user } = newNames();
    const { jobs = [] } = await stack.create(user, { device_type: device, jobs: 3 });
    const claim = await stack.claimed(device);
    const lease = leaseFrom(claim);
    const Key = { device_type: device, key: lease.key };
    for (const [at, { id }] of jobs.entries()) {
      // As the release before wrote it; then what fits no job.
      await changeItem(client, names.DeviceQueue, { Key, attributes: { first_seq: at === 0 ? undefined : 7 } });
      expect((await stack.report(lease, id)).job?.id).toBe(jobs[at + 1]?.id);
    }
  });
});

describe('a batch that is missing', () => {
  it('is in no other worker’s way, and comes back without a loss', async () => {
    const { device, user } = newNames();
    const missing = await stack.create(user, { device_type: device });
    const sound = await stack.create(user, { device_type: device });
    const key = { user_id: user, id: missing.id };
    const { Item } = await client.send(new GetCommand({ TableName: names.Batches, Key: key }));
    await client.send(new DeleteCommand({ TableName: names.Batches, Key: key }));
    expect((await stack.claimed(device)).batch.id).toBe(sound.id);
    // With one loss more, of either kind, its job would be an error.
    const Key = { device_type: device, key: Item!.queue_key };
    await changeItem(client, names.DeviceQueue, { Key, attributes: { losses: 2, unseen_losses: 9 } });
    for (let times = 0; times < 2; times++) {
      await expect(stack.claim(device, 'worker')).rejects.toThrow(CorruptData);
    }
    await client.send(new PutCommand({ TableName: names.Batches, Item: Item! }));
    expect((await stack.claimed(device)).job.id).toBe(missing.jobs![0]!.id);
  });
});

describe('a batch that has another place than the lease', () => {
  it('is not changed under the lease', async () => {
    const { user, batch, claim, lease } = await stack.held({ jobs: 2 });
    const input = { TableName: names.Batches, Key: { user_id: user, id: batch.id } };
    const other = `0000000000000099.2.2026-11-21T12:00:00.000000Z.${batch.id}`;
    for (const key of [other, null]) {
      await changeItem(client, names.Batches, { Key: input.Key, attributes: { queue_key: key } });
      const { Item: before } = await client.send(new GetCommand(input));
      await expect(stack.report(lease, claim.job.id)).rejects.toThrow(LeaseLost);
      await expect(stack.next(lease)).rejects.toThrow(LeaseLost);
      expect((await client.send(new GetCommand(input))).Item).toEqual(before);
    }
  });
});

describe('reports', () => {
  it('run the jobs in their order, and end the batch with the last', async () => {
    const { device, user, batch, lease } = await stack.held({ jobs: 3 });
    const ids = batch.jobs!.map(({ id }) => id);
    seconds(1);
    const second = await stack.report(lease, ids[0]!, {
      status: 'DONE',
      start_timestamp: '2026-11-21T12:00:00.5Z',
      end_timestamp: '2026-11-21T12:00:00.75Z',
    });
    expect(second).toEqual({
      job: { id: ids[1], runs: 2, variables: null, sequence: null },
      done: false,
      retry_after: null,
    });
    expect(await stack.job(user, ids[0]!)).toMatchObject({
      status: 'DONE',
      start_timestamp: '2026-11-21T12:00:00.500000Z',
      end_timestamp: '2026-11-21T12:00:00.750000Z',
    });
    const third = await stack.report(lease, ids[1]!, { status: 'ERROR', errors: ['Too many atoms.'] });
    expect(third.job?.id).toBe(ids[2]);
    expect(await stack.job(user, ids[1]!)).toMatchObject({ status: 'ERROR', errors: ['Too many atoms.'] });
    expect(await stack.report(lease, ids[2]!)).toEqual({ job: null, done: true, retry_after: null });
    const ended = await stack.batch(user, batch.id);
    expect(ended).toMatchObject({ status: 'DONE', end_datetime: expect.any(String) });
    expect(ended!.jobs_count_per_status).toMatchObject({ DONE: 2, ERROR: 1, RUNNING: 0, PENDING: 0 });
    expect(await stack.claim(device, 'worker')).toBeUndefined();
  });

  it('of a clock that is wrong become a time between the claim and now', async () => {
    const { device, user } = newNames();
    const times: [start: string | null, end: string | null, expected: number[]][] = [
      ['1999-01-01T00:00:00Z', '1999-01-01T00:00:00Z', [0, 0]],
      ['2099-01-01T00:00:00Z', '2099-01-01T00:00:00Z', [5, 5]],
      ['2099-01-01T00:00:00Z', '1999-01-01T00:00:00Z', [5, 5]],
      [null, '1999-01-01T00:00:00Z', [0, 0]],
      ['1999-01-01T00:00:00Z', null, [0, 5]],
    ];
    const batch = await stack.create(user, { device_type: device, jobs: times.length });
    const begun = clock.now;
    const since = (start: number, time: string | null | undefined) => (Date.parse(String(time)) - start) / 1000;
    const { lease, ...claim } = await stack.claimed(device);
    let job: { readonly id: string } | null = claim.job;
    for (const [start, end, expected] of times) {
      // A job begins where it is claimed, or comes with the report of the one before.
      const given = clock.now;
      seconds(5);
      const { id } = job!;
      const content = { status: 'DONE', start_timestamp: start, end_timestamp: end };
      ({ job } = await stack.report(leaseFrom({ lease }), id, content));
      const ended = await stack.job(user, id);
      expect([start, end, since(given, ended?.start_timestamp), since(given, ended?.end_timestamp)]).toEqual([
        ...[start, end],
        ...expected,
      ]);
    }
    const ended = await stack.batch(user, batch.id);
    expect([since(begun, ended?.start_datetime), since(begun, ended?.end_datetime)]).toEqual([0, 5 * times.length]);
  });

  it('can be repeated, the last one too', async () => {
    const { batch, lease } = await stack.held({ jobs: 2 });
    const [first, second] = batch.jobs!.map(({ id }) => id) as [string, string];
    const answer = await stack.report(lease, first);
    expect(await stack.report(lease, first)).toEqual(answer);
    await expect(stack.report(lease, first, { status: 'ERROR' })).rejects.toMatchObject({ status: 409 });
    const end = await stack.report(lease, second);
    expect(await stack.report(lease, second)).toEqual(end);
    await expect(stack.report(lease, second, { status: 'ERROR' })).rejects.toThrow(LeaseLost);
    await expect(stack.report(lease, first)).resolves.toEqual(end);
  });

  it('name the results that were uploaded under this lease', async () => {
    const { user, claim, lease } = await stack.held();
    const key = await stack.uploadKey(lease, claim.job.id, sha256);
    expect(key).toBe(`results/${user}/${claim.job.id}/1/${sha256}.json`);
    await stack.report(lease, claim.job.id, { status: 'DONE', results: true });
    expect((await stack.jobRow(lease, claim.job.id))?.results_key).toBe(key);
  });

  it('are refused for jobs that the batch does not have, that do not run, or that ended otherwise', async () => {
    const { device, user, batch, lease } = await stack.held({ jobs: 3 });
    const other = await stack.create(user, { device_type: device });
    const [first, second, third] = batch.jobs!.map(({ id }) => id) as [string, string, string];
    for (const unknown of [randomUUID(), other.jobs![0]!.id, batch.id]) {
      await expect(stack.report(lease, unknown)).rejects.toMatchObject({ status: 404 });
      await expect(stack.uploadKey(lease, unknown, sha256)).rejects.toMatchObject({ status: 404 });
      await expect(stack.heartbeat(lease, unknown)).rejects.toMatchObject({ status: 404 });
    }
    for (const waiting of [second, third]) {
      await expect(stack.report(lease, waiting)).rejects.toMatchObject({ status: 409 });
      await expect(stack.uploadKey(lease, waiting, sha256)).rejects.toMatchObject({ status: 409 });
    }
    await stack.cancelJob(user, first);
    expect(await stack.heartbeat(lease, first)).toMatchObject({ cancel: true });
    await expect(stack.report(lease, first)).rejects.toMatchObject({ status: 409 });
    expect((await stack.next(lease)).job?.id).toBe(second);
    expect(await stack.job(user, first)).toMatchObject({ status: 'CANCELED' });
  });
});

describe('an end', () => {
  it('has its time, whichever call brings it about', async () => {
    const { device, user } = newNames();
    const options = { device_type: device, open: true };
    const endOf = async (id: string) => (await stack.batch(user, id))?.end_datetime;
    const [first, second] = [await stack.create(user, options), await stack.create(user, options)];
    const lease = leaseFrom(await stack.claimed(device));
    await stack.report(lease, first.jobs![0]!.id);
    seconds(1);
    expect(await endOf(first.id)).toBeNull();
    await stack.close(user, first.id);
    expect(await endOf(first.id)).toBe(new Date(clock.now).toISOString().replace('Z', '000Z'));
    await stack.close(user, second.id);
    expect(await endOf(second.id)).toBeNull();
    seconds(1);
    await stack.cancelJob(user, second.jobs![0]!.id);
    expect(await endOf(second.id)).toBe(new Date(clock.now).toISOString().replace('Z', '000Z'));
  });
});

describe('a lease', () => {
  it('lives as long as heartbeats come', async () => {
    const { device, claim, lease } = await stack.held();
    for (let beats = 0; beats < 3; beats++) {
      seconds(50);
      const { expires_at, cancel } = await stack.heartbeat(lease, claim.job.id);
      expect({ expires_at: Date.parse(expires_at), cancel }).toEqual({ expires_at: clock.now + 60_000, cancel: false });
      expect(await stack.claim(device, 'another')).toBeUndefined();
    }
  });

  it('lives for a minute more after a claim, a report and a question for the next job: short jobs send none', async () => {
    const { device, user, batch, claim, lease } = await stack.held({ open: true });
    const isHeld = async () => (await stack.claim(device, 'another')) === undefined;
    seconds(59);
    expect(await isHeld()).toBe(true);
    await stack.report(lease, claim.job.id);
    seconds(59);
    expect(await isHeld()).toBe(true);
    expect(await stack.next(lease)).toMatchObject({ job: null, done: false });
    seconds(59);
    expect(await isHeld()).toBe(true);
    await stack.add(user, batch.id, 2);
    const { job } = await stack.next(lease);
    seconds(59);
    expect(await isHeld()).toBe(true);
    await stack.report(lease, job!.id);
    seconds(59);
    expect(await isHeld()).toBe(true);
    seconds(2);
    expect((await stack.claimed(device, 'another')).job.id).not.toBe(job!.id);
  });

  it('ends a minute after the last one, and the next claim goes on where the device was lost', async () => {
    const { device, user, batch, claim: lost, lease: late } = await stack.held({ jobs: 3 });
    await stack.report(late, lost.job.id);
    seconds(59);
    expect(await stack.claim(device, 'another')).toBeUndefined();
    seconds(2);
    const claim = await stack.claimed(device, 'another');
    expect(claim.job.id).toBe(batch.jobs![1]!.id);
    expect(leaseFrom(claim).fence).toBe(late.fence + 1);
    await expect(stack.report(late, claim.job.id)).rejects.toThrow(LeaseLost);
    await expect(stack.report(late, lost.job.id)).rejects.toThrow(LeaseLost);
    await expect(stack.heartbeat(late, claim.job.id)).rejects.toThrow(LeaseLost);
    await expect(stack.uploadKey(late, claim.job.id, sha256)).rejects.toThrow(LeaseLost);
    await expect(stack.next(late)).rejects.toThrow(LeaseLost);
    await stack.release(late);
    expect(await stack.job(user, claim.job.id)).toMatchObject({ status: 'RUNNING' });
    expect((await stack.report(leaseFrom(claim), claim.job.id)).job?.id).toBe(batch.jobs![2]!.id);
    await expect(stack.report(late, batch.jobs![2]!.id)).rejects.toThrow(LeaseLost);
    expect((await stack.report(leaseFrom(claim), batch.jobs![2]!.id)).done).toBe(true);
    // The batch has ended, and not by this lease.
    await expect(stack.report(late, batch.jobs![2]!.id)).rejects.toThrow(LeaseLost);
    expect(await stack.next(late)).toMatchObject({ done: true });
  });

  it('that is released can be claimed at once, and is lost', async () => {
    const { device, claim: first, lease } = await stack.held();
    await stack.release(lease);
    await stack.release(lease);
    await expect(stack.report(lease, first.job.id)).rejects.toThrow(LeaseLost);
    const second = await stack.claimed(device);
    expect(second.job.id).toBe(first.job.id);
    await stack.release(lease);
    expect(await stack.heartbeat(leaseFrom(second), second.job.id)).toMatchObject({ cancel: false });
  });

  it('that is released leaves nothing that runs', async () => {
    const { device, user, batch, claim: first, lease } = await stack.held({ jobs: 2 });
    seconds(5);
    await stack.release(lease);
    const shown = async () => ({ ...(await stack.batch(user, batch.id)), ...(await stack.queued(user, batch.id)) });
    const waiting = { status: 'PENDING', start_datetime: null, queue_position: 0 };
    expect(await shown()).toMatchObject(waiting);
    expect(await stack.job(user, first.job.id)).toMatchObject({ status: 'PENDING', start_timestamp: null });
    const second = await stack.claimed(device);
    const { start_datetime } = (await stack.batch(user, batch.id))!;
    expect(Date.parse(start_datetime!)).toBe(clock.now);
    await stack.report(leaseFrom(second), second.job.id);
    seconds(5);
    await stack.release(leaseFrom(second));
    expect(await shown()).toMatchObject({ ...waiting, start_datetime });
    expect((await stack.batch(user, batch.id))!.jobs_count_per_status).toMatchObject({ PENDING: 1, DONE: 1 });
    expect(await recountOf(client, names, user)).toEqual([]);
    const third = await stack.claimed(device);
    expect((await stack.report(leaseFrom(third), third.job.id)).done).toBe(true);
  });

  it('that ran out leaves nothing that runs, once its queue was measured, and counts as lost', async () => {
    const { device, user } = newNames();
    const batch = await stack.create(user, { device_type: device });
    const claim = await claimedAndSeen(device);
    expect((await stack.measure(device)).lapsed).toEqual([]);
    for (let losses = 0; losses < 3; losses++) {
      seconds(61);
      const { lapsed } = await stack.measure(device);
      for (const item of lapsed) await Promise.all([stack.putBack(item), stack.putBack(item)]);
      expect(lapsed).toHaveLength(1);
      expect((await stack.measure(device)).lapsed).toEqual([]);
      expect(await stack.batch(user, batch.id)).toMatchObject({ status: 'PENDING', start_datetime: null });
      expect(await stack.job(user, claim.job.id)).toMatchObject({ status: 'PENDING', start_timestamp: null });
      await expect(stack.heartbeat(leaseFrom(claim), claim.job.id)).rejects.toThrow(LeaseLost);
      if (losses < 2) await claimedAndSeen(device);
    }
    expect(await stack.claim(device, 'worker')).toBeUndefined();
    expect(await stack.job(user, claim.job.id)).toMatchObject({ status: 'ERROR' });
    expect(await recountOf(client, names, user)).toEqual([]);
  });

  it.each(['the look', 'the transaction'])('that ran out lives on where a heartbeat came before %s', async (moment) => {
    const { device, user, batch, claim, lease } = await stack.held();
    seconds(61);
    const { lapsed } = await stack.measure(device);
    const beat = () => stack.heartbeat(lease, claim.job.id);
    const late = overtakenClient(client, beat);
    if (moment === 'the look') await beat();
    await workerStack(moment === 'the look' ? client : late.client, names, clock).putBack(lapsed[0]!);
    expect(late.isOvertaken).toBe(moment === 'the transaction');
    expect((await stack.batch(user, batch.id))!.status).toBe('RUNNING');
    expect((await stack.report(lease, claim.job.id)).done).toBe(true);
  });

  it('that is lost three times on one job makes the job an error, and the batch goes on', async () => {
    const { device, user } = newNames();
    const batch = await stack.create(user, { device_type: device, jobs: 2 });
    const [first, second] = batch.jobs!.map(({ id }) => id) as [string, string];
    for (let losses = 0; losses < 3; losses++) {
      expect((await claimedAndSeen(device)).job.id).toBe(first);
      seconds(61);
    }
    const claim = await claimedAndSeen(device);
    expect(claim.job.id).toBe(second);
    expect(await stack.job(user, first)).toMatchObject({
      status: 'ERROR',
      errors: ['The device was lost 3 times while it ran this job.'],
    });
    for (let losses = 1; losses < 3; losses++) {
      seconds(61);
      expect((await claimedAndSeen(device)).job.id).toBe(second);
    }
    seconds(61);
    expect(await stack.claim(device, 'worker')).toBeUndefined();
    expect(await stack.batch(user, batch.id)).toMatchObject({ status: 'DONE' });
  });

  it('without a heartbeat is no loss, but ten of them make the job an error', async () => {
    const { device, user } = newNames();
    const batch = await stack.create(user, { device_type: device, jobs: 2 });
    const [first, second] = batch.jobs!.map(({ id }) => id) as [string, string];
    for (let claims = 0; claims < 10; claims++) {
      expect((await stack.claimed(device)).job.id).toBe(first);
      seconds(61);
    }
    const claim = await stack.claimed(device);
    expect(claim.job.id).toBe(second);
    expect(await stack.job(user, first)).toMatchObject({
      status: 'ERROR',
      errors: ['The job was given to a device 10 times, and none was heard of again.'],
    });
    // The second job has a count of its own, and so have the workers that were seen.
    for (let claims = 1; claims < 9; claims++) {
      seconds(61);
      expect((await stack.claimed(device)).job.id).toBe(second);
    }
    for (let losses = 0; losses < 3; losses++) {
      seconds(61);
      expect((await claimedAndSeen(device)).job.id).toBe(second);
    }
    seconds(61);
    expect(await stack.claim(device, 'worker')).toBeUndefined();
    expect((await stack.job(user, second))?.errors).toEqual(['The device was lost 3 times while it ran this job.']);
  });

  it('counts as lost once any call has come under it', async () => {
    const calls: Record<string, (claim: Claim) => Promise<unknown>> = {
      'a heartbeat': (claim) => stack.heartbeat(leaseFrom(claim), claim.job.id),
      'a heartbeat without a job': (claim) => stack.heartbeat(leaseFrom(claim), null),
      'a question for the next job': (claim) => stack.next(leaseFrom(claim)),
      'a link for results': (claim) => stack.uploadKey(leaseFrom(claim), claim.job.id, sha256),
    };
    const { device, user } = newNames();
    const batch = await stack.create(user, { device_type: device, jobs: Object.keys(calls).length });
    let claim = await stack.claim(device, 'worker');
    for (const [at, [name, call]] of Object.entries(calls).entries()) {
      for (let losses = 0; losses < 3; losses++) {
        expect(claim?.job.id, name).toBe(batch.jobs![at]!.id);
        await call(claim!);
        seconds(61);
        claim = await stack.claim(device, 'worker');
      }
      expect(await stack.job(user, batch.jobs![at]!.id), name).toMatchObject({ status: 'ERROR' });
    }
    expect(claim).toBeUndefined();
  });

  it('counts as lost while it runs the job that came with a report', async () => {
    const { device, user, batch, claim, lease } = await stack.held({ jobs: 2 });
    await stack.report(lease, claim.job.id);
    seconds(61);
    for (let losses = 1; losses < 3; losses++) {
      await claimedAndSeen(device);
      seconds(61);
    }
    expect(await stack.claim(device, 'worker')).toBeUndefined();
    expect(await stack.job(user, batch.jobs![1]!.id)).toMatchObject({ status: 'ERROR' });
  });

  it('that is released is no loss, and each job counts its own', async () => {
    const { device, user } = newNames();
    const batch = await stack.create(user, { device_type: device, jobs: 2 });
    // More often than a job may lose its worker.
    for (let releases = 0; releases < 4; releases++) await stack.release(leaseFrom(await stack.claimed(device)));
    for (let losses = 0; losses < 2; losses++) {
      await claimedAndSeen(device);
      seconds(61);
    }
    const claim = await stack.claimed(device);
    await stack.report(leaseFrom(claim), claim.job.id);
    for (let losses = 0; losses < 2; losses++) {
      seconds(61);
      expect((await claimedAndSeen(device)).job.id).toBe(batch.jobs![1]!.id);
    }
  });

  it('names the owner: with another name it is none', async () => {
    const { user, batch, claim, lease } = await stack.held();
    const forged = { ...lease, userId: 'auth0|somebody' };
    await expect(stack.report(forged, claim.job.id)).rejects.toThrow(LeaseLost);
    await expect(stack.heartbeat(forged, null)).rejects.toThrow(LeaseLost);
    await expect(stack.uploadKey(forged, claim.job.id, sha256)).rejects.toThrow(LeaseLost);
    await expect(stack.next(forged)).rejects.toThrow(LeaseLost);
    await stack.release(forged);
    expect(await stack.heartbeat(lease, claim.job.id)).toMatchObject({ cancel: false });
    expect((await stack.batch(user, batch.id))!.status).toBe('RUNNING');
  });
});

describe('a cancellation', () => {
  it('is heard by the next heartbeat, and stays', async () => {
    const { device, user, batch, claim, lease } = await stack.held({ jobs: 2 });
    await stack.cancel(user, batch.id);
    expect(await stack.heartbeat(lease, claim.job.id)).toMatchObject({ cancel: true });
    await expect(stack.report(lease, claim.job.id)).rejects.toThrow(LeaseLost);
    await expect(stack.uploadKey(lease, claim.job.id, sha256)).rejects.toThrow(LeaseLost);
    expect(await stack.next(lease)).toEqual({ job: null, done: true, retry_after: null });
    expect(await stack.batch(user, batch.id)).toMatchObject({ status: 'CANCELED' });
    expect(await stack.job(user, claim.job.id)).toMatchObject({ status: 'CANCELED' });
    seconds(61);
    expect(await stack.claim(device, 'worker')).toBeUndefined();
  });
});

describe('an open batch', () => {
  it('stays with its device, which waits for jobs', async () => {
    const { device, user, batch, claim, lease } = await stack.held({ open: true });
    expect(await stack.report(lease, claim.job.id)).toEqual({ job: null, done: false, retry_after: 2 });
    for (let asked = 0; asked < 2; asked++) {
      seconds(45);
      expect(await stack.next(lease)).toEqual({ job: null, done: false, retry_after: 2 });
    }
    expect(await stack.claim(device, 'another')).toBeUndefined();
    const { jobs } = await stack.add(user, batch.id, 2);
    const next = await stack.next(lease);
    expect(next.job?.id).toBe(jobs![1]!.id);
    expect(await stack.next(lease)).toEqual(next);
    expect((await stack.report(lease, jobs![1]!.id)).job?.id).toBe(jobs![2]!.id);
    expect(await stack.report(lease, jobs![2]!.id)).toMatchObject({ job: null, done: false });
    // The clock of waiting has begun anew.
    seconds(100);
    expect(await stack.next(lease)).toMatchObject({ done: false });
    await stack.close(user, batch.id);
    expect(await stack.batch(user, batch.id)).toMatchObject({ status: 'DONE' });
    expect(await stack.next(lease)).toEqual({ job: null, done: true, retry_after: null });
  });

  it('that waits for two minutes is timed out by its device', async () => {
    const { user, batch, claim, lease } = await stack.held({ open: true });
    await stack.report(lease, claim.job.id);
    seconds(119);
    await stack.heartbeat(lease, null);
    expect(await stack.next(lease)).toMatchObject({ done: false });
    seconds(2);
    expect(await stack.next(lease)).toEqual({ job: null, done: true, retry_after: null });
    expect(await stack.batch(user, batch.id)).toMatchObject({ status: 'TIMED_OUT', open: false });
    expect(await stack.batch(user, batch.id)).toMatchObject({ device_status: 'No job came for 120 s.' });
    await expect(stack.add(user, batch.id, 1)).rejects.toMatchObject({
      status: 409,
      message: `The batch ${batch.id} timed out. No job came for 120 s.`,
    });
  });

  it('that lost its device while it waited waits outside the queue, and has another with its next job', async () => {
    const { device, user, batch, claim, lease } = await stack.held({ open: true });
    await stack.report(lease, claim.job.id);
    seconds(61);
    expect(await stack.claim(device, 'another')).toBeUndefined();
    expect(await stack.queued(user, batch.id)).toMatchObject({ status: 'PENDING', queue_position: null });
    seconds(600);
    expect(await stack.claim(device, 'another')).toBeUndefined();
    const { jobs } = await stack.add(user, batch.id, 1);
    expect(await stack.queued(user, batch.id)).toMatchObject({ status: 'PENDING', queue_position: 0 });
    const again = await stack.claimed(device, 'another');
    expect(again.job.id).toBe(jobs![1]!.id);
    await stack.report(leaseFrom(again), again.job.id);
    seconds(121);
    expect(await stack.claim(device, 'another')).toBeUndefined();
    expect(await stack.batch(user, batch.id)).toMatchObject({ status: 'TIMED_OUT' });
  });

  it('that waits for a call under way leaves its device, and is put back by that alone', async () => {
    const { device, user, batch, claim, lease } = await stack.held({ open: true });
    await stack.report(lease, claim.job.id);
    await stack.next(lease);
    await stack.add(user, batch.id, 1);
    const setCalls = (pending_calls?: object[]) =>
      changeItem(client, names.Batches, { Key: { user_id: user, id: batch.id }, attributes: { pending_calls } });
    await setCalls([{ id: 'call', from: 1 }]);
    seconds(121);
    expect(await stack.next(lease)).toEqual({ job: null, done: true, retry_after: null });
    expect(await stack.queued(user, batch.id)).toMatchObject({ status: 'PENDING', queue_position: 0 });
    expect(await stack.claim(device, 'another')).toBeUndefined();
    seconds(6);
    expect((await stack.measure(device)).lapsed).toEqual([]);
    await setCalls();
    expect((await stack.claimed(device, 'another')).batch.id).toBe(batch.id);
  });

  it('that is released while it waits leaves the queue until it has a job', async () => {
    const { device, user, batch, claim, lease } = await stack.held({ open: true });
    await stack.report(lease, claim.job.id);
    await stack.release(lease);
    expect(await stack.queued(user, batch.id)).toMatchObject({ status: 'PENDING', queue_position: null });
    expect(await stack.claim(device, 'worker')).toBeUndefined();
    const { jobs } = await stack.add(user, batch.id, 1);
    expect((await stack.claimed(device)).job.id).toBe(jobs![1]!.id);
  });

  it('is under no earlier lease when it comes back to the key that it had', async () => {
    const { device, user } = newNames();
    await stack.create(user, { device_type: device });
    const batch = await stack.create(user, { device_type: device, open: true, priority: 'HIGH' });
    await stack.claimed(device);
    const claim = await stack.claimed(device);
    const lease = leaseFrom(claim);
    expect(claim.batch.id).toBe(batch.id);
    await stack.report(lease, claim.job.id);
    await stack.release(lease);
    await stack.add(user, batch.id, 1);
    const again = leaseFrom(await stack.claimed(device));
    expect(again.key).toBe(lease.key);
    expect(again.fence).toBeGreaterThan(lease.fence);
    await expect(stack.next(lease)).rejects.toThrow(LeaseLost);
  });

  it('waits at its device for as long as that has announced', async () => {
    const { device, user } = newNames();
    await stack.announce(device, { idle_seconds: 600 });
    await stack.announce(device, { max_batch_seconds: 900 });
    const batch = await stack.create(user, { device_type: device, open: true });
    const claim = await stack.claimed(device);
    await stack.report(leaseFrom(claim), claim.job.id);
    seconds(599);
    expect(await stack.next(leaseFrom(claim))).toMatchObject({ done: false });
    seconds(2);
    expect(await stack.next(leaseFrom(claim))).toMatchObject({ done: true });
    expect(await stack.batch(user, batch.id)).toMatchObject({
      status: 'TIMED_OUT',
      device_status: 'No job came for 600 s.',
    });
  });

  it.each(['report', 'next'] as const)(
    'goes behind the others, at a %s, when its device had it for long',
    async (by) => {
      const { device, user } = newNames();
      await stack.announce(device, { max_batch_seconds: 900 });
      const batch = await stack.create(user, { device_type: device, open: true, jobs: by === 'report' ? 3 : 1 });
      const claim = await stack.claimed(device);
      const lease = leaseFrom(claim);
      const other = await stack.create(`${user} other`, { device_type: device });
      if (by === 'next') await stack.report(lease, claim.job.id);
      seconds(901);
      if (by === 'next') await stack.add(user, batch.id, 2);
      const gone = { job: null, done: true, retry_after: null };
      expect(await (by === 'next' ? stack.next(lease) : stack.report(lease, claim.job.id))).toEqual(gone);
      // What is repeated, or late, changes nothing.
      expect(await stack.next(lease)).toEqual(gone);
      if (by === 'report') expect(await stack.report(lease, claim.job.id)).toEqual(gone);
      const { jobs } = await stack.add(user, batch.id, 1);
      await expect(stack.report(lease, jobs![1]!.id)).rejects.toThrow(LeaseLost);
      expect(await stack.queued(user, batch.id)).toMatchObject({ status: 'PENDING', queue_position: 1 });
      const next = await stack.claimed(device);
      expect(next.batch.id).toBe(other.id);
      const again = await stack.claimed(device);
      expect(again).toMatchObject({ batch: { id: batch.id }, job: { id: jobs![1]!.id } });
      expect(leaseFrom(again).fence).toBeGreaterThan(lease.fence);
      expect(await recountOf(client, names, user)).toEqual([]);
    },
  );

  it('leaves its device after its time also while it waits there for jobs', async () => {
    const { device, user } = newNames();
    await stack.announce(device, { idle_seconds: 600, max_batch_seconds: 900 });
    const batch = await stack.create(user, { device_type: device, open: true });
    const claim = await stack.claimed(device);
    seconds(890);
    await stack.report(leaseFrom(claim), claim.job.id);
    expect(await stack.next(leaseFrom(claim))).toMatchObject({ done: false });
    seconds(10);
    expect(await stack.next(leaseFrom(claim))).toMatchObject({ done: true });
    expect(await stack.queued(user, batch.id)).toMatchObject({ status: 'PENDING', queue_position: null });
    const { jobs } = await stack.add(user, batch.id, 1);
    expect((await stack.claimed(device)).job.id).toBe(jobs![1]!.id);
  });
});
