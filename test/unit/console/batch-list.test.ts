import { describe, expect, it } from 'vitest';
import { givenName, nameOf, nameTag, otherTags } from '../../../functions/console/parts/batch-name.ts';
import { partsOf } from '../../../functions/console/ui/job-parts.ts';
import { sortStatuses, statusWord } from '../../../functions/console/ui/status-looks.ts';
import { visible } from '../../../functions/console/ui/visible-text.ts';
import { searchFor } from '../../../functions/console/views/search-for.ts';
import { batchStatusNames } from '../../../functions/statuses.ts';

const id = '5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a';

describe('the name of a batch', () => {
  it.each<[string, readonly string[], string]>([
    ['is its tag for it', ['rabi', 'name:Rabi scan over ω'], 'Rabi scan over ω'],
    ['is the first of several', ['name:one', 'name:two'], 'one'],
    ['is the beginning of the id where no tag gives one', ['rabi'], '5d6a3f0e'],
    ['is never empty', ['name:  '], '5d6a3f0e'],
  ])('%s', (_, tags, name) => {
    expect(nameOf({ id, tags })).toBe(name);
  });

  it('is read again from the tag that is made of it', () => {
    expect(givenName({ tags: [nameTag(' H₂ loop ')] })).toBe('H₂ loop');
    expect(otherTags({ tags: [nameTag('H₂ loop'), 'vqa'] })).toEqual(['vqa']);
  });
});

describe('the bar of jobs', () => {
  const widths = (counts: Readonly<Record<string, number>>) =>
    partsOf(counts).map(({ status, share }) => [status, Math.round(share * 100)]);

  it('has done, failed, canceled and running jobs in this order, and leaves room for what waits', () => {
    expect(widths({ PENDING: 4, RUNNING: 2, DONE: 10, ERROR: 2, CANCELED: 2, CANCELING: 0 })).toEqual([
      ['DONE', 50],
      ['ERROR', 10],
      ['CANCELED', 10],
      ['RUNNING', 10],
    ]);
  });

  it('shows one failed job of a thousand, and is full only when all have ended', () => {
    const [done, failed] = partsOf({ DONE: 999, ERROR: 1 });
    expect(failed!.share).toBeGreaterThan(0.05);
    expect(done!.share + failed!.share).toBeCloseTo(1, 9);
    expect(partsOf({ DONE: 999, PENDING: 1 })[0]!.share).toBeLessThan(0.95);
  });

  it('is empty without jobs', () => {
    expect(partsOf({ DONE: 0, PENDING: 0 })).toEqual([]);
  });
});

describe('a search', () => {
  const known = ['name:Rabi scan over ω', 'rabi', 'nightly'];

  it.each<[string, string, object]>([
    ['finds every known name and tag that contains it', 'RABI', { tag: ['name:Rabi scan over ω', 'rabi'] }],
    ['asks for the very name or tag where none is known', 'mis', { tag: ['mis', 'name:mis'] }],
    ['takes hexadecimal digits for the beginning of an id', '5D6A', { id__starts_with: ['5d6a'] }],
    ['of nothing takes the filters away', ' ', {}],
  ])('%s', (_, text, asked) => {
    expect(searchFor(text, known)).toEqual({ tag: undefined, id__starts_with: undefined, ...asked });
  });

  it('never finds the prefix of names itself', () => {
    expect(searchFor('name', known).tag).toEqual(['name', 'name:name']);
  });
});

it.each([
  ['TIMED_OUT', 'Timed out'],
  ['ERROR', 'Failed'],
  ['constructor', 'Constructor'],
  ['', ''],
])('the status %j reads %j', (status, word) => {
  expect(statusWord(status)).toBe(word);
});

it('a tag that turns its direction is shown with a sign for that', () => {
  expect(visible('\u202Egnp.exe')).toBe('␣gnp.exe');
  expect(visible('שלום')).toBe('שלום');
});

it('facets begin with what is at work or waits, and failures come before what was canceled', () => {
  expect(sortStatuses(batchStatusNames)).toEqual([
    'RUNNING',
    'PENDING',
    'PAUSED',
    'DONE',
    'TIMED_OUT',
    'ERROR',
    'CANCELED',
    'CANCELING',
  ]);
});
