import { describe, expect, it } from 'vitest';
import { compareEnds, type QueueAct } from '../../../../functions/data/queue/compare-ends.ts';
import { openRules } from '../../../../functions/data/queue/device-rules.ts';
import { queueKey } from '../../../../functions/data/queue/fair-order.ts';
import type { QueueFront } from '../../../../functions/data/queue/queue.ts';
import type { FrontItem } from '../../../../functions/data/queue/queue-item.ts';
import type { DeviceRules } from '../../../../functions/schemas/device-rules.ts';
import { fromMilliseconds } from '../../../../functions/values/timestamp.ts';

const at = Date.parse('2026-11-22T12:00:00Z');
const keyOf = (tag: number, place = tag) => {
  const batchId = `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`;
  return queueKey({ tag, priority: 'MEDIUM', created_at: fromMilliseconds(at - 60_000), batchId });
};
const waiting = (place: number, more: Partial<FrontItem> = {}): FrontItem => ({
  ...{ key: keyOf(place), user_id: `auth0|${place}`, lease_until: 0, entered_at: at - 60_000, jobs_left: 1 },
  ...more,
});
/** Its job has run for 40 s. */
const held = (place: number, more: Partial<FrontItem> = {}): FrontItem =>
  waiting(place, { lease_until: at + 40_000, worker: `worker ${place}`, job_since: at - 40_000, ...more });
/** Jobs of about 100 s. */
const jobs = Array.from({ length: 50 }, (_, each) => ({ seconds: 96 + (each % 9), shots: 100 }));
const front = (batches: readonly FrontItem[], more: Partial<QueueFront> = {}): QueueFront => ({
  ...{ at, batches, isAnnounced: true, settings: {}, rules: openRules, calibrations: [], average_queue_time: null },
  ...{ batchesPerMinute: 0, tag: 0, times: { jobs, seen: new Map<number, number>() } },
  ...more,
});
const rules = (more: Partial<DeviceRules>): DeviceRules => ({ ...openRules, rev: at - 3_600_000, ...more });
const window = (from: number, to: number) => ({
  starts_at: fromMilliseconds(at + from * 1_000),
  ends_at: fromMilliseconds(at + to * 1_000),
  reason: 'Works',
});

/** The places of the batches that move, each with its likely delay, or why it has none. */
function movedBy(of: QueueFront, act: QueueAct) {
  return compareEnds(of, act, at).moved.map(({ item, delay_seconds, ends_before_reason, ends_after_reason }) => [
    Number(item.key.slice(-12)),
    delay_seconds?.likely ?? `${ends_before_reason ?? 'known'} → ${ends_after_reason ?? 'known'}`,
  ]);
}

const queue = [held(1, { jobs_left: 3 }), held(2), waiting(3), waiting(4, { jobs_left: 2 })];

