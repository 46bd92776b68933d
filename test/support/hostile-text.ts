import * as fc from 'fast-check';

/**
 * Text of every kind: each block of Unicode, lone surrogates, controls, and what means something to
 * one of the readers.
 */
export const hostileText = fc.oneof(
  // fast-check's own unit "binary" is slow to make: it lists a million characters.
  fc.string({ unit: fc.nat(0x10ffff).map((code) => String.fromCodePoint(code)), maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 10 }),
  fc.string({ unit: fc.constantFrom('\ud800', '\udfff', '\u0000', '\ufeff', '\u202e', '\u0130', 'ß', '٣', '−') }),
  fc.constantFrom(
    '',
    ' ',
    '0',
    '-0',
    '+1',
    '1e3',
    '0x10',
    '1.0',
    '٣',
    '9007199254740991',
    '9007199254740993',
    '9'.repeat(256),
    'NaN',
    'Infinity',
    'true',
    'null',
    'undefined',
    '__proto__',
    'constructor',
    'toString',
    "' OR 1=1 --",
    '{{7*7}}',
    '../../etc/passwd',
    '%00',
    '%',
    '1970-01-01',
    '0001-01-01T00:00:00+23:59',
    '9999-12-31T23:59:59.999999-23:59',
    '2026-02-30',
    '2026-01-01T00:00:00.1234567Z',
    '-271821-04-20T00:00:00Z',
    'a'.repeat(256),
    'a'.repeat(10_000),
    '𝕏'.repeat(256),
  ),
);
