import { describe, expect, it } from 'vitest';
import { rightsTo } from '../../../../functions/data/projects/access.ts';
import type { ProjectRole } from '../../../../functions/project-roles.ts';

const [project_id, other] = ['5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a', 'b0000000-0000-0000-0000-00000000000b'];

/** A caller whose token names the project, with this role, or none. */
const withRole = (role?: ProjectRole) => ({
  userId: 'ada',
  claims: { projects: [{ id: project_id, name: 'Mine', ...(role !== undefined && { role }) }] },
});
const elsewhere = { userId: 'ada', claims: { projects: [{ id: other, name: 'Other', role: 'admin' as const }] } };

describe('rightsTo', () => {
  it.each([
    ['a viewer', withRole('viewer'), ['read', 'end', 'change'], ['read']],
    ['a member', withRole('member'), ['read', 'repeat', 'end', 'change'], ['read', 'repeat']],
    ['an admin', withRole('admin'), ['read', 'repeat', 'end', 'change'], ['read', 'repeat', 'end']],
    ['someone without a role', withRole(), ['read', 'repeat', 'end', 'change'], ['repeat']],
    ['an admin of another project', elsewhere, ['read', 'end', 'change'], []],
    [
      'someone whose token names no projects',
      { userId: 'ada', claims: {} },
      ['read', 'repeat', 'end', 'change'],
      ['repeat'],
    ],
  ])('of %s to an own row and to a fellow’s', (_, caller, own, fellows) => {
    expect(rightsTo(caller, { user_id: 'ada', project_id })).toEqual(own);
    expect(rightsTo(caller, { user_id: 'max', project_id })).toEqual(fellows);
  });
});
