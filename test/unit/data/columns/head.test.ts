import { describe, expect, it } from 'vitest';
import { emptyHead, formatOf, headOf, nameTag, requireFormat } from '../../../../functions/data/columns/head.ts';
import { batchList, jobList } from '../../../../functions/data/columns/lists.ts';
import { CorruptData, OutdatedColumns } from '../../../../functions/errors.ts';

const head = {
  format: formatOf(batchList),
  next_seq: 2,
  last_created_at: '2026-03-01T00:00:00.000000Z',
  dictionaries: { device_type: ['EMU_MPS'] },
  tail: { i: new Uint8Array(16) },
};

describe('headOf', () => {
  it('returns the stored head without its key', () => {
    expect(headOf(batchList, { user_id: 'ada', key: 'b#head', ...head })).toEqual(head);
  });

  it('returns a head of the present format for an owner without rows', () => {
    expect(headOf(batchList, undefined)).toEqual(emptyHead(batchList));
    expect(requireFormat(batchList, headOf(batchList, undefined)).next_seq).toBe(0);
  });

  it.each([
    { tail: { i: 'text' } },
    { tail: undefined },
    { next_seq: 'two' },
    { next_seq: -1 },
    { last_created_at: 'yesterday' },
    { dictionaries: { device_type: 'EMU' } },
  ])('refuses a head with %j', (members) => {
    expect(() => headOf(batchList, { ...head, ...members })).toThrow(CorruptData);
  });
});

describe('requireFormat', () => {
  it('returns a head of the present format', () => {
    expect(requireFormat(batchList, head)).toBe(head);
  });

  it.each([
    ['another list', formatOf(jobList)],
    ['an earlier release', 'older'],
    ['a head that a repair rebuilds', undefined],
  ])('refuses the format of %s and names the repair', (_, format) => {
    const outdated = { ...head, format };
    expect(() => requireFormat(batchList, outdated)).toThrow(OutdatedColumns);
    expect(() => requireFormat(batchList, outdated)).toThrow(/Batches .* npm run repair -- --fix/);
  });
});

describe('nameTag', () => {
  it('is four characters, which never change, because heads hold them', () => {
    expect(nameTag('Ada Lovelace')).toBe('dnQC');
    expect(nameTag('')).toHaveLength(4);
    expect(nameTag('Ada')).not.toBe(nameTag('ada'));
  });
});
