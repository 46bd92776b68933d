/**
 * Limits where creations meet them. A creation is checked in the transaction that begins it, with
 * all jobs that the call announces: what has begun goes on, and a repetition changes nothing.
 *
 * Why never one too many gets in: the check reads the counter of each subject first and then counts
 * what waits; the transaction is conditional on the counter's `rev` and moves it. Of two creations
 * that read the same counter, one fails and checks again. Whatever else happens meanwhile only ends
 * what waits, or turns announced jobs into created ones, which the later count finds.
 */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { OverLimit } from '../../errors.ts';
import { type CountedLimit, type LimitCounter, userSubject } from '../../schemas/limits.ts';
import { minuteOf } from '../../values/timestamp.ts';
import type { OwnerLists } from '../columns/lists.ts';
import type { Bounds } from '../limits/limits.ts';
import { endOfMonth, readLimitCounters, usedOfLimits } from '../limits/used-of-limits.ts';
import type { CheckedCounters } from './counters.ts';
import type { Begun, Draft } from './draft.ts';
import type { LifecycleTables } from './transaction.ts';

interface CheckContext {
  readonly client: DynamoDBDocumentClient;
  readonly tables: LifecycleTables;
  readonly lists: OwnerLists;
  readonly userId: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Checks what a draft begins to create against the limits that it was read with, and returns the
 * counters that it read. Throws OverLimit. Costs nothing where there are no limits.
 */
export async function checkLimits(context: CheckContext, draft: Draft): Promise<CheckedCounters> {
  const { begun, stored } = draft;
  const bounds = stored.bounds ?? [];
  if (begun === undefined || bounds.length === 0) return new Map();
  const { device_type } = draft.batches.get(begun.batchId) ?? { device_type: '' };
  for (const { subject, limits } of bounds) {
    if (limits.device_types?.includes(device_type) === false) throw notForDevice(subject, device_type);
  }
  const { client, tables } = context;
  const counted = bounds.filter(({ limits }) => hasCounter(limits)).map(({ subject }) => subject);
  const counters: CheckedCounters = await readLimitCounters(client, tables, counted);
  await Promise.all(bounds.map((bound) => checkBound(context, { begun, bound, counter: counters.get(bound.subject) })));
  return counters;
}

/** Limits of a month are not counted here: what is used grows when jobs end. */
function hasCounter(limits: Bounds['limits']): boolean {
  const { max_waiting_batches, max_waiting_jobs, creations_per_minute } = limits;
  return (max_waiting_batches ?? max_waiting_jobs ?? creations_per_minute) !== undefined;
}

interface BoundCheck {
  readonly begun: Begun;
  readonly bound: Bounds;
  readonly counter: LimitCounter | undefined;
}

async function checkBound({ client, tables, lists, userId, now }: CheckContext, check: BoundCheck): Promise<void> {
  const { begun, counter } = check;
  const { subject, limits } = check.bound;
  const { max_waiting_batches, max_waiting_jobs, shots_per_month, device_seconds_per_month } = limits;
  const { waiting, inMonth } = usedOfLimits(client, tables, lists);
  const isUser = subject === userSubject(userId);
  const requireRoom = (limit: CountedLimit, used: number, more?: number) => {
    const max = limits[limit];
    if (max === undefined || (more === undefined ? used < max : more === 0 || used + more <= max)) return;
    throw overLimit(subject, limit, { max, used, more, now: now() });
  };
  if ((shots_per_month ?? device_seconds_per_month) !== undefined) {
    const { shots, seconds } = await inMonth(subject, now());
    requireRoom('shots_per_month', shots);
    requireRoom('device_seconds_per_month', seconds);
  }
  if (counter === undefined) return;
  if ((max_waiting_batches ?? max_waiting_jobs) !== undefined) {
    const found = isUser ? await waiting(userId, limits) : undefined;
    const jobs = found === undefined ? counter.waiting_jobs : found.jobs + counter.jobs_to_come;
    requireRoom('max_waiting_batches', found?.batches ?? counter.waiting_batches, begun.batches);
    requireRoom('max_waiting_jobs', jobs, begun.jobs);
  }
  requireRoom('creations_per_minute', counter.minute === minuteOf(now()) ? counter.creations : 0);
}

function whose(subject: string): string {
  return subject.startsWith('user:') ? 'the user' : subject.replace(':', ' ');
}

interface Excess {
  readonly max: number;
  readonly used: number;
  readonly more: number | undefined;
  readonly now: number;
}

function overLimit(subject: string, limit: CountedLimit, { max, used, more, now }: Excess): OverLimit {
  const left = Math.max(0, max - used);
  const details = { limit, subject, max, used, left };
  const sentence = `The limit ${limit} of ${whose(subject)} is ${max}: ${used} used, ${left} left`;
  if (limit === 'creations_per_minute') {
    const seconds = Math.ceil(((minuteOf(now) + 1) * 60_000 - now) / 1_000);
    const headers = { 'Retry-After': String(seconds) };
    return new OverLimit('too_many_creations', `${sentence}, until the next minute.`, { details, headers });
  }
  if (more !== undefined)
    return new OverLimit('limit_exceeded', `${sentence}, and the call adds ${more}.`, { details });
  const begins_anew_at = endOfMonth(now);
  const message = `${sentence}. It begins anew on ${begins_anew_at.slice(0, 10)}.`;
  return new OverLimit('limit_exceeded', message, { details: { ...details, begins_anew_at } });
}

function notForDevice(subject: string, deviceType: string): OverLimit {
  const message = `The limit device_types of ${whose(subject)} does not allow ${deviceType}.`;
  return new OverLimit('device_type_not_allowed', message, { details: { limit: 'device_types', subject } });
}
