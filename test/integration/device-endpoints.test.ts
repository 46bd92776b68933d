/**
 * The endpoints of devices, as workers call them: their answers, their scopes, and uploads by
 * signed links to a store that checks them.
 */

import { createHash, randomUUID } from 'node:crypto';
import { request as sendRequest } from 'node:http';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { RouteName } from '../../functions/routes.ts';
import { ask } from '../support/ask.ts';
import { askLater } from '../support/ask-later.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import type { GatewayRequest } from '../support/gateway-event.ts';
import { loggedLines } from '../support/logged-lines.ts';
import { startResultsStore } from '../support/results-store.ts';
import { deviceContent, sequenceText } from '../support/sequence-text.ts';

await functionEnvironment();
/** The clock is stopped: real leases last for a minute, and a test may take longer. */
vi.useFakeTimers({ toFake: ['Date'] });
const results = await startResultsStore();
afterAll(() => results.stop());

const askAs = (route: RouteName, request: GatewayRequest) => ask(route, { userId: 'machine', ...request });

const device = (route: RouteName, request: GatewayRequest) => askAs(route, { scope: 'device:*', ...request });

async function submit(jobs = 1, device_type = `D-${randomUUID()}`) {
  const userId = `auth0|${randomUUID()}`;
  const sequence_builder = sequenceText();
  const body = {
    project_id: randomUUID(),
    device_type,
    sequence_builder,
    jobs: Array.from({ length: jobs }, () => ({})),
  };
  const { data } = await askAs('createBatch', { userId, body });
  return { userId, device_type, batch: data };
}

async function claim(device_type: string) {
  const { data } = await device('claimBatch', { path: { device_type }, body: { worker: 'lab 1' } });
  return data as { lease: string; job: { id: string }; batch: { id: string } };
}

/** What a store answers to an upload, with these headers and no others. */
function put(url: string, headers: Readonly<Record<string, string>>, content: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = sendRequest(url, { method: 'PUT', headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    request.on('error', reject);
    request.end(content);
  });
}

/** Where the batch waits, as its user sees it. */
async function queued({ userId, batch }: Awaited<ReturnType<typeof submit>>) {
  const { data } = await askLater('getBatchStatus', { userId, path: { batch_id: batch.id } });
  return [data.status, data.queue_position, data.queue_reason];
}

const digest = (content: string) => createHash('sha256').update(content);

