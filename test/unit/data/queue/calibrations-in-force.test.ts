import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  calibrationInForce,
  type KnownCalibrations,
  withCalibration,
} from '../../../../functions/data/queue/calibrations-in-force.ts';
import { LimitExceeded } from '../../../../functions/errors.ts';
import { trials } from '../../../support/depth.ts';

const start = Date.parse('2026-11-21T12:00:00Z');
const second = 1_000;

/** Valid from some microseconds after a report, or before it. */
const anyReport = fc.record({
  after: fc.constantFrom(0, 1, 900, 59_999, 60_000, 60_001, 200_000),
  validIn: fc.oneof(fc.constantFrom(0, -1, 1, 60_000_000), fc.integer({ min: -300_000_000, max: 300_000_000 })),
});

/** By the definition: valid by then, of the latest validity, of equal ones the highest. */
function judge(all: KnownCalibrations, time: number): number | undefined {
  let best: KnownCalibrations[number] | undefined;
  for (const each of all) {
    const [, validFrom, createdAt] = each;
    if (createdAt > time || validFrom > time * 1_000) continue;
    if (best === undefined || validFrom >= best[1]) best = each;
  }
  return best?.[0];
}

describe('the list of known calibrations', () => {
  it('says which one is in force at any time from a minute before the last report on, as all of them would', () => {
    fc.assert(
      fc.property(fc.array(anyReport, { minLength: 1, maxLength: 15 }), fc.array(fc.integer()), (reports, moments) => {
        const all: [number, number, number][] = [];
        let known: KnownCalibrations = [];
        let now = start;
        for (const [at, { after, validIn }] of reports.entries()) {
          now += after;
          const added: [number, number, number] = [at + 1, now * 1_000 + validIn, now];
          all.push(added);
          try {
            known = withCalibration(known, added, now);
          } catch (error) {
            if (!(error instanceof LimitExceeded)) throw error;
            all.pop();
          }
          const times = [
            ...[now - 60 * second, now - 1, now, now + 1],
            ...all.flatMap(([, validFrom]) => [Math.floor(validFrom / 1_000), Math.ceil(validFrom / 1_000)]),
            ...moments.map((moment) => now + (moment % 400_000)),
          ];
          for (const time of times.filter((each) => each >= now - 60 * second)) {
            expect(calibrationInForce(known, time)).toBe(judge(all, time));
          }
        }
      }),
      trials(100, 20_000),
    );
  });

  it('is as short as that allows: after a minute only the one in force, and those to come', () => {
    let known: KnownCalibrations = [];
    const report = (number: number, now: number, validIn = 0) => {
      known = withCalibration(known, [number, (now + validIn) * 1_000, now], now);
    };
    report(1, start);
    report(2, start + 1 * second);
    report(3, start + 2 * second, 3_600 * second);
    expect(known.map(([number]) => number)).toEqual([1, 2, 3]);
    report(4, start + 62 * second, -3_600 * second);
    expect(known.map(([number]) => number)).toEqual([2, 3]);
    report(5, start + 63 * second, 3_600 * second - 61 * second);
    // Of two that come at one time, the later report is in force.
    expect(known.map(([number]) => number)).toEqual([2, 5]);
  });

  it('loses what restored tables have no more: numbers are given anew', () => {
    const known: KnownCalibrations = [
      [1, start * 1_000, start],
      [2, (start + 5 * second) * 1_000, start],
    ];
    const now = start + 10 * second;
    const after = withCalibration(known, [2, (start + second) * 1_000, now], now);
    expect(after.find(([number]) => number === 2)).toEqual([2, (start + second) * 1_000, now]);
    expect(after.map(([number]) => number)).toEqual([1, 2]);
  });

  it('takes 10 that are to come and 20 of a minute, and refuses more', () => {
    let known: KnownCalibrations = [];
    for (let n = 1; n <= 10; n++) known = withCalibration(known, [n, (start + n * second) * 1_000, start], start);
    expect(() => withCalibration(known, [11, (start + 11 * second) * 1_000, start], start)).toThrow(LimitExceeded);
    known = [];
    for (let n = 1; n <= 20; n++) known = withCalibration(known, [n, (start + n) * 1_000, start + n], start + n);
    const at = start + 21;
    expect(() => withCalibration(known, [21, at * 1_000, at], at)).toThrow(LimitExceeded);
    expect(withCalibration(known, [21, (at + 61_000) * 1_000, at + 61_000], at + 61_000)).toHaveLength(2);
    expect(Buffer.byteLength(JSON.stringify(known)) / known.length).toBeLessThan(40);
  });
});
