import { describe, expect, it } from 'vitest';
import { openRules } from '../../../../functions/data/queue/device-rules.ts';
import { estimateStart } from '../../../../functions/data/queue/estimate.ts';
import { queueKey } from '../../../../functions/data/queue/fair-order.ts';
import { busyName, deviceTimes, workerNote, workerSlot } from '../../../../functions/data/queue/job-times.ts';
import type { QueueFront } from '../../../../functions/data/queue/queue.ts';
import type { FrontItem } from '../../../../functions/data/queue/queue-item.ts';
import { fromMilliseconds } from '../../../../functions/values/timestamp.ts';

const at = Date.parse('2026-11-22T12:00:00Z');
const keyOf = (place: number, tag = 0) => {
  const batchId = `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`;
  return queueKey({ tag, priority: 'MEDIUM', created_at: fromMilliseconds(at - 60_000), batchId });
};
/** A batch that waits for longer than an idle worker would let it. */
const waiting = (place: number, more: Partial<FrontItem> = {}): FrontItem => ({
  key: keyOf(place),
  user_id: `auth0|${place}`,
  lease_until: 0,
  entered_at: at - 60_000,
  jobs_left: 1,
  ...more,
});
const held = (place: number, ran: number, more: Partial<FrontItem> = {}): FrontItem =>
  waiting(place, { lease_until: at + 40_000, worker: `worker ${place}`, job_since: at - ran * 1_000, ...more });
/** Jobs of about 100 s. */
const jobs = Array.from({ length: 50 }, (_, each) => ({ seconds: 96 + (each % 9), shots: 100 }));
const mine = { key: keyOf(5_000), user_id: 'auth0|me' };

function front({ batches = [], ...more }: Partial<QueueFront> = {}): QueueFront {
  const times = { jobs, seen: new Map<number, number>() };
  const known = {
    at,
    isAnnounced: true,
    settings: {},
    rules: openRules,
    calibrations: [],
    average_queue_time: null,
    batchesPerMinute: 0,
    tag: 0,
  };
  return {
    ...known,
    times,
    batches: batches.some(({ key }) => key === mine.key) ? batches : [...batches, waiting(5_000, mine)],
    ...more,
  };
}

/** Seconds from the front's time to the three. */
function secondsTo(of: QueueFront, now = at): { earliest: number; likely: number; latest: number } {
  const { estimated_start: start, estimated_start_reason } = estimateStart(of, mine, now);
  expect(estimated_start_reason).toBeNull();
  const seconds = (time: string) => (Date.parse(time) - at) / 1_000;
  const { earliest, likely, latest } = start!;
  expect(earliest <= likely && likely <= latest).toBe(true);
  expect(earliest >= fromMilliseconds(now)).toBe(true);
  return { earliest: seconds(earliest), likely: seconds(likely), latest: seconds(latest) };
}

const window = (from: number, to: number) => ({
  starts_at: fromMilliseconds(at + from * 1_000),
  ends_at: fromMilliseconds(at + to * 1_000),
  reason: 'Works',
});
const rules = (more: Partial<QueueFront['rules']>) => ({ rules: { ...openRules, ...more } });
const seen = (...workers: string[]) => ({
  times: { jobs, seen: new Map(workers.map((each) => [workerSlot(each), at - 30_000])) },
});
const many = (count: number, more: Partial<FrontItem> = {}) =>
  Array.from({ length: count }, (_, place) => waiting(place + 10, more));

