import { describe, expect, it } from 'vitest';
import { formatMoment, formatNumber, formatSeconds } from '../../../functions/console/ui/format.ts';

/** In the zone of the machine, as readers see it. */
const at = (text: string) => new Date(text).toISOString();
const now = new Date('2026-11-26T15:02:00');

describe('a moment', () => {
  it.each([
    ['today only by the time of day', '2026-11-26T14:20:00', /^14:20$/],
    ['this week by the day of the week', '2026-11-22T18:22:00', /^Sun 18:22$/],
    ['a week ago by the date', '2026-11-19T09:05:00', /^19 Nov 09:05$/],
    ['another year by the year', '2024-11-21T09:05:00', /^21 Nov 2024$/],
    ['to come like one that was', '2026-11-28T07:00:00', /^Sat 07:00$/],
  ])('is named %s', (_, time, text) => {
    expect(formatMoment(at(time), now)).toMatch(text);
  });
});

it.each([
  [0.04, '0 s'],
  [7.34, '7.3 s'],
  [9.97, '10 s'],
  [59.4, '59 s'],
  [59.7, '1 min'],
  [119.8, '2 min'],
  [372, '6 min 12 s'],
  [3_600, '1 h'],
  [3_900, '1 h 5 min'],
  [48 * 3_600, '2 d'],
])('%d seconds read %j', (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text);
});

it.each([
  [3.4000000000000004, '3.4'],
  [440, '440'],
  [-0.25, '−0.25'],
  [1.25e-7, '1.25e−7'],
  [123456789, '123457000'],
])('the number %d reads %j', (value, text) => {
  expect(formatNumber(value)).toBe(text);
});
