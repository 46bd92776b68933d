import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { inputFaults } from '../../../functions/schemas/input-faults.ts';

function faultsOf(schema: z.ZodMiniType, value: unknown) {
  const { error } = schema.safeParse(value);
  return error === undefined ? [] : inputFaults('query', error);
}

const typed = z.string().check(({ issues, value: input }) => {
  issues.push({ code: 'custom', params: { type: 'uuid_parsing' }, message: 'Input should be a valid UUID', input });
});

describe('inputFaults', () => {
  it.each<[schema: z.ZodMiniType, value: unknown, type: string, msg: string]>([
    [typed, 'x', 'uuid_parsing', 'Input should be a valid UUID'],
    [z.string().check(z.refine(() => false, 'Not this')), 'x', 'value_error', 'Not this'],
    [z.literal('a'), 'x', 'enum', "Input should be 'a'"],
    [z.enum(['a', 'b']), 'x', 'enum', "Input should be 'a' or 'b'"],
    [z.enum(['a', 'b', 'c']), 'x', 'enum', "Input should be 'a', 'b' or 'c'"],
    [z.number().check(z.gt(0)), 0, 'greater_than', 'Input should be greater than 0'],
    [z.number().check(z.gte(0)), -1, 'greater_than_equal', 'Input should be greater than or equal to 0'],
    [z.number().check(z.lt(101)), 101, 'less_than', 'Input should be less than 101'],
    [z.number().check(z.lte(100)), 101, 'less_than_equal', 'Input should be less than or equal to 100'],
    [z.array(z.string()).check(z.maxLength(2)), ['', '', ''], 'too_long', 'List should have at most 2 items'],
    [z.string(), 5, 'string_type', 'Input should be a valid string'],
    [z.int(), 1.5, 'int_type', 'Input should be a valid integer'],
    [z.number(), 'x', 'float_type', 'Input should be a valid number'],
    [z.boolean(), 'x', 'bool_type', 'Input should be a valid boolean'],
    [z.array(z.string()), 'x', 'list_type', 'Input should be a valid list'],
    [z.object({}), [], 'dict_type', 'Input should be a valid dictionary'],
    [z.string(), undefined, 'missing', 'Field required'],
    [z.enum(['a', 'b']), undefined, 'missing', 'Field required'],
    [z.string().check(z.minLength(1)), '', 'string_too_short', 'String should have at least 1 character'],
    [z.string().check(z.maxLength(2)), 'abc', 'string_too_long', 'String should have at most 2 characters'],
    [z.array(z.string()).check(z.minLength(1)), [], 'too_short', 'List should have at least 1 item'],
    [z.union([z.string(), z.boolean()]), 5, 'value_error', 'Input is not valid'],
  ])('says in the words of pydantic what is wrong: %#', (schema, value, type, msg) => {
    expect(faultsOf(schema, value)).toEqual([{ loc: ['query'], msg, type }]);
  });

  it('reports all faults, each with its place', () => {
    const schema = z.object({ limit: z.number().check(z.gt(0)), status: z.array(z.enum(['a', 'b'])) });
    expect(faultsOf(schema, { limit: 0, status: ['a', 'x', 'b', 'y'] })).toEqual([
      { loc: ['query', 'limit'], msg: 'Input should be greater than 0', type: 'greater_than' },
      { loc: ['query', 'status', 1], msg: "Input should be 'a' or 'b'", type: 'enum' },
      { loc: ['query', 'status', 3], msg: "Input should be 'a' or 'b'", type: 'enum' },
    ]);
  });

  it('names each member that is not permitted', () => {
    expect(faultsOf(z.strictObject({ a: z.string() }), { a: '', b: 1, c: 2 })).toEqual([
      { loc: ['query', 'b'], msg: 'Extra inputs are not permitted', type: 'extra_forbidden' },
      { loc: ['query', 'c'], msg: 'Extra inputs are not permitted', type: 'extra_forbidden' },
    ]);
  });
});