describe('estimateStart', () => {
  it.each<[string, Partial<QueueFront>, likely: number, within: number]>([
    ['next, behind a job that has run for 40 s', { batches: [held(1, 40)] }, 60, 10],
    ['behind one batch more', { batches: [held(1, 40), waiting(2)] }, 160, 25],
    ['behind a batch of five jobs', { batches: [held(1, 0), waiting(2, { jobs_left: 5 })] }, 600, 80],
    ['behind three further jobs of a held batch', { batches: [held(1, 0, { jobs_left: 4 })] }, 400, 60],
    ['behind a batch whose shots are ten times as many', { batches: [held(1, 0, { job_shots: 1_000 })] }, 100, 20],
    ['where two workers share nine batches', { batches: [held(1, 0), held(2, 50), ...many(9)] }, 525, 80],
    ['behind a held batch further back', { batches: [held(1, 0), waiting(2), held(9_000, 90)] }, 100, 20],
    ['behind a batch whose worker is lost', { batches: [held(1, 10), held(2, 200, { lease_until: at })] }, 190, 25],
    ['behind a job that may run for 10 s more', { batches: [held(1, 9, { job_until: at + 10_000 })] }, 10, 1],
    ['behind an open batch that idles', { batches: [held(1, 0, { idle_since: at - 20_000 })] }, 50, 20],
    ['where a worker reported in the last minute', { ...seen('w') }, 2, 2],
    ['where one is at work, and one idle', { batches: [held(1, 0)], ...seen('w'), ...fresh() }, 2, 2],
    ['where the one at work has reported', { ...seen('worker 1'), ...fresh() }, 100, 20],
    ['behind a job that has run three times as long as any', { batches: [held(1, 300)] }, 300, 200],
    ['where none is idle: the batch would be gone', { batches: [held(1, 0)], ...seen('w') }, 100, 20],
    ['behind a window', { batches: [held(1, 50)], ...rules({ windows: [window(20, 900)] }) }, 900, 1],
    [
      'behind two windows',
      { batches: [held(1, 0), ...many(4)], ...rules({ windows: [window(150, 1_000), window(1_050, 2_000)] }) },
      2_200,
      60,
    ],
    ['in a window, with nobody at work', { ...rules({ windows: [window(-600, 300)] }) }, 300, 3],
    [
      'soon after a window',
      { ...rules({ windows: [window(-600, -5)] }), times: { jobs, seen: new Map([[3, at - 630_000]]) } },
      2,
      2,
    ],
  ])('says when a batch starts %s', (_, known, likely, within) => {
    const start = secondsTo(front(known));
    expect(Math.abs(start.likely - likely), `${start.likely}`).toBeLessThanOrEqual(within);
    expect(start.earliest).toBeLessThanOrEqual(likely + 1);
    expect(start.latest).toBeGreaterThanOrEqual(likely - 1);
  });

  /** A batch that has just come. */
  function fresh(): Partial<QueueFront> {
    return { batches: [held(1, 0), waiting(5_000, { ...mine, entered_at: at - 1_000 })] };
  }

  it.each<[string, Partial<QueueFront>]>([
    ['paused', { ...rules({ mode: 'PAUSED' }), ...seen('w') }],
    ['paused', { ...rules({ mode: 'DRAINING' }), batches: [held(1, 0)] }],
    ['closed', { ...rules({ mode: 'CLOSED' }), ...seen('w') }],
    ['closed', { ...rules({ mode: 'RETIRED' }), ...seen('w') }],
    ['no_worker', { batches: many(3) }],
    ['no_worker', { times: { jobs, seen: new Map([[1, at - 61_000]]) } }],
    ['no_worker', { batches: [held(1, 0, { lease_until: at })] }],
    ['unknown', { batches: [held(1, 0)], times: { jobs: [], seen: new Map() } }],
    ['unknown', { batches: many(1_001).map((each) => ({ ...each, key: keyOf(1) })), ...seen('w') }],
  ])('says %s where nobody can know', (reason, known) => {
    const of = front(known);
    const batches = of.batches.length > 1_000 ? of.batches.slice(0, 1_001) : of.batches;
    expect(estimateStart({ ...of, batches }, mine, at)).toEqual({
      estimated_start: null,
      estimated_start_reason: reason,
    });
  });

  it('needs no job times for the first batch of an idle worker', () => {
    const { latest } = secondsTo(front({ times: { jobs: [], seen: new Map([[1, at]]) } }));
    // It asks every 20 s at least.
    expect(latest).toBeLessThanOrEqual(20);
  });

  it('says the present for what should have started since the front was read', () => {
    expect(secondsTo(front({ batches: [held(1, 99)] }), at + 9_000).earliest).toBe(9);
  });

  it('counts shots where times follow them better than jobs', () => {
    const byShot = Array.from({ length: 50 }, (_, each) => ({ seconds: 1 + each * 10, shots: 10 + each * 100 }));
    const times = { jobs: byShot, seen: new Map() };
    const of = (job_shots: number) =>
      secondsTo(front({ times, batches: [held(1, 0, { job_shots })], batchesPerMinute: 0 })).likely;
    expect(of(1_000)).toBeGreaterThan(80);
    expect(of(1_000)).toBeLessThan(120);
    expect(of(4_000) / of(1_000)).toBeCloseTo(4, 0);
  });

  it('is wider where little is known, where others may go first, and behind 1,000 batches', () => {
    const widthOf = (known: Partial<QueueFront>) => {
      const { earliest, latest } = secondsTo(front(known));
      return latest - earliest;
    };
    const batches = [held(1, 0), ...many(9, { user_id: 'auth0|other' })];
    const width = widthOf({ batches });
    expect(widthOf({ batches, times: { jobs: jobs.slice(0, 2), seen: new Map() } })).toBeGreaterThan(1.5 * width);
    const last = waiting(5_000, { ...mine, key: keyOf(5_000, 80_000) });
    const overtaken = estimateStart(front({ batches: [...batches, last], batchesPerMinute: 2 }), last, at);
    const alone = estimateStart(front({ batches: [...batches, last] }), last, at);
    expect(overtaken.estimated_start!.latest > alone.estimated_start!.latest).toBe(true);
    expect(secondsTo(front({ batches: [held(1, 0), ...many(999)] })).likely).toBeGreaterThan(80_000);
  });

  it('says the same of the same front', () => {
    const of = front({ batches: [held(1, 0), ...many(30)] });
    expect(estimateStart(of, mine, at)).toEqual(estimateStart(of, mine, at));
  });
});

