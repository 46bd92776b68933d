/**
 * Checks creations against limits. A creation is checked in the transaction that begins it, with
 * all jobs that the call announces: a creation that has begun goes on, and a repetition changes
 * nothing.
 *
 * Why the limit is never exceeded by one: the check reads the counter of each subject first and
 * then counts its rows; the transaction is conditional on the counter's `rev` and moves it. Of two
 * creations that read the same counter, one fails and checks again. Everything else meanwhile only
 * ends rows, or turns announced jobs into created ones, which the later count finds.
 */

import { OverLimit } from '../../errors.ts';
import { type CountedLimit, countedLimits, limitKinds, limits, limitsOfKind } from '../../limits.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import { minuteOf } from '../../values/timestamp.ts';
import type { EffectiveLimits } from '../limits/limits-of-subjects.ts';
import { endOfMonth, noCounter, readLimitCounters, usedOfLimits } from '../limits/used-of-limits.ts';
import { type CheckedCounters, countOf } from './counters.ts';
import type { Begun, Draft } from './draft.ts';
import type { LifecycleDb } from './lifecycle-db.ts';

/** Limits of a month have no counter: what is used grows when jobs end. */
const limitsWithCounter = limitsOfKind('rows', 'minute');

/**
 * Checks what a draft begins to create against the limits that were read with the draft. Returns
 * the counters that it read. Throws OverLimit. Costs nothing without limits.
 */
export async function checkLimits(db: LifecycleDb, draft: Draft): Promise<CheckedCounters> {
  const { begun, stored } = draft;
  const { limits: held = [] } = stored;
  if (begun === undefined || held.length === 0) return new Map();
  const batch = draft.batches.get(begun.batchId) as BatchRow;
  for (const each of held) requireDevice(each, batch.device_type);
  const counted = held.filter((each) => limitsWithCounter.some((name) => each.limits[name] !== undefined));
  const subjects = counted.map(({ subject }) => subject);
  const counters: CheckedCounters = await readLimitCounters(db, subjects);
  const now = db.clock.now();
  const added = (name: CountedLimit) => addedTo(name, { begun, batch, before: stored.batches.get(batch.id) });
  const refusals = await Promise.all(
    held.map(async (each) => {
      const names = countedLimits.filter((name) => each.limits[name] !== undefined);
      const counter = counters.get(each.subject) ?? noCounter;
      const used = await usedOfLimits(db, { subject: each.subject, names, counter, now });
      const exceeded = names.find((name) => isExceeded(each.limits[name]!, used.get(name)!, added(name)));
      return exceeded && overLimit(each, exceeded, { used: used.get(exceeded)!, more: added(exceeded), now });
    }),
  );
  const refusal = refusals.find((each) => each !== undefined);
  if (refusal !== undefined) throw refusal;
  return counters;
}

interface BegunBatch {
  readonly begun: Begun;
  readonly batch: BatchRow;
  readonly before: BatchRow | undefined;
}

/** How many rows the whole call adds; undefined where a limit is not of rows. */
function addedTo(name: CountedLimit, { begun, batch, before }: BegunBatch): number | undefined {
  const facts = limits[name];
  if (facts.kind !== 'rows') return undefined;
  if (facts.counts.list === 'job') return begun.jobs;
  return countOf(facts.counts, batch) - (before === undefined ? 0 : countOf(facts.counts, before));
}

function isExceeded(max: number, used: number, more: number | undefined): boolean {
  return more === undefined ? used >= max : more > 0 && used + more > max;
}

function whose(subject: string): string {
  return subject.startsWith('user:') ? 'the user' : subject.replace(':', ' ');
}

interface Excess {
  readonly used: number;
  readonly more: number | undefined;
  readonly now: number;
}

function overLimit(held: EffectiveLimits, limit: CountedLimit, { used, more, now }: Excess): OverLimit {
  const { subject } = held;
  const { kind } = limits[limit];
  const { refusal } = limitKinds[kind];
  const max = held.limits[limit]!;
  const left = Math.max(0, max - used);
  const details = { limit, subject, max, used, left };
  const sentence = `The limit ${limit} of ${whose(subject)} is ${max}: ${used} used, ${left} left`;
  switch (kind) {
    case 'rows':
      return new OverLimit(refusal, `${sentence}, and the call adds ${more}.`, { details });
    case 'month': {
      const begins_anew_at = endOfMonth(now);
      const message = `${sentence}. It begins anew on ${begins_anew_at.slice(0, 10)}.`;
      return new OverLimit(refusal, message, { details: { ...details, begins_anew_at } });
    }
    case 'minute': {
      const headers = { 'Retry-After': String(Math.ceil(((minuteOf(now) + 1) * 60_000 - now) / 1_000)) };
      return new OverLimit(refusal, `${sentence}, until the next minute.`, { details, headers });
    }
  }
}

function requireDevice({ subject, limits }: EffectiveLimits, deviceType: string): void {
  if (limits.device_types?.includes(deviceType) !== false) return;
  const message = `The limit device_types of ${whose(subject)} does not allow ${deviceType}.`;
  throw new OverLimit(limitKinds.devices.refusal, message, { details: { limit: 'device_types', subject } });
}
