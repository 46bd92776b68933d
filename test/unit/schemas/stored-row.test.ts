import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { CorruptData } from '../../../functions/errors.ts';
import { storedRow } from '../../../functions/schemas/stored-row.ts';

const Row = z.object({ id: z.string(), runs: z.int(), note: z.nullable(z.string()) });
/** Of a release that has added `note`. */
const WithDefault = z.extend(Row, { note: z._default(Row.shape.note, null) });

describe('storedRow', () => {
  it('reads the attributes that the schema names', () => {
    expect(storedRow(Row, { id: 'a', runs: 1, note: null, rev: 5 })).toEqual({ id: 'a', runs: 1, note: null });
  });

  it('gives an older row the default of an attribute that it lacks', () => {
    expect(storedRow(WithDefault, { id: 'a', runs: 1 })).toEqual({ id: 'a', runs: 1, note: null });
    expect(storedRow(WithDefault, { id: 'a', runs: 1, note: 'x' })).toEqual({ id: 'a', runs: 1, note: 'x' });
  });

  it.each([
    { id: 'a', note: null },
    { id: 'a', runs: 'many', note: null },
    { id: 'a', runs: 1 },
  ])('refuses %j as corrupt', (row) => {
    expect(() => storedRow(Row, row)).toThrow(CorruptData);
    expect(() => storedRow(Row, row)).toThrow('The row a is corrupt');
  });
});
