import { describe, expect, it } from 'vitest';
import {
  daysOf,
  periodsOf,
  rangeOf,
  shortPeriod,
  usualRanges,
} from '../../../../functions/console/parts/usage-periods.ts';
import { formatAmount, layersOf, sumsBy, unitOfSeconds } from '../../../../functions/console/parts/usage-stack.ts';

const none = { batches: 0, jobs: 0, shots: 0, device_seconds: 0 };
const statuses = { DONE: 0, ERROR: 0, CANCELED: 0 };
const row = (
  period: string,
  device_type: string,
  amounts: Partial<typeof none> = {},
  ended: Partial<typeof statuses> = {},
) => ({
  ...{ period, device_type, ...none, ...amounts, jobs_per_status: { ...statuses, ...ended } },
});
const deviceOf = ({ device_type = '' }: { device_type?: string }) => device_type;

describe('sumsBy', () => {
  it('adds up all amounts of a key, the greatest first, equal ones by their keys', () => {
    const rows = [
      row('2026-11-01', 'B', { jobs: 2, device_seconds: 1 }, { DONE: 1, ERROR: 1 }),
      row('2026-11-01', 'C', { jobs: 1, device_seconds: 5, shots: 7, batches: 1 }, { CANCELED: 1 }),
      row('2026-11-02', 'B', { jobs: 3, device_seconds: 2 }, { DONE: 3 }),
      row('2026-11-02', 'A', { jobs: 5 }, { DONE: 5 }),
    ];
    expect(sumsBy(rows, deviceOf, 'device_seconds')).toEqual([
      {
        key: 'C',
        batches: 1,
        jobs: 1,
        shots: 7,
        device_seconds: 5,
        jobs_per_status: { DONE: 0, ERROR: 0, CANCELED: 1 },
      },
      {
        key: 'B',
        batches: 0,
        jobs: 5,
        shots: 0,
        device_seconds: 3,
        jobs_per_status: { DONE: 4, ERROR: 1, CANCELED: 0 },
      },
      {
        key: 'A',
        batches: 0,
        jobs: 5,
        shots: 0,
        device_seconds: 0,
        jobs_per_status: { DONE: 5, ERROR: 0, CANCELED: 0 },
      },
    ]);
    expect(sumsBy(rows, deviceOf, 'jobs').map(({ key }) => key)).toEqual(['A', 'B', 'C']);
  });
});

describe('layersOf', () => {
  const periods = ['2026-11-01', '2026-11-02', '2026-11-03'];

  it('has five keys of their own, and all others as one', () => {
    const rows = Array.from('ABCDEFG', (name, at) => [
      row('2026-11-01', name, { jobs: 10 - at }),
      row('2026-11-03', name, { jobs: 1 }),
    ]).flat();
    const layers = layersOf(rows, periods, deviceOf, 'jobs');
    expect(layers.map(({ key }) => key)).toEqual(['A', 'B', 'C', 'D', 'E', undefined]);
    expect(layers[0]).toEqual({ key: 'A', total: 11, values: [10, 0, 1] });
    expect(layers[5]).toEqual({ key: undefined, total: 11, values: [9, 0, 2] });
  });

  it('leaves out what has nothing of the measure, and periods outside', () => {
    const rows = [row('2026-11-01', 'A', { jobs: 1 }), row('2026-10-01', 'A', { jobs: 1 }), row('2026-11-01', 'B')];
    expect(layersOf(rows, periods, deviceOf, 'jobs')).toEqual([{ key: 'A', total: 1, values: [1, 0, 0] }]);
    expect(layersOf([], periods, deviceOf, 'jobs')).toEqual([]);
  });
});

describe('amounts', () => {
  it('are hours where they are many, and never days', () => {
    expect(formatAmount('device_seconds', 734_400)).toBe('204 h');
    expect(formatAmount('device_seconds', 3_900)).toBe('1 h 5 min');
    expect(formatAmount('device_seconds', 172_799)).toBe('48 h');
    expect(formatAmount('shots', 1_687_770)).toBe('1,687,770');
    expect([7_200, 3_599, 59, 0].map((most) => unitOfSeconds(most)[0])).toEqual([
      'hours',
      'minutes',
      'seconds',
      'seconds',
    ]);
  });
});

describe('ranges', () => {
  const now = new Date('2026-03-31T23:30:00Z');

  it('offers this month, the last one, and a year', () => {
    expect(usualRanges(now, 'Year')).toEqual([
      { name: 'March', from: '2026-03-01', to: '2026-03-31', period: 'day' },
      { name: 'February', from: '2026-02-01', to: '2026-02-28', period: 'day' },
      { name: 'Year', from: '2025-04-01', to: '2026-03-31', period: 'month' },
    ]);
  });

  it('is what the API takes for what is left out', () => {
    expect(rangeOf(new URLSearchParams(), now)).toEqual({ from: '2026-03-01', to: '2026-03-31', period: 'day' });
    const asked = new URLSearchParams({ to: '2026-02-10', period: 'month' });
    expect(rangeOf(asked, now)).toEqual({ from: '2026-02-01', to: '2026-02-10', period: 'month' });
  });

  it('has every period from the first to the last', () => {
    expect(periodsOf({ from: '2026-02-27', to: '2026-03-02', period: 'day' })).toEqual([
      ...['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02'],
    ]);
    expect(periodsOf({ from: '2026-11-30', to: '2027-01-01', period: 'month' })).toEqual([
      '2026-11',
      '2026-12',
      '2027-01',
    ]);
    expect(periodsOf({ from: '2026-02-02', to: '2026-02-01', period: 'day' })).toEqual([]);
    expect(periodsOf({ from: 'x', to: '', period: 'day' })).toEqual([]);
    expect(periodsOf({ from: '0001-01-01', to: '9999-01-01', period: 'day' })).toHaveLength(367);
  });

  it('opens a month by its days, and names periods shortly', () => {
    expect(daysOf('2026-02')).toEqual({ from: '2026-02-01', to: '2026-02-28', period: 'day' });
    expect([shortPeriod('2026-11-02'), shortPeriod('2026-11')]).toEqual(['2 Nov', 'Nov 26']);
  });
});
