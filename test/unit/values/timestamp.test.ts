import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromMicroseconds, parseTimestamp, toMicroseconds } from '../../../functions/values/timestamp.ts';
import { words } from '../../support/words.ts';

describe('parseTimestamp', () => {
  it('reads every form of a time that is allowed', () => {
    const times = {
      '2026-11-21': '2026-11-21T00:00:00.000000Z',
      '2026-11-21T02:59': '2026-11-21T02:59:00.000000Z',
      '2026-11-21T02:59:36': '2026-11-21T02:59:36.000000Z',
      '2026-11-21t02:59:36z': '2026-11-21T02:59:36.000000Z',
      '2026-11-21T02:59:36 Z': '2026-11-21T02:59:36.000000Z',
      '2026-11-21T02:59:36.000001Z': '2026-11-21T02:59:36.000001Z',
      '2026-11-21T02:59:36,123456Z': '2026-11-21T02:59:36.123456Z',
      '2026-11-21T02:59+01:00': '2026-11-21T01:59:00.000000Z',
      '2026-11-21T02:59:36+0230': '2026-11-21T00:29:36.000000Z',
      '2026-11-21T02:59:36-02:30': '2026-11-21T05:29:36.000000Z',
      '2026-11-21T02:59:36 02:00': '2026-11-21T00:59:36.000000Z',
      '2026-11-21T02:59:36 -02:00': '2026-11-21T04:59:36.000000Z',
      '2026-11-21T02:59:36  +02:00': '2026-11-21T00:59:36.000000Z',
      '2026-11-21T02:59:36.5+23:59': '2026-11-20T03:00:36.500000Z',
      ' 2026-11-21T02:59:36Z\n': '2026-11-21T02:59:36.000000Z',
      '2026-12-31T23:59:59.999999-00:01': '2027-01-01T00:00:59.999999Z',
      '2024-02-29': '2024-02-29T00:00:00.000000Z',
      '0001-01-01T00:00:00Z': '0001-01-01T00:00:00.000000Z',
      '0001-01-01T01:00:00+01:00': '0001-01-01T00:00:00.000000Z',
      '9999-12-31T23:59:59.999999Z': '9999-12-31T23:59:59.999999Z',
    };
    expect(Object.keys(times).map(parseTimestamp)).toEqual(Object.values(times));
  });

  it('refuses all others', () => {
    const others = words(`
      now 1790000000 2026-11 2026-325 2026-W47-6 20261121 26-11-21 +2026-11-21 2026-11-211
      2026-13-01 2026-11-31 2026-02-29 2026-11-21T 2026-11-21Z 2026-11-21+01:00 2026-11-21T02
      2026-11-21T0259 2026-11-21T02:5 2026-11-21_02:59:36 2026-11-21T24:00:00 2026-11-21T02:60:00Z
      2026-11-21T02:59:60Z 2026-11-21T02:59:6Z 2026-11-21T02:59:36. 2026-11-21T02:59:36.1234567Z
      2026-11-21T02:59.5 2026-11-21T02:59:36+2 2026-11-21T02:59:36+02:3 2026-11-21T02:59:36+02:30:00
      2026-11-21T02:59:36+24:00 2026-11-21T02:59:36-02:60 2026-11-21T02:59:36ZZ
      2026-11-21T02:59:36UTC x2026-11-21T02:59:36 ２０２６-11-21 0000-12-31T23:59:59Z
      0001-01-01T00:59:59+01:00 9999-12-31T23:59:59-00:01
    `);
    expect(['', '2026-11-21  02:59:36', ...others].filter((text) => parseTimestamp(text) !== undefined)).toEqual([]);
  });

  it('keeps what is canonical', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-01'), noInvalidDate: true, max: new Date(253402300799999) }),
        (date) => {
          const canonical = date.toISOString().replace('Z', '000Z');
          expect(parseTimestamp(canonical)).toBe(canonical);
        },
      ),
    );
  });

  it('shifts by the offset as Date does', () => {
    const time = fc.date({ min: new Date('1970-01-02'), max: new Date('2255-01-01'), noInvalidDate: true });
    const offset = fc
      .tuple(fc.constantFrom('+', '-'), fc.nat(23), fc.nat(59))
      .map(([sign, ...parts]) => sign + parts.map((part) => String(part).padStart(2, '0')).join(':'));
    fc.assert(
      fc.property(time, offset, (date, shift) => {
        const text = date.toISOString().replace('Z', shift);
        expect(parseTimestamp(text)).toBe(new Date(text).toISOString().replace('Z', '000Z'));
      }),
    );
  });
});

describe('microseconds', () => {
  it.each([
    ['1970-01-01T00:00:00.000000Z', 0],
    ['1970-01-01T00:00:00.000001Z', 1],
    ['1970-01-01T00:00:00.012345Z', 12_345],
    ['2026-11-21T02:59:36.123456Z', 1_795_229_976_123_456],
    ['1969-12-31T23:59:59.999999Z', -1],
  ])('of %s are %i, and back', (canonical, microseconds) => {
    expect(toMicroseconds(canonical)).toBe(microseconds);
    expect(fromMicroseconds(microseconds)).toBe(canonical);
  });

  it('keep order and value of every time that is stored', () => {
    const count = fc.integer({ min: 0, max: 9_000_000_000_000_000 });
    fc.assert(
      fc.property(count, (microseconds) => {
        expect(toMicroseconds(fromMicroseconds(microseconds))).toBe(microseconds);
        expect(parseTimestamp(fromMicroseconds(microseconds))).toBe(fromMicroseconds(microseconds));
      }),
    );
  });
});
