/** What the console's test does by the API: it plays the machine of a device of its own. */

import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import type { StackDescription } from '../../../infra/local/greeting.ts';
import { deviceContent } from '../../support/sequence-text.ts';

/** What the worker brings back of a job: results, or why it failed. */
export type Outcome = { readonly counter: Readonly<Record<string, number>> } | { readonly errors: readonly string[] };

interface Claim {
  readonly lease: string;
  readonly batch: { readonly id: string };
  readonly job: { readonly id: string } | null;
}

export type Laboratory = Awaited<ReturnType<typeof openLaboratory>>;

/** Announces a device that no other test knows, unless it is named. */
export async function openLaboratory(stack: StackDescription, device = `CHECK_${randomUUID().slice(0, 8)}`) {
  const [user] = stack.users;

  async function call<Data>(path: string, { token = user!.token, method = 'GET', body }: Call = {}): Promise<Data> {
    const response = await fetch(`${stack.baseUrl}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text).data) as Data;
  }

  const asDevice = (method: string, body?: object) => ({ token: stack.device.token, method, body });
  const asMachine = <Data>(path: string, body: object = {}, method = 'POST') =>
    call<Data>(path, asDevice(method, body));

  await asMachine(`/api/v1/devices/${device}`, { status: 'UP', specs: JSON.stringify(deviceContent(device)) }, 'PUT');

  return {
    device,
    call,

    /**
     * Announces a further device, paused by an operator. All its texts are without a space, and as
     * long as they may be. Answers with its type.
     */
    async announceOdd(): Promise<string> {
      const type = randomUUID().padEnd(128, 'D');
      const path = `/api/v1/devices/${type}`;
      await asMachine(path, { status: 's'.repeat(256) }, 'PUT');
      const reason = 'r'.repeat(512);
      const windows = [{ starts_at: '2254-12-31T00:00:00Z', ends_at: '2255-01-01T00:00:00Z', reason }];
      const body = { mode: 'PAUSED', reason, windows };
      await call(path, { token: stack.operator.token, method: 'PATCH', body });
      return type;
    },

    /** Takes a batch, and has its first job until the answer is called. Then it waits again. */
    async take(worker = 'check'): Promise<() => Promise<void>> {
      const { lease } = await asMachine<Claim>(`/api/v1/devices/${device}/claim`, { worker });
      return () => call(`/api/v1/leases/${lease}`, asDevice('DELETE'));
    },

    /** Reports what the machine has measured of itself, from this time on. */
    async calibrate(numbers: Readonly<Record<string, number>>, valid_from: string): Promise<void> {
      await asMachine(`/api/v1/devices/${device}/calibrations`, { numbers, valid_from });
    },

    /**
     * Takes the next batch and runs its jobs, each as `run` says by its place, and at most `max`.
     * Answers with the batch's id.
     */
    async work(run: (place: number) => Outcome, max = Number.POSITIVE_INFINITY): Promise<string> {
      const claim = await asMachine<Claim>(`/api/v1/devices/${device}/claim`, { worker: 'check' });
      const path = `/api/v1/leases/${claim.lease}/jobs`;
      for (let { job } = claim, place = 0; job !== null && place < max; place++) {
        const outcome = run(place);
        const isDone = 'counter' in outcome;
        if (isDone) await upload(`${path}/${job.id}/results`, JSON.stringify(outcome));
        const report = isDone ? { status: 'DONE', results: true } : { status: 'ERROR', errors: outcome.errors };
        ({ job } = await asMachine<Pick<Claim, 'job'>>(`${path}/${job.id}`, report));
        if (job !== null && place + 1 === max) await call(`/api/v1/leases/${claim.lease}`, asDevice('DELETE'));
      }
      return claim.batch.id;
    },
  };

  async function upload(path: string, document: string) {
    const sha256 = createHash('sha256').update(document).digest('hex');
    const bytes = Buffer.byteLength(document);
    const { url, headers } = await asMachine<{ url: string; headers: Record<string, string> }>(path, { bytes, sha256 });
    const response = await fetch(url, { method: 'PUT', headers, body: document });
    assert(response.ok, `The upload answered ${response.status}.`);
  }
}

interface Call {
  readonly token?: string;
  readonly method?: string;
  readonly body?: unknown;
}
