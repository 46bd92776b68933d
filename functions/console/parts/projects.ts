/** The projects of the person who has signed in, as several views name them. */

import { useEffect, useState } from 'preact/hooks';
import type { Project } from '../../schemas/claims.ts';
import type { Api } from '../client/public-api.ts';
import { useSigned } from '../client/use-call.ts';

export interface Member {
  readonly user_id: string;
  readonly user_name: string | null;
  readonly batches_count: number | null;
}

export interface OwnProject extends Pick<Project, 'id' | 'name' | 'rights'> {
  readonly role?: string | null;
  /** Of projects that they may read. */
  readonly members?: readonly Member[];
}

/** Read once for each session: a role ends with it, at the latest. */
const known = new WeakMap<Api, Promise<readonly OwnProject[]>>();

/** Empty until they are known, and where they cannot be read: a view then says less. */
export function useProjects(): readonly OwnProject[] {
  const { api } = useSigned();
  const [projects, setProjects] = useState<readonly OwnProject[]>([]);
  useEffect(() => {
    const asked = known.get(api) ?? api.call<OwnProject[]>('/api/v1/projects').then(({ data }) => data);
    known.set(api, asked);
    asked.then(setProjects, () => known.delete(api));
  }, [api]);
  return projects;
}

/** One of the lists of batches that a person may choose from. */
export interface Scope {
  readonly name: string;
  readonly isChosen: boolean;
  /** What the list is asked for. */
  readonly query: { readonly scope: 'project' | undefined; readonly project_id: string | undefined };
}

interface Asked {
  readonly scope?: string | undefined;
  readonly project_id?: string | undefined;
}

/**
 * A person's own batches, the batches of all projects that they may read, and of each of these.
 * None where there is no such project: then there is nothing to choose.
 */
export function scopesOf(
  projects: readonly OwnProject[],
  asked: Asked,
  words: { readonly own: string; readonly all: string },
): Scope[] {
  const readable = projects.filter(({ rights }) => rights.includes('read'));
  if (readable.length === 0) return [];
  const isProject = asked.scope === 'project';
  const own = { name: words.own, isChosen: !isProject, query: { scope: undefined, project_id: undefined } };
  const all = {
    name: words.all,
    isChosen: isProject && asked.project_id === undefined,
    query: { scope: 'project' as const, project_id: undefined },
  };
  const each = readable.map(({ id, name }) => ({
    name,
    isChosen: isProject && (asked.project_id === id || (readable.length === 1 && asked.project_id === undefined)),
    query: { scope: 'project' as const, project_id: id },
  }));
  return [own, ...(readable.length > 1 ? [all] : []), ...each];
}

/** The members of these projects, each once, by their names. */
export function membersOf(projects: readonly OwnProject[]): Member[] {
  const members = new Map(projects.flatMap((each) => each.members ?? []).map((each) => [each.user_id, each]));
  const nameOf = ({ user_name, user_id }: Member) => user_name ?? user_id;
  return [...members.values()].sort((one, other) => nameOf(one).localeCompare(nameOf(other)));
}
