import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { attributesOf, storedRow } from '../../../../functions/data/dynamodb/stored-row.ts';
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

  it('reads attributes that a row of an earlier release holds under another name', () => {
    const Renamed = z.object({ reported: z.exactOptional(z.string()), pending_calls: z.exactOptional(z.string()) });
    expect(storedRow(Renamed, { unsettled: 'x', calls_under_way: 'y' })).toEqual({ reported: 'x', pending_calls: 'y' });
    expect(storedRow(Renamed, { unsettled: 'old', reported: 'new' })).toEqual({ reported: 'new' });
    expect(attributesOf(Renamed)).toEqual(['reported', 'unsettled', 'pending_calls', 'calls_under_way']);
  });

  it.each([
    { id: 'a', note: null },
    { id: 'a', runs: 'many', note: null },
  ])('refuses %j as corrupt', (row) => {
    expect(() => storedRow(Row, row, { note: null })).toThrow(CorruptData);
    expect(() => storedRow(Row, row, { note: null })).toThrow('The row a is corrupt');
  });
});