describe('compareEnds', () => {
  it.each<[string, QueueFront, QueueAct, readonly (readonly [number, string | number])[]]>([
    [
      'a pause: all but a job that is the last of its batch',
      front(queue),
      { rules: rules({ mode: 'PAUSED' }) },
      [1, 3, 4].map((place) => [place, 'known → paused']),
    ],
    [
      'draining: held batches go on',
      front(queue),
      { rules: rules({ mode: 'DRAINING' }) },
      [3, 4].map((place) => [place, 'known → paused']),
    ],
    [
      'closing',
      front(queue),
      { rules: rules({ mode: 'RETIRED' }) },
      [1, 3, 4].map((place) => [place, 'known → closed']),
    ],
    [
      'a window: the running jobs go on, and nothing starts before its end',
      front([held(1, { jobs_left: 2 }), waiting(3)]),
      { rules: rules({ windows: [window(0, 1_000)] }) },
      [
        [1, 940],
        [3, 940],
      ],
    ],
    [
      'a window to come, behind which some end before it',
      front([held(1), waiting(2), waiting(3)]),
      { rules: rules({ windows: [window(120, 500)] }) },
      [[3, 340]],
    ],
    [
      'no window any more',
      front([held(1), waiting(2)], { rules: rules({ windows: [window(-10, 500)] }) }),
      { rules: rules({}) },
      [[2, -440]],
    ],
    [
      'the end of a pause',
      front([waiting(2), waiting(3)], { rules: rules({ mode: 'PAUSED' }) }),
      { rules: rules({}) },
      [2, 3].map((place) => [place, 'paused → known']),
    ],
    [
      'a batch that goes first, once a window has sent the other one back',
      front([held(5, { jobs_left: 2 }), waiting(9)], { rules: rules({ windows: [window(10, 1_000)] }) }),
      { moved: { item: waiting(9), key: keyOf(4, 9) } },
      [
        [5, 100],
        [9, -100],
      ],
    ],
    [
      'a batch that goes before two others',
      front([held(1), waiting(2), waiting(3), waiting(4), waiting(5)]),
      { moved: { item: waiting(4), key: keyOf(0, 4) } },
      [
        [2, 100],
        [3, 100],
        [4, -200],
      ],
    ],
    [
      'a bound for jobs: not for the one that runs',
      front([held(1), waiting(2), waiting(3)]),
      { rules: rules({ max_job_seconds: 60 }) },
      [
        [2, -40],
        [3, -80],
      ],
    ],
    ['the same again', front(queue), { rules: rules({}) }, []],
    [
      'an act on what nobody works at: nobody knows the ends, but who waits',
      front([waiting(2), waiting(3)]),
      { moved: { item: waiting(3), key: keyOf(1, 3) } },
      [2, 3].map((place) => [place, 'no_worker → no_worker']),
    ],
    [
      'an act before any job was reported',
      front([held(1), waiting(2)], { times: { jobs: [], seen: new Map() } }),
      { rules: rules({ windows: [window(0, 900)] }) },
      [[2, 'unknown → unknown']],
    ],
  ])('says who is moved by %s', (_, of, act, expected) => {
    const moved = movedBy(of, act);
    expect(new Set(moved.map(([place]) => place))).toEqual(new Set(expected.map(([place]) => place)));
    for (const [place, delay] of expected) {
      const found = moved.find((each) => each[0] === place)![1];
      if (typeof delay === 'string') expect(found).toBe(delay);
      else expect(Math.abs((found as number) - delay), `${place}: ${found} s`).toBeLessThanOrEqual(25);
    }
  });

  it('answers in order: no new end first, then the longest delay', () => {
    const moved = compareEnds(front(queue), { rules: rules({ windows: [window(0, 500)] }) }, at).moved;
    const delays = moved.map(({ delay_seconds }) => delay_seconds!.likely);
    expect(delays).toEqual(delays.toSorted((a, b) => b - a));
    // Held batches go on, until a window sends them back: then there is no end.
    const draining = rules({ mode: 'DRAINING', windows: [window(70, 500)] });
    expect(movedBy(front([held(1, { jobs_left: 3 }), held(2), waiting(3)]), { rules: draining })).toEqual([
      [1, 'known → paused'],
      [3, 'known → paused'],
    ]);
  });

  it('gives ranges in their order, the same each time', () => {
    const look = () => compareEnds(front(queue), { rules: rules({ windows: [window(50, 500)] }) }, at);
    for (const { delay_seconds, ends_before, ends_after } of look().moved) {
      expect(delay_seconds!.least <= delay_seconds!.likely && delay_seconds!.likely <= delay_seconds!.most).toBe(true);
      for (const { earliest, likely, latest } of [ends_before!, ends_after!]) {
        expect(earliest <= likely && likely <= latest).toBe(true);
      }
    }
    expect(look()).toEqual(look());
  });

  it('knows no end of a batch that comes from behind the first 1,000, or goes there', () => {
    const batches = [held(1), ...Array.from({ length: 1_003 }, (_, place) => waiting(place + 2))];
    const last = waiting(5_000);
    const forward = compareEnds(front(batches), { moved: { item: last, key: keyOf(2, 5_000) } }, at);
    expect(forward.played).toBe(1_001);
    const found = forward.moved.find(({ item }) => item.key === last.key);
    expect(found).toMatchObject({ ends_before_reason: 'unknown', ends_after_reason: null, delay_seconds: null });
    const back = compareEnds(front(batches), { moved: { item: waiting(2), key: keyOf(5_000, 2) } }, at);
    expect(back.moved[0]).toMatchObject({ item: { key: keyOf(2) }, ends_after_reason: 'unknown', delay_seconds: null });
  });

  it.each([
    ['where it was', [held(1), waiting(2), waiting(3), waiting(9, { key: keyOf(9, 4) })]],
    ['twice', [held(1), waiting(2), waiting(3), waiting(4), waiting(9, { key: keyOf(9, 4) })]],
  ])('plays a batch once that the front shows %s', (_, batches) => {
    const { moved, played } = compareEnds(front(batches), { moved: { item: waiting(4), key: keyOf(0, 4) } }, at);
    expect(played).toBe(4);
    expect(moved.map(({ item }) => item.key).sort()).toEqual([2, 3, 4].map((place) => keyOf(place)));
  });

  it('leaves out a batch that has no job to run, such as an open one that idles', () => {
    const idle = held(1, { jobs_left: 0, idle_since: at - 20_000 });
    expect(
      movedBy(front([idle, waiting(2)]), { rules: rules({ windows: [window(0, 900)] }) }).map(([place]) => place),
    ).toEqual([2]);
  });
});
