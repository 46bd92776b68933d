/** Whose a batch or job is, and in which project: by name where that is known. */

import { linkTo } from '../ui/address.ts';
import { Person } from '../ui/basics.tsx';
import { membersOf, type OwnProject } from './projects.ts';

interface Props {
  readonly id: string;
  readonly projects: readonly OwnProject[];
}

export function ProjectName({ id, projects }: Props) {
  const project = projects.find((each) => each.id === id);
  const link = project === undefined ? linkTo(['batches'], { project_id: id }) : linkTo(['projects', id]);
  return <Person id={id} name={project?.name === id ? undefined : project?.name} link={link} />;
}

/** Leads to what else they have in the project, for readers of it. */
export function Owner({ id, projects, of: project_id }: Props & { readonly of: string }) {
  const member = membersOf(projects).find(({ user_id }) => user_id === id);
  const isReadable = projects.some((each) => each.id === project_id && each.rights.includes('read'));
  const link = linkTo(['batches'], { scope: 'project', project_id, user_id: id });
  return <Person id={id} name={member?.user_name} {...(isReadable && { link })} />;
}