describe('an upload', () => {
  it('of the announced document is taken, and users get it once the job is reported', async () => {
    const { userId, device_type } = await submit();
    const { lease, job } = await claim(device_type);
    const path = { lease, job_id: job.id };
    const content = JSON.stringify({ counter: { '01': 100 } });
    const early = await device('reportJob', { path, body: { status: 'DONE', results: true } });
    expect(early).toMatchObject({ status: 422, detail: [{ loc: ['body', 'results'], type: 'value_error' }] });
    const link = await device('uploadResults', {
      path,
      body: { bytes: content.length, sha256: digest(content).digest('hex') },
    });
    expect(link.data.headers).toEqual({
      'Content-Length': String(content.length),
      'x-amz-checksum-sha256': digest(content).digest('base64'),
    });
    const url = new URL(link.data.url);
    expect(url.searchParams.get('X-Amz-SignedHeaders')).toBe('content-length;host;x-amz-checksum-sha256');
    expect(url.searchParams.get('X-Amz-Expires')).toBe('300');
    expect(await put(link.data.url, link.data.headers, content)).toBe(200);
    const reported = await device('reportJob', { path, body: { status: 'DONE', results: true } });
    expect(reported).toMatchObject({ status: 200, data: { job: null, done: true } });
    const shown = await askAs('getResultsLink', { userId, path: { job_id: job.id } });
    expect(await (await fetch(shown.data.results_link)).text()).toBe(content);
  });

  it('of anything else, or elsewhere, is refused', async () => {
    const { device_type } = await submit();
    const { lease, job } = await claim(device_type);
    const content = '{"counter":{"01":1}}';
    const { data } = await device('uploadResults', {
      path: { lease, job_id: job.id },
      body: { bytes: content.length, sha256: digest(content).digest('hex').toUpperCase() },
    });
    const { 'Content-Length': length, ...withoutLength } = data.headers;
    const { 'x-amz-checksum-sha256': checksum, ...withoutChecksum } = data.headers;
    const other = content.replace('1}', '2}');
    expect(other).toHaveLength(content.length);
    expect(await put(data.url, data.headers, other)).toBe(400);
    const otherChecksum = { ...data.headers, 'x-amz-checksum-sha256': digest(other).digest('base64') };
    expect(await put(data.url, otherChecksum, other)).toBe(403);
    expect(await put(data.url, { ...data.headers, 'Content-Length': String(content.length + 1) }, `${content} `)).toBe(
      403,
    );
    expect(await put(data.url, withoutChecksum, content)).toBe(403);
    const hoisted = `${data.url}&x-amz-checksum-sha256=${encodeURIComponent(checksum)}`;
    expect(await put(hoisted, withoutChecksum, content)).toBe(403);
    expect(await put(data.url.replace(job.id, randomUUID()), data.headers, content)).toBe(403);
    expect(await put(data.url.replace('/1/', '/2/'), data.headers, content)).toBe(403);
    expect(await put(data.url, { ...withoutLength, 'Content-Length': length }, content)).toBe(200);
  });

  it('changes nothing that was reported, whichever link of whichever lease is used when', async () => {
    const { userId, device_type, batch } = await submit(2);
    const linkOf = async (path: { lease: string; job_id: string }, content: string) => {
      const body = { bytes: content.length, sha256: digest(content).digest('hex') };
      const { data } = await device('uploadResults', { path, body });
      return () => put(data.url, data.headers, content);
    };
    const shown = async () => {
      const { data } = await askAs('getResultsLink', { userId, path: { job_id: batch.jobs[0].id } });
      return (await fetch(data.results_link)).text();
    };
    const [one, two, three, four, five] = [1, 2, 3, 4, 5].map((count) => `{"counter":{"01":${count}}}`);
    const lost = await claim(device_type);
    const ofLost = { lease: lost.lease, job_id: lost.job.id };
    const byLost = [await linkOf(ofLost, one!), await linkOf(ofLost, three!)];
    expect(await byLost[0]!()).toBe(200);
    await device('releaseLease', { path: ofLost });
    const { lease, job } = await claim(device_type);
    const path = { lease, job_id: job.id };
    const report = () => device('reportJob', { path, body: { status: 'DONE', results: true } });
    // The lost worker's document is none of this lease's.
    expect((await report()).status).toBe(422);
    const links = [await linkOf(path, two!), await linkOf(path, four!), await linkOf(path, three!)];
    expect(await links[0]!()).toBe(200);
    // The report means the last link that was asked for.
    expect((await report()).status).toBe(422);
    expect(await links[2]!()).toBe(200);
    const reported = await report();
    expect(reported).toMatchObject({ status: 200, data: { job: { id: batch.jobs[1].id } } });
    expect(await shown()).toBe(three);
    const ofNext = await linkOf({ lease, job_id: batch.jobs[1].id }, five!);
    for (const upload of [...links, ...byLost, ofNext]) {
      expect(await upload()).toBe(200);
      expect(await shown()).toBe(three);
      expect(await report()).toMatchObject({ status: 200, data: reported.data });
    }
    expect((await device('uploadResults', { path, body: { bytes: 1, sha256: 'a'.repeat(64) } })).status).toBe(409);
  });
});

