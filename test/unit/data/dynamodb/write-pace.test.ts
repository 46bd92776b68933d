import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type PaceLimits, WritePace } from '../../../../functions/data/dynamodb/write-pace.ts';
import { type Clock, systemClock } from '../../../../functions/runtime/clock.ts';
import { withinRequest } from '../../../../functions/runtime/request-lifetime.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

let clock: Clock;
beforeEach(() => {
  clock = virtualClock();
});

/** Makes a transaction of these units and this duration. Returns how long it waited before. */
async function write(pace: WritePace, units: number, milliseconds = 70, throttles = 0): Promise<number> {
  const before = clock.elapsed();
  await pace.wait();
  const wait = clock.elapsed() - before;
  pace.begin();
  for (let throttle = 0; throttle < throttles; throttle++) pace.throttled();
  await clock.sleep(milliseconds);
  pace.made(units);
  return Math.round(wait);
}

const paceOf = (limits: PaceLimits = {}) => new WritePace(clock, { unitsPerSecond: 800, ...limits });

describe('WritePace', () => {
  it('lets a transaction wait until the units of the one before have passed since that began', async () => {
    const pace = paceOf();
    expect(await write(pace, 154)).toBe(0);
    expect(await write(pace, 8)).toBe(193 - 70);
    expect(await write(pace, 8, 5)).toBe(0);
    expect(await write(pace, 154)).toBe(5);
  });

  it('halves its rate at each throttle, down to 100 a second, and raises it by 40 at each transaction without', async () => {
    const pace = paceOf();
    await write(pace, 80, 0, 1);
    expect(await write(pace, 80, 0)).toBe(200);
    expect(await write(pace, 80, 0)).toBe(182);
    expect(await write(pace, 80, 0, 9)).toBe(167);
    expect(await write(pace, 80, 0)).toBe(800);
    for (let transaction = 0; transaction < 17; transaction++) await write(pace, 80, 0);
    expect(await write(pace, 80, 0)).toBe(100);
    expect(await write(pace, 80, 0)).toBe(100);
  });

  it('has time for all until 20 s have passed, then only for what ends at its present rate within 26 s', async () => {
    const pace = paceOf();
    expect(pace.hasBegun).toBe(false);
    await clock.sleep(30_000);
    expect(pace.hasTimeFor({ made: 10, left: 500 })).toBe(true);
    const begun = paceOf();
    begun.begin();
    await clock.sleep(19_900);
    begun.made(160);
    expect(begun.hasBegun).toBe(true);
    expect(begun.hasTimeFor({ made: 8, left: 5_000 })).toBe(true);
    await clock.sleep(100);
    // 30 transactions of 200 ms.
    expect([239, 240].map((left) => begun.hasTimeFor({ made: 8, left }))).toEqual([true, false]);
    begun.throttled();
    begun.made(160);
    expect([119, 120].map((left) => begun.hasTimeFor({ made: 8, left }))).toEqual([true, false]);
    await clock.sleep(5_999);
    expect([0, 1].map((left) => begun.hasTimeFor({ made: 8, left }))).toEqual([true, false]);
    expect([begun.isOver(), begun.isOver(2)]).toEqual([false, true]);
    await clock.sleep(2);
    expect([begun.isOver(), begun.hasTimeFor({ made: 8, left: 0 })]).toEqual([true, false]);
  });

  it('counts the wait that comes next as passed', async () => {
    const pace = paceOf();
    pace.begin();
    await clock.sleep(19_900);
    pace.begin();
    pace.made(160);
    expect(pace.hasTimeFor({ made: 20, left: 600 })).toBe(false);
  });

  it('counts from the beginning of its request', async () => {
    vi.spyOn(systemClock, 'elapsed').mockReturnValueOnce(0).mockReturnValueOnce(26_001);
    await withinRequest(async () => expect(paceOf().isOver()).toBe(true));
    vi.restoreAllMocks();
    expect(paceOf().isOver()).toBe(false);
  });
});
