import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  escapedBytes,
  hasDuplicateMembers,
  isJsonArray,
  isJsonObject,
  jsonDepth,
  jsonElements,
  jsonMembers,
  parseExactly,
  roundNumbers,
} from '../../../functions/values/json-text.ts';
import { seed } from '../../support/seed.ts';

const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 2 });

/**
 * JSON texts as people write them: spaces anywhere, every kind of escape, names that look like
 * integers or prototypes.
 */
const { json } = fc.letrec<{ json: string; object: string; array: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('null', 'true', '-0', '1e400', '1.50', '12345678901234567890', '"\\ud800"', '"\\\\"', '"\\\\\\""'),
    fc.json({ maxDepth: 0 }),
    fc
      .string({ unit: fc.constantFrom('\\', '"', '{', '}', '[', ']', ',', ':', 'a', 'é', '𝄞') })
      .map((s) => JSON.stringify(s)),
    tie('object'),
    tie('array'),
  ),
  object: fc
    .array(
      fc.tuple(
        fc.oneof(fc.constantFrom('2', '1', '__proto__', 'constructor', 'a"b', '\\', ''), fc.string()),
        tie('json'),
        space,
        space,
      ),
    )
    .map((members) => `{${members.map(([name, value, a, b]) => `${a}${JSON.stringify(name)}${b}:${a}${value}${b}`)}}`)
    .map((text) => (text === '{}' ? '{ \n}' : text)),
  array: fc
    .array(fc.tuple(tie('json'), space, space))
    .map((elements) => `[${elements.map(([value, a, b]) => `${a}${value}${b}`)}]`)
    .map((text) => (text === '[]' ? '[\t]' : text)),
}));

const objects = fc
  .tuple(space, json, space)
  .map(([a, text, b]) => `${a}{"first":${text},"2":[],"1":{}, "last" :${text}}${b}`);

describe('jsonMembers', () => {
  it('gives each value as it was written, in the order of the text', () => {
    expect([...jsonMembers(' { "b" : 1.50 , "2":[1, 2] ,"1":{"x":"}"},"\\u0061":"\\"" } ')]).toEqual([
      ['b', '1.50'],
      ['2', '[1, 2]'],
      ['1', '{"x":"}"}'],
      ['a', '"\\""'],
    ]);
  });

  it('finds none in an empty object', () => {
    expect(jsonMembers('{}').size).toBe(0);
    expect(jsonMembers(' {\n} ').size).toBe(0);
  });

  it('keeps the first place and the last value of a name given twice', () => {
    expect([...jsonMembers('{"a":1,"b":2,"\\u0061":3}')]).toEqual([
      ['a', '3'],
      ['b', '2'],
    ]);
  });

  it('keeps names of the prototype', () => {
    expect([...jsonMembers('{"__proto__":{"a":1},"constructor":2}').keys()]).toEqual(['__proto__', 'constructor']);
  });

  it('agrees with JSON.parse on any text', () => {
    fc.assert(
      fc.property(objects, (text) => {
        const expected = new Map(Object.entries(JSON.parse(text) as object));
        const members = jsonMembers(text);
        expect(new Map([...members].map(([name, value]) => [name, JSON.parse(value)]))).toEqual(expected);
        for (const value of members.values()) expect(text).toContain(value);
      }),
    );
  });
});

describe('jsonElements', () => {
  it('gives each element as it was written', () => {
    expect(jsonElements(' [ 1.50 ,"a,]" , [ ] ,{"b":[1]},null] ')).toEqual([
      '1.50',
      '"a,]"',
      '[ ]',
      '{"b":[1]}',
      'null',
    ]);
    expect(jsonElements('[ ]')).toEqual([]);
  });

  it('agrees with JSON.parse on any text', () => {
    fc.assert(
      fc.property(fc.array(json), (parts) => {
        expect(jsonElements(`[${parts}]`)).toEqual(parts.map((part) => part.trim()));
      }),
    );
  });
});

describe('jsonDepth', () => {
  it.each([
    ['1', 0],
    ['"[[["', 0],
    ['{}', 1],
    ['[[],[[]]]', 3],
    ['{"a":{"b":"}"},"c":[]}', 2],
    [`${'['.repeat(5000)}${']'.repeat(5000)}`, 5000],
  ])('of %.20s is %i', (text, depth) => {
    expect(jsonDepth(text)).toBe(depth);
  });
});

describe('escapedBytes', () => {
  it.each([
    ['a', 1],
    ['é', 2],
    ['漢', 3],
    ['"', 4],
    ['\\', 4],
    ['\n', 3],
    ['\u0001', 7],
    [{ a: 'é' }, '{\\"a\\":\\"é\\"}'.length + 1],
  ])('of %j is what it adds to an answer: %i', (value, bytes) => {
    const answer = (data: unknown) => Buffer.byteLength(JSON.stringify({ body: JSON.stringify({ data }) }));
    expect(escapedBytes(value)).toBe(bytes);
    expect(answer(value) - answer(typeof value === 'string' ? '' : 0)).toBe(
      typeof value === 'string' ? bytes : bytes - 1,
    );
  });
});

describe('parseExactly', () => {
  const number = fc.oneof(
    fc.constantFrom(
      '1e400',
      '-0',
      '1.0',
      '1E5',
      '9007199254740993',
      '18446744073709551616',
      '0.1',
      '1e-7',
      '0.0000001',
    ),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.tuple(fc.bigInt(), fc.nat()).map(([whole, part]) => `${whole}.${part}`),
    fc.bigInt().map(String),
  );

  it('keeps every digit of every number', () => {
    fc.assert(
      fc.property(fc.array(number), (numbers) => {
        const text = `{"a":[${numbers}],"b":{"c":[${numbers}]}}`;
        expect(JSON.stringify(parseExactly(text))).toBe(text);
        expect(JSON.stringify(parseExactly(` ${text.replaceAll(',', ', ')}`))).toBe(text);
      }),
      { seed },
    );
  });

  it('is JSON.parse once its numbers are rounded, but for the members that are to keep them', () => {
    fc.assert(
      fc.property(json, (text) => {
        expect(roundNumbers(parseExactly(text), new Set())).toEqual(JSON.parse(text));
      }),
      { seed },
    );
    const text = '{"a":[1.0,{"a":1.0,"b":2.0}],"kept":{"a":1.0},"c":1.0}';
    const rounded = roundNumbers(parseExactly(text), new Set(['kept']));
    expect(JSON.stringify(rounded)).toBe('{"a":[1,{"a":1,"b":2}],"kept":{"a":1.0},"c":1}');
  });
});

describe('hasDuplicateMembers', () => {
  it.each([
    ['{}', false],
    ['{"a":1,"b":1}', false],
    ['{"a":{"b":1},"b":{"b":1}}', false],
    ['{"a":1,"a":1}', true],
    ['{"a":1,"b":2,"\\u0061":3}', true],
    ['{"__proto__":1,"__proto__":2}', true],
  ])('of %s is %s', (text, expected) => {
    expect(hasDuplicateMembers(text)).toBe(expected);
  });
});

describe('isJsonObject and isJsonArray', () => {
  it.each([
    [' {}', true, false],
    ['\n[]', false, true],
    ['"{"', false, false],
    ['1', false, false],
  ])('tell the kind of %j', (text, object, array) => {
    expect([isJsonObject(text), isJsonArray(text)]).toEqual([object, array]);
  });
});