describe('a claim', () => {
  it('of nothing is null, and says when to come again', async () => {
    const answer = await device('claimBatch', { path: { device_type: 'IDLE' }, body: { worker: 'lab 1' } });
    expect(answer).toMatchObject({ status: 200, data: null, headers: { 'Retry-After': '3' } });
  });

  it('whose two sequences exceed one answer leaves out the batch’s, which every job that runs it brings', async () => {
    const [userId, device_type] = [`auth0|${randomUUID()}`, `D-${randomUUID()}`];
    const [ofBatch, ofJob] = ['b', 'j'].map((letter) => `{"a":"${letter.repeat(3_200_000)}"}`);
    const body = { project_id: randomUUID(), device_type, sequence_builder: ofBatch, jobs: [], open: true };
    const { data: batch } = await askAs('createBatch', { userId, body });
    const path = { batch_id: batch.id };
    for (let times = 0; times < 2; times++) await askAs('addJobs', { userId, path, body: [{ sequence: ofJob }, {}] });
    const { data: claimed } = await device('claimBatch', { path: { device_type }, body: { worker: 'lab 1' } });
    expect(claimed.batch.sequence_builder).toBeNull();
    let job: { id: string; sequence: string } = claimed.job;
    for (const sequence of [ofJob, ofBatch, ofJob, ofBatch]) {
      expect(job.sequence === sequence).toBe(true);
      const { data: again } = await device('nextJob', { path: { lease: claimed.lease } });
      expect(again.job.sequence === sequence).toBe(true);
      const reported = await device('reportJob', {
        path: { lease: claimed.lease, job_id: job.id },
        body: { status: 'DONE' },
      });
      job = reported.data.job;
    }
  });

  it('names the place of each fault', async () => {
    const faults = async (body: unknown) =>
      (await device('claimBatch', { path: { device_type: 'IDLE' }, body })).detail.map(
        ({ loc }: { loc: unknown }) => loc,
      );
    expect(await faults(undefined)).toEqual([['body']]);
    expect(await faults({})).toEqual([['body', 'worker']]);
    expect(await faults({ worker: '' })).toEqual([['body', 'worker']]);
    expect(await faults({ worker: 'x'.repeat(129) })).toEqual([['body', 'worker']]);
  });

  it('writes a line to the log at INFO only where there is a batch to take', async () => {
    const { device_type } = await submit();
    const claimNothing = () => device('claimBatch', { path: { device_type }, body: { worker: 'idle' } });
    const lines = await loggedLines(async () => {
      await claim(device_type);
      await claimNothing();
    });
    expect(lines).toMatchObject([{ level: 'INFO', Claims: 1 }]);
    expect(await loggedLines(claimNothing, 'DEBUG')).toMatchObject([{ level: 'DEBUG', worker: 'idle' }]);
  });

  it('shows a batch’s place in the queue, and the length of it', async () => {
    const own = await submit();
    const { device_type } = own;
    expect(await queued(own)).toEqual(['PENDING', null, `No machine has announced itself as ${device_type}.`]);
    await device('announceDevice', { path: { device_type }, body: { status: 'UP', specs: '{"name":"D"}' } });
    expect(await queued(own)).toEqual(['PENDING', 0, null]);
    await claim(device_type);
    expect(await queued(own)).toEqual(['RUNNING', null, null]);
  });
});

describe('heartbeats and links', () => {
  it('write a line to the log at DEBUG, and at INFO what stops a job or is refused', async () => {
    const { userId, device_type, batch } = await submit();
    const { lease, job } = await claim(device_type);
    const path = { lease, job_id: job.id };
    const beat = () => device('extendLease', { path, body: { job_id: job.id } });
    const ask = () => device('uploadResults', { path, body: { bytes: 1, sha256: 'a'.repeat(64) } });
    const both = async () => {
      await beat();
      await ask();
    };
    expect(await loggedLines(both)).toEqual([]);
    expect(await loggedLines(both, 'DEBUG')).toMatchObject([
      { level: 'DEBUG', status: 200, device_type },
      { level: 'DEBUG', status: 200, device_type },
    ]);
    await askAs('cancelBatch', { userId, path: { batch_id: batch.id } });
    expect((await beat()).data.cancel).toBe(true);
    expect(await loggedLines(both)).toMatchObject([
      { level: 'INFO', status: 200 },
      { level: 'INFO', status: 409, reason: 'lease_lost' },
    ]);
  });
});

