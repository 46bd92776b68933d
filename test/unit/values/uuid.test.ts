import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatUuid, parseUuid } from '../../../functions/values/uuid.ts';

const canonical = '5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a';
const digits = canonical.replaceAll('-', '');

describe('parseUuid', () => {
  it.each([
    canonical,
    canonical.toUpperCase(),
    digits,
    digits.toUpperCase(),
    `{${canonical}}`,
    `{${digits}}`,
    `urn:uuid:${canonical}`,
    `URN:UUID:${digits.toUpperCase()}`,
  ])('reads %s', (text) => {
    expect(parseUuid(text)).toBe(canonical);
  });

  it.each([
    '00000000-0000-0000-0000-000000000000',
    '00000000-0000-0000-0000-000000000001',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ])('takes any variant and version: %s', (text) => {
    expect(parseUuid(text)).toBe(text);
  });

  it.each([
    '',
    'x',
    digits.slice(1),
    `${digits}0`,
    canonical.replace('5', 'g'),
    ` ${canonical}`,
    `${canonical}\n`,
    `{${canonical}`,
    `${canonical}}`,
    `uuid:${canonical}`,
    `{urn:uuid:${canonical}}`,
    '5d6a3f0e6f2b-4c0e-9a51-6d3c6f6f1f2a',
    '5d6a-3f0e6f2b-4c0e-9a51-6d3c6f6f1f2a',
    canonical.replace('5', '５'),
  ])('refuses %j', (text) => {
    expect(parseUuid(text)).toBeUndefined();
  });

  it('reads what formatUuid writes', () => {
    const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(hex, (text) => {
        expect(parseUuid(text)).toBe(formatUuid(text));
        expect(parseUuid(formatUuid(text))).toBe(formatUuid(text));
      }),
    );
  });
});
