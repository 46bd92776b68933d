import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { storedRow } from '../../../../functions/data/dynamodb/stored-row.ts';
import { CorruptData } from '../../../../functions/errors.ts';

const Row = z.object({ id: z.string(), runs: z.int(), note: z.nullable(z.string()) });

describe('storedRow', () => {
  it('reads the attributes that the schema names', () => {
    expect(storedRow(Row, { id: 'a', runs: 1, note: null, rev: 5 })).toEqual({ id: 'a', runs: 1, note: null });
  });

  it('gives an older row the default of an attribute that it lacks', () => {
    expect(storedRow(Row, { id: 'a', runs: 1 }, { note: null })).toEqual({ id: 'a', runs: 1, note: null });
    expect(storedRow(Row, { id: 'a', runs: 1, note: 'x' }, { note: null })).toEqual({ id: 'a', runs: 1, note: 'x' });
  });

  it.each([
    { id: 'a', note: null },
    { id: 'a', runs: 'many', note: null },
  ])('refuses %j as corrupt', (row) => {
    expect(() => storedRow(Row, row, { note: null })).toThrow(CorruptData);
    expect(() => storedRow(Row, row, { note: null })).toThrow('The row a is corrupt');
  });
});
