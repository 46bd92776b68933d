import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  dayMilliseconds,
  hoursOf,
  measuredOf,
  runsOf,
  unitOf,
} from '../../../../functions/console/parts/device-day.ts';
import type { DeviceMinutes } from '../../../../functions/schemas/device-minutes.ts';

type Step = DeviceMinutes['minutes'][number];

const step = 300;

/** A step that begins at this time of day. */
const at = (time: string, values: Partial<Step> = {}): Step => ({
  at: `2026-11-20T${time}:00.000000Z`,
  ...{ queue_length: 0, longest_queue: 0, batches_started: 0, waited_seconds: 0, busy_seconds: 0, workers: 0 },
  ...values,
});

describe('what was measured in a time', () => {
  it('is the mean of queues, the most of others, and the wait of a batch', () => {
    const steps = [
      at('10:00', { queue_length: 4, longest_queue: 6, batches_started: 1, waited_seconds: 100, workers: 1 }),
      at('10:05', { queue_length: 1, longest_queue: 2, batches_started: 3, waited_seconds: 20, workers: 2 }),
    ];
    expect(measuredOf(steps, step)).toMatchObject({ queue: 2.5, longest: 6, started: 4, waited: 30, workers: 2 });
  });

  it('has no wait where no batch started, and is nothing where nothing was measured', () => {
    expect(measuredOf([at('10:00')], step)).toMatchObject({
      started: 0,
      waited: undefined,
      busyShare: 0,
      seconds: 300,
    });
    expect(measuredOf([], step)).toBeUndefined();
  });

  it.each([
    ['of the time of one worker', [at('10:00', { busy_seconds: 150, workers: 1 })], 0.5],
    ['of the time of all workers', [at('10:00', { busy_seconds: 150, workers: 2 })], 0.25],
    ['also of time without a worker', [at('10:00', { busy_seconds: 300, workers: 1 }), at('10:05')], 0.5],
    ['at most all of it', [at('10:00', { busy_seconds: 310, workers: 1 })], 1],
  ])('counts work as a share %s', (_, steps, share) => {
    expect(measuredOf(steps, step)?.busyShare).toBe(share);
  });

  it('is summed up by hours', () => {
    const minutes = [at('10:50'), at('10:55', { busy_seconds: 300, workers: 1 }), at('12:00')];
    const hours = hoursOf({ minutes, step });
    expect(hours.map((hour) => new Date(hour.at).toISOString().slice(11, 16))).toEqual(['10:00', '12:00']);
    expect(hours.map(({ seconds, busyShare }) => [seconds, busyShare])).toEqual([
      [600, 0.5],
      [300, 0],
    ]);
  });
});

it('steps without a gap between them are one run', () => {
  const minutes = [at('10:00'), at('10:05'), at('10:15'), at('10:20'), at('11:00')];
  expect(runsOf({ minutes, step }).map((run) => run.length)).toEqual([2, 2, 1]);
  expect(runsOf({ minutes: [], step })).toEqual([]);
});

it.each(['2026-11-20T00:00:00Z', '2026-11-20T10:17:31Z', '2026-03-29T12:00:00Z', '2026-10-25T12:00:00Z'])(
  'a day up to %s has a tick at every third hour of the clock',
  async (end) => {
    // UTC has no summer time. Formats have the zone of the time at which they were made.
    vi.stubEnv('TZ', 'Europe/Berlin');
    onTestFinished(() => {
      vi.unstubAllEnvs();
      vi.resetModules();
    });
    vi.resetModules();
    const { timeAxis } = await import('../../../../functions/console/parts/device-day.ts');
    const greatest = Date.parse(end);
    const { ticks } = timeAxis(greatest - dayMilliseconds, greatest);
    expect(ticks.length).toBeGreaterThanOrEqual(8);
    for (const { value, label } of ticks) {
      const time = new Date(value);
      expect([time.getHours() % 3, time.getMinutes(), label.slice(0, 2)]).toEqual([
        0,
        0,
        String(time.getHours()).padStart(2, '0'),
      ]);
      expect(value).toBeGreaterThanOrEqual(greatest - dayMilliseconds);
      expect(value).toBeLessThanOrEqual(greatest);
    }
  },
);

it.each([
  [0, 's'],
  [119, 's'],
  [120, 'min'],
  [7_199, 'min'],
  [7_200, 'h'],
])('up to %d seconds are written in %s', (most, unit) => {
  expect(unitOf(most)[0]).toBe(unit);
});