describe('the item of job times', () => {
  it('keeps a hundred reports, sixteen workers and the busy time within 1 KB, each within 2 percent', () => {
    const item: Record<string, number> = {};
    const count = (seconds: number, shots: number | undefined, worker: string) =>
      Object.assign(item, workerNote(worker, at, { seconds, shots }));
    for (let each = 0; each < 2_000; each++) count(12.3, 400, `worker ${each}`);
    item[busyName] = Number.MAX_SAFE_INTEGER;
    for (const { seconds, shots } of deviceTimes(item).jobs) {
      expect(Math.abs(seconds / 12.3 - 1)).toBeLessThan(0.02);
      expect(Math.abs(shots! / 400 - 1)).toBeLessThan(0.02);
    }
    expect(deviceTimes(item).jobs).toHaveLength(100);
    expect(deviceTimes(item).seen).toEqual(new Map(Array.from({ length: 16 }, (_, slot) => [slot, at])));
    // Name, two digits a byte and one more; and the item's keys, with the longest name of a device.
    const bytes = Object.entries(item).reduce(
      (sum, [name, value]) => sum + name.length + 1 + Math.ceil(`${value}`.length / 2),
      0,
    );
    expect(bytes + 'device_type'.length + 128 + 'key!activity'.length).toBeLessThan(1_024);
    count(1e12, 1e15, 'w');
    count(0, undefined, 'w');
    const { jobs: all } = deviceTimes(item);
    expect(all.some(({ shots, seconds }) => shots === undefined && seconds === 0)).toBe(true);
    expect(all.every(({ seconds }) => Number.isFinite(seconds))).toBe(true);
  });

  it('passes over what no report writes', () => {
    expect(deviceTimes({ j0: 'text', j1: -5, j2: 1e15, j3: 0.5, w0: 'text' })).toEqual({ jobs: [], seen: new Map() });
  });
});