describe('a lease', () => {
  it.each(['', 'x', '%', 'e30', Buffer.from('["D","k",1,"u"]').toString('base64url')])(
    'that is none is 422: %j',
    async (lease) => {
      const path = { lease, job_id: randomUUID() };
      for (const route of ['extendLease', 'nextJob', 'releaseLease'] as const) {
        const { status, detail } = await device(route, { path, body: {} });
        expect(status).toBe(422);
        expect(detail).toMatchObject([{ loc: ['path', 'lease'], type: 'value_error' }]);
      }
    },
  );

  it.each([
    { name: 'an owner longer than any', fence: 1, owner: 'u'.repeat(3_000) },
    { name: 'an owner that no table can hold', fence: 1, owner: '\ud800' },
    { name: 'a number that none follows', fence: Number.MAX_SAFE_INTEGER, owner: 'u' },
  ])('that was made up with $name is 422, whatever it is shown to', async ({ fence, owner }) => {
    const key = `${'0'.repeat(16)}.2.2026-11-21T12:00:00.000000Z.${randomUUID()}`;
    const lease = Buffer.from(JSON.stringify(['D', key, fence, owner])).toString('base64url');
    const path = { lease, job_id: randomUUID() };
    const body = { status: 'DONE', results: true, job_id: path.job_id, bytes: 1, sha256: 'a'.repeat(64) };
    for (const route of ['extendLease', 'uploadResults', 'reportJob', 'nextJob', 'releaseLease'] as const) {
      expect((await device(route, { path, body })).status).toBe(422);
    }
  });

  it('is of no use to a caller who may not act for its device', async () => {
    const { device_type } = await submit();
    const { lease, job } = await claim(device_type);
    const path = { lease, job_id: job.id };
    const upload = { bytes: 1, sha256: 'a'.repeat(64) };
    for (const scope of ['', 'openid', 'device:OTHER', `device:${device_type}2`]) {
      const request = { path, scope };
      expect((await askAs('extendLease', { ...request, body: { job_id: job.id } })).status).toBe(403);
      expect((await askAs('uploadResults', { ...request, body: upload })).status).toBe(403);
      expect((await askAs('reportJob', { ...request, body: { status: 'DONE' } })).status).toBe(403);
      expect((await askAs('nextJob', request)).status).toBe(403);
      expect((await askAs('releaseLease', request)).status).toBe(403);
    }
    const scope = `openid device:${device_type}`;
    expect((await askAs('extendLease', { path, scope, body: { job_id: job.id } })).status).toBe(200);
  });

  it('that is lost is 409, and an unknown job 404', async () => {
    const { device_type } = await submit();
    const { lease, job } = await claim(device_type);
    const unknown = { lease, job_id: randomUUID() };
    expect((await device('reportJob', { path: unknown, body: { status: 'DONE' } })).status).toBe(404);
    expect((await device('releaseLease', { path: { lease } })).data).toBeNull();
    const path = { lease, job_id: job.id };
    expect((await device('extendLease', { path, body: { job_id: job.id } })).status).toBe(409);
    expect((await device('reportJob', { path, body: { status: 'DONE' } })).status).toBe(409);
    expect((await device('nextJob', { path })).status).toBe(409);
  });
});

describe('a report of 100,000 wrong errors', () => {
  it('is refused with one fault, and changes nothing', async () => {
    const { device_type } = await submit();
    const { lease, job } = await claim(device_type);
    const path = { lease, job_id: job.id };
    const errors = Array.from({ length: 100_000 }, () => null);
    const { status, detail } = await device('reportJob', { path, body: { status: 'ERROR', errors } });
    expect([status, detail]).toMatchObject([422, [{ loc: ['body', 'errors'], type: 'too_long' }]]);
    expect((await device('reportJob', { path, body: { status: 'ERROR', errors: ['x'] } })).status).toBe(200);
  });
});

