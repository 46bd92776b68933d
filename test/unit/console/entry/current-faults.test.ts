import { describe, expect, it } from 'vitest';
import { currentFaults } from '../../../../functions/console/entry/current-faults.ts';
import { type Draft, emptyDraft } from '../../../../functions/console/entry/draft.ts';

const fault = (...place: (string | number)[]) => ({ loc: ['body', ...place], msg: 'No', type: 'value_error' });
const row = (id: number, omega: string) => ({ id, runs: '1', values: { omega } });
const draft: Draft = { ...emptyDraft, text: '{}', jobs: [row(1, '1'), row(2, '2')], tags: 'a', name: 'x' };
const ofRow = (at: number) => fault('jobs', at, 'variables', 'omega');

describe('faults of texts that are no values', () => {
  const empty: Draft = { ...draft, text: '', jobs: [row(1, ' '), row(2, 'two')] };
  const own = [ofRow(0), ofRow(1), fault('sequence_builder')];

  it('are not shown of empty fields before someone asks', () => {
    expect(currentFaults(empty, own, undefined, false)).toEqual([ofRow(1)]);
    expect(currentFaults(empty, own, undefined, true)).toEqual(own);
  });
});

describe('faults of the last check', () => {
  const verdict = { faults: [ofRow(0), ofRow(1), fault('tags', 1), fault('tags', 0), fault('project_id'), fault()] };
  const shown = (now: Draft) => currentFaults(now, [], { verdict, draft }, false).map(({ loc }) => loc.slice(1));

  it('are at the places of the form', () => {
    expect(shown(draft)).toEqual([
      ['jobs', 0, 'variables', 'omega'],
      ['jobs', 1, 'variables', 'omega'],
      ['tags', 0],
      ['name'],
      ['project_id'],
      [],
    ]);
  });

  it('go with the row or the field that has changed', () => {
    expect(shown({ ...draft, jobs: draft.jobs.with(0, row(1, '1.5')), tags: 'b' })).toEqual([
      ['jobs', 1, 'variables', 'omega'],
      ['name'],
      ['project_id'],
      [],
    ]);
  });

  it('do not move to another row where one was removed', () => {
    expect(shown({ ...draft, jobs: draft.jobs.slice(1) }).filter(([member]) => member === 'jobs')).toEqual([]);
  });
});
