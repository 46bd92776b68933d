import { expect, it } from 'vitest';
import { knownOf, nameAmong } from '../../../../functions/console/parts/known-people.ts';

it('has each person and project once, by name, the name from wherever it is known', () => {
  const seen = [
    { user_id: 'user-without-name', project_id: 'project-without-name' },
    { user_id: 'b', user_name: null, project_id: null },
    { user_id: 'b', user_name: 'Grace Hopper', project_id: 'own' },
    { user_id: 'a', user_name: 'Ada Lovelace' },
    { user_id: 'a', user_name: null },
  ];
  const known = knownOf(seen, [{ id: 'own', name: 'Simulation' }]);
  expect(known).toEqual({
    users: [
      { id: 'a', name: 'Ada Lovelace' },
      { id: 'b', name: 'Grace Hopper' },
      { id: 'user-without-name', name: 'user-wit…' },
    ],
    projects: [
      { id: 'project-without-name', name: 'project-…' },
      { id: 'own', name: 'Simulation' },
    ],
  });
  expect([nameAmong(known.users, 'a'), nameAmong(known.users, 'c')]).toEqual(['Ada Lovelace', 'c']);
});
