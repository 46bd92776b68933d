import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { secondsToNextLook } from '../../../../functions/data/batches/queue-counts.ts';
import { type Awaited, waitForChange } from '../../../../functions/data/batches/wait-for-change.ts';
import { TooBusy } from '../../../../functions/errors.ts';
import { withinRequest } from '../../../../functions/runtime/request-lifetime.ts';

type State = 'PENDING' | 'RUNNING' | 'DONE';

/** A clock that moves when somebody waits, a row on it, and counters in memory. */
function world({ maxWaits = 200, units = 1, fails = false } = {}) {
  let time = 1_000_000;
  const counts = new Map<string, number>();
  const reads: number[] = [];
  let changes: readonly (readonly [at: number, state: State | undefined])[] = [[0, 'PENDING']];
  const send = async ({ input: { Key } }: { input: { Key: object } }) => {
    if (fails) throw new TooBusy('Too many.');
    const key = JSON.stringify(Key);
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return { Attributes: { calls: counts.get(key) } };
  };
  const client = { send } as unknown as DynamoDBDocumentClient;
  const pause = async (milliseconds: number) => (time += milliseconds);
  const wait = waitForChange(client, { WebhookAttempts: 'table' }, { now: () => time, pause, maxWaits });
  const row: Awaited<State> = {
    read: async (count) => {
      reads.push(time);
      time += 5;
      count?.(units);
      return changes.findLast(([at]) => at <= time)?.[1];
    },
    hasEnded: (state) => state === 'DONE',
    stateOf: (state) => state,
  };
  return {
    wait,
    row,
    reads,
    counts,
    pause,
    now: () => time,
    /** What becomes of the row, in milliseconds from now. */
    plan: (...plan: (readonly [number, State | undefined])[]) => {
      changes = plan.map(([at, state]) => [time + at, state]);
    },
  };
}

/** The milliseconds that a call takes, and its answer. */
async function timed({ wait, row, now }: ReturnType<typeof world>, seconds: number | undefined, user = 'alice') {
  const start = now();
  const state = await wait(user, seconds)(row);
  return { state, milliseconds: now() - start };
}

describe('a call that waits', () => {
  it.each([
    ['without a wait', undefined, [[0, 'PENDING']], 'PENDING', 0, 50],
    ['of what has ended', 20, [[0, 'DONE']], 'DONE', 0, 50],
    ['of what is not there', 20, [[0, undefined]], undefined, 0, 50],
    [
      'until a change',
      20,
      [
        [0, 'PENDING'],
        [3_500, 'RUNNING'],
      ],
      'RUNNING',
      3_500,
      4_600,
    ],
    [
      'until it is not there',
      20,
      [
        [0, 'PENDING'],
        [3_500, undefined],
      ],
      undefined,
      3_500,
      4_600,
    ],
    [
      'in vain',
      20,
      [
        [0, 'RUNNING'],
        [30_000, 'DONE'],
      ],
      'RUNNING',
      19_900,
      20_200,
    ],
    [
      'for a second',
      1,
      [
        [0, 'RUNNING'],
        [900, 'DONE'],
      ],
      'DONE',
      900,
      1_100,
    ],
  ] as const)('%s', async (_, seconds, plan, state, least, most) => {
    const one = world();
    one.plan(...plan);
    const answer = await timed(one, seconds);
    expect(answer.state).toBe(state);
    expect(answer.milliseconds).toBeGreaterThanOrEqual(least);
    expect(answer.milliseconds).toBeLessThanOrEqual(most);
  });

  it.each([1, 2, 5.5, 9, 30])(
    'takes at most 1 read unit a second beside its first read, of rows of %d',
    async (units) => {
      for (const seconds of [1, 2, 3, 7, 19, 20]) {
        const one = world({ units });
        one.plan([0, 'RUNNING']);
        await timed(one, seconds);
        // At least one read is at the end.
        expect((one.reads.length - 1) * units).toBeLessThanOrEqual(Math.max(seconds, units));
        expect(one.reads.length).toBeGreaterThan(1);
      }
    },
  );

  it('answers in time where the function ends sooner', async () => {
    const one = world();
    one.plan([0, 'RUNNING']);
    const end = one.now() + 9_000;
    const { milliseconds } = await withinRequest(
      () => timed(one, 20),
      () => end - one.now(),
    );
    expect(milliseconds).toBeGreaterThan(5_000);
    expect(milliseconds).toBeLessThanOrEqual(6_100);
    const late = await withinRequest(
      () => timed(one, 20),
      () => 2_000,
    );
    expect(late.milliseconds).toBeLessThan(50);
  });

  it('is answered at once where the user, or all users, wait too often', async () => {
    const one = world({ maxWaits: 50 });
    one.plan([0, 'RUNNING']);
    // All begin within the same 20 s.
    const begin = async (user: string, times: number) => {
      await one.pause(Math.ceil(one.now() / 20_000) * 20_000 - one.now());
      let waited = 0;
      for (let at = 0; at < times; at++) {
        const before = one.now();
        await one.wait(user, 1)(one.row);
        if (one.now() > before + 500) waited++;
      }
      return waited;
    };
    expect(await begin('alice', 12)).toBe(5);
    expect(await begin('bob', 3)).toBe(3);
    expect(await begin('alice', 12)).toBe(5);
    const busy = world({ fails: true });
    busy.plan([0, 'RUNNING']);
    expect((await timed(busy, 20)).milliseconds).toBeLessThan(50);
  });

  it('sees ten short jobs, one after the other, sooner than the client’s own pace and in no more calls', async () => {
    // Each waits half a second and runs for 2 to 6 s.
    const runs = [2, 6, 3, 5, 4, 2.5, 5.5, 3.5, 4.5, 6].map((seconds) => 500 + 1_000 * seconds);
    const own = { calls: 0, delay: 0 };
    for (const end of runs) {
      let time = 0;
      for (const pause of [2, 4, 8, 16, 30]) {
        time += pause * 1000;
        own.calls++;
        if (time >= end) break;
      }
      own.delay += time - end;
    }
    const one = world();
    const waiting = { calls: 0, delay: 0 };
    for (const end of runs) {
      const created = one.now();
      one.plan([0, 'PENDING'], [500, 'RUNNING'], [end, 'DONE']);
      let state: State | undefined;
      while (state !== 'DONE') {
        ({ state } = await timed(one, 20));
        waiting.calls++;
      }
      waiting.delay += one.now() - created - end;
    }
    expect(own).toEqual({ calls: 22, delay: 29_000 });
    expect(waiting.calls).toBe(20);
    expect(waiting.delay).toBeLessThan(6_000);
    expect(one.reads.length).toBeLessThanOrEqual(70);
  });
});

describe('secondsToNextLook', () => {
  it.each([
    ['RUNNING', null, null, 1],
    ['CANCELING', null, null, 1],
    ['PAUSED', null, null, 1],
    ['PENDING', 0, null, 1],
    ['PENDING', 9, null, 10],
    ['PENDING', 999, null, 60],
    ['PENDING', null, null, 30],
    ['PENDING', 0, 'FRESNEL is paused: repair', 60],
    ['DONE', null, null, undefined],
    ['TIMED_OUT', null, null, undefined],
  ] as const)('of %s at %s, %s, is %s', (status, queue_position, queue_reason, seconds) => {
    expect(secondsToNextLook({ status, queue_position, queue_reason })).toBe(seconds);
  });
});
