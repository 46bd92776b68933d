import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { labelOf, numberText } from '../../../../functions/console/parts/calibration-names.ts';
import { ageOf, cornersOf, inOrder, stepsOf, timeAxis } from '../../../../functions/console/parts/calibration-steps.ts';

const calibration = (number: number, valid_from: string, numbers: Record<string, number>) => ({
  ...{ number, device_type: 'FRESNEL', numbers, valid_from, created_at: '2026-11-21T00:00:00Z' },
});

describe('numbers', () => {
  it('have labels for every name that the guide gives to users and to builders of machines', () => {
    const guide = (name: string) => readFileSync(new URL(`../../../../docs/guides/${name}`, import.meta.url), 'utf8');
    const names = /NAMES = """([^"]*)"""/.exec(guide('noise_model.py'))![1]!.trim().split(/\s+/);
    expect(names.length).toBeGreaterThan(10);
    const machines = guide('machines.md');
    for (const name of names) {
      expect(labelOf(name), name).not.toEqual([name]);
      expect(machines).toContain(`\`${name}\``);
    }
  });

  it('have the labels and units of the noise model, and others are as they are', () => {
    expect([labelOf('p_false_pos'), labelOf('temperature')]).toEqual([['false positives'], ['temperature', 'µK']]);
    expect(['constructor', '__proto__', 'T2'].map((name) => labelOf(name))).toEqual([
      ['constructor'],
      ['__proto__'],
      ['T2'],
    ]);
    expect(numberText('temperature', 27.5)).toBe('temperature 27.5 µK');
    expect(numberText('p_false_neg', 0.05)).toBe('false negatives 0.05');
  });
});

describe('steps', () => {
  const late = calibration(1, '2026-11-21T12:00:00Z', { a: 3, b: 1 });
  const early = calibration(3, '2026-11-21T06:00:00Z', { a: 2 });
  const replaced = calibration(2, '2026-11-21T06:00:00Z', { a: 1 });

  it('go by the time from which on they hold; of equal times the higher number is the last', () => {
    expect(inOrder([late, early, replaced]).map(({ number }) => number)).toEqual([2, 3, 1]);
  });

  it('have a line for each number, which goes on to the end', () => {
    const [a, b] = stepsOf(inOrder([late, early]));
    const start = Date.parse('2026-11-21T06:00:00Z');
    const hour = 3_600_000;
    expect(a).toEqual({
      name: 'a',
      points: [
        { at: start, value: 2 },
        { at: start + 6 * hour, value: 3 },
      ],
    });
    expect(b).toEqual({ name: 'b', points: [{ at: start + 6 * hour, value: 1 }] });
    const x = { least: start, greatest: start + 12 * hour, ticks: [] };
    const y = { least: 2, greatest: 4, ticks: [] };
    expect(cornersOf(a!, x, y)).toBe('0,100 50,100 50,50 100,50');
  });

  it('have an axis of dates, or of times of day', () => {
    const start = Date.parse('2026-11-21T06:30:00Z');
    const of = (hours: number) => timeAxis(start, start + hours * 3_600_000).ticks;
    expect(of(5).map(({ label }) => label)).toEqual(expect.arrayContaining([expect.stringMatching(/^\d\d:\d\d$/)]));
    expect(of(24 * 20).every(({ label }) => /^\d+ [A-Z][a-z]+$/.test(label))).toBe(true);
    for (const hours of [0.1, 1, 5, 30, 24 * 9, 24 * 400, 24 * 4_000]) expect(of(hours).length).toBeLessThanOrEqual(7);
    expect(timeAxis(start, start).greatest).toBeGreaterThan(start);
  });

  it('have dates that begin at midnight, also after clocks were set back', async () => {
    vi.stubEnv('TZ', 'Europe/Berlin');
    onTestFinished(() => {
      vi.unstubAllEnvs();
      vi.resetModules();
    });
    vi.resetModules();
    const { timeAxis: axisOf } = await import('../../../../functions/console/parts/calibration-steps.ts');
    const start = Date.parse('2026-10-23T06:30:00Z');
    const { ticks } = axisOf(start, start + 5 * 86_400_000);
    expect(ticks.map(({ value }) => new Date(value).getHours())).toEqual([0, 0, 0, 0, 0]);
    expect(ticks.map(({ label }) => label)).toEqual(['24 Oct', '25 Oct', '26 Oct', '27 Oct', '28 Oct']);
  });
});

it('says how long before a job its machine was calibrated', () => {
  const age = (started: string | null) => ageOf({ valid_from: '2026-11-21T06:00:00Z' }, started);
  expect(age('2026-11-21T11:52:00Z')).toBe('5 h 52 min before it ran');
  expect([age('2026-11-21T05:00:00Z'), age(null)]).toEqual(['as it ran', 'as it ran']);
});