describe('a report of results', () => {
  it('says nothing of what was uploaded to a caller without a lease', async () => {
    const { device_type } = await submit(2);
    const { lease, job } = await claim(device_type);
    const [type, key, fence, owner] = JSON.parse(Buffer.from(lease, 'base64url').toString());
    const sha256 = 'a'.repeat(64);
    await device('uploadResults', { path: { lease, job_id: job.id }, body: { bytes: 2, sha256 } });
    for (const each of [fence, fence + 1]) await results.put(`results/${owner}/${job.id}/${each}/${sha256}.json`, {});
    const textOf = (content: unknown[]) => Buffer.from(JSON.stringify(content)).toString('base64url');
    const answerTo = async (forged: string, jobId: string) => {
      const body = { status: 'DONE', results: true };
      return (await device('reportJob', { path: { lease: forged, job_id: jobId }, body })).status;
    };
    const notThisFence = textOf([type, key, fence + 1, owner]);
    const notThisOwner = textOf([type, key, fence, 'auth0|somebody']);
    for (const forged of [notThisFence, notThisOwner]) {
      expect([await answerTo(forged, job.id), await answerTo(forged, randomUUID())]).toEqual([409, 409]);
    }
    expect(await answerTo(lease, randomUUID())).toBe(422);
    await device('releaseLease', { path: { lease } });
    expect(await answerTo(lease, job.id)).toBe(409);
  });
});

