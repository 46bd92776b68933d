import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import {
  countHostCall,
  countUnanswered,
  maxCallsPerMinute,
  maxHostWaitSeconds,
} from '../../functions/data/webhooks/host-limits.ts';
import { derivedUuid } from '../../functions/values/uuid.ts';
import { deep } from '../support/depth.ts';
import { ownTables } from '../support/own-tables.ts';
import { testDb } from '../support/test-db.ts';

const { client, tables } = await ownTables();
const clock = { now: Date.parse('2026-11-22T12:00:00Z') };
const db = testDb(client, tables, { now: () => clock.now });
const newHost = () => `${crypto.randomUUID()}.example.org`;

type Max = Partial<typeof maxCallsPerMinute>;

async function waitOf(user: string, host: string, max: Max = {}): Promise<number> {
  return (await countHostCall(db, user, host, { ...maxCallsPerMinute, ...max })).seconds;
}

async function ask(times: number, user: string, host: string, max?: Max): Promise<number[]> {
  const waits: number[] = [];
  while (waits.length < times) {
    const together = Math.min(50, times - waits.length);
    waits.push(...(await Promise.all(Array.from({ length: together }, () => waitOf(user, host, max)))));
  }
  return waits;
}

const passed = (waits: readonly number[]) => waits.filter((seconds) => seconds === 0).length;

describe('a host', () => {
  it('is called so often in a minute at most, for one user and for all', async () => {
    const host = newHost();
    const max = deep ? maxCallsPerMinute : { ofUser: 45, ofAll: 90 };
    const { ofUser, ofAll } = max;
    const first = await ask(ofUser + 15, 'user 1', host, max);
    expect(passed(first)).toBe(ofUser);
    expect(passed(await ask(ofUser - 10, 'user 2', host, max))).toBe(ofUser - 10);
    // What the first user sends beyond its limit leaves the others theirs.
    expect(passed(await ask(ofUser, 'user 3', host, max))).toBe(ofAll - 2 * ofUser + 10);
    expect(passed(await ask(10, 'user 1', newHost(), max))).toBe(10);
    clock.now += 60_000;
    expect(passed(await ask(10, 'user 1', host, max))).toBe(10);
    for (const seconds of first.filter((each) => each > 0)) expect(seconds).toBeLessThanOrEqual(120);
  });

  it('is called 300 times for one user and 600 times for all, unless other limits are given', async () => {
    const [host, minute] = [newHost(), Math.floor(clock.now / 60_000)];
    const called = (subject: string, name: string, calls: number) =>
      client.send(new PutCommand({ TableName: tables.Counters, Item: { subject, name, calls } }));
    await called('user:user 1', `${minute} ${derivedUuid(host)}`, 298);
    expect(passed(await ask(5, 'user 1', host))).toBe(2);
    await called(`host:${derivedUuid(host)}`, `${minute}`, 598);
    expect(passed(await ask(5, 'user 2', host))).toBe(2);
  });

  it('that leaves four calls of a user unanswered gets four of theirs a minute, until it has left none for a minute', async () => {
    const host = newHost();
    await ask(10, 'user 1', host);
    for (let unanswered = 0; unanswered < 3; unanswered++) await countUnanswered(db, 'user 1', host);
    expect(passed(await ask(10, 'user 1', host))).toBe(10);
    await countUnanswered(db, 'user 1', `${host}.`);
    const { seconds, isSilent } = await countHostCall(db, 'user 1', host);
    expect({ isSilent, waits: seconds > 0 }).toEqual({ isSilent: true, waits: true });
    expect(passed(await ask(10, 'user 2', host))).toBe(10);
    expect(passed(await ask(10, 'user 1', newHost()))).toBe(10);
    clock.now += 60_000;
    expect(passed(await ask(10, 'user 1', host))).toBe(4);
    for (let unanswered = 0; unanswered < 4; unanswered++) await countUnanswered(db, 'user 1', host);
    clock.now += 60_000;
    expect(passed(await ask(10, 'user 1', host))).toBe(4);
    clock.now += 60_000;
    expect(passed(await ask(10, 'user 1', host))).toBe(10);
  });

  it('is the same with a dot at its end, and may have a name of any length', async () => {
    const host = newHost();
    const count = (user: string, host: string) => waitOf(user, host, { ofUser: 1, ofAll: 9 });
    expect(await count('user', host)).toBe(0);
    expect(await count('user', `${host}.`)).toBeGreaterThan(0);
    expect(await count('user', `${'long.'.repeat(1_000)}org`)).toBe(0);
    expect(await count('user', `${host}:444`)).toBe(0);
  });

  it('is asked about again within a quarter of an hour', async () => {
    const waits = await ask(30, 'user', newHost(), { ofUser: 1, ofAll: 9 });
    expect(Math.max(...waits)).toBe(maxHostWaitSeconds);
    expect(new Set(waits).size).toBeGreaterThan(14);
  });

  it('has counters that DynamoDB deletes', async () => {
    const host = newHost();
    await countHostCall(db, 'user', host);
    const minute = Math.floor(clock.now / 60_000);
    for (const Key of [
      { subject: 'user:user', name: `${minute} ${derivedUuid(host)}` },
      { subject: `host:${derivedUuid(host)}`, name: `${minute}` },
    ]) {
      const { Item } = await client.send(new GetCommand({ TableName: tables.Counters, Key }));
      expect(Item).toEqual({ ...Key, calls: 1, expires_at: Math.floor(clock.now / 1000) + 3_600 });
    }
  });

  it('that is the receiver of many users is never called more often, and all of them are served', async () => {
    const host = newHost();
    const max = { ofUser: 6, ofAll: 16 };
    const start = clock.now;
    // One user has much, others have little; one comes later.
    const loads = { flood: 80, small: 8, other: 8, late: 2 };
    let waiting = Object.entries(loads).flatMap(([user, messages]) =>
      Array.from({ length: messages }, () => ({ user, at: start + (user === 'late' ? 90_000 : 0), asked: 0 })),
    );
    const perMinute = new Map<string, number>();
    const last: Record<string, number> = {};
    let mostAsked = 0;
    while (waiting.length > 0) {
      waiting.sort((one, another) => one.at - another.at);
      const [next] = waiting;
      clock.now = next!.at;
      const together = waiting.filter(({ at }) => at === clock.now).slice(0, 25);
      waiting = waiting.slice(together.length);
      const waits = await Promise.all(together.map(({ user }) => waitOf(user, host, max)));
      for (const [at, message] of together.entries()) {
        mostAsked = Math.max(mostAsked, message.asked + 1);
        if (waits[at]! > 0) {
          waiting.push({ ...message, at: clock.now + waits[at]! * 1000, asked: message.asked + 1 });
          continue;
        }
        const minute = Math.floor(clock.now / 60_000);
        for (const key of [`${minute}`, `${minute} ${message.user}`]) perMinute.set(key, (perMinute.get(key) ?? 0) + 1);
        last[message.user] = (clock.now - start) / 60_000;
      }
    }
    for (const [key, calls] of perMinute) expect(calls).toBeLessThanOrEqual(key.includes(' ') ? max.ofUser : max.ofAll);
    expect([...perMinute].reduce((sum, [key, calls]) => sum + (key.includes(' ') ? 0 : calls), 0)).toBe(98);
    for (const user of ['small', 'other', 'late']) expect(last[user]).toBeLessThan(4);
    expect(last.flood).toBeLessThan(25);
    expect(mostAsked).toBeLessThan(12);
  });
});
