import { describe, expect, it } from 'vitest';
import { membersOf, type OwnProject, scopesOf } from '../../../functions/console/parts/projects.ts';

const words = { own: 'Mine', all: 'All' };
const read = (id: string): OwnProject => ({ id, name: `P ${id}`, rights: ['read'] });
const unread: OwnProject = { id: 'x', name: 'P x', rights: ['submit'] };

/** The names of the choices, the chosen in capitals. */
const namesOf = (projects: readonly OwnProject[], asked: Parameters<typeof scopesOf>[1] = {}) =>
  scopesOf(projects, asked, words).map(({ name, isChosen }) => (isChosen ? name.toUpperCase() : name));

describe('scopesOf', () => {
  it('is no choice where no project may be read', () => {
    expect(namesOf([])).toEqual([]);
    expect(namesOf([unread])).toEqual([]);
  });

  it('offers own batches, those of each project, and of several also all', () => {
    expect(namesOf([read('a'), unread])).toEqual(['MINE', 'P a']);
    expect(namesOf([read('a'), read('b')])).toEqual(['MINE', 'All', 'P a', 'P b']);
  });

  it('knows what the address asks for', () => {
    const two = [read('a'), read('b')];
    expect(namesOf(two, { project_id: 'a' })).toEqual(['MINE', 'All', 'P a', 'P b']);
    expect(namesOf(two, { scope: 'project' })).toEqual(['Mine', 'ALL', 'P a', 'P b']);
    expect(namesOf(two, { scope: 'project', project_id: 'b' })).toEqual(['Mine', 'All', 'P a', 'P B']);
    expect(namesOf(two, { scope: 'project', project_id: 'x' })).toEqual(['Mine', 'All', 'P a', 'P b']);
    expect(namesOf([read('a')], { scope: 'project' })).toEqual(['Mine', 'P A']);
  });

  it('asks for rows of projects, or as before there were projects', () => {
    expect(scopesOf([read('a'), read('b')], {}, words).map(({ query }) => query)).toEqual([
      { scope: undefined, project_id: undefined },
      { scope: 'project', project_id: undefined },
      { scope: 'project', project_id: 'a' },
      { scope: 'project', project_id: 'b' },
    ]);
  });
});

describe('membersOf', () => {
  it('has each member of several projects once, by name, and by id where there is none', () => {
    const member = (user_id: string, user_name: string | null) => ({ user_id, user_name, batches_count: 1 });
    const projects = [
      { ...read('a'), members: [member('3', 'Max'), member('1', 'Ada')] },
      { ...read('b'), members: [member('1', 'Ada'), member('Bob', null)] },
      unread,
    ];
    expect(membersOf(projects).map(({ user_id }) => user_id)).toEqual(['1', 'Bob', '3']);
  });
});