describe('an announcement', () => {
  const specs = JSON.stringify({ name: 'Fresnel', dimensions: 2 });

  it('shows the device to users, and finds its batches by the name in its specification', async () => {
    const device_type = `FRESNEL ${randomUUID()}`;
    const name = `name ${randomUUID()}`;
    const body = { status: 'UP', specs: JSON.stringify({ name }) };
    const now = { device_type, status: 'UP', availability: 'ACTIVE', queue_length: 0, mode: 'OPEN', windows: [] };
    const unknown = { idle_seconds: 120, status_message: null, available_at: null, average_queue_time: null };
    const shown = { ...now, ...unknown, max_atom_num: null, is_emulator: false, channels: null, calibration: null };
    expect((await device('announceDevice', { path: { device_type }, body })).data).toEqual(shown);
    const listed = await askLater('listDevices', { query: { device_type } });
    expect(listed.data).toEqual([shown]);
    const batch = await askAs('createBatch', {
      userId: 'auth0|ada',
      body: { project_id: randomUUID(), sequence_builder: sequenceText({ device: deviceContent(name) }), jobs: [{}] },
    });
    expect(batch.data.device_type).toBe(device_type);
    const down = await device('announceDevice', { path: { device_type }, body: { ...body, status: 'CALIBRATING' } });
    expect(down.data).toMatchObject({ status: 'CALIBRATING', availability: 'INACTIVE' });
  });

  it('of a status alone leaves the specification as it is', async () => {
    const device_type = `EMU_${randomUUID()}`;
    const announce = (body: object) => device('announceDevice', { path: { device_type }, body });
    const shown = async () => {
      const one = await askAs('getDeviceSpecification', { userId: 'auth0|ada', path: { device_type } });
      const all = (await askAs('listDeviceSpecifications', { userId: 'auth0|ada' })).data;
      const open = (await askLater('listPublicSpecifications', {})).data;
      const found = open.find((each: { device_type: string }) => each.device_type === device_type);
      return [one.status, one.data.specs, all[device_type], found?.specs];
    };
    expect((await announce({ status: 'DOWN' })).data).toMatchObject({ status: 'DOWN', availability: 'INACTIVE' });
    expect((await askLater('listDevices', { query: { device_type } })).data).toMatchObject([{ status: 'DOWN' }]);
    expect(await shown()).toEqual([404, undefined, undefined, undefined]);
    await announce({ status: 'UP', specs });
    expect((await announce({ status: 'CALIBRATING' })).data.status).toBe('CALIBRATING');
    expect(await shown()).toEqual([200, specs, specs, specs]);
  });

  it('is taken back by a removal, once nothing waits for the device', async () => {
    const { userId, device_type, batch } = await submit();
    const path = { device_type };
    const types = async () => (await askLater('listDevices', { query: { device_type } })).data.length;
    expect((await device('removeDevice', { path })).status).toBe(404);
    await device('announceDevice', { path, body: { status: 'UP', specs } });
    for (const scope of ['', `device:${device_type}`]) {
      expect((await askAs('removeDevice', { path, scope })).status).toBe(403);
    }
    const refused = await device('removeDevice', { path });
    expect([refused.status, refused.data.reason]).toEqual([409, 'device_in_use']);
    await askAs('cancelBatch', { userId, path: { batch_id: batch.id } });
    expect([(await device('removeDevice', { path })).status, await types()]).toEqual([200, 0]);
    expect((await device('removeDevice', { path })).status).toBe(404);
    await device('announceDevice', { path, body: { status: 'UP' } });
    expect(await types()).toBe(1);
  });

  it('is made by a claim that finds work, and forgotten by a removal, in the queue as well', async () => {
    const own = await submit();
    const { device_type } = own;
    const path = { device_type };
    const listed = async () => (await askLater('listDevices', { query: { device_type } })).data;
    expect((await device('claimBatch', { path: { device_type: 'IDLE' }, body: { worker: 'idle' } })).data).toBeNull();
    expect((await askLater('listDevices', { query: { device_type: 'IDLE' } })).data).toEqual([]);
    await claim(device_type);
    const shown = { device_type, status: 'UP', availability: 'ACTIVE' };
    expect(await listed()).toMatchObject([shown]);
    await askAs('cancelBatch', { userId: own.userId, path: { batch_id: own.batch.id } });
    expect((await device('removeDevice', { path })).status).toBe(200);
    const next = await submit(1, device_type);
    expect(await queued(next)).toEqual(['PENDING', null, `No machine has announced itself as ${device_type}.`]);
    expect(await listed()).toEqual([]);
    await claim(device_type);
    await device('announceDevice', { path, body: { status: 'RESTING' } });
    await submit(1, device_type);
    await claim(device_type);
    expect(await listed()).toMatchObject([{ ...shown, status: 'RESTING', availability: 'INACTIVE' }]);
  });

  it('keeps what was announced before of who may read the specification', async () => {
    const [emulator, processor] = [`EMU_${randomUUID()}`, `QPU_${randomUUID()}`];
    const isPublic = async (type: string) =>
      (await askLater('listPublicSpecifications', {})).data.some(
        (each: { device_type: string }) => each.device_type === type,
      );
    const announce = (device_type: string, content: object = {}) =>
      device('announceDevice', { path: { device_type }, body: { status: 'UP', specs, ...content } });
    await announce(emulator);
    await announce(processor);
    expect([await isPublic(emulator), await isPublic(processor)]).toEqual([true, false]);
    await announce(emulator, { public: false });
    await announce(processor, { public: true });
    await announce(emulator);
    await announce(processor);
    expect([await isPublic(emulator), await isPublic(processor)]).toEqual([false, true]);
  });

  it.each([{}, { specs }, { status: 'UP', specs: '{}' }, { status: 'UP', specs: 'x' }, { status: '', specs }])(
    'of %j is refused',
    async (body) => {
      const { status, detail } = await device('announceDevice', { path: { device_type: 'FRESNEL' }, body });
      expect(status).toBe(422);
      expect(detail[0].loc[0]).toBe('body');
    },
  );
});
