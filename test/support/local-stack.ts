/** What end-to-end tests do with the running local stack. */

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { calculateJwkThumbprint, importJWK, type JWK, type JWTPayload, SignJWT } from 'jose';
import { inject } from 'vitest';

export const stack = inject('localStack');
export const [demo, guest] = stack.users as [(typeof stack.users)[0], (typeof stack.users)[0]];

/** The issuer's private key, and its id. */
export const issuerKey = JSON.parse(readFileSync(join(inject('localStackData'), 'issuer-key.json'), 'utf8')) as JWK;
const issuerKeyId = await calculateJwkThumbprint(issuerKey);

export interface Call {
  readonly method?: string;
  /** None is sent when undefined. */
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** An answer whose body is JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it.
  readonly body: any;
}

/** Calls the API; every answer must be JSON, and carry the headers that every answer carries. */
export async function call(path: string, { method = 'GET', token, headers = {}, body }: Call = {}): Promise<Answer> {
  const response = await fetch(stack.baseUrl + path, {
    method,
    headers: { ...(token !== undefined && { Authorization: `Bearer ${token}` }), ...headers },
    ...(body !== undefined && { body: body as string | Buffer<ArrayBuffer> }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** A token as the issuer makes them, with these claims instead; undefined leaves one out. */
export async function makeToken(claims: JWTPayload = {}, header: Record<string, unknown> = {}, key = issuerKey) {
  const now = Math.floor(Date.now() / 1000);
  const all = { iss: stack.issuer, aud: 'quantum-batch-api', sub: randomUUID(), iat: now, exp: now + 600, ...claims };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return new SignJWT(given)
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: issuerKeyId, ...header })
    .sign(await importJWK(key, 'RS256'));
}

/** A user that no other test uses. */
export async function newUser(): Promise<{ userId: string; token: string }> {
  const userId = `user-${randomUUID()}`;
  return { userId, token: await makeToken({ sub: userId }) };
}

/** Sends lifecycle events and answers with their delivery. */
export async function sendEvents(...events: readonly unknown[]) {
  const response = await fetch(`${stack.baseUrl}/_local/events`, { method: 'POST', body: JSON.stringify(events) });
  return (await response.json()) as {
    accepted: number;
    pending: number;
    failures: { messageId: string; reason: string }[];
  };
}

/** A `batch.created` event with this number of jobs. */
export function batchCreated(userId: string, jobs: number, data: Record<string, unknown> = {}) {
  const batchId = randomUUID();
  return {
    id: randomUUID(),
    type: 'batch.created',
    time: new Date(Date.now() - 60_000).toISOString(),
    user_id: userId,
    data: {
      id: batchId,
      project_id: randomUUID(),
      device_type: 'EMU_MPS',
      queue_priority: 'MEDIUM',
      jobs: Array.from({ length: jobs }, () => ({ id: randomUUID(), runs: 100, origin: 'CLIENT' })),
      ...data,
    },
  };
}

/** A `job.updated` event, later than the creation. */
export function jobUpdated(userId: string, jobId: string, data: Record<string, unknown>) {
  return {
    id: randomUUID(),
    type: 'job.updated',
    time: new Date(Date.now() - 30_000).toISOString(),
    user_id: userId,
    data: { job_id: jobId, ...data },
  };
}
