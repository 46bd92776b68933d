import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { inputFaults } from '../../../functions/schemas/input-faults.ts';
import { jsonBody, jsonBodyWithText, jsonTextBody } from '../../../functions/schemas/json-body.ts';

const anything = jsonBody(z.unknown());
const text = jsonTextBody((body) => body);
const withText = jsonBodyWithText(z.unknown(), 'kept');

function faultsOf(schema: z.ZodMiniType, body: string | undefined) {
  const { error } = schema.safeParse(body);
  return error === undefined ? [] : inputFaults('body', error);
}

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

describe.each([
  ['jsonBody', anything],
  ['jsonTextBody', text],
  ['jsonBodyWithText', withText],
])('%s', (_, schema) => {
  it.each([
    [undefined, 'missing', 'Field required'],
    ['', 'json_invalid', 'JSON decode error: Unexpected end of JSON input'],
    ['{', 'json_invalid', "JSON decode error: Expected property name or '}' in JSON at position 1 (line 1 column 2)"],
    [
      "{'a':1}",
      'json_invalid',
      "JSON decode error: Expected property name or '}' in JSON at position 1 (line 1 column 2)",
    ],
    [
      '[1 2]',
      'json_invalid',
      "JSON decode error: Expected ',' or ']' after array element in JSON at position 3 (line 1 column 4)",
    ],
    [
      '{} {}',
      'json_invalid',
      'JSON decode error: Unexpected non-whitespace character after JSON at position 3 (line 1 column 4)',
    ],
    ['{"secret":NaN}', 'json_invalid', "JSON decode error: Unexpected token 'N'"],
  ])('refuses %j as %s', (body, type, msg) => {
    expect(faultsOf(schema, body)).toEqual([{ loc: ['body'], msg, type }]);
  });
});

describe.each([
  ['jsonBody', anything],
  ['jsonBodyWithText', withText],
])('%s', (_, schema) => {
  it('takes up to 100 levels', () => {
    expect(faultsOf(schema, nested(100))).toEqual([]);
    const msg = 'The body should be nested at most 100 levels deep';
    for (const levels of [101, 100_000]) {
      expect(faultsOf(schema, nested(levels))).toEqual([{ loc: ['body'], msg, type: 'too_deep' }]);
    }
  });
});

describe('jsonBody', () => {
  it('reads the last of two members of one name', () => {
    expect(anything.parse('{"a":1,"b":2,"a":3}')).toEqual({ a: 3, b: 2 });
  });

  it('reads __proto__ as a member like any other', () => {
    const value = anything.parse('{"__proto__":{"admin":true}}') as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(value.admin).toBeUndefined();
    expect(faultsOf(jsonBody(z.strictObject({})), '{"__proto__":1}')).toMatchObject([
      { loc: ['body', '__proto__'], type: 'extra_forbidden' },
    ]);
  });

  it('reports every fault, with its place in the body', () => {
    const schema = jsonBody(z.strictObject({ a: z.string(), b: z.array(z.int()), c: z.boolean() }));
    expect(faultsOf(schema, '{"b":[1,"2",3.5],"c":0,"d":1}').map(({ loc, type }) => [...loc, type])).toEqual([
      ['body', 'a', 'missing'],
      ['body', 'b', 1, 'float_type'],
      ['body', 'b', 2, 'int_type'],
      ['body', 'c', 'bool_type'],
      ['body', 'd', 'extra_forbidden'],
    ]);
  });
});

describe('jsonTextBody', () => {
  it('passes the text on as it was sent', () => {
    const body = ' {"2":1.50,"1":12345678901234567890,"a":1,"a":2} ';
    expect(text.parse(body)).toBe(body);
  });
});

describe('jsonBodyWithText', () => {
  it.each([
    ['{"a":1.0,"kept": {"2":1.50 ,"1":12345678901234567890} }', { a: 1, kept: '{"2":1.50 ,"1":12345678901234567890}' }],
    ['{"kept":[ 1 ]}', { kept: '[ 1 ]' }],
    ['{"kept":"{}"}', { kept: '"{}"' }],
    ['{"kept":{"a":1},"kept":{"a":2}}', { kept: '{"a":2}' }],
    ['{"kept":{"kept":1}}', { kept: '{"kept":1}' }],
    ['{"\\u006bept":{}}', { kept: '{}' }],
    ['{"kept":{},"kept":null}', { kept: null }],
    ['{"a":{"kept":{}}}', { a: { kept: {} } }],
    ['[{"kept":{}}]', [{ kept: {} }]],
    ['null', null],
  ])('reads one member as the text that was sent: %s', (body, value) => {
    expect(withText.parse(body)).toEqual(value);
  });

  it('takes a member of a prototype’s name for no member of the body', () => {
    expect(jsonBodyWithText(z.unknown(), 'toString').parse('{}')).toEqual({});
  });
});
