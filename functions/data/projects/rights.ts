/** What answers say of what their reader may do: pages and programs need no rule of their own. */

import { type ProjectRight, projectRights, projectRoles, type RowRight, rowRights } from '../../project-roles.ts';
import { type Member, may, type OwnedRow } from './access.ts';

/** What the token lets its holder do in the project. One that names no projects restricts none. */
export function rightsIn({ projects }: Member['claims'], projectId: string): ProjectRight[] {
  const project = projects?.find(({ id }) => id === projectId);
  const rules = project?.role && projectRoles[project.role];
  const has: Readonly<Record<ProjectRight, boolean>> = {
    read: rules !== undefined,
    submit: rules?.submits ?? (projects === undefined || project !== undefined),
    administer: rules?.administers ?? false,
  };
  return projectRights.filter((right) => has[right]);
}

/** What the caller may do with a row that they may see, whatever its state. */
export function rightsTo(caller: Member, row: OwnedRow): RowRight[] {
  const maySubmit = rightsIn(caller.claims, row.project_id).includes('submit');
  return rowRights.filter((right) => (right === 'repeat' ? maySubmit : may(right, caller, row)));
}
